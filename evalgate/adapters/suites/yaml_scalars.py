"""Resolves plain YAML scalars: a strict subset of YAML 1.2.

Only `true` and `false` are booleans, whole numbers are decimal, numbers are finite, and dates, times and
`1:30` are text.
"""

from __future__ import annotations

import re

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|nan)\Z", re.IGNORECASE)
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}
_BOOLEAN_WORDS = frozenset({"yes", "no", "on", "off", "true", "false"})
MAX_DIGITS = 18


class ScalarError(ValueError):
    """An invalid scalar."""


def resolve(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar. Raises ScalarError for numbers that are too long or not finite."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INT.match(text):
        if len(text) > MAX_DIGITS + 1:
            raise ScalarError(f"a whole number has at most {MAX_DIGITS} digits, quote it if it is text")
        return int(text)
    if _FLOAT.match(text):
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise ScalarError("this number is too large, quote it if it is text")
        return number
    if _NOT_FINITE.match(text):
        raise ScalarError("numbers are finite here, quote it if it is text")
    return text


def is_boolean_like(text: str) -> bool:
    """Whether another YAML reader would take this text for a boolean."""
    return text.lower() in _BOOLEAN_WORDS and text not in _CONSTANTS
