"""JSON read slowly and without ado, for a large record where memory is bounded.

The quick parser asks for twelve times a text's size before it begins, and writing a list back, which shows
that no key stands twice, for a quarter of a kilobyte an item. What is read is the same, to the last digit.
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
"""Times its size that a text may take, and which part of the bound it may be."""
_MOST_DIGITS = 25
_WHOLE = range(-(2**63), 2**64)
_LARGE_NUMBERS = re.compile(rb"[0-9]{19}|[eE][+]?[0-9]{3}")
_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")


def has_room(size: int) -> bool:
    """Whether a text of so many bytes may be read the quick way."""
    return size * NEEDED * PART < bound_on_memory()


def read(data: bytes, unique: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Any:
    """The value of a JSON text; `unique` makes an object of its pairs.

    Raises TraceError for what the quick parser refuses and this one would not, else json.JSONDecodeError.
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
    """Whether a text is a whole JSON value, without keeping what is in it."""
    try:
        json.loads(data.decode(), object_pairs_hook=_nothing)
    except (ValueError, RecursionError):
        return False
    return True


def _nothing(_: object) -> None:
    """Stands for any object."""


def _whole(digits: str) -> float:
    """A whole number, beyond 64 bits the nearest that a computer counts with."""
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
    """Raises TraceError for half a surrogate pair in any text."""
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
