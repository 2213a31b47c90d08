"""Compares the variants of a suite: one row of numbers each."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from evalgate.measures.numeric.means import DIGITS, mean_amount
from evalgate.models.run.run import Share, VariantStatistics
from evalgate.models.run.trials import get_column, list_measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.run.run import AssertionResult, ScenarioResult, TrialResult

EXPECTED_TOOL = "expected_tool"
JUDGED = frozenset({"passed", "failed"})


def compare_variants(scenarios: Iterable[ScenarioResult]) -> list[VariantStatistics]:
    """One row for each variant, in the order in which the scenarios have them; none without variants."""
    by_name: dict[str, list[ScenarioResult]] = {}
    for scenario in scenarios:
        if scenario.variant is not None:
            by_name.setdefault(scenario.variant, []).append(scenario)
    return [_summarise_variant(name, found) for name, found in by_name.items()]


def _summarise_variant(name: str, scenarios: Sequence[ScenarioResult]) -> VariantStatistics:
    every = [list_measured(scenario.trials) for scenario in scenarios]
    judged_calls = [found for trial in chain.from_iterable(every) if (found := _judge_calls(trial)) is not None]

    def mean(name: str) -> float | None:
        return _mean([amount for trials in every for amount in get_column(trials, name)])

    return VariantStatistics(
        name=name,
        scenarios=len(scenarios),
        passed=sum(scenario.verdict == "PASS" for scenario in scenarios),
        trials=sum(map(len, every)),
        correct_tool=Share(sum(tool for tool, _ in judged_calls), len(judged_calls)),
        correct_count=Share(sum(count for _, count in judged_calls), len(judged_calls)),
        input_tokens=mean("input_tokens"),
        output_tokens=mean("output_tokens"),
        total_tokens=mean("total_tokens"),
        cost_usd=mean("cost_usd"),
        latency_seconds=mean("latency_seconds"),
    )


def _mean(amounts: Sequence[float | None]) -> float | None:
    mean = mean_amount(amounts)
    return None if mean is None else round(mean, DIGITS)


def _judge_calls(trial: TrialResult) -> tuple[bool, bool] | None:
    """Whether a trial called the right tool, and often enough; None if no check of that was evaluated."""
    found = [each for each in trial.assertions if each.type == EXPECTED_TOOL]
    if not found or any(each.outcome not in JUDGED for each in found):
        return None
    return all(map(_is_right_tool, found)), all(each.outcome == "passed" for each in found)


def _is_right_tool(found: AssertionResult) -> bool:
    """Whether the right tool was called; a failed check may only have found fewer calls than expected."""
    if found.outcome == "passed":
        return True
    evidence = found.evidence or {}
    calls, expected = evidence.get("calls"), evidence.get("expected_calls")
    return isinstance(calls, int) and isinstance(expected, int) and 0 < calls < expected
