"""Reads and stores runs in their tables: lists, the history of scenarios, and trends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, and_, case, delete, exists, func, select, true, update

from evalgate.features.store.adapters.database import paginate
from evalgate.features.store.adapters.run_rows import (
    dump_approval,
    parse_approval,
    parse_facts,
    parse_scenario,
    parse_sighting,
    parse_suite,
    unpack,
)
from evalgate.features.store.adapters.run_writer import hash_scenario, prune_runs, write_run
from evalgate.features.store.adapters.schema import values as stored_values
from evalgate.features.store.adapters.schema.tables import RUN_RESULTS, RUN_SCENARIOS, RUN_SUITES, RUNS, SCENARIOS
from evalgate.features.store.ports import Page, Subject
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.history.stored_run import StoredRun, TrendPoint
from evalgate.models.run.run import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Row, Select, Subquery, Table

    from evalgate.features.store.adapters.database import Database, OneRepository
    from evalgate.models.history.stored_run import PruneCounts, RunApproval, RunFacts, ScenarioHistoryEntry
    from evalgate.models.run.golden import GoldenEvaluation


class RunTable:
    """Implements the port `Runs`."""

    def __init__(self, database: Database, only: OneRepository | None = None) -> None:
        """With `only` all lists, histories and trends are of the runs of one repository."""
        self._database, self._only = database, only

    def record(self, run: StoredRun, evaluations: Sequence[GoldenEvaluation] = ()) -> bool:
        """Stores a run with its evaluations, all or nothing; False if it is stored already."""
        with self._database.writing() as connection:
            return write_run(connection, self._database, run, evaluations)

    def get(self, run_id: str) -> StoredRun | None:
        """The whole run with that id."""
        with self._database.reading() as connection:
            row = connection.execute(select(RUNS).where(RUNS.c.id == run_id)).one_or_none()
            if row is None:
                return None
            suites = select(RUN_SUITES).where(RUN_SUITES.c.run == row.number).order_by(RUN_SUITES.c.position)
            scenarios = ROWS.where(RUN_SCENARIOS.c.run == row.number).order_by(RUN_SCENARIOS.c.position)
            packed = connection.scalar(select(RUN_RESULTS.c.results).where(RUN_RESULTS.c.run == row.number))
            return StoredRun(
                parse_facts(row),
                tuple(parse_suite(each) for each in connection.execute(suites)),
                tuple(parse_scenario(each) for each in connection.execute(scenarios)),
                unpack(packed) if packed is not None else b"",
            )

    def list(
        self,
        page: Page = Page(),  # noqa: B008  a constant
        *,
        suite: str | None = None,
        branch: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[RunFacts]:
        """Runs, newest first: all, with a suite, of a branch, completed from `since` and before `until`."""
        table = RUN_SUITES if suite is not None else RUNS
        number = RUN_SUITES.c.run if suite is not None else RUNS.c.number
        where = _build_where(suite, branch, self._only)
        if since is not None:
            where.append(table.c.completed_at >= since)
        if until is not None:
            where.append(table.c.completed_at < until)
        query = select(RUNS).where(*where).order_by(table.c.completed_at.desc(), number.desc())
        if suite is not None:
            query = query.join(RUN_SUITES, RUN_SUITES.c.run == RUNS.c.number)
        with self._database.reading() as connection:
            return [parse_facts(row) for row in connection.execute(paginate(query, page))]

    def count(self, *, suite: str | None = None, branch: str | None = None) -> int:
        """The number of runs, of one suite or branch."""
        table = RUN_SUITES if suite is not None else RUNS
        query = select(func.count()).select_from(table).where(*_build_where(suite, branch, self._only))
        if suite is not None:
            query = query.join(RUNS, RUN_SUITES.c.run == RUNS.c.number)
        with self._database.reading() as connection:
            return connection.scalar(query) or 0

    def trend(self, subject: Subject, limit: int = 20) -> Sequence[TrendPoint]:
        """The last `limit` runs with the subject, oldest first."""
        with self._database.reading() as connection:
            return select_trend(connection, subject, limit, self._only)

    def last_status(self, key: ScenarioKey, branch: str | None = None) -> ScenarioHistoryEntry | None:
        """The result of a scenario in the last run that had it."""
        found = self.sightings(key, 1, branch)
        return found[0] if found else None

    def last_statuses(
        self,
        page: Page = Page(),  # noqa: B008  a constant
        *,
        suite: str | None = None,
        branch: str | None = None,
    ) -> Sequence[ScenarioHistoryEntry]:
        """The result of each scenario in the last run that had it."""
        sightings = self._select_sightings(RunScope(1, suite, branch, self._only, page))
        return [seen[-1] for seen in sightings.values()]

    def sightings(self, key: ScenarioKey, window: int, branch: str | None = None) -> Sequence[ScenarioHistoryEntry]:
        """The results of a scenario in the last `window` runs that had it, oldest first."""
        with self._database.reading() as connection:
            digest = SCENARIOS.c.digest == hash_scenario(key)
            number = connection.scalar(select(SCENARIOS.c.number).where(digest))
            if number is None:
                return []
            where = _match(RUN_SCENARIOS, branch, self._only)
            query = paginate(ROWS.where(RUN_SCENARIOS.c.scenario == number, *where).order_by(*NEWEST), Page(window))
            return [parse_sighting(row) for row in connection.execute(query)][::-1]

    def all_sightings(
        self, window: int, *, suite: str | None = None, branch: str | None = None
    ) -> Mapping[ScenarioKey, Sequence[ScenarioHistoryEntry]]:
        """The results of every scenario in the last `window` runs that had it, oldest first."""
        return self._select_sightings(RunScope(window, suite, branch, self._only))

    def find_unsteady(
        self, window: int, *, suite: str | None = None, branch: str | None = None
    ) -> Sequence[ScenarioKey]:
        """Scenarios that passed some, but not all, of the last `window` runs that evaluated them."""
        if window < 1:
            return []
        with self._database.reading() as connection:
            query = select_unsteady(RunScope(window, suite, branch, self._only), lateral=not self._database.is_sqlite)
            return [ScenarioKey(*row) for row in connection.execute(query)]

    def _select_sightings(self, scope: RunScope) -> Mapping[ScenarioKey, Sequence[ScenarioHistoryEntry]]:
        sightings: dict[ScenarioKey, list[ScenarioHistoryEntry]] = {}
        if scope.window < 1:
            return sightings
        with self._database.reading() as connection:
            for row in connection.execute(select_sightings(scope, lateral=not self._database.is_sqlite)):
                sighting = parse_sighting(row)
                sightings.setdefault(sighting.row.key, []).append(sighting)
        return {key: seen[-scope.window :] for key, seen in sightings.items()}

    def decide(self, run_id: str, approval: RunApproval) -> bool:
        """Stores a person's decision about a run; False if there is no such run."""
        with self._database.writing() as connection:
            decided = update(RUNS).where(RUNS.c.id == run_id).values(**dump_approval(approval))
            return connection.execute(decided).rowcount > 0

    def delete(self, run_id: str) -> bool:
        """Deletes a run with its evaluations; False if there is no such run."""
        with self._database.writing() as connection:
            return connection.execute(delete(RUNS).where(RUNS.c.id == run_id)).rowcount > 0

    def prune(self, before: datetime, *, dry_run: bool = False) -> PruneCounts:
        """Deletes runs that ended before a time, unless a person decided about them; see the port."""
        return prune_runs(self._database, before, dry_run=dry_run)


