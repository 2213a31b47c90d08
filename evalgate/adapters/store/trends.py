"""Queries for the trend of all runs, a suite or a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from evalgate.adapters.store.paging import paginate
from evalgate.adapters.store.run_rows import parse_approval
from evalgate.adapters.store.run_writer import hash_scenario
from evalgate.adapters.store.schema import stored_values
from evalgate.adapters.store.schema.run_tables import RUN_SCENARIOS, RUN_SUITES, RUNS, SCENARIOS
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.store.stored_run import TrendPoint
from evalgate.ports.store import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Row, Select

    from evalgate.ports.store import Subject

_APPROVAL = (RUNS.c.approval_status, RUNS.c.approved_by, RUNS.c.approval_comment, RUNS.c.approval_at)


def select_trend(connection: Connection, subject: Subject, limit: int) -> Sequence[TrendPoint]:
    """The last `limit` runs with the subject, oldest first."""
    rows = connection.execute(paginate(_select_points(subject), Page(limit))).all()[::-1]
    if subject.suite is None and subject.dimension is not None:
        return _average_points(connection, rows, subject.dimension)
    return [_build_point(row, _read_dimension(row, subject.dimension)) for row in rows]


def _select_points(subject: Subject) -> Select[Any]:
    if subject.suite is None:
        return _select_runs(subject.branch)
    if subject.scenario is None:
        return _select_suite(subject.suite, subject.branch)
    return _select_scenario(ScenarioKey(subject.suite, subject.scenario, subject.variant), subject.branch)


def _select_runs(branch: str | None) -> Select[Any]:
    columns = (RUNS.c.verdict, RUNS.c.score, RUNS.c.pass_rate, RUNS.c.cost_usd)
    query = select(
        *(RUNS.c.number, RUNS.c.id, RUNS.c.completed_at, RUNS.c.branch, RUNS.c.commit_id),
        *columns,
        *_APPROVAL,
        *(RUNS.c.latency_p50_s.label("latency_s"), RUNS.c.not_measured),
    ).order_by(RUNS.c.completed_at.desc(), RUNS.c.number.desc())
    return query if branch is None else query.where(RUNS.c.branch == branch)


def _select_suite(name: str, branch: str | None) -> Select[Any]:
    return _select_rows(RUN_SUITES, RUN_SUITES.c.latency_p50_s.label("latency_s"), RUN_SUITES.c.name == name, branch)


def _select_scenario(key: ScenarioKey, branch: str | None) -> Select[Any]:
    number = select(SCENARIOS.c.number).where(SCENARIOS.c.digest == hash_scenario(key)).scalar_subquery()
    return _select_rows(RUN_SCENARIOS, RUN_SCENARIOS.c.latency_s, RUN_SCENARIOS.c.scenario == number, branch)


def _select_rows(table: Any, latency: Any, condition: ColumnElement[bool], branch: str | None) -> Select[Any]:
    cols = table.c
    query = (
        select(
            *(RUNS.c.number, RUNS.c.id, cols.completed_at, cols.branch, RUNS.c.commit_id, cols.verdict),
            *(cols.score, cols.pass_rate, cols.cost_usd, latency, cols.dimensions, cols.not_measured, *_APPROVAL),
        )
        .join(RUNS, RUNS.c.number == cols.run)
        .where(condition)
        .order_by(cols.completed_at.desc(), cols.run.desc())
    )
    return query if branch is None else query.where(cols.branch == branch)


def _build_point(row: Row[Any], dimension: float | None) -> TrendPoint:
    return TrendPoint(
        row.id,
        row.completed_at,
        row.branch,
        row.commit_id,
        row.verdict,
        row.score,
        row.pass_rate,
        row.cost_usd,
        row.latency_s,
        dimension,
        parse_approval(row),
        row.not_measured,
    )


def _read_dimension(row: Row[Any], dimension: str | None) -> float | None:
    return None if dimension is None else stored_values.scores(row.dimensions).get(dimension)


def _average_points(connection: Connection, rows: Sequence[Row[Any]], dimension: str) -> Sequence[TrendPoint]:
    """Points of whole runs: the mean over the suites that have the dimension."""
    numbers = [row.number for row in rows]
    scores_by_run: dict[int, list[float]] = {number: [] for number in numbers}
    for row in connection.execute(select(RUN_SUITES).where(RUN_SUITES.c.run.in_(numbers))):
        score = stored_values.scores(row.dimensions).get(dimension)
        if score is not None:
            scores_by_run[row.run].append(score)
    return [_build_point(row, _compute_mean(scores_by_run[row.number])) for row in rows]


def _compute_mean(scores: Sequence[float]) -> float | None:
    return sum(scores) / len(scores) if scores else None
