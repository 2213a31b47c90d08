"""Turns weakenings into reasons of the decision, one for each place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.comparison.decision import Reason
from evalgate.scoring.weakening_text import describe_weakening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.comparison.weakening import Weakening, WeakeningList


def reasons_from_weakenings(weakenings: WeakeningList) -> Iterator[Reason]:
    """One reason for each place with a weakening that fails the gate there."""
    places: dict[tuple[str | None, str | None, str | None], list[Weakening]] = {}
    for each in weakenings.listed:
        if each.suite in weakenings.failing:
            places.setdefault((each.suite, each.scenario, each.variant), []).append(each)
    for place, (first, *others) in places.items():
        more = f" (and {len(others)} more)" if others else ""
        yield Reason("weakened", f"{describe_weakening(first)}{more}", *place)
