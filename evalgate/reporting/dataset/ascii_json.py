"""JSON in ASCII, so that no text in it holds a raw line break or a terminal control."""

from __future__ import annotations

import json
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_DELETE = ("\x7f", "\\u007f")  # the only control character that JSON leaves raw


def encoded(value: Any) -> str:
    """Encodes a value without blanks."""
    return _encode(value).replace(*_DELETE)


def ascii_line(value: Any) -> bytes:
    """Encodes a value as one line."""
    return f"{encoded(value)}\n".encode("ascii")


def ascii_page(value: Any) -> bytes:
    """Encodes a value over several indented lines."""
    return f"{json.dumps(value, indent=2, allow_nan=False)}\n".replace(*_DELETE).encode("ascii")
