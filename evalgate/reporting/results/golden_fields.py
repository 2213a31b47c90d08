"""The fields of goldens in `evalgate.results/1`, and checks of a document against them."""

from __future__ import annotations

from typing import Any, get_args

from evalgate.models.run.dimension import DIMENSIONS
from evalgate.models.run.evaluation import CATEGORIES, SEVERITIES, Level, RegressionStatus
from evalgate.reporting.results.results_checks import (
    LARGEST_AMOUNT,
    Mistake,
    Place,
    bound,
    maybe,
    records,
    texts,
)
from evalgate.reporting.results.results_fields import (
    COUNT,
    FLAG,
    LIST,
    MAYBE_COUNT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    RECORD,
    TEXT,
    Shape,
    needed,
    optional,
)

LARGEST_COUNT = 2**53
_LISTS = (
    *("secondary_stances", "required_memory_recall", "required_tool_usage", "required_refusal"),
    *("user_messages", "golden_responses", "tags"),
)
GOLDEN: Shape = (
    *needed(TEXT, "id", "title", "description", "intent", "primary_stance"),
    *needed(COUNT, "version", "critical_issues"),
    *needed(LIST, *_LISTS, "moves", "issues"),
    *needed(RECORD, "turns"),
    *optional(MAYBE_TEXT, "conversation_id", "creator", "level", "regression_status"),
    *optional(MAYBE_NUMBER, "previous_score"),
)
MOVE: Shape = (
    *needed(TEXT, "dimension"),
    *optional(MAYBE_NUMBER, "before", "now", "delta"),
    *optional(MAYBE_COUNT, "turn"),
)
ISSUE: Shape = (
    *needed(TEXT, "category", "severity", "message"),
    *optional(MAYBE_TEXT, "evidence"),
    *optional(MAYBE_COUNT, "turn"),
)
TRIAL: Shape = (*needed(RECORD, "dimensions"), *needed(LIST, "turns", "issues"))
TURN: Shape = (
    *needed(FLAG, "is_missing"),
    *needed(RECORD, "scores"),
    *needed(LIST, "retrieved_memories", "tools_invoked", "tool_results"),
    *optional(MAYBE_COUNT, "number", "tokens"),
    *optional(MAYBE_TEXT, "user_message", "actual_response"),
    *optional(MAYBE_NUMBER, "latency_ms", "cost_usd"),
)


def check_dimensions(parent: dict[str, Any], name: str, place: Place) -> None:
    """Checks scores by dimension; raises ShapeError."""
    for dimension, score in (parent.get(name) or {}).items():
        at = (*place, name, dimension)
        if dimension not in DIMENSIONS:
            raise Mistake(at, "is no dimension")
        _score(score, at)


def check_golden(scenario: dict[str, Any], place: Place) -> None:
    """Checks the golden of a scenario; raises ShapeError."""
    maybe(scenario, "golden", GOLDEN, place)
    golden, at = scenario["golden"], (*place, "golden")
    for name in _LISTS:
        texts(golden, name, at)
    for name in ("version", "critical_issues"):
        bound(golden, name, LARGEST_COUNT, at)
    bound(golden, "previous_score", 1, at)
    _word(golden, "level", get_args(Level), at)
    _word(golden, "regression_status", get_args(RegressionStatus), at)
    for move, spot in records(golden, "moves", MOVE, at):
        _word(move, "dimension", DIMENSIONS, spot)
        for name in ("before", "now"):
            bound(move, name, 1, spot)
        bound(move, "delta", 1, spot, least=-1)
        bound(move, "turn", LARGEST_COUNT, spot)
    for dimension, scores in golden["turns"].items():
        spot = (*at, "turns", dimension)
        if dimension not in DIMENSIONS or type(scores) is not list:
            raise Mistake(spot, "is no list of a dimension's scores")
        for score in scores:
            _score(score, spot)
    _issues(golden, at)


def check_golden_trial(trial: dict[str, Any], place: Place) -> None:
    """Checks the golden of a trial; raises ShapeError."""
    maybe(trial, "golden", TRIAL, place)
    golden, at = trial["golden"], (*place, "golden")
    check_dimensions(golden, "dimensions", at)
    for turn, spot in records(golden, "turns", TURN, at):
        check_dimensions(turn, "scores", spot)
        texts(turn, "tools_invoked", spot)
        for name in ("latency_ms", "tokens", "cost_usd"):
            bound(turn, name, LARGEST_AMOUNT, spot)
        bound(turn, "number", LARGEST_COUNT, spot)
    _issues(golden, at)


def _issues(parent: dict[str, Any], place: Place) -> None:
    for issue, at in records(parent, "issues", ISSUE, place):
        _word(issue, "category", CATEGORIES, at)
        _word(issue, "severity", SEVERITIES, at)
        bound(issue, "turn", LARGEST_COUNT, at)


def _word(parent: dict[str, Any], name: str, known: tuple[str, ...], place: Place) -> None:
    if parent[name] is not None and parent[name] not in known:
        raise Mistake((*place, name), f"is none of {', '.join(known)}")


def _score(score: Any, place: Place) -> None:
    if score is not None and (type(score) not in NUMBER or not 0 <= score <= 1):
        raise Mistake(place, "is no score between 0 and 1")
