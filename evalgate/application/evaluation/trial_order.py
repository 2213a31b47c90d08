"""The order of a scenario's trials, and their numbers."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence


def order_trials(recorded: Sequence[int | None], started: Sequence[str | None]) -> tuple[Sequence[int], Sequence[int]]:
    """The indexes of trials in order, and the number of each.

    Ordered by recorded number if all have a distinct one, else by time if all have one, else as read.

    >>> order_trials([5, 3], [None, None])
    ([1, 0], array('q', [3, 5]))
    >>> order_trials([None, 3], ["2026-01-02", "2026-01-01"])
    ([1, 0], range(0, 2))
    >>> order_trials([3, 5], [None, None])
    (range(0, 2), [3, 5])
    """
    places = range(len(recorded))
    if (numbers := _ascending(recorded)) is not None:
        return places, numbers
    known = array("q", (number for number in recorded if number is not None))
    if len(set(known)) == len(recorded):
        order = sorted(places, key=known.__getitem__)
        return order, array("q", map(known.__getitem__, order))
    if started and all(started):
        moments = [(moment or "").rstrip("Z") for moment in started]  # 00.5Z is after 00Z
        return sorted(places, key=moments.__getitem__), places
    return places, places


def _ascending(recorded: Sequence[int | None]) -> Sequence[int] | None:
    """The numbers unchanged if they are ascending: copying them would be costly for millions."""
    last = -1
    for number in recorded:
        if number is None or number <= last:
            return None
        last = number
    return cast("Sequence[int]", recorded)
