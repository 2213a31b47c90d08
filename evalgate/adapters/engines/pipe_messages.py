"""Messages through a pipe: their length, then their bytes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH = 8
CHUNK = 1 << 17
"""Bytes of a message that are taken in at once."""


def send(pipe: int, message: bytes) -> None:
    """Writes one message, waiting for room."""
    rest = memoryview(len(message).to_bytes(LENGTH, "big") + message)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def receive(pipe: int) -> bytes | None:
    """One message, waited for; None where the other side has gone."""
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
    """Messages of one pipe as they come, without waiting for any."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._found = bytearray()
        self._part = memoryview(bytearray(CHUNK))  # one for all: to be given a new one each time takes longer
        self.is_closed = False
        os.set_blocking(pipe, False)

    def read(self) -> Iterator[bytes]:
        """What is complete by now."""
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
