"""Rows for the statistics of suites and of the run, and for the costliest checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.markdown.header_lines import MIN_SCENARIOS
from evalgate.reporting.markdown.view import CostlyAssertionRow, Figure, StatisticsRow
from evalgate.reporting.text import statistics_text, wording
from evalgate.reporting.text.escaping import escape_cell

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc, SummaryDoc
    from evalgate.models.results.results_statistics import CostlyAssertionDoc, StatisticsDoc

MAX_NAME = 120


class NamedStatistics(NamedTuple):
    """The statistics of a suite, or of the whole run with None as name."""

    name: str | None
    statistics: StatisticsDoc


def list_statistics(document: ResultsDoc) -> list[NamedStatistics]:
    """Lists statistics, of the run first if it has several suites; earlier documents have none."""
    found = [
        NamedStatistics(suite["suite"], figures)
        for suite in document["suites"]
        if (figures := suite.get("figures")) and figures["scenarios"]
    ]
    run_statistics = document.get("figures")
    return [NamedStatistics(None, run_statistics), *found] if len(found) > 1 and run_statistics else found


def build_statistics_row(entry: NamedStatistics) -> StatisticsRow:
    """Builds the row of a suite, or of the whole run."""
    figures, delta = entry.statistics, entry.statistics["delta"]
    return StatisticsRow(
        name="All suites" if entry.name is None else escape_cell(entry.name, MAX_NAME),
        trials=_format_trials(figures),
        pass_rate=statistics_text.pass_rate(figures),
        pass_rate_delta=statistics_text.pass_rate_delta(delta),
        tries=statistics_text.tries(figures),
        score=statistics_text.score(figures),
        score_delta=statistics_text.score_delta(delta),
        cost=statistics_text.cost(figures),
        cost_delta=statistics_text.cost_delta(delta),
        tokens=statistics_text.tokens(figures),
        tokens_delta=statistics_text.tokens_delta(delta),
        latency=statistics_text.latency(figures),
        latency_delta=statistics_text.latency_delta(delta),
    )


def _format_trials(figures: StatisticsDoc) -> str:
    unmeasured = figures.get("not_measured", 0)
    return f"{figures['trials']:,}{f' ({unmeasured:,} not measured)' if unmeasured else ''}"


def list_costly_checks(document: ResultsDoc) -> list[CostlyAssertionDoc]:
    """Lists the checks that lost the run the most weight."""
    figures = document.get("figures")
    return figures["lost_checks"] if figures else []


def build_check_row(check: CostlyAssertionDoc, *, many: bool) -> CostlyAssertionRow:
    """Builds the row of a check; `many` suites add the suite's name."""
    name = escape_cell(check["name"], MAX_NAME)
    return CostlyAssertionRow(
        name=f"{escape_cell(check['suite'], MAX_NAME)} {name}" if many else name,
        is_required=check["required"],
        failed=check["failed"],
        scenarios=check["scenarios"],
        weight_lost=f"{check['weight_lost']:.3g}",
    )


def build_figures(document: ResultsDoc) -> tuple[Figure, ...]:
    """Builds score, pass rate, cost, latency, tokens, checks and outages; empty if nothing was evaluated."""
    current = document["summary"]
    if current is None or not current["scenarios"]:
        return ()
    baseline = _find_comparable_summary(document, current)
    score_delta = _subtract(baseline["score"] if baseline else None, current["score"])
    return (
        Figure("Score", wording.score(current["score"]), wording.points(score_delta)),
        _build_pass_rate(document, baseline, current),
        *_build_tries(document),
        Figure("Cost", wording.cost(current), wording.relative(baseline and baseline["cost_usd"], current["cost_usd"])),
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
        *([Figure("Not measured", unmeasured, "")] if (unmeasured := wording.unmeasured(current)) else []),
    )


def _build_pass_rate(document: ResultsDoc, baseline: SummaryDoc | None, current: SummaryDoc) -> Figure:
    """Builds the pass rate; intervals of it and its change only with enough scenarios to be meaningful."""
    statistics = document.get("figures")
    if not statistics or statistics["scenarios"] < MIN_SCENARIOS:
        return Figure("Pass rate", wording.percent(current["pass_rate"]), _format_baseline(baseline, current))
    return Figure(
        "Pass rate", statistics_text.pass_rate(statistics), statistics_text.pass_rate_delta(statistics["delta"])
    )


def _build_tries(document: ResultsDoc) -> list[Figure]:
    statistics = document.get("figures")
    text = statistics_text.tries(statistics) if statistics else ""
    return [Figure("Repeated trials", text, "")] if text else []


def _find_comparable_summary(document: ResultsDoc, current: SummaryDoc) -> SummaryDoc | None:
    """Finds the baseline's summary; None if it covers or measured other scenarios, as sums then don't compare."""
    baseline = document["baseline"]
    summary = baseline["summary"] if baseline else None
    is_comparable = (
        summary is not None
        and summary["scenarios"] == current["scenarios"]
        and not current["new"] + current["removed"]
        and not any(each.get("not_measured") for each in (summary, current))
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
