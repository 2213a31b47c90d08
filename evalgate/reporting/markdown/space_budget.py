"""Room in a comment, shared out by severity: each group has its share, the rest goes to the worst first."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from evalgate.records import dataclass, field
from evalgate.reporting.markdown.view import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

S = TypeVar("S")
T = TypeVar("T")
FRAME = 60
"""Characters that a template puts around a row, at most."""


@dataclass(slots=True)
class Group(Generic[S, T]):
    """Candidates in order of importance and how to tell one; `share` of the room is kept for them."""

    candidates: Sequence[S]
    tell: Callable[[S], T]
    share: float
    most: int
    told: list[T] = field(default_factory=list)
    _pending: T | None = None

    def fill(self, room: float) -> float:
        """Tells candidates until the room is used or none is left; returns the room that remains."""
        while len(self.told) < min(self.most, len(self.candidates)):
            row = self._pending if self._pending is not None else self.tell(self.candidates[len(self.told)])
            cost = weight(row) + FRAME
            if cost > room:
                self._pending = row
                return room
            self._pending = None
            self.told.append(row)
            room -= cost
        return room

    def rows(self) -> Rows[T]:
        """What was told, and how many there were."""
        return Rows(tuple(self.told), len(self.candidates))


def share_out(groups: Sequence[Group[Any, Any]], room: int) -> None:
    """Fills the groups, most severe first."""
    left = float(room)
    for group in groups:
        share = room * group.share
        left -= share - group.fill(share)
    for group in groups:
        left = group.fill(left)


def weight(value: Any) -> int:
    """Characters of text in a row."""
    if isinstance(value, str):
        return len(value)
    if is_dataclass(value):
        return sum(weight(getattr(value, each.name)) for each in fields(value))
    if isinstance(value, tuple):
        return sum(weight(item) + FRAME for item in value)
    return 0
