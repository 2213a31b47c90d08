"""Values as a person writes them in a suite: YAML in flow style, on one line."""

from __future__ import annotations

import json
import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$./-]*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
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
