"""Texts that may be too large for memory, and where bytes are put meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class ChunkedText:
    """A text that is generated in chunks, again on each iteration."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], Iterator[bytes]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[bytes]:
        return self._make()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChunkedText) and join_chunks(self) == join_chunks(other)

    def __hash__(self) -> int:
        return id(self)


Content = bytes | ChunkedText


def iter_chunks(content: Content) -> Iterator[bytes]:
    """Iterates over the text in chunks."""
    return iter((content,)) if isinstance(content, bytes) else iter(content)


def join_chunks(content: Content) -> bytes:
    """The whole text."""
    return content if isinstance(content, bytes) else b"".join(content)


class Spool(Protocol):
    """Append-only storage of bytes with random access."""

    def put(self, content: bytes) -> int:
        """Appends the bytes and returns their start."""

    def get(self, start: int, size: int) -> bytes:
        """Returns `size` bytes from `start`."""
