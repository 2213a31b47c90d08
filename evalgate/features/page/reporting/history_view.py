"""The last runs of a branch as a line and a table, if a store kept them; what people ruled on scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.features.page.reporting.cells import build_cell
from evalgate.features.page.reporting.page_view import Fact, HistoryRow, PastRunsView
from evalgate.reporting.text import ruling_lines, wording
from evalgate.reporting.text.escaping import clean_page_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.results.results_sections import PastRunDoc

MIN_RUNS, MAX_RUNS, MAX_APPROVALS = 2, 30, 50
WIDTH, HEIGHT = 300, 40
"""Of the line, in its own units."""
MINUTE_LENGTH, SHORT_SHA, MAX_TEXT = 16, 7, 1_000


def build_history(document: ResultsDoc) -> PastRunsView | None:
    """The score of the last runs, oldest first; None if a store kept fewer than two."""
    history = document.get("history")
    if history is None or len(runs := history["runs"][-MAX_RUNS:]) < MIN_RUNS:
        return None
    branch = f" of {history['branch']}" if history["branch"] else ""
    title = clean_page_text(f"The last {len(runs)} runs{branch}", MAX_TEXT)
    return PastRunsView(title, _draw_line([run["score"] for run in runs]), [_build_run(run) for run in reversed(runs)])


def _draw_line(scores: Sequence[float | None]) -> str:
    """The known scores as points of a polyline; 1 is at the top."""
    step = WIDTH / (len(scores) - 1)
    return " ".join(
        f"{index * step:.1f},{HEIGHT - (HEIGHT - 4) * score - 2:.1f}"
        for index, score in enumerate(scores)
        if score is not None
    )


def _build_run(run: PastRunDoc) -> HistoryRow:
    return HistoryRow(
        clean_page_text(run["at"][:MINUTE_LENGTH].replace("T", " ")),
        clean_page_text((run["commit"] or "")[:SHORT_SHA]),
        build_cell(run["verdict"]),
        wording.score(run["score"]),
        wording.percent(run["pass_rate"]),
        wording.dollars(run["cost_usd"]),
    )


def list_approvals(document: ResultsDoc) -> list[str]:
    """All approvals, those that count first."""
    approvals = ruling_lines.sort_approvals(document)
    left = len(approvals) - MAX_APPROVALS
    texts = [clean_page_text(ruling_lines.format_approval(each), MAX_TEXT) for each in approvals[:MAX_APPROVALS]]
    return [*texts, *([f"{wording.pluralize(left, 'more approval')} in results.json"] if left > 0 else [])]


def list_rulings(document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc) -> list[Fact]:
    """What people ruled on one scenario, and whether its outcome changes from run to run."""
    key = suite["suite"], scenario["id"], scenario["variant"]
    rulings = [
        Fact("Approval", ruling_lines.summarize_approval(each))
        for each in document["approvals"]
        if (each["suite"], each["scenario"], each["variant"]) == key
    ]
    rulings += [
        Fact("Quarantine", ruling_lines.summarize_quarantine(each))
        for each in ruling_lines.find_quarantines(document, suite["suite"], scenario)
    ]
    rulings += [
        Fact("Flaky", ruling_lines.format_flaky(each))
        for each in ruling_lines.find_flaky(document)
        if (each["suite"], each["scenario"], each["variant"]) == key
    ]
    return [Fact(label, clean_page_text(text, MAX_TEXT)) for label, text in rulings]