def _build_where(suite: str | None, branch: str | None, only: OneRepository | None) -> list[ColumnElement[bool]]:
    if suite is None:
        return _match(RUNS, branch, only)
    return [RUN_SUITES.c.name == suite, *_match(RUN_SUITES, branch, only)]


def _match(table: Table, branch: str | None, only: OneRepository | None) -> list[ColumnElement[bool]]:
    """The conditions on rows of a table: those of a branch, and of a repository; suites are joined with their runs."""
    where = [] if branch is None else [table.c.branch == branch]
    if only is not None:
        where.append((RUNS if table is RUN_SUITES else table).c.repository == only.name)
    return where


NEWEST = (RUN_SCENARIOS.c.completed_at.desc(), RUN_SCENARIOS.c.run.desc())
_NAME_COLUMNS = (SCENARIOS.c.suite, SCENARIOS.c.scenario_id, SCENARIOS.c.variant)
_NAME_ORDER = (SCENARIOS.c.suite, SCENARIOS.c.scenario_id, func.coalesce(SCENARIOS.c.variant, ""))
ROWS: Select[Any] = (
    select(RUN_SCENARIOS, *_NAME_COLUMNS, RUNS.c.id.label("run_id"), RUNS.c.commit_id)
    .join(SCENARIOS, SCENARIOS.c.number == RUN_SCENARIOS.c.scenario)
    .join(RUNS, RUNS.c.number == RUN_SCENARIOS.c.run)
)


