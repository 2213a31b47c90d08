"""Builds keys that are equal for the same tool call: same name and equal arguments."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.builder.raw_message import encode_json
from evalgate.adapters.formats.core.call_arguments import read_arguments

MAX_EXACT_INT = 2**53  # a float beyond it is always whole and may be rounded, so it stays a float
CallKey = tuple[str, str]


def build_recorded_call_key(name: str, arguments: Any) -> CallKey:
    """The key of a call whose arguments may still be JSON text."""
    return build_call_key(name, read_arguments(arguments).value)


def build_call_key(name: str, arguments: Any) -> CallKey:
    """Equal for calls of one tool with equal arguments, in any key order and spelling of numbers."""
    return name, encode_json(_normalize_numbers(arguments))


def _normalize_numbers(value: Any) -> Any:
    """Turns whole floats into integers: 1.0 equals 1."""
    if type(value) is float and value.is_integer():
        return int(value) if abs(value) < MAX_EXACT_INT else value
    if type(value) is dict:
        return {key: _normalize_numbers(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_normalize_numbers(inner) for inner in value]
    return value
