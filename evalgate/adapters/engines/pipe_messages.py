"""Sends messages through a pipe: their length, then their bytes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH = 8
CHUNK = 1 << 17
"""Bytes read at once."""


def send(pipe: int, message: bytes) -> None:
    """Writes one message; blocks while the pipe is full."""
    rest = memoryview(len(message).to_bytes(LENGTH, "big") + message)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def receive(pipe: int) -> bytes | None:
    """Waits for one message; None if the other end is closed."""
    head = _exactly(pipe, LENGTH)
    return None if head is None else _exactly(pipe, int.from_bytes(head, "big"))


def _exactly(pipe: int, size: int) -> bytes | None:
    found = bytearray()
    while len(found) < size:
        part = os.read(pipe, min(CHUNK, size - len(found)))
        if not part:
            return None
        found += part
    return bytes(found)


class Inbox:
    """Reads the messages of one pipe without blocking."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._found = bytearray()
        self._part = memoryview(bytearray(CHUNK))  # reused: allocating one per read is slower
        self.is_closed = False
        os.set_blocking(pipe, False)

    def read(self) -> Iterator[bytes]:
        """Yields the messages that are complete."""
        while not self.is_closed:
            try:
                size = os.readv(self._pipe, [self._part])
            except BlockingIOError:
                break
            self.is_closed = not size
            self._found += self._part[:size]
        while len(self._found) >= LENGTH:
            end = LENGTH + int.from_bytes(self._found[:LENGTH], "big")
            if len(self._found) < end:
                break
            message = bytes(self._found[LENGTH:end])
            del self._found[:end]
            yield message
