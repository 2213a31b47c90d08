"""Warnings as people read them: the same remark about many places is told once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import WarningDoc


class GroupedWarning(NamedTuple):
    """A message, the first place it is about (or None), and how many places more."""

    message: str
    where: str | None
    more: int

    @property
    def others(self) -> str:
        """` and 3 more places`, or nothing."""
        if not self.more:
            return ""
        return f" and {self.more:,} more place{'s' if self.more > 1 else ''}"


def group_warnings(warnings: Sequence[WarningDoc]) -> list[GroupedWarning]:
    """One remark a message, in the order of their first places."""
    places: dict[tuple[str, str], list[str | None]] = {}
    for warning in warnings:
        places.setdefault((warning["code"], warning["message"]), []).append(warning["where"])
    return [GroupedWarning(message, where[0], len(where) - 1) for (_, message), where in places.items()]
