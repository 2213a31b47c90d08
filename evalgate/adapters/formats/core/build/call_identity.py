"""Builds keys that are equal for the same tool call: same name and equal arguments."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.adapters.formats.core.build.raw_message import written

EXACT = 2**53  # a float beyond it is always whole and may be rounded, so it stays a float
Key = tuple[str, str]


def key_as_recorded(name: str, arguments: Any) -> Key:
    """The key of a call whose arguments may still be JSON text."""
    return key_of(name, read_arguments(arguments).value)


def key_of(name: str, arguments: Any) -> Key:
    """Equal for calls of one tool with equal arguments, in any key order and spelling of numbers."""
    return name, written(_plain(arguments))


def _plain(value: Any) -> Any:
    """Turns whole floats into integers: 1.0 equals 1."""
    if type(value) is float and value.is_integer():
        return int(value) if abs(value) < EXACT else value
    if type(value) is dict:
        return {key: _plain(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_plain(inner) for inner in value]
    return value
