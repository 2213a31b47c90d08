"""Turns weakenings into reasons of the decision, one for each place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.comparison.decision import Reason
from evalgate.scoring.weakening_text import told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.comparison.weakening import Weakening, Weakenings


def weakened_reasons(weakenings: Weakenings) -> Iterator[Reason]:
    """One reason for each place with a weakening that fails the gate there."""
    places: dict[tuple[str | None, str | None, str | None], list[Weakening]] = {}
    for each in weakenings.told:
        if each.suite in weakenings.failing:
            places.setdefault((each.suite, each.scenario, each.variant), []).append(each)
    for place, (first, *others) in places.items():
        more = f" (and {len(others)} more)" if others else ""
        yield Reason("weakened", f"{told(first)}{more}", *place)
