"""Rows for the statistics of suites and of the run, and for the costliest checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.markdown.view import CostlyAssertionRow, SumRow
from evalgate.reporting.text import statistics_text
from evalgate.reporting.text.escaping import cell

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_statistics import FiguresDoc, LostCheckDoc

NAME = 120


class Sums(NamedTuple):
    """The statistics of a suite, or of the whole run with None as name."""

    name: str | None
    figures: FiguresDoc


def sums_in(document: ResultsDoc) -> list[Sums]:
    """Lists statistics, of the run first if it has several suites; earlier documents have none."""
    found = [
        Sums(suite["suite"], figures)
        for suite in document["suites"]
        if (figures := suite.get("figures")) and figures["scenarios"]
    ]
    whole = document.get("figures")
    return [Sums(None, whole), *found] if len(found) > 1 and whole else found


def sum_row(found: Sums) -> SumRow:
    """Builds the row of a suite, or of the whole run."""
    figures, delta = found.figures, found.figures["delta"]
    return SumRow(
        name="All suites" if found.name is None else cell(found.name, NAME),
        trials=f"{figures['trials']:,}",
        pass_rate=statistics_text.pass_rate(figures),
        pass_rate_delta=statistics_text.pass_rate_move(delta),
        tries=statistics_text.tries(figures),
        score=statistics_text.score(figures),
        score_delta=statistics_text.score_move(delta),
        cost=statistics_text.cost(figures),
        cost_delta=statistics_text.cost_move(delta),
        tokens=statistics_text.tokens(figures),
        tokens_delta=statistics_text.tokens_move(delta),
        latency=statistics_text.latency(figures),
        latency_delta=statistics_text.latency_move(delta),
    )


def lost_checks_in(document: ResultsDoc) -> list[LostCheckDoc]:
    """Lists the checks that lost the run the most weight."""
    figures = document.get("figures")
    return figures["lost_checks"] if figures else []


def lost_check_row(check: LostCheckDoc, *, many: bool) -> CostlyAssertionRow:
    """Builds the row of a check; `many` suites add the suite's name."""
    name = cell(check["name"], NAME)
    return CostlyAssertionRow(
        name=f"{cell(check['suite'], NAME)} {name}" if many else name,
        is_required=check["required"],
        failed=check["failed"],
        scenarios=check["scenarios"],
        weight_lost=f"{check['weight_lost']:.3g}",
    )
