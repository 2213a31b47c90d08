"""Percentiles of recorded amounts: always one of the values, never a figure between two."""

from __future__ import annotations

from array import array
from heapq import merge
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STRETCH = 1 << 18
"""Values that are sorted at once: as a list they take four times what they take in an array."""


def nearest_rank(values: Iterable[float | None], percent: int) -> float | None:
    """The least known value with at least `percent` (1 to 100) of the known values at or below it.

    Unknown values are left out; None where nothing is known.
    """
    return rank_in(sorted(value for value in values if value is not None), percent)


def rank_in(known: Sequence[float], percent: int) -> float | None:
    """The same of values that are known and sorted."""
    return known[_place(percent, len(known))] if known else None


def ranks_among(known: array[float], percents: Sequence[int]) -> list[float | None]:
    """The same for several percents of known values, which may stand in another order afterwards."""
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
