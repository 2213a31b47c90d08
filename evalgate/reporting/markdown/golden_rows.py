"""Rows for goldens: a summary of each dimension, and each golden with what changed it."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.numeric.means import DIGITS
from evalgate.models.run.golden import DIMENSIONS
from evalgate.reporting.markdown.scenario_rows import MAX_NAME, MAX_REASON, format_name_cell, format_verdict
from evalgate.reporting.markdown.view import DimensionRow, GoldenRow
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import escape_cell
from evalgate.reporting.text.scenario_sections import SuiteScenario
from evalgate.reporting.text.sentences import escape_sentence_cell
from evalgate.scoring.golden.rules import level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.results.results_statistics import GoldenDoc, MoveDoc
    from evalgate.models.run.golden import Severity
    from evalgate.models.run.trial_doc import IssueDoc

BAR_WIDTH = 10
FULL, EMPTY = "\u2588", "\u2591"
MAX_MOVES = 3
GRAVE: tuple[Severity, ...] = ("critical", "error", "warning")
_CHANGED = frozenset({"degradation", "improvement"})
_STATUS_ORDER = ("degradation", "fail", "improvement", "pass")


class DimensionSummary(NamedTuple):
    """One dimension over all goldens; `delta` is the mean change of those that the baseline scored too."""

    name: str
    score: float
    delta: float | None
    judged: int
    goldens: int
    worst: tuple[SuiteScenario, MoveDoc] | None


def list_goldens(document: ResultsDoc) -> list[SuiteScenario]:
    """Lists all goldens by status, degraded ones first, then by critical issues, then by score."""
    found = [
        SuiteScenario(suite, scenario)
        for suite in document["suites"]
        for scenario in suite["scenarios"]
        if scenario.get("golden") is not None
    ]
    return sorted(found, key=_sort_key)


def is_notable(item: SuiteScenario) -> bool:
    """Whether a golden fails or changed since the baseline."""
    golden = item.scenario["golden"]
    return item.scenario["verdict"] != "PASS" or golden["regression_status"] in _CHANGED or bool(golden["moves"])


def summarize_dimensions(goldens: Sequence[SuiteScenario]) -> list[DimensionSummary]:
    """Summarizes each dimension that was scored in some golden, in the fixed order."""
    found = (_summarize_dimension(name, goldens) for name in DIMENSIONS)
    return [each for each in found if each is not None]


def build_dimension_row(dimension: DimensionSummary, *, many: bool) -> DimensionRow:
    """Builds a row of the table of dimensions."""
    moved_by = ""
    if dimension.worst is not None:
        item, move = dimension.worst
        moved_by = f"{format_name_cell(item.suite['suite'], item.scenario, many=many)}{format_turn(move)}"
    return DimensionRow(
        name=format_dimension(dimension.name),
        score=wording.score(dimension.score),
        score_delta=wording.points(dimension.delta, dimension.score),
        level=level(dimension.score),
        bar=draw_bar(dimension.score),
        goldens=f"{dimension.judged:,} of {dimension.goldens:,}",
        moved_by=moved_by,
    )


def build_golden_row(item: SuiteScenario, *, many: bool) -> GoldenRow:
    """Builds a row for a golden: what lowered or changed its score, and its gravest issues."""
    scenario = item.scenario
    golden, change = scenario["golden"], scenario["change"]
    return GoldenRow(
        name=format_name_cell(item.suite["suite"], scenario, many=many),
        title=escape_cell(golden["title"], MAX_NAME) if golden["title"] else "",
        verdict=format_verdict(scenario["verdict"]),
        score=wording.score(scenario["score"]),
        score_delta=wording.points(change["score_delta"]) if change else "",
        level=golden["level"] or "",
        bar="" if scenario["score"] is None else draw_bar(scenario["score"]),
        status=status if (status := golden["regression_status"] or "") in _CHANGED else "",
        dimensions=format_dimensions(scenario),
        issues=format_issue_counts(golden),
        worst_issue=_format_worst_issue(golden),
    )


def format_dimensions(scenario: ScenarioDoc) -> str:
    """Formats the dimensions that changed, largest change first; if none did, those below 1."""
    moves = sorted(scenario["golden"]["moves"], key=lambda move: -abs(move["delta"] or 1.0))
    parts = [format_move(move) for move in moves[:MAX_MOVES]]
    if not parts:
        scores = scenario["dimensions"] or {}
        low = sorted((score, name) for name, score in scores.items() if score is not None and score < 1)
        parts = [f"{format_dimension(name)} {wording.score(score)}" for score, name in low[:MAX_MOVES]]
    return " \u00b7 ".join(parts)


def format_move(move: MoveDoc) -> str:
    """Formats a change: `tool success rate 0.25 (-0.50, turn 2)`."""
    delta = wording.points(move["delta"]) if move["delta"] is not None else "newly scored"
    if move["now"] is None:
        return f"{format_dimension(move['dimension'])} not evaluable, was {wording.score(move['before'])}"
    return f"{format_dimension(move['dimension'])} {wording.score(move['now'])} ({delta}{format_turn(move)})"


def format_turn(move: MoveDoc) -> str:
    """Returns `, turn 2`, or an empty string if no single turn caused the change."""
    return "" if move["turn"] is None else f", turn {move['turn'] + 1}"


def format_dimension(name: str) -> str:
    """Formats the name of a dimension; an unknown one is escaped, though documents are checked."""
    return name.replace("_", " ") if name in DIMENSIONS else escape_cell(name, MAX_NAME)


def draw_bar(score: float) -> str:
    """Draws a score as a bar; full only if it is exactly 1, empty only if it is exactly 0."""
    filled = round(score * BAR_WIDTH)
    if score < 1:
        filled = min(filled, BAR_WIDTH - 1)
    if score > 0:
        filled = max(filled, 1)
    return FULL * filled + EMPTY * (BAR_WIDTH - filled)


def format_issue_counts(golden: GoldenDoc) -> str:
    """Formats counts as `2 critical, 1 error`; infos are not counted."""
    counts = Counter(issue["severity"] for issue in golden["issues"])
    counts["critical"] = max(counts["critical"], golden["critical_issues"])
    return ", ".join(
        f"{counts[word]:,} {word}" if word == "critical" else wording.pluralize(counts[word], word)
        for word in GRAVE
        if counts[word]
    )


def _format_worst_issue(golden: GoldenDoc) -> str:
    grave = [issue for word in GRAVE for issue in golden["issues"] if issue["severity"] == word]
    return format_issue(grave[0]) if grave else ""


def format_issue(issue: IssueDoc) -> str:
    """Formats an issue as Markdown, escaped."""
    turn = "" if issue["turn"] is None else f"turn {issue['turn'] + 1}: "
    return f"{turn}{escape_sentence_cell(issue['message'], MAX_REASON)}"


def _summarize_dimension(name: str, goldens: Sequence[SuiteScenario]) -> DimensionSummary | None:
    scores = [(each, score) for each in goldens if (score := (each.scenario["dimensions"] or {}).get(name)) is not None]
    if not scores:
        return None
    mean = round(fsum(score for _, score in scores) / len(scores), DIGITS)
    moves = list(_iter_moves(name, [each for each, _ in scores]))
    both = [each for each, _ in scores if _has_baseline_score(name, each.scenario)]
    delta = round(fsum(move["delta"] or 0.0 for _, move in moves) / len(both), DIGITS) if both else None
    worst = max(moves, key=lambda pair: abs(pair[1]["delta"] or 0.0), default=None)
    return DimensionSummary(name, mean, delta, len(scores), len(goldens), worst)


def _iter_moves(name: str, goldens: Sequence[SuiteScenario]) -> Iterator[tuple[SuiteScenario, MoveDoc]]:
    for item in goldens:
        for move in item.scenario["golden"]["moves"]:
            if move["dimension"] == name and move["delta"] is not None:
                yield item, move


def _has_baseline_score(name: str, scenario: ScenarioDoc) -> bool:
    """Whether the baseline has a score of the dimension: it then has no move, or one with `before`."""
    change = scenario["change"]
    if change is None or change["kind"] == "new" or scenario["golden"]["previous_score"] is None:
        return False
    moved = [move for move in scenario["golden"]["moves"] if move["dimension"] == name]
    return not moved or moved[0]["before"] is not None


def _sort_key(item: SuiteScenario) -> tuple[int, int, float]:
    golden, score = item.scenario["golden"], item.scenario["score"]
    status = golden["regression_status"] or "fail"
    return _STATUS_ORDER.index(status), -golden["critical_issues"], -1.0 if score is None else score
