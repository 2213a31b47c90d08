"""What every front door asks of its process."""

from __future__ import annotations

import gc
import os
from pathlib import Path

from evalgate.adapters.sandbox.current_file import CurrentFileNote

COLLECT_EVERY = 300_000
"""Objects between looks for cycles, more than loading makes. Results are many and hold none."""

FRAMES = 6

reading = CurrentFileNote()
"""What this process reads, for one that outlives it."""


def places_of(bug: BaseException) -> list[str]:
    """Where a bug happened, innermost last, and nothing that was read."""
    import traceback

    frames = traceback.extract_tb(bug.__traceback__)[-FRAMES:]
    return [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]


def settle_python() -> None:
    """What every front door asks of the process first: few pauses, and no code of strangers in pydantic."""
    gc.set_threshold(COLLECT_EVERY)
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