class RunScope(NamedTuple):
    """The last `window` runs of each scenario; on one branch, of one suite or repository, for a page of scenarios."""

    window: int
    suite: str | None
    branch: str | None
    only: OneRepository | None = None
    page: Page | None = None


def select_sightings(scope: RunScope, *, lateral: bool) -> Select[Any]:
    """Selects the results of each scenario, by name, oldest first.

    Without `lateral` there may be more than `window` rows for a scenario, if runs ended at the same moment:
    the query selects by the time of the oldest run in the window.
    """
    rows = _select_rows(scope, lateral=lateral)
    return (
        select(rows, *_NAME_COLUMNS, RUNS.c.id.label("run_id"), RUNS.c.commit_id)
        .join(SCENARIOS, SCENARIOS.c.number == rows.c.scenario)
        .join(RUNS, RUNS.c.number == rows.c.run)
        .order_by(*_NAME_ORDER, rows.c.completed_at, rows.c.run)
    )


def select_unsteady(scope: RunScope, *, lateral: bool) -> Select[Any]:
    """Selects the scenarios that passed some of these runs and not others, by name."""
    rows = _select_rows(scope, lateral=lateral)
    passed = case((rows.c.verdict == "PASS", 1), else_=0)
    return (
        select(*_NAME_COLUMNS)
        .join(rows, rows.c.scenario == SCENARIOS.c.number)
        .where(rows.c.verdict.not_in(sorted(NOT_EVALUATED)))
        .group_by(SCENARIOS.c.number, *_NAME_COLUMNS)
        .having(func.min(passed) != func.max(passed))
        .order_by(*_NAME_ORDER)
    )


def _select_rows(scope: RunScope, *, lateral: bool) -> Subquery:
    """Selects the rows of the last runs, a few per scenario, by index.

    A rank over all rows would read the whole table. PostgreSQL needs a lateral join: without one it reads far
    too much until it has statistics of the table. SQLite has no lateral join.
    """
    return _select_by_count(scope) if lateral else _select_by_time(scope)


def _select_by_count(scope: RunScope) -> Subquery:
    scenarios = _select_scenarios(scope, SCENARIOS.c.number).subquery("chosen")
    match = _has_scenario(scope, scenarios.c.number)
    last = paginate(select(RUN_SCENARIOS).where(match).order_by(*NEWEST), Page(scope.window)).lateral("last")
    return select(last).select_from(scenarios.join(last, true())).subquery("seen")


