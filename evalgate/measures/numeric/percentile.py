"""Percentiles of recorded amounts: always one of the values, never interpolated."""

from __future__ import annotations

from array import array
from heapq import merge
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STRETCH = 1 << 18
"""Values that are sorted at once: a list takes four times the memory of an array."""


def nearest_rank(values: Iterable[float | None], percent: int) -> float | None:
    """Returns the least value with at least `percent` (1 to 100) of the known values at or below it.

    Unknown values are left out; None if all are unknown.
    """
    return rank_in(sorted(value for value in values if value is not None), percent)


def rank_in(known: Sequence[float], percent: int) -> float | None:
    """Returns the same for values that are known and sorted."""
    return known[_place(percent, len(known))] if known else None


def ranks_among(known: array[float], percents: Sequence[int]) -> list[float | None]:
    """Returns the same for several percents of known values, which it may reorder."""
    if len(known) <= STRETCH:
        in_order = sorted(known)
        return [rank_in(in_order, percent) for percent in percents]
    starts = range(0, len(known), STRETCH)
    for start in starts:
        known[start : start + STRETCH] = array("d", sorted(known[start : start + STRETCH]))
    values, places = memoryview(known), [_place(percent, len(known)) for percent in percents]
    stretches = merge(*(values[start : start + STRETCH] for start in starts))
    found = {place: value for place, value in enumerate(stretches) if place in places}
    return [found[place] for place in places]


def _place(percent: int, count: int) -> int:
    return max(-(-percent * count // 100), 1) - 1
