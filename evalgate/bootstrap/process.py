"""What every front door asks of its process."""

from __future__ import annotations

import gc
import os

COLLECT_EVERY = 300_000
"""Objects between looks for cycles, more than loading makes. Results are many and hold none."""


def settle_python() -> None:
    """What every front door asks of the process first: few pauses, and no code of strangers in pydantic."""
    gc.set_threshold(COLLECT_EVERY)
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
