"""Writes an inferred suite as YAML, line by line with comments; all untrusted text is escaped by `format_value`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.application.inference.checks import InferredCheck

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$./-]*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
COMMENT_LIMIT = 200
SMALL = 0.0001
"""Smaller numbers would be written with an exponent."""


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
    return f"{value:.12f}".rstrip("0") if isinstance(value, float) and 0 < value < SMALL else json.dumps(value)


def _escape(character: str) -> str:
    """A character of a double-quoted text; what does not print, or is not a character, as its number."""
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 1 << 16 else f"\\U{ord(character):08x}"


def format_comment(text: str) -> str:
    """A comment of one line; what does not print is left out."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    return f"# {shown[:COMMENT_LIMIT]}"


def format_check(check: InferredCheck, indent: int) -> str:
    """The line of a check: an item of a list with its reason, or all of it as a comment."""
    line = f"- {format_value(check.entry)}  {format_comment(check.reason)}"
    return " " * indent + (line if check.is_active else f"# {line}")


def format_scenario(id_: str, fields: dict[str, Any], checks: Sequence[InferredCheck], indent: int) -> Iterator[str]:
    """The lines of a scenario, an item of a list; the checks' lines are the last ones."""
    inner = " " * (indent + 2)
    yield f"{' ' * indent}- id: {format_value(id_)}"
    for name, value in fields.items():
        yield f"{inner}{name}: {format_value(value)}"
    if checks:
        yield f"{inner}assertions:"
    for check in checks:
        yield format_check(check, indent + 4)
