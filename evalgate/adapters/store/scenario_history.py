"""Queries for the results of scenarios in their last runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, case, exists, func, select, true

from evalgate.adapters.store.paging import paged
from evalgate.adapters.store.schema.run_tables import RUN_SCENARIOS, RUNS, SCENARIOS
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.ports.store import Page

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select, Subquery

NEWEST = (RUN_SCENARIOS.c.completed_at.desc(), RUN_SCENARIOS.c.run.desc())
_NAME = (SCENARIOS.c.suite, SCENARIOS.c.scenario_id, SCENARIOS.c.variant)
_BY_NAME = (SCENARIOS.c.suite, SCENARIOS.c.scenario_id, func.coalesce(SCENARIOS.c.variant, ""))
SEEN: Select[Any] = (
    select(RUN_SCENARIOS, *_NAME, RUNS.c.id.label("run_id"), RUNS.c.commit_id)
    .join(SCENARIOS, SCENARIOS.c.number == RUN_SCENARIOS.c.scenario)
    .join(RUNS, RUNS.c.number == RUN_SCENARIOS.c.run)
)


class LastRun(NamedTuple):
    """The last `window` runs of each scenario; on one branch, of one suite, for one page of scenarios."""

    window: int
    suite: str | None
    branch: str | None
    page: Page | None = None


def last_of(asked: LastRun, *, lateral: bool) -> Select[Any]:
    """Selects the results of each scenario, by name, oldest first.

    Without `lateral` there may be more than `window` rows for a scenario, if runs ended at the same moment:
    the query selects by the time of the oldest run in the window.
    """
    seen = _rows(asked, lateral=lateral)
    return (
        select(seen, *_NAME, RUNS.c.id.label("run_id"), RUNS.c.commit_id)
        .join(SCENARIOS, SCENARIOS.c.number == seen.c.scenario)
        .join(RUNS, RUNS.c.number == seen.c.run)
        .order_by(*_BY_NAME, seen.c.completed_at, seen.c.run)
    )


def turned_of(asked: LastRun, *, lateral: bool) -> Select[Any]:
    """Selects the scenarios that passed some of these runs and not others, by name."""
    seen = _rows(asked, lateral=lateral)
    passed = case((seen.c.verdict == "PASS", 1), else_=0)
    return (
        select(*_NAME)
        .join(seen, seen.c.scenario == SCENARIOS.c.number)
        .where(seen.c.verdict.not_in(sorted(NOT_EVALUATED)))
        .group_by(SCENARIOS.c.number, *_NAME)
        .having(func.min(passed) != func.max(passed))
        .order_by(*_BY_NAME)
    )


def _rows(asked: LastRun, *, lateral: bool) -> Subquery:
    """Selects the rows of the last runs, a few per scenario, by index.

    A rank over all rows would read the whole table. PostgreSQL needs a lateral join: without one it reads far
    too much until it has statistics of the table. SQLite has no lateral join.
    """
    return _by_count(asked) if lateral else _by_time(asked)


def _by_count(asked: LastRun) -> Subquery:
    chosen = _chosen(asked, SCENARIOS.c.number).subquery("chosen")
    mine = _had(asked.branch, chosen.c.number)
    last = paged(select(RUN_SCENARIOS).where(mine).order_by(*NEWEST), Page(asked.window)).lateral("last")
    return select(last).select_from(chosen.join(last, true())).subquery("seen")


def _by_time(asked: LastRun) -> Subquery:
    had = _had(asked.branch, SCENARIOS.c.number)
    times = select(RUN_SCENARIOS.c.completed_at).where(had).correlate(SCENARIOS).limit(1)
    last_but = times.order_by(RUN_SCENARIOS.c.completed_at.desc()).offset(asked.window - 1)
    first = times.order_by(RUN_SCENARIOS.c.completed_at)
    since = func.coalesce(last_but.scalar_subquery(), first.scalar_subquery()).label("since")
    bounds = _chosen(asked, SCENARIOS.c.number, since).cte("bounds").prefix_with("MATERIALIZED")
    near = and_(_had(asked.branch, bounds.c.number), RUN_SCENARIOS.c.completed_at >= bounds.c.since)
    return select(RUN_SCENARIOS).join(bounds, near).subquery("seen")


def _chosen(asked: LastRun, *columns: ColumnElement[Any]) -> Select[Any]:
    """Selects the page's scenarios among those that any run had."""
    had = _had(asked.branch, SCENARIOS.c.number)
    chosen = select(*columns).where(exists().where(had)).order_by(*_BY_NAME)
    if asked.suite is not None:
        chosen = chosen.where(SCENARIOS.c.suite == asked.suite)
    return paged(chosen, asked.page) if asked.page else chosen


def _had(branch: str | None, number: ColumnElement[Any]) -> ColumnElement[bool]:
    had = RUN_SCENARIOS.c.scenario == number
    return had if branch is None else and_(had, RUN_SCENARIOS.c.branch == branch)
