"""Divides the space of a comment: each group has a share, unused space goes to the most severe."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from evalgate.records import dataclass, field
from evalgate.reporting.markdown.view import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

S = TypeVar("S")
T = TypeVar("T")
ROW_OVERHEAD = 60
"""Most characters that a template puts around a row."""


@dataclass(slots=True)
class Group(Generic[S, T]):
    """Candidates by importance, and how to render one; `share` is their fraction of the space."""

    candidates: Sequence[S]
    render: Callable[[S], T]
    share: float
    max_rows: int
    shown: list[T] = field(default_factory=list)
    _pending: T | None = None

    def fill(self, room: float) -> float:
        """Renders candidates until the space is used or none is left; returns the remaining space."""
        while len(self.shown) < min(self.max_rows, len(self.candidates)):
            row = (
                self._pending if self._pending is not None else self.render(self.candidates[len(self.shown)])
            )
            cost = count_chars(row) + ROW_OVERHEAD
            if cost > room:
                self._pending = row
                return room
            self._pending = None
            self.shown.append(row)
            room -= cost
        return room

    def build_rows(self) -> Rows[T]:
        """Returns the rendered rows and the number of all candidates."""
        return Rows(tuple(self.shown), len(self.candidates))


def fill_groups(groups: Sequence[Group[Any, Any]], room: int) -> None:
    """Fills each group up to its share, then all with the unused space, most severe first."""
    remaining = float(room)
    for group in groups:
        share = room * group.share
        remaining -= share - group.fill(share)
    for group in groups:
        remaining = group.fill(remaining)


def count_chars(value: Any) -> int:
    """Counts the characters of text in a row."""
    if isinstance(value, str):
        return len(value)
    if is_dataclass(value):
        return sum(count_chars(getattr(value, each.name)) for each in fields(value))
    if isinstance(value, tuple):
        return sum(count_chars(item) + ROW_OVERHEAD for item in value)
    return 0
