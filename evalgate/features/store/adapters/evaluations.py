"""Stores evaluations of goldens in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from msgspec.structs import replace
from sqlalchemy import ColumnElement, select

from evalgate.errors import SettingError
from evalgate.features.store.adapters.database import match_own, paginate
from evalgate.features.store.adapters.goldens import require_goldens
from evalgate.features.store.adapters.schema import values as stored_values
from evalgate.features.store.adapters.schema.tables import EVALUATIONS, GOLDENS, RUNS
from evalgate.features.store.ports import Page
from evalgate.models.run.golden import (
    CATEGORIES,
    DIMENSIONS,
    SEVERITIES,
    EvaluationStatistics,
    GoldenEvaluation,
    Issue,
    TurnResult,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Row

    from evalgate.features.store.adapters.database import Database, OneRepository

_FIELDS = (
    *("id", "golden_id", "golden_version", "run_id", "suite", "trial", "trace_id", "trace_sha256"),
    *("overall_score", "level", "regression_status", "previous_score", "evaluated_by", "evaluated_at"),
    "conversation_id",
)
_STATISTICS_FIELDS = (
    *("total_turns", "avg_latency_ms", "total_tokens", "total_cost", "issue_count", "critical_issue_count"),
    "pass_rate",
)
_TURN_FIELDS = ("user_message", "actual_response", "golden_response", "latency_ms", "tokens", "cost")
_TURN_LIST_FIELDS = ("retrieved_memories", "tools_invoked", "tool_results", "evidence")


class EvaluationTable:
    """Implements the port `Evaluations`."""

    def __init__(self, database: Database, only: OneRepository | None = None) -> None:
        """With `only` evaluations of other repositories' goldens are not read."""
        self._database, self._only = database, only
        own = select(GOLDENS.c.id).where(*match_own(GOLDENS, only))
        self._own = [] if only is None else [EVALUATIONS.c.golden_id.in_(own)]

    def create(self, evaluation: GoldenEvaluation) -> GoldenEvaluation:
        """Stores an evaluation; adds an id if it has none."""
        with self._database.writing() as connection:
            (key,) = insert_evaluations(connection, self._database, [evaluation], self._only)
            return _parse_row(connection.execute(select(EVALUATIONS).where(EVALUATIONS.c.id == key)).one())

    def get(self, evaluation_id: str) -> GoldenEvaluation | None:
        """The evaluation with that id."""
        found = self._select(Page(1), EVALUATIONS.c.id == evaluation_id)
        return found[0] if found else None

    def list(
        self,
        page: Page = Page(),  # noqa: B008  a constant
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        **equal: str | None,
    ) -> Sequence[GoldenEvaluation]:
        """Evaluations, newest first, from `since` and before `until`, with these values; see the port."""
        where = [EVALUATIONS.c[name] == value for name, value in equal.items() if value is not None]
        if since is not None:
            where.append(EVALUATIONS.c.evaluated_at >= since)
        if until is not None:
            where.append(EVALUATIONS.c.evaluated_at < until)
        return self._select(page, *where)

    def suites(self) -> Sequence[str]:
        """The names of all suites that have evaluations, sorted."""
        query = select(EVALUATIONS.c.suite).where(*self._own).distinct().order_by(EVALUATIONS.c.suite)
        with self._database.reading() as connection:
            return list(connection.scalars(query))

    def _select(self, page: Page, *where: ColumnElement[bool]) -> Sequence[GoldenEvaluation]:
        newest = (EVALUATIONS.c.evaluated_at.desc(), EVALUATIONS.c.id)
        query = paginate(select(EVALUATIONS).where(*where, *self._own).order_by(*newest), page)
        with self._database.reading() as connection:
            return [_parse_row(row) for row in connection.execute(query)]


