"""Encodes a value as JSON in parts, for processes with limited memory.

orjson allocates eight bytes per character of a text and a quarter of a kilobyte per item of a list before
it starts. Encoding in parts gives the same bytes.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

PART = 20_000
"""Characters that are encoded at once."""
SOME = 1_000
"""Items of a list that are measured and encoded together."""


def in_parts(value: Any) -> bytes:
    """Returns the same bytes as `orjson.dumps`."""
    written = bytearray()
    for part in _parts(value):
        written += part
    return bytes(written)


def _parts(value: Any) -> Iterator[bytes]:
    if _size(value, PART) < PART:
        yield orjson.dumps(value)
    elif isinstance(value, str):
        yield b'"'
        for at in range(0, len(value), PART):
            yield orjson.dumps(value[at : at + PART])[1:-1]
        yield b'"'
    elif isinstance(value, dict):
        yield from _of_mapping(value)
    else:
        yield from _of_list(value)


def _of_mapping(value: dict[str, Any]) -> Iterator[bytes]:
    before = b"{"
    for key, each in value.items():
        yield before
        yield from _parts(key)
        yield b":"
        yield from _parts(each)
        before = b","
    yield b"}"


def _of_list(items: list[Any]) -> Iterator[bytes]:
    before = b"["
    for at in range(0, len(items), SOME):
        some = items[at : at + SOME]
        if _size(some, PART) < PART:
            yield before + orjson.dumps(some)[1:-1]
        else:
            for number, each in enumerate(some):
                yield b"," if number else before
                yield from _parts(each)
        before = b","
    yield b"]"


def _size(value: Any, most: int) -> int:
    """Counts characters and items of a value, up to `limit`."""
    size, waiting = 0, [value]
    while waiting and size < most:
        each = waiting.pop()
        size += 1
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, dict):
            size += sum(map(len, islice(each, most)))
            waiting += islice(each.values(), most)
        elif isinstance(each, list):
            waiting += islice(each, most)
    return size if not waiting else most
