"""Holds back the signals that end this process while something must not be done by halves."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def hold_signals() -> Iterator[None]:
    """Handles signals that end this process after the block, which must be short."""
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread
        return
    received: list[int] = []
    handlers = {number: signal.getsignal(number) for number in ENDING if callable(signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])
