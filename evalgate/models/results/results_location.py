"""Places in files, as `results.json` tells them."""

from __future__ import annotations

from typing import TypedDict


class LocationDoc(TypedDict):
    """A place in a suite file."""

    file: str
    line: int | None
    column: int | None
