"""Scenarios in the runs that had them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, case, exists, func, select

from evalgate.adapters.stores.paging import paged
from evalgate.adapters.stores.run_tables import RUN_SCENARIOS, RUNS, SCENARIOS
from evalgate.models.run import NOT_EVALUATED

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement, Select

    from evalgate.ports.store import Page

SEEN: Select[Any] = (
    select(
        RUN_SCENARIOS,
        SCENARIOS.c.suite,
        SCENARIOS.c.scenario_id,
        SCENARIOS.c.variant,
        RUNS.c.id.label("run_id"),
        RUNS.c.commit_id,
    )
    .join(SCENARIOS, SCENARIOS.c.number == RUN_SCENARIOS.c.scenario)
    .join(RUNS, RUNS.c.number == RUN_SCENARIOS.c.run)
)
NEWEST = (RUN_SCENARIOS.c.completed_at.desc(), RUN_SCENARIOS.c.run.desc())
_OLDEST = (RUN_SCENARIOS.c.completed_at, RUN_SCENARIOS.c.run)
_BY_NAME = (SCENARIOS.c.suite, SCENARIOS.c.scenario_id, func.coalesce(SCENARIOS.c.variant, ""))


def last_of(window: int, suite: str | None, branch: str | None, page: Page | None) -> Select[Any]:
    """The last `window` sightings of each scenario, by name, the oldest first.

    Whatever is as new as the last but `window` - 1: of runs that ended at the same moment there may be more.
    """
    near = _near(_bounds(window, suite, branch, page), branch)
    return SEEN.join(*near).order_by(*_BY_NAME, *_OLDEST)


def turned_of(window: int, suite: str | None, branch: str | None) -> Select[Any]:
    """Scenarios that passed some of these and did not pass others, by name."""
    near = _near(_bounds(window, suite, branch, None), branch)
    passed = case((RUN_SCENARIOS.c.verdict == "PASS", 1), else_=0)
    named = (SCENARIOS.c.suite, SCENARIOS.c.scenario_id, SCENARIOS.c.variant)
    return (
        select(*named)
        .join(RUN_SCENARIOS, RUN_SCENARIOS.c.scenario == SCENARIOS.c.number)
        .join(*near)
        .where(RUN_SCENARIOS.c.verdict.not_in(sorted(NOT_EVALUATED)))
        .group_by(SCENARIOS.c.number, *named)
        .having(func.min(passed) != func.max(passed))
        .order_by(*_BY_NAME)
    )


def _near(bounds: CTE, branch: str | None) -> tuple[CTE, ColumnElement[bool]]:
    """What to join, and on what, so that only rows within the bounds are left."""
    near = and_(RUN_SCENARIOS.c.scenario == bounds.c.number, RUN_SCENARIOS.c.completed_at >= bounds.c.since)
    return bounds, near if branch is None else and_(near, RUN_SCENARIOS.c.branch == branch)


def _bounds(window: int, suite: str | None, branch: str | None, page: Page | None) -> CTE:
    """How far to look back, scenario by scenario.

    With the rows after it an index answers both. A rank over all rows would read them all, and PostgreSQL
    would ask for the bound row by row if it were not kept.
    """
    had = RUN_SCENARIOS.c.scenario == SCENARIOS.c.number
    if branch is not None:
        had = and_(had, RUN_SCENARIOS.c.branch == branch)
    times = select(RUN_SCENARIOS.c.completed_at).where(had).correlate(SCENARIOS).limit(1)
    last_but = times.order_by(RUN_SCENARIOS.c.completed_at.desc()).offset(window - 1)
    first = times.order_by(RUN_SCENARIOS.c.completed_at)
    since = func.coalesce(last_but.scalar_subquery(), first.scalar_subquery()).label("since")
    chosen = select(SCENARIOS.c.number, since).where(exists().where(had)).order_by(*_BY_NAME)
    if suite is not None:
        chosen = chosen.where(SCENARIOS.c.suite == suite)
    return (paged(chosen, page) if page else chosen).cte("bounds").prefix_with("MATERIALIZED")
