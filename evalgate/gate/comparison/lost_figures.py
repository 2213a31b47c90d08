"""Finds figures that the baseline records of a scenario and this run does not: a limit on them would vanish too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.comparison.comparison import NO_MODEL, NO_PRICE, NO_USAGE, LostFigure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.comparison.comparison import ScenarioOutcome

COST, TOKENS, LATENCY = "cost", "tokens", "latency"
RECORDED = "recorded"
"""How a cost was obtained that no price table computed."""
COMPUTED = "the others are computed from tokens"


def find_lost_figures(baseline: ScenarioOutcome, current: ScenarioOutcome) -> Sequence[LostFigure]:
    """The figures that some trial of the baseline has and some of this run lack; runs without a good end don't count.

    A cost that only a price of our own table lost is unknown on both sides, so it is none of them.
    """
    return [found for found in _iter_lost(baseline, current) if found.missing]


def _iter_lost(baseline: ScenarioOutcome, current: ScenarioOutcome) -> Iterator[LostFigure]:
    ended_well = [each.ended_well for each in current.recorded]
    sides = zip(_list_figures(baseline), _list_figures(current), strict=True)
    for (name, before), (_, now) in sides:
        recorded = _list_recorded(baseline, current) if name == COST else None
        if any(before):
            missing = sum(counts and not is_known for counts, is_known in zip(ended_well, recorded or now, strict=True))
            why = _explain_cost(current) if name == COST else None
            yield LostFigure(name, missing, sum(ended_well), why if recorded is None else COMPUTED)


def _list_recorded(baseline: ScenarioOutcome, current: ScenarioOutcome) -> list[bool] | None:
    """Which trials record their costs, that are computed in others; None unless some do, and fewer than before."""
    before, now = ([origin == RECORDED for origin in outcome.cost_origins or ()] for outcome in (baseline, current))
    has_fewer = any(before) and any(now) and sum(now) * len(before) < sum(before) * len(now)
    return now if has_fewer else None


def _list_figures(outcome: ScenarioOutcome) -> list[tuple[str, list[bool]]]:
    """Each figure, and whether each trial has it: no run takes no tokens or no time, as one of no costs may be free."""
    return [
        (COST, [each is not None for each in outcome.costs]),
        (TOKENS, [bool(each) for each in outcome.tokens]),
        (LATENCY, [bool(each) for each in outcome.latencies]),
        ("model", [each.model for each in outcome.recorded]),
        ("tool definitions", [each.tools for each in outcome.recorded]),
    ]


def _explain_cost(current: ScenarioOutcome) -> str:
    """Why a cost is unknown: without tokens there is nothing to price, and without a model no price."""
    figures = zip(current.costs, current.tokens, strict=True)
    if not any(cost is None and tokens is not None for cost, tokens in figures):
        return NO_USAGE
    return NO_PRICE if any(each.model for each in current.recorded) else NO_MODEL
