"""JSON in ASCII: no reader finds a line break, or a control of a terminal, where none is."""

from __future__ import annotations

import json
from typing import Any

encoded = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


def ascii_line(value: Any) -> bytes:
    """The value on a line of its own."""
    return f"{encoded(value)}\n".encode("ascii")