def insert_evaluations(
    connection: Connection,
    database: Database,
    evaluations: Sequence[GoldenEvaluation],
    only: OneRepository | None = None,
) -> Sequence[str]:
    """Stores evaluations; returns their ids.

    Raises SettingError for a golden or a run that is not stored, or an id that is taken.
    """
    stored = [each if each.id else replace(each, id=uuid4().hex) for each in evaluations]
    require_goldens(connection, [each.golden_id for each in stored], only)
    for run_id in dict.fromkeys(each.run_id for each in stored if each.run_id is not None):
        if connection.scalar(select(RUNS.c.number).where(RUNS.c.id == run_id)) is None:
            raise SettingError(f"there is no run `{run_id[:100]}` in the store")
    for each in stored:
        if not database.insert_once(connection, EVALUATIONS, _build_row(each)):
            raise SettingError(f"the evaluation `{each.id[:100]}` already exists")
    return [each.id for each in stored]


def _build_row(evaluation: GoldenEvaluation) -> dict[str, Any]:
    unknown = set(evaluation.dimensions) - set(DIMENSIONS)
    if unknown:
        raise SettingError(f"unknown dimension `{min(unknown)[:100]}`")
    return {
        **{name: getattr(evaluation, name) for name in _FIELDS},
        **{name: evaluation.dimensions.get(name) for name in DIMENSIONS},
        **{name: getattr(evaluation.statistics, name) for name in _STATISTICS_FIELDS},
        "turns": [_dump_turn(turn) for turn in evaluation.turns],
        "issues": dump_issues(evaluation.issues),
    }


def _dump_turn(turn: TurnResult) -> dict[str, Any]:
    return {
        **{name: getattr(turn, name) for name in _TURN_FIELDS},
        **{name: list(getattr(turn, name)) for name in _TURN_LIST_FIELDS},
        "scores": dict(turn.scores),
        "issues": dump_issues(turn.issues),
    }


def dump_issues(issues: Sequence[Issue]) -> list[dict[str, Any]]:
    """Encodes issues as JSON values."""
    return [issue._asdict() for issue in issues]


def parse_issues(values: object) -> tuple[Issue, ...]:
    """Decodes issues from JSON values."""
    return tuple(_parse_issue(stored_values.mapping(value)) for value in stored_values.items(values))


def _parse_issue(value: Mapping[str, Any]) -> Issue:
    category, severity, message = value.get("category"), value.get("severity"), value.get("message")
    if category not in CATEGORIES or severity not in SEVERITIES or not isinstance(message, str):
        raise stored_values.MalformedError
    return Issue(
        category,
        severity,
        message,
        stored_values.text(value.get("evidence")),
        stored_values.whole(value.get("turn")),
    )


def _parse_row(row: Row[Any]) -> GoldenEvaluation:
    data = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    plain: dict[str, Any] = {name: data[name] for name in _FIELDS}
    return GoldenEvaluation(
        **plain,
        dimensions={name: data[name] for name in DIMENSIONS},
        statistics=EvaluationStatistics(**{name: data[name] for name in _STATISTICS_FIELDS}),
        turns=tuple(_parse_turn(stored_values.mapping(turn)) for turn in stored_values.items(data["turns"])),
        issues=parse_issues(data["issues"]),
    )


def _parse_turn(value: Mapping[str, Any]) -> TurnResult:
    return TurnResult(
        stored_values.text(value.get("user_message")),
        stored_values.text(value.get("actual_response")),
        stored_values.text(value.get("golden_response")),
        stored_values.scores(value.get("scores")),
        stored_values.amount(value.get("latency_ms")),
        stored_values.whole(value.get("tokens")),
        stored_values.amount(value.get("cost")),
        retrieved_memories=tuple(stored_values.items(value.get("retrieved_memories"))),
        tools_invoked=stored_values.texts(value.get("tools_invoked")),
        tool_results=tuple(stored_values.items(value.get("tool_results"))),
        issues=parse_issues(value.get("issues")),
        evidence=stored_values.texts(value.get("evidence")),
    )
