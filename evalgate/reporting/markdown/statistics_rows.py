"""Rows for the statistics of suites and of the run, and for the costliest checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.markdown.view import CostlyAssertionRow, StatisticsRow
from evalgate.reporting.text import statistics_text
from evalgate.reporting.text.escaping import escape_cell

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc
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
        trials=f"{figures['trials']:,}",
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
