"""Rows for goldens: a summary of each dimension, and each golden with what changed it."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.numeric.means import DIGITS
from evalgate.models.run.dimension import DIMENSIONS
from evalgate.reporting.markdown.scenario_rows import NAME, NOTE, scenario_name, verdict_words
from evalgate.reporting.markdown.view import DimensionRow, GoldenRow
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import cell
from evalgate.reporting.text.scenario_sections import Placed
from evalgate.scoring.golden.levels import level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.results.results_golden import GoldenDoc, IssueDoc, MoveDoc

BAR = 10
FULL, EMPTY = "\u2588", "\u2591"
MOST_MOVES = 3
GRAVE = ("critical", "error", "warning")
_TOLD = frozenset({"degradation", "improvement"})
_WORST = ("degradation", "fail", "improvement", "pass")


class DimensionOf(NamedTuple):
    """One dimension over all goldens; `delta` is the mean change of those that the baseline scored too."""

    name: str
    score: float
    delta: float | None
    judged: int
    goldens: int
    worst: tuple[Placed, MoveDoc] | None


def goldens_of(document: ResultsDoc) -> list[Placed]:
    """Lists all goldens by status, degraded ones first, then by critical issues, then by score."""
    found = [
        Placed(suite, scenario)
        for suite in document["suites"]
        for scenario in suite["scenarios"]
        if scenario.get("golden") is not None
    ]
    return sorted(found, key=_gravity)


def is_notable(placed: Placed) -> bool:
    """Whether a golden fails or changed since the baseline."""
    golden = placed.scenario["golden"]
    return (
        placed.scenario["verdict"] != "PASS" or golden["regression_status"] in _TOLD or bool(golden["moves"])
    )


def dimensions_of(goldens: Sequence[Placed]) -> list[DimensionOf]:
    """Summarizes each dimension that was scored in some golden, in the fixed order."""
    found = (_dimension(name, goldens) for name in DIMENSIONS)
    return [each for each in found if each is not None]


def dimension_row(found: DimensionOf, *, many: bool) -> DimensionRow:
    """Builds a row of the table of dimensions."""
    moved_by = ""
    if found.worst is not None:
        placed, move = found.worst
        moved_by = f"{scenario_name(placed.suite['suite'], placed.scenario, many=many)}{turn_words(move)}"
    return DimensionRow(
        name=dimension_words(found.name),
        score=wording.score(found.score),
        score_delta=wording.points(found.delta),
        level=level(found.score),
        bar=bar(found.score),
        goldens=f"{found.judged:,} of {found.goldens:,}",
        moved_by=moved_by,
    )


def golden_row(placed: Placed, *, many: bool) -> GoldenRow:
    """Builds a row for a golden: what lowered or changed its score, and its gravest issues."""
    scenario = placed.scenario
    golden, change = scenario["golden"], scenario["change"]
    return GoldenRow(
        name=scenario_name(placed.suite["suite"], scenario, many=many),
        title=cell(golden["title"], NAME) if golden["title"] else "",
        verdict=verdict_words(scenario["verdict"]),
        score=wording.score(scenario["score"]),
        score_delta=wording.points(change["score_delta"]) if change else "",
        level=golden["level"] or "",
        bar="" if scenario["score"] is None else bar(scenario["score"]),
        status=status if (status := golden["regression_status"] or "") in _TOLD else "",
        told=told(scenario),
        issues=issue_counts(golden),
        worst_issue=_worst_issue(golden),
    )


def told(scenario: ScenarioDoc) -> str:
    """Formats the dimensions that changed, largest change first; if none did, those below 1."""
    moves = sorted(scenario["golden"]["moves"], key=lambda move: -abs(move["delta"] or 1.0))
    parts = [move_words(move) for move in moves[:MOST_MOVES]]
    if not parts:
        scores = scenario["dimensions"] or {}
        low = sorted((score, name) for name, score in scores.items() if score is not None and score < 1)
        parts = [f"{dimension_words(name)} {wording.score(score)}" for score, name in low[:MOST_MOVES]]
    return " \u00b7 ".join(parts)


def move_words(move: MoveDoc) -> str:
    """Formats a change: `tool success rate 0.25 (-0.50, turn 2)`."""
    delta = wording.points(move["delta"]) if move["delta"] is not None else "newly judged"
    if move["now"] is None:
        return f"{dimension_words(move['dimension'])} not evaluable, was {wording.score(move['before'])}"
    return f"{dimension_words(move['dimension'])} {wording.score(move['now'])} ({delta}{turn_words(move)})"


def turn_words(move: MoveDoc) -> str:
    """Returns `, turn 2`, or an empty string if no single turn caused the change."""
    return "" if move["turn"] is None else f", turn {move['turn'] + 1}"


def dimension_words(name: str) -> str:
    """Formats the name of a dimension; an unknown one is escaped, though documents are checked."""
    return name.replace("_", " ") if name in DIMENSIONS else cell(name, NAME)


def bar(score: float) -> str:
    """Draws a score as a bar; full only if it is exactly 1, empty only if it is exactly 0."""
    filled = round(score * BAR)
    if score < 1:
        filled = min(filled, BAR - 1)
    if score > 0:
        filled = max(filled, 1)
    return FULL * filled + EMPTY * (BAR - filled)


def issue_counts(golden: GoldenDoc) -> str:
    """Formats counts as `2 critical, 1 error`; infos are not counted."""
    counts = Counter(issue["severity"] for issue in golden["issues"])
    counts["critical"] = max(counts["critical"], golden["critical_issues"])
    words = {"error": "error", "warning": "warning"}
    return ", ".join(
        wording.counted(counts[word], words[word]) if word in words else f"{counts[word]:,} {word}"
        for word in GRAVE
        if counts[word]
    )


def _worst_issue(golden: GoldenDoc) -> str:
    """Formats the gravest issue with its turn, if there are issues."""
    grave = [issue for word in GRAVE for issue in golden["issues"] if issue["severity"] == word]
    return issue_words(grave[0]) if grave else ""


def issue_words(issue: IssueDoc) -> str:
    """Formats an issue as Markdown, escaped."""
    turn = "" if issue["turn"] is None else f"turn {issue['turn'] + 1}: "
    return f"{turn}{cell(issue['message'], NOTE)}"


def _dimension(name: str, goldens: Sequence[Placed]) -> DimensionOf | None:
    scores = [
        (each, score)
        for each in goldens
        if (score := (each.scenario["dimensions"] or {}).get(name)) is not None
    ]
    if not scores:
        return None
    mean = round(fsum(score for _, score in scores) / len(scores), DIGITS)
    moves = list(_moves(name, [each for each, _ in scores]))
    both = [each for each, _ in scores if _was_judged(name, each.scenario)]
    delta = round(fsum(move["delta"] or 0.0 for _, move in moves) / len(both), DIGITS) if both else None
    worst = max(moves, key=lambda pair: abs(pair[1]["delta"] or 0.0), default=None)
    return DimensionOf(name, mean, delta, len(scores), len(goldens), worst)


def _moves(name: str, goldens: Sequence[Placed]) -> Iterator[tuple[Placed, MoveDoc]]:
    for placed in goldens:
        for move in placed.scenario["golden"]["moves"]:
            if move["dimension"] == name and move["delta"] is not None:
                yield placed, move


def _was_judged(name: str, scenario: ScenarioDoc) -> bool:
    """Whether the baseline has a score of the dimension: it then has no move, or one with `before`."""
    change = scenario["change"]
    if change is None or change["kind"] == "new" or scenario["golden"]["previous_score"] is None:
        return False
    moved = [move for move in scenario["golden"]["moves"] if move["dimension"] == name]
    return not moved or moved[0]["before"] is not None


def _gravity(placed: Placed) -> tuple[int, int, float]:
    golden, score = placed.scenario["golden"], placed.scenario["score"]
    status = golden["regression_status"] or "fail"
    return _WORST.index(status), -golden["critical_issues"], -1.0 if score is None else score
