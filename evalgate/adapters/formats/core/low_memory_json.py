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
from evalgate.measures.memory_limit import bound_on_memory

if TYPE_CHECKING:
    from collections.abc import Callable

NEEDED, PART = 90, 4
"""Memory needed as a multiple of the text's size; the divisor of the memory bound one text may use."""
_MOST_DIGITS = 25
_WHOLE = range(-(2**63), 2**64)
_LARGE_NUMBERS = re.compile(rb"[0-9]{19}|[eE][+]?[0-9]{3}")
_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")


def has_room(size: int) -> bool:
    """Whether memory allows the quick parser for a text of `size` bytes."""
    return size * NEEDED * PART < bound_on_memory()


def read(data: bytes, unique: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Any:
    """The value of a JSON text; `make_object` builds an object from its pairs.

    Raises TraceError for what only the quick parser refuses, else json.JSONDecodeError.
    """
    numbers: dict[str, Any] = {}
    if _LARGE_NUMBERS.search(data):
        numbers = {"parse_int": _whole, "parse_float": _finite}
    try:
        value = json.loads(data.decode(), object_pairs_hook=unique, parse_constant=_refused, **numbers)
    except UnicodeDecodeError as broken:
        raise TraceError(f"byte {broken.start + 1} is not UTF-8") from None
    except RecursionError:
        raise TraceError("lists and objects lie too deep") from None
    if _HALVES.search(data):
        _require_whole_characters(value)
    return value


def is_complete(data: bytes) -> bool:
    """Whether a text is a complete JSON value; keeps none of its objects in memory."""
    try:
        json.loads(data.decode(), object_pairs_hook=_nothing)
    except (ValueError, RecursionError):
        return False
    return True


def _nothing(_: object) -> None:
    """Replaces any object by None."""


def _whole(digits: str) -> float:
    """An integer; beyond 64 bits the nearest float."""
    if len(digits) < _MOST_DIGITS and (number := int(digits)) in _WHOLE:
        return number
    return _finite(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise TraceError("a number is too large")
    return number


def _refused(_: str) -> NoReturn:
    raise TraceError("NaN and Infinity are no JSON")


def _require_whole_characters(value: Any) -> None:
    """Raises TraceError for half a surrogate pair in any text or key."""
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
                raise TraceError("half a surrogate pair") from None
