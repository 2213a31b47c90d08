"""Finds objects of a JSON text in which a name stands twice: a decoder keeps one of the values and hides the other."""

from __future__ import annotations

import json
from typing import Any

import orjson


def has_repeated_names(data: bytes, value: Any) -> bool:
    """Whether a JSON text, whose value is given, has an object with a name that stands in it twice.

    Each name has a colon: where the value has as many colons as its text, none was dropped.
    """
    try:
        written = orjson.dumps(value)
    except TypeError:  # half characters, which orjson does not write
        written = json.dumps(value).encode()
    if data.count(b":") == written.count(b":") and b"\\u003" not in data:
        return False
    found: list[bool] = []
    json.loads(data, object_pairs_hook=lambda pairs: found.append(len(dict(pairs)) < len(pairs)))
    return any(found)
