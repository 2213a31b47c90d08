"""Groups warnings: one message that occurs at many places is shown once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import WarningDoc


class GroupedWarning(NamedTuple):
    """A message, the first place where it occurs (or None), and the number of other places."""

    message: str
    where: str | None
    more: int

    @property
    def more_places(self) -> str:
        """The text ` and 3 more places`, or an empty string."""
        if not self.more:
            return ""
        return f" and {self.more:,} more place{'s' if self.more > 1 else ''}"


def group_warnings(warnings: Sequence[WarningDoc]) -> list[GroupedWarning]:
    """Groups warnings by code and message, in the order in which each first occurs."""
    places: dict[tuple[str, str], list[str | None]] = {}
    for warning in warnings:
        places.setdefault((warning["code"], warning["message"]), []).append(warning["where"])
    return [GroupedWarning(message, where[0], len(where) - 1) for (_, message), where in places.items()]
