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
    return rank_in_sorted(sorted(value for value in values if value is not None), percent)


def rank_in_sorted(values: Sequence[float], percent: int) -> float | None:
    """Returns the same for values that are known and sorted."""
    return values[_rank_index(percent, len(values))] if values else None


def ranks_in(amounts: array[float], percents: Sequence[int]) -> list[float | None]:
    """Returns the same for several percents of known values, which it may reorder."""
    if len(amounts) <= STRETCH:
        in_order = sorted(amounts)
        return [rank_in_sorted(in_order, percent) for percent in percents]
    starts = range(0, len(amounts), STRETCH)
    for start in starts:
        amounts[start : start + STRETCH] = array("d", sorted(amounts[start : start + STRETCH]))
    values, indexes = memoryview(amounts), [_rank_index(percent, len(amounts)) for percent in percents]
    stretches = merge(*(values[start : start + STRETCH] for start in starts))
    found = {place: value for place, value in enumerate(stretches) if place in indexes}
    return [found[place] for place in indexes]


def _rank_index(percent: int, count: int) -> int:
    return max(-(-percent * count // 100), 1) - 1
