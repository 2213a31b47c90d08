"""Reads a nested JSON value; a module without imports, so that it is cheap to import."""

from __future__ import annotations

from typing import Any


def dig(value: Any, *keys: str) -> Any:
    """Returns the value below the keys, None if a key is missing."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
