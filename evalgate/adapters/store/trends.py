"""Queries for the trend of all runs, a suite or a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from evalgate.adapters.store.paging import paged
from evalgate.adapters.store.run_rows import approval_of
from evalgate.adapters.store.run_writer import digest_of
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


def trend(connection: Connection, subject: Subject, limit: int) -> Sequence[TrendPoint]:
    """The last `limit` runs with the subject, oldest first."""
    rows = connection.execute(paged(_wanted(subject), Page(limit))).all()[::-1]
    if subject.suite is None and subject.dimension is not None:
        return _with_means(connection, rows, subject.dimension)
    return [_point(row, _dimension_in(row, subject.dimension)) for row in rows]


def _wanted(subject: Subject) -> Select[Any]:
    if subject.suite is None:
        return _of_runs(subject.branch)
    if subject.scenario is None:
        return _of_suite(subject.suite, subject.branch)
    return _of_scenario(ScenarioKey(subject.suite, subject.scenario, subject.variant), subject.branch)


def _of_runs(branch: str | None) -> Select[Any]:
    columns = (RUNS.c.verdict, RUNS.c.score, RUNS.c.pass_rate, RUNS.c.cost_usd)
    wanted = select(
        *(RUNS.c.number, RUNS.c.id, RUNS.c.completed_at, RUNS.c.branch, RUNS.c.commit_id),
        *columns,
        *_APPROVAL,
        RUNS.c.latency_p50_s.label("latency_s"),
    ).order_by(RUNS.c.completed_at.desc(), RUNS.c.number.desc())
    return wanted if branch is None else wanted.where(RUNS.c.branch == branch)


def _of_suite(name: str, branch: str | None) -> Select[Any]:
    return _joined(
        RUN_SUITES, RUN_SUITES.c.latency_p50_s.label("latency_s"), RUN_SUITES.c.name == name, branch
    )


def _of_scenario(key: ScenarioKey, branch: str | None) -> Select[Any]:
    number = select(SCENARIOS.c.number).where(SCENARIOS.c.digest == digest_of(key)).scalar_subquery()
    return _joined(RUN_SCENARIOS, RUN_SCENARIOS.c.latency_s, RUN_SCENARIOS.c.scenario == number, branch)


def _joined(table: Any, latency: Any, which: ColumnElement[bool], branch: str | None) -> Select[Any]:
    mine = table.c
    wanted = (
        select(
            *(RUNS.c.number, RUNS.c.id, mine.completed_at, mine.branch, RUNS.c.commit_id, mine.verdict),
            *(mine.score, mine.pass_rate, mine.cost_usd, latency, mine.dimensions, *_APPROVAL),
        )
        .join(RUNS, RUNS.c.number == mine.run)
        .where(which)
        .order_by(mine.completed_at.desc(), mine.run.desc())
    )
    return wanted if branch is None else wanted.where(mine.branch == branch)


def _point(row: Row[Any], dimension: float | None) -> TrendPoint:
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
        approval_of(row),
    )


def _dimension_in(row: Row[Any], dimension: str | None) -> float | None:
    return None if dimension is None else stored_values.scores(row.dimensions).get(dimension)


def _with_means(connection: Connection, rows: Sequence[Row[Any]], dimension: str) -> Sequence[TrendPoint]:
    """Points of whole runs: the mean over the suites that have the dimension."""
    numbers = [row.number for row in rows]
    told: dict[int, list[float]] = {number: [] for number in numbers}
    for row in connection.execute(select(RUN_SUITES).where(RUN_SUITES.c.run.in_(numbers))):
        score = stored_values.scores(row.dimensions).get(dimension)
        if score is not None:
            told[row.run].append(score)
    return [_point(row, _mean(told[row.number])) for row in rows]


def _mean(scores: Sequence[float]) -> float | None:
    return sum(scores) / len(scores) if scores else None
