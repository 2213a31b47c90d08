"""Queries for the results of scenarios in their last runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, case, exists, func, select, true

from evalgate.adapters.store.paging import paginate
from evalgate.adapters.store.schema.run_tables import RUN_SCENARIOS, RUNS, SCENARIOS
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.ports.store import Page

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select, Subquery

NEWEST = (RUN_SCENARIOS.c.completed_at.desc(), RUN_SCENARIOS.c.run.desc())
_NAME_COLUMNS = (SCENARIOS.c.suite, SCENARIOS.c.scenario_id, SCENARIOS.c.variant)
_NAME_ORDER = (SCENARIOS.c.suite, SCENARIOS.c.scenario_id, func.coalesce(SCENARIOS.c.variant, ""))
ROWS: Select[Any] = (
    select(RUN_SCENARIOS, *_NAME_COLUMNS, RUNS.c.id.label("run_id"), RUNS.c.commit_id)
    .join(SCENARIOS, SCENARIOS.c.number == RUN_SCENARIOS.c.scenario)
    .join(RUNS, RUNS.c.number == RUN_SCENARIOS.c.run)
)


class RunScope(NamedTuple):
    """The last `window` runs of each scenario; on one branch, of one suite, for one page of scenarios."""

    window: int
    suite: str | None
    branch: str | None
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
    match = _has_scenario(scope.branch, scenarios.c.number)
    last = paginate(select(RUN_SCENARIOS).where(match).order_by(*NEWEST), Page(scope.window)).lateral("last")
    return select(last).select_from(scenarios.join(last, true())).subquery("seen")


def _select_by_time(scope: RunScope) -> Subquery:
    condition = _has_scenario(scope.branch, SCENARIOS.c.number)
    times = select(RUN_SCENARIOS.c.completed_at).where(condition).correlate(SCENARIOS).limit(1)
    window_start = times.order_by(RUN_SCENARIOS.c.completed_at.desc()).offset(scope.window - 1)
    first = times.order_by(RUN_SCENARIOS.c.completed_at)
    since = func.coalesce(window_start.scalar_subquery(), first.scalar_subquery()).label("since")
    bounds = _select_scenarios(scope, SCENARIOS.c.number, since).cte("bounds").prefix_with("MATERIALIZED")
    near = and_(_has_scenario(scope.branch, bounds.c.number), RUN_SCENARIOS.c.completed_at >= bounds.c.since)
    return select(RUN_SCENARIOS).join(bounds, near).subquery("seen")


def _select_scenarios(scope: RunScope, *columns: ColumnElement[Any]) -> Select[Any]:
    """Selects the page's scenarios among those that any run had."""
    condition = _has_scenario(scope.branch, SCENARIOS.c.number)
    query = select(*columns).where(exists().where(condition)).order_by(*_NAME_ORDER)
    if scope.suite is not None:
        query = query.where(SCENARIOS.c.suite == scope.suite)
    return paginate(query, scope.page) if scope.page else query


def _has_scenario(branch: str | None, number: ColumnElement[Any]) -> ColumnElement[bool]:
    condition = RUN_SCENARIOS.c.scenario == number
    return condition if branch is None else and_(condition, RUN_SCENARIOS.c.branch == branch)
