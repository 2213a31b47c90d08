"""JSON in ASCII: no reader finds a line break, or a control of a terminal, where none is."""

from __future__ import annotations

import json
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_DELETE = ("\x7f", "\\u007f")  # the one control that JSON leaves raw


def encoded(value: Any) -> str:
    """The value without blanks."""
    return _encode(value).replace(*_DELETE)


def ascii_line(value: Any) -> bytes:
    """The value on a line of its own."""
    return f"{encoded(value)}\n".encode("ascii")


def ascii_page(value: Any) -> bytes:
    """The value as people read it."""
    return f"{json.dumps(value, indent=2, allow_nan=False)}\n".replace(*_DELETE).encode("ascii")
