"""The fields of goldens in `evalgate.results/1`, and checks of a document against them."""

from __future__ import annotations

from typing import Any, get_args

from evalgate.models.run.golden import CATEGORIES, DIMENSIONS, SEVERITIES, Level, RegressionStatus
from evalgate.reporting.results.results_checks import (
    MAX_AMOUNT,
    FieldPath,
    ShapeError,
    check_optional,
    check_range,
    check_records,
    check_texts,
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
    optional_fields,
    required_fields,
)

MAX_COUNT = 2**53
_LISTS = (
    *("secondary_stances", "required_memory_recall", "required_tool_usage", "required_refusal"),
    *("user_messages", "golden_responses", "tags"),
)
GOLDEN: Shape = (
    *required_fields(TEXT, "id", "title", "description", "intent", "primary_stance"),
    *required_fields(COUNT, "version", "critical_issues"),
    *required_fields(LIST, *_LISTS, "moves", "issues"),
    *required_fields(RECORD, "turns"),
    *optional_fields(MAYBE_TEXT, "conversation_id", "creator", "level", "regression_status"),
    *optional_fields(MAYBE_NUMBER, "previous_score"),
)
MOVE: Shape = (
    *required_fields(TEXT, "dimension"),
    *optional_fields(MAYBE_NUMBER, "before", "now", "delta"),
    *optional_fields(MAYBE_COUNT, "turn"),
)
ISSUE: Shape = (
    *required_fields(TEXT, "category", "severity", "message"),
    *optional_fields(MAYBE_TEXT, "evidence"),
    *optional_fields(MAYBE_COUNT, "turn"),
)
TRIAL: Shape = (
    *required_fields(RECORD, "dimensions"),
    *required_fields(LIST, "turns", "issues"),
    *optional_fields(MAYBE_TEXT, "conversation_id"),
)
TURN: Shape = (
    *required_fields(FLAG, "is_missing"),
    *required_fields(RECORD, "scores"),
    *required_fields(LIST, "retrieved_memories", "tools_invoked", "tool_results"),
    *optional_fields(MAYBE_COUNT, "number", "tokens"),
    *optional_fields(MAYBE_TEXT, "user_message", "actual_response"),
    *optional_fields(MAYBE_NUMBER, "latency_ms", "cost_usd"),
)


def check_dimensions(parent: dict[str, Any], name: str, path: FieldPath) -> None:
    """Checks scores by dimension; raises ShapeError."""
    for dimension, score in (parent.get(name) or {}).items():
        at = (*path, name, dimension)
        if dimension not in DIMENSIONS:
            raise ShapeError(at, "is not a dimension")
        _require_score(score, at)


def check_golden(scenario: dict[str, Any], path: FieldPath) -> None:
    """Checks the golden of a scenario; raises ShapeError."""
    check_optional(scenario, "golden", GOLDEN, path)
    golden, at = scenario["golden"], (*path, "golden")
    for name in _LISTS:
        check_texts(golden, name, at)
    for name in ("version", "critical_issues"):
        check_range(golden, name, MAX_COUNT, at)
    check_range(golden, "previous_score", 1, at)
    _require_word(golden, "level", get_args(Level), at)
    _require_word(golden, "regression_status", get_args(RegressionStatus), at)
    for move, spot in check_records(golden, "moves", MOVE, at):
        _require_word(move, "dimension", DIMENSIONS, spot)
        for name in ("before", "now"):
            check_range(move, name, 1, spot)
        check_range(move, "delta", 1, spot, minimum=-1)
        check_range(move, "turn", MAX_COUNT, spot)
    for dimension, scores in golden["turns"].items():
        spot = (*at, "turns", dimension)
        if dimension not in DIMENSIONS or type(scores) is not list:
            raise ShapeError(spot, "is not a list of a dimension's scores")
        for score in scores:
            _require_score(score, spot)
    _check_issues(golden, at)


def check_golden_trial(trial: dict[str, Any], path: FieldPath) -> None:
    """Checks the golden of a trial; raises ShapeError."""
    check_optional(trial, "golden", TRIAL, path)
    golden, at = trial["golden"], (*path, "golden")
    check_dimensions(golden, "dimensions", at)
    for turn, spot in check_records(golden, "turns", TURN, at):
        check_dimensions(turn, "scores", spot)
        check_texts(turn, "tools_invoked", spot)
        for name in ("latency_ms", "tokens", "cost_usd"):
            check_range(turn, name, MAX_AMOUNT, spot)
        check_range(turn, "number", MAX_COUNT, spot)
    _check_issues(golden, at)


def _check_issues(parent: dict[str, Any], path: FieldPath) -> None:
    for issue, at in check_records(parent, "issues", ISSUE, path):
        _require_word(issue, "category", CATEGORIES, at)
        _require_word(issue, "severity", SEVERITIES, at)
        check_range(issue, "turn", MAX_COUNT, at)


def _require_word(parent: dict[str, Any], name: str, words: tuple[str, ...], path: FieldPath) -> None:
    if parent[name] is not None and parent[name] not in words:
        raise ShapeError((*path, name), f"is not one of {', '.join(words)}")


def _require_score(score: Any, path: FieldPath) -> None:
    if score is not None and (type(score) not in NUMBER or not 0 <= score <= 1):
        raise ShapeError(path, "is not a score between 0 and 1")
