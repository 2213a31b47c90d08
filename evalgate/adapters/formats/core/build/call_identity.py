"""When two recordings of a tool call are the same: the name, and arguments that are equal values."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.adapters.formats.core.build.raw_message import written

EXACT = 2**53  # floats beyond it are whole numbers that nobody meant exactly
Key = tuple[str, str]


def key_as_recorded(name: str, arguments: Any) -> Key:
    """The key of a call whose arguments may still be JSON text."""
    return key_of(name, read_arguments(arguments).value)


def key_of(name: str, arguments: Any) -> Key:
    """Equal for calls of one tool with equal arguments, whatever their order and spelling."""
    return name, written(_plain(arguments))


def _plain(value: Any) -> Any:
    """1.0 is 1, whoever wrote it."""
    if type(value) is float and value.is_integer():
        return int(value) if abs(value) < EXACT else value
    if type(value) is dict:
        return {key: _plain(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_plain(inner) for inner in value]
    return value
