"""Ranks the assertions that cost a suite most: those to look at first."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.measures.numeric.means import DIGITS
from evalgate.models.run.run_statistics import CostlyAssertion
from evalgate.models.run.trials import count_failed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.run.run import ScenarioResult

MOST_LISTED = 10
"""Assertions that are listed for a suite and for a run."""


class _Tally(Struct):
    weights: Counter[float]
    scenarios: set[int]
    is_required: bool = False


def find_costliest_assertions(suite: str, scenarios: Iterable[ScenarioResult]) -> list[CostlyAssertion]:
    """Assertions of a suite that did not pass somewhere, grouped by name and type, costliest first."""
    found: dict[tuple[str, str], _Tally] = {}
    for index, scenario in enumerate(scenarios):
        for failed, repetitions in count_failed(scenario.trials):
            for each in failed:
                tally = found.setdefault((each.name, each.type), _Tally(Counter(), set()))
                tally.weights[each.weight] += repetitions
                tally.scenarios.add(index)
                tally.is_required |= bool(each.required)
    return sort_by_cost(
        CostlyAssertion(
            *(suite, name, kind, tally.is_required, tally.weights.total(), len(tally.scenarios)),
            round(fsum(tally.weights.elements()), DIGITS),
        )
        for (name, kind), tally in found.items()
    )


def sort_by_cost(checks: Iterable[CostlyAssertion]) -> list[CostlyAssertion]:
    """The costliest assertions: by weight lost, then by how often they failed, then by name."""
    return sorted(checks, key=_cost_sort_key)[:MOST_LISTED]


def _cost_sort_key(check: CostlyAssertion) -> tuple[float, int, str, str, str]:
    return (-check.weight_lost, -check.failed, check.suite, check.name, check.type)
