"""Decodes JSON with the standard library: slower, but fits large records into bounded memory.

The quick parser (orjson) allocates twelve times the size of the text at the start; encoding the value again,
to find duplicate keys, takes a quarter of a kilobyte an item. Both parsers return exactly the same values.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import TYPE_CHECKING, Any, NoReturn

from evalgate.errors import TraceError
from evalgate.measures.memory_limit import get_memory_limit

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE_FACTOR, BOUND_DIVISOR = 90, 4
"""Memory needed as a multiple of the text's size; the divisor of the memory bound one text may use."""
_MAX_DIGITS = 25
_INT_RANGE = range(-(2**63), 2**64)
_LARGE_NUMBERS = re.compile(rb"[0-9]{19}|[eE][+]?[0-9]{3}")
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def can_parse_quickly(size: int) -> bool:
    """Whether memory allows the quick parser for a text of `size` bytes."""
    return size * SIZE_FACTOR * BOUND_DIVISOR < get_memory_limit()


def decode(data: bytes, make_object: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Any:
    """The value of a JSON text; `make_object` builds an object from its pairs.

    Raises TraceError for what only the quick parser refuses, else json.JSONDecodeError.
    """
    numbers: dict[str, Any] = {}
    if _LARGE_NUMBERS.search(data):
        numbers = {"parse_int": _parse_whole_number, "parse_float": _parse_finite_number}
    try:
        value = json.loads(data.decode(), object_pairs_hook=make_object, parse_constant=_refuse_constant, **numbers)
    except UnicodeDecodeError as broken:
        raise TraceError(f"byte {broken.start + 1} is not UTF-8") from None
    except RecursionError:
        raise TraceError("lists and objects are nested too deeply") from None
    if _SURROGATE_ESCAPE.search(data):
        _require_whole_characters(value)
    return value


def is_complete(data: bytes) -> bool:
    """Whether a text is a complete JSON value; keeps none of its objects in memory."""
    try:
        json.loads(data.decode(), object_pairs_hook=_discard_object)
    except (ValueError, RecursionError):
        return False
    return True


def _discard_object(_: object) -> None:
    """Replaces any object by None."""


def _parse_whole_number(digits: str) -> float:
    """An integer; beyond 64 bits the nearest float."""
    if len(digits) < _MAX_DIGITS and (number := int(digits)) in _INT_RANGE:
        return number
    return _parse_finite_number(digits)


def _parse_finite_number(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise TraceError("a number is too large")
    return number


def _refuse_constant(_: str) -> NoReturn:
    raise TraceError("NaN and Infinity are not valid JSON")


def _require_whole_characters(value: Any) -> None:
    """Raises TraceError for an unpaired surrogate in any text or key."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, str) and not each.isascii():
            try:
                each.encode()
            except UnicodeEncodeError:
                raise TraceError("an unpaired surrogate") from None
