"""Encodes a value as JSON in parts, for processes with limited memory.

orjson allocates eight bytes per character of a text and a quarter of a kilobyte per item of a list before
it starts. Encoding in parts gives the same bytes.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOW_MEMORY = 600_000_000
"""Bytes; with more of them, the fast methods are safe for values of any size that a record may hold."""


@cache
def get_memory_limit() -> float:
    """Returns the limit in bytes of address space, infinite if it is not limited."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return float("inf")
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return float("inf") if most == resource.RLIM_INFINITY else most


def is_memory_low() -> bool:
    """Returns whether large values must be handled in parts."""
    return get_memory_limit() < LOW_MEMORY


PART = 20_000
"""Characters that are encoded at once."""
BATCH = 1_000
"""Items of a list that are measured and encoded together."""


def encode_json(value: Any) -> bytes:
    """Returns what `orjson.dumps` does, in parts if this process has little memory: orjson would crash it."""
    return encode_in_parts(value) if is_memory_low() else orjson.dumps(value)


def encode_in_parts(value: Any) -> bytes:
    """Returns the same bytes as `orjson.dumps`."""
    encoded = bytearray()
    for part in _encode_parts(value):
        encoded += part
    return bytes(encoded)


def _encode_parts(value: Any) -> Iterator[bytes]:
    if _count_up_to(value, PART) < PART:
        yield orjson.dumps(value)
    elif isinstance(value, str):
        yield b'"'
        for at in range(0, len(value), PART):
            yield orjson.dumps(value[at : at + PART])[1:-1]
        yield b'"'
    elif isinstance(value, dict):
        yield from _encode_mapping(value)
    else:
        yield from _encode_list(value)


def _encode_mapping(value: dict[str, Any]) -> Iterator[bytes]:
    separator = b"{"
    for key, each in value.items():
        yield separator
        yield from _encode_parts(key)
        yield b":"
        yield from _encode_parts(each)
        separator = b","
    yield b"}"


def _encode_list(items: Sequence[Any]) -> Iterator[bytes]:
    separator = b"["
    for at in range(0, len(items), BATCH):
        batch = items[at : at + BATCH]
        if _count_up_to(batch, PART) < PART:
            yield separator + orjson.dumps(batch)[1:-1]
        else:
            for number, each in enumerate(batch):
                yield b"," if number else separator
                yield from _encode_parts(each)
        separator = b","
    yield b"]"


def _count_up_to(value: Any, limit: int) -> int:
    size, waiting = 0, [value]
    while waiting and size < limit:
        each = waiting.pop()
        size += 1
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, dict):
            size += sum(map(len, islice(each, limit)))
            waiting += islice(each.values(), limit)
        elif isinstance(each, list | tuple):
            waiting += islice(each, limit)
    return size if not waiting else limit
