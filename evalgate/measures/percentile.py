"""Percentiles of recorded amounts: always one of the values, never a figure between two."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def nearest_rank(values: Iterable[float | None], percent: int) -> float | None:
    """The least known value with at least `percent` (1 to 100) of the known values at or below it.

    Unknown values are left out; None where nothing is known.
    """
    return rank_in(sorted(value for value in values if value is not None), percent)


def rank_in(known: Sequence[float], percent: int) -> float | None:
    """The same of values that are known and sorted."""
    if not known:
        return None
    rank = -(-percent * len(known) // 100)
    return known[max(rank, 1) - 1]
