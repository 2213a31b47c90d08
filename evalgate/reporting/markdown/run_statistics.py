"""The figures of a whole run, each with its change since the baseline if the two are comparable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.markdown.noise import MIN_SCENARIOS
from evalgate.reporting.markdown.view import Figure
from evalgate.reporting.text import statistics_text, wording

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc, SummaryDoc


def build_figures(document: ResultsDoc) -> tuple[Figure, ...]:
    """Builds score, pass rate, cost, latency, tokens and checks; empty if nothing was evaluated."""
    current = document["summary"]
    if current is None or not current["scenarios"]:
        return ()
    baseline = _find_comparable_summary(document, current)
    score_delta = _subtract(baseline["score"] if baseline else None, current["score"])
    return (
        Figure("Score", wording.score(current["score"]), wording.points(score_delta)),
        _build_pass_rate(document, baseline, current),
        *_build_tries(document),
        Figure(
            "Cost",
            wording.cost(current),
            wording.relative(baseline and baseline["cost_usd"], current["cost_usd"]),
        ),
        Figure(
            "Latency",
            _format_latency(current),
            wording.relative(baseline and baseline["latency_p50_s"], current["latency_p50_s"]),
        ),
        Figure(
            "Tokens",
            wording.count(current["total_tokens"]),
            wording.relative(baseline and baseline["total_tokens"], current["total_tokens"]),
        ),
        *([Figure("Checks", checks, "")] if (checks := wording.checks(current)) else []),
    )


def _build_pass_rate(document: ResultsDoc, baseline: SummaryDoc | None, current: SummaryDoc) -> Figure:
    """Builds the pass rate; intervals of it and its change only with enough scenarios to be meaningful."""
    statistics = document.get("figures")
    if not statistics or statistics["scenarios"] < MIN_SCENARIOS:
        return Figure("Pass rate", wording.percent(current["pass_rate"]), _format_baseline(baseline, current))
    return Figure(
        "Pass rate",
        statistics_text.pass_rate(statistics),
        statistics_text.pass_rate_delta(statistics["delta"]),
    )


def _build_tries(document: ResultsDoc) -> list[Figure]:
    statistics = document.get("figures")
    text = statistics_text.tries(statistics) if statistics else ""
    return [Figure("Tries", text, "")] if text else []


def _find_comparable_summary(document: ResultsDoc, current: SummaryDoc) -> SummaryDoc | None:
    """Finds the baseline's summary; None if it covers other scenarios, as sums then don't compare."""
    baseline = document["baseline"]
    summary = baseline["summary"] if baseline else None
    is_comparable = (
        summary is not None
        and summary["scenarios"] == current["scenarios"]
        and not current["new"] + current["removed"]
    )
    return summary if is_comparable else None


def _format_latency(summary: SummaryDoc) -> str:
    if summary["latency_p50_s"] is None:
        return wording.UNKNOWN
    return f"p50 {wording.seconds(summary['latency_p50_s'])}, p95 {wording.seconds(summary['latency_p95_s'])}"


def _subtract(baseline: float | None, current: float | None) -> float | None:
    return None if baseline is None or current is None else round(current - baseline, 9)


def _format_baseline(baseline: SummaryDoc | None, current: SummaryDoc) -> str:
    if baseline is None or baseline["pass_rate"] is None or baseline["pass_rate"] == current["pass_rate"]:
        return ""
    return f"was {wording.percent(baseline['pass_rate'])}"
