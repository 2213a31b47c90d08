"""JSON in ASCII, so that no text in it holds a raw line break or a terminal control."""

from __future__ import annotations

import json
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_DELETE_ESCAPE = ("\x7f", "\\u007f")  # the only control character that JSON leaves raw


def encode_json(value: Any) -> str:
    """Encodes a value without blanks."""
    return _encode(value).replace(*_DELETE_ESCAPE)


def encode_json_line(value: Any) -> bytes:
    """Encodes a value as one line."""
    return f"{encode_json(value)}\n".encode("ascii")


def encode_json_page(value: Any) -> bytes:
    """Encodes a value over several indented lines."""
    return f"{json.dumps(value, indent=2, allow_nan=False)}\n".replace(*_DELETE_ESCAPE).encode("ascii")
