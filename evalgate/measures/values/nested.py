"""What lies deep in a JSON value; apart from the rest, for who reads one value needs no more."""

from __future__ import annotations

from typing import Any


def dig(value: Any, *keys: str) -> Any:
    """What lies below the keys, None where there is no such thing."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
