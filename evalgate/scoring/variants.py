"""The variants of a suite side by side: one line of figures each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.means import DIGITS, mean_amount
from evalgate.models.run import Share, VariantFigures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.run import AssertionResult, ScenarioResult, TrialResult

DEMAND = "expected_tool"
JUDGED = frozenset({"passed", "failed"})


def variants_of(scenarios: Iterable[ScenarioResult]) -> list[VariantFigures]:
    """The figures of each variant, in the order in which the scenarios have them; none without variants."""
    by_name: dict[str, list[ScenarioResult]] = {}
    for scenario in scenarios:
        if scenario.variant is not None:
            by_name.setdefault(scenario.variant, []).append(scenario)
    return [_figures(name, found) for name, found in by_name.items()]


def _figures(name: str, scenarios: Sequence[ScenarioResult]) -> VariantFigures:
    trials = [trial for scenario in scenarios for trial in scenario.trials]
    told = [found for trial in trials if (found := _calls(trial)) is not None]
    return VariantFigures(
        name=name,
        scenarios=len(scenarios),
        passed=sum(scenario.verdict == "PASS" for scenario in scenarios),
        trials=len(trials),
        correct_tool=Share(sum(tool for tool, _ in told), len(told)),
        correct_count=Share(sum(count for _, count in told), len(told)),
        input_tokens=_mean([trial.input_tokens for trial in trials]),
        output_tokens=_mean([trial.output_tokens for trial in trials]),
        total_tokens=_mean([trial.total_tokens for trial in trials]),
        cost_usd=_mean([trial.cost_usd for trial in trials]),
        latency_seconds=_mean([trial.latency_seconds for trial in trials]),
    )


def _mean(amounts: Sequence[float | None]) -> float | None:
    mean = mean_amount(amounts)
    return None if mean is None else round(mean, DIGITS)


def _calls(trial: TrialResult) -> tuple[bool, bool] | None:
    """Whether a trial called the right tool, and often enough; None where no check of it could tell."""
    found = [each for each in trial.assertions if each.type == DEMAND]
    if not found or any(each.outcome not in JUDGED for each in found):
        return None
    return all(map(_right_tool, found)), all(each.outcome == "passed" for each in found)


def _right_tool(found: AssertionResult) -> bool:
    """A failed demand still called the right tool if there was a call, only fewer than expected."""
    if found.outcome == "passed":
        return True
    evidence = found.evidence or {}
    calls, expected = evidence.get("calls"), evidence.get("expected_calls")
    return isinstance(calls, int) and isinstance(expected, int) and 0 < calls < expected
