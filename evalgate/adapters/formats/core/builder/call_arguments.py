"""Parses the arguments of tool calls, and builds keys that are equal for the same call."""

from __future__ import annotations

from typing import Any, NamedTuple

from evalgate.adapters.formats.core import strict_json
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.errors import TraceError


class Arguments(NamedTuple):
    """The value, the text it was recorded as, and the error if that text is not JSON."""

    value: Any
    raw: str | None = None
    error: str | None = None


def read_arguments(recorded: Any, levels_above: int = 0) -> Arguments:
    """Never fails on text: invalid JSON is kept as text with an error; empty text means no arguments.

    Raises TraceError only for values nested too deep; `levels_above` levels of JSON enclose them.
    """
    if type(recorded) is not str:
        strict_json.require_shallow(recorded, levels_above)
        return Arguments(recorded, None, None)
    if not recorded.strip():
        return Arguments({}, recorded)
    try:
        value = strict_json.decode(recorded.encode())
        strict_json.require_shallow(value)
    except TraceError as error:
        return Arguments(None, recorded, str(error))
    return Arguments(value, recorded)


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
