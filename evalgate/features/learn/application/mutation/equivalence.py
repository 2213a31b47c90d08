"""Changes that are no mistake, because another passing trace of the same scenario shows the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.mutation import Mutation

    Names = Sequence[str]


def is_shown(change: Mutation, called: Names, others: Iterable[Names]) -> bool:
    """Whether one of `others`, the tools that other passing traces called, has what the change would make.

    A dropped call: no more calls of the tool; an added one: as many; a replaced one: both; swapped ones: the other
    order. A call made twice with the same arguments counts always.
    """
    tool, other = change.tool, change.other
    less, more = called.count(tool) - 1, called.count(other) + 1
    if change.operator == "drop_call":
        return any(names.count(tool) <= less for names in others)
    if change.operator == "other_tool":
        return any(names.count(tool) <= less and names.count(other) >= more for names in others)
    if change.operator == "extra_destructive_call":
        return any(names.count(tool) > called.count(tool) for names in others)
    if change.operator == "swap_calls":
        return any(_precedes(other, tool, names) for names in others)
    return False


def _precedes(first: str, second: str, names: Names) -> bool:
    """Whether a call of `first` comes before one of `second`."""
    return first in names and second in names[names.index(first) :]
