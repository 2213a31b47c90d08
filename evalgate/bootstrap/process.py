"""Process setup that every entry point of the program needs."""

from __future__ import annotations

import gc
import os
from pathlib import Path

from evalgate.adapters.sandbox.current_file import CurrentFileNote

COLLECT_EVERY = 300_000
"""Allocations between garbage collections, more than imports make; results hold no cycles."""

FRAMES = 6

current_file = CurrentFileNote()
"""The file this process reads, noted for its parent."""


def describe_frames(bug: BaseException) -> list[str]:
    """The innermost frames of a traceback, innermost last, without any data that was read."""
    import traceback

    frames = traceback.extract_tb(bug.__traceback__)[-FRAMES:]
    return [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]


def configure_python() -> None:
    """Configures Python first: fewer garbage collections, and no third-party plugins in pydantic."""
    gc.set_threshold(COLLECT_EVERY)
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
