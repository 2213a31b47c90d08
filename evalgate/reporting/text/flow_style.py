"""Values as a person writes them in a suite: YAML in flow style, on one line."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$./-]*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
LONGEST_NUMBER = 24
"""Characters of a number that is written without an exponent."""
COMMENT_LIMIT = 200


def format_value(value: Any) -> str:
    """A JSON value in YAML's flow style, on one line.

    >>> format_value({"tool": "look*", "args": {"cabin": "economy", "on": [True, None, 1.5]}})
    '{tool: "look*", args: {cabin: economy, "on": [true, null, 1.5]}}'
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{format_value(str(key))}: {format_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(format_value, value))}]"
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
            return value
        return "".join(map(_escape, json.dumps(value, ensure_ascii=False)))
    return _format_float(value) if isinstance(value, float) else json.dumps(value)


def _format_float(value: float) -> str:
    """The number exactly, with a point: some readers of YAML take `1e-05` for a text.

    >>> _format_float(5e-05), _format_float(1e16), _format_float(1e300)
    ('0.00005', '10000000000000000.0', '1.0e+300')
    """
    digits = f"{Decimal(repr(value)):f}"
    if len(digits) <= LONGEST_NUMBER:
        return digits if "." in digits else f"{digits}.0"
    mantissa, letter, exponent = repr(value).partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{letter}{exponent}"


def _escape(character: str) -> str:
    """A character of a double-quoted text; what does not print, or is not a character, as its number."""
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 1 << 16 else f"\\U{ord(character):08x}"


def format_comment(text: str, limit: int = COMMENT_LIMIT) -> str:
    """A comment of one line, of at most `limit` characters; what does not print is left out."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    if len(shown) > limit:
        shown = f"{shown[:limit].rpartition(' ')[0] or shown[:limit]} \u2026"
    return f"# {shown}"
