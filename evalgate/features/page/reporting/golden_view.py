"""A golden conversation's result in a section: its dimensions over all trials, how they moved, and its issues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.features.page.reporting.cells import split_marks
from evalgate.features.page.reporting.page_view import CellView, GoldenDimensionRow, GoldenIssueRow, GoldenView
from evalgate.models.run.golden import DIMENSIONS
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import clean_page_text
from evalgate.scoring.golden.rules import level

if TYPE_CHECKING:
    from evalgate.models.results.results import ScenarioDoc
    from evalgate.models.results.results_statistics import GoldenDoc
    from evalgate.models.run.trial_doc import IssueDoc

MAX_ISSUES, MAX_TEXT = 50, 1_000
_TONES = {"critical": "bad", "error": "bad", "warning": "warn"}


def build_golden(scenario: ScenarioDoc) -> GoldenView | None:
    """The golden's part of a section; None for a scenario that is no golden."""
    golden = scenario.get("golden")
    if golden is None:
        return None
    scores = scenario["dimensions"] or {}
    words = [golden["level"], golden["regression_status"]]
    left = len(golden["issues"]) - MAX_ISSUES
    return GoldenView(
        clean_page_text(", ".join(filter(None, (golden["title"], f"version {golden['version']}", *words))), MAX_TEXT),
        [_build_dimension(name, scores[name], golden) for name in DIMENSIONS if name in scores],
        [_build_issue(issue) for issue in golden["issues"][:MAX_ISSUES]],
        f"{wording.pluralize(left, 'more issue')} in results.json" if left > 0 else "",
    )


def _build_dimension(name: str, score: float | None, golden: GoldenDoc) -> GoldenDimensionRow:
    move = next((each for each in golden["moves"] if each["dimension"] == name), None)
    before = wording.score(move["before"]) if move and move["before"] is not None else ""
    change = wording.points(move["delta"], score) if move and move["delta"] is not None else ""
    turn = f" in turn {move['turn'] + 1}" if move and move["turn"] is not None else ""
    label = name.replace("_", " ")
    if score is None:
        return GoldenDimensionRow(label, CellView("not evaluable", "warn"), before, "")
    tone = "bad" if move and (move["delta"] or 0) < 0 else "plain"
    return GoldenDimensionRow(
        label, CellView(f"{wording.score(score)} {level(score)}", tone), before, f"{change}{turn}"
    )


def _build_issue(issue: IssueDoc) -> GoldenIssueRow:
    turn = "" if issue["turn"] is None else f"turn {issue['turn'] + 1}: "
    evidence = f" ({issue['evidence']})" if issue["evidence"] else ""
    cell = CellView(clean_page_text(issue["severity"], 20), _TONES.get(issue["severity"], "plain"))
    return GoldenIssueRow(cell, split_marks(f"{turn}{issue['message']}{evidence}"))
