"""Locations in files, in `results.json`."""

from __future__ import annotations

from typing import TypedDict


class LocationDoc(TypedDict):
    """A location in a suite file."""

    file: str
    line: int | None
    column: int | None