def _select_by_time(scope: RunScope) -> Subquery:
    condition = _has_scenario(scope, SCENARIOS.c.number)
    times = select(RUN_SCENARIOS.c.completed_at).where(condition).correlate(SCENARIOS).limit(1)
    window_start = times.order_by(RUN_SCENARIOS.c.completed_at.desc()).offset(scope.window - 1)
    first = times.order_by(RUN_SCENARIOS.c.completed_at)
    since = func.coalesce(window_start.scalar_subquery(), first.scalar_subquery()).label("since")
    bounds = _select_scenarios(scope, SCENARIOS.c.number, since).cte("bounds").prefix_with("MATERIALIZED")
    near = and_(_has_scenario(scope, bounds.c.number), RUN_SCENARIOS.c.completed_at >= bounds.c.since)
    return select(RUN_SCENARIOS).join(bounds, near).subquery("seen")


def _select_scenarios(scope: RunScope, *columns: ColumnElement[Any]) -> Select[Any]:
    """Selects the page's scenarios among those that any run had."""
    condition = _has_scenario(scope, SCENARIOS.c.number)
    query = select(*columns).where(exists().where(condition)).order_by(*_NAME_ORDER)
    if scope.suite is not None:
        query = query.where(SCENARIOS.c.suite == scope.suite)
    return paginate(query, scope.page) if scope.page else query


def _has_scenario(scope: RunScope, number: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(RUN_SCENARIOS.c.scenario == number, *_match(RUN_SCENARIOS, scope.branch, scope.only))


_APPROVAL = (RUNS.c.approval_status, RUNS.c.approved_by, RUNS.c.approval_comment, RUNS.c.approval_at)


def select_trend(
    connection: Connection, subject: Subject, limit: int, only: OneRepository | None
) -> Sequence[TrendPoint]:
    """The last `limit` runs with the subject, oldest first."""
    table, query = _select_points(subject)
    query = query.where(*_match(table, subject.branch, only))
    rows = connection.execute(paginate(query, Page(limit))).all()[::-1]
    if subject.suite is None and subject.dimension is not None:
        return _average_points(connection, rows, subject.dimension)
    return [_build_point(row, _read_dimension(row, subject.dimension)) for row in rows]


def _select_points(subject: Subject) -> tuple[Table, Select[Any]]:
    if subject.suite is None:
        return RUNS, _select_runs()
    if subject.scenario is None:
        return RUN_SUITES, _select_suite(subject.suite)
    return RUN_SCENARIOS, _select_scenario(ScenarioKey(subject.suite, subject.scenario, subject.variant))


def _select_runs() -> Select[Any]:
    columns = (RUNS.c.verdict, RUNS.c.score, RUNS.c.pass_rate, RUNS.c.cost_usd)
    return select(
        *(RUNS.c.number, RUNS.c.id, RUNS.c.completed_at, RUNS.c.branch, RUNS.c.commit_id),
        *columns,
        *_APPROVAL,
        *(RUNS.c.latency_p50_s.label("latency_s"), RUNS.c.not_measured),
    ).order_by(RUNS.c.completed_at.desc(), RUNS.c.number.desc())


def _select_suite(name: str) -> Select[Any]:
    return _select_run_rows(RUN_SUITES, RUN_SUITES.c.latency_p50_s.label("latency_s"), RUN_SUITES.c.name == name)


def _select_scenario(key: ScenarioKey) -> Select[Any]:
    number = select(SCENARIOS.c.number).where(SCENARIOS.c.digest == hash_scenario(key)).scalar_subquery()
    return _select_run_rows(RUN_SCENARIOS, RUN_SCENARIOS.c.latency_s, RUN_SCENARIOS.c.scenario == number)


def _select_run_rows(table: Any, latency: Any, condition: ColumnElement[bool]) -> Select[Any]:
    cols = table.c
    return (
        select(
            *(RUNS.c.number, RUNS.c.id, cols.completed_at, cols.branch, RUNS.c.commit_id, cols.verdict),
            *(cols.score, cols.pass_rate, cols.cost_usd, latency, cols.dimensions, cols.not_measured, *_APPROVAL),
        )
        .join(RUNS, RUNS.c.number == cols.run)
        .where(condition)
        .order_by(cols.completed_at.desc(), cols.run.desc())
    )


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
