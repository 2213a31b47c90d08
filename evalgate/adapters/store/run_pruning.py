"""Deletes old runs, a few in each transaction, so that other processes never wait for long."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import ColumnElement, and_, delete, exists, func, not_, select

from evalgate.adapters.store.schema.run_tables import RUN_SCENARIOS, RUNS, SCENARIOS
from evalgate.adapters.store.schema.tables import EVALUATIONS
from evalgate.models.store.stored_run import PruneCounts

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sqlalchemy import Connection

    from evalgate.adapters.store.database import Database


class Bounds(NamedTuple):
    """What one transaction deletes at most; a single run may have more rows."""

    runs: int = 200
    rows: int = 20_000


BOUNDS = Bounds()


def prune_runs(
    database: Database,
    before: datetime,
    *,
    dry_run: bool,
    bounds: Bounds = BOUNDS,
    seen: Callable[[int], object] = bool,
) -> PruneCounts:
    """Deletes runs that ended before a time and that nobody decided about; returns what was deleted.

    With `dry_run` it returns what would be. `seen` gets the number of runs of each transaction.
    """
    if dry_run:
        with database.reading() as connection:
            found = _count(connection, _is_old(before))._replace(names=_count_names(connection, before))
            return _count_kept(connection, before, found)
    found = PruneCounts()
    while True:
        with database.writing() as connection:
            numbers = _select_batch(connection, before, bounds)
            if not numbers:
                break
            found = _add(found, _count(connection, RUNS.c.number.in_(numbers)))
            connection.execute(delete(RUNS).where(RUNS.c.number.in_(numbers)))
        seen(len(numbers))
    found = found._replace(names=_delete_names(database, bounds))
    with database.reading() as connection:
        return _count_kept(connection, before, found)


def _is_old(before: datetime) -> ColumnElement[bool]:
    return and_(RUNS.c.completed_at < before, RUNS.c.approval_status == "pending")


def _select_batch(connection: Connection, before: datetime, bounds: Bounds) -> list[int]:
    """The numbers of the oldest runs, as many as one transaction deletes."""
    rows = select(func.count()).where(RUN_SCENARIOS.c.run == RUNS.c.number).scalar_subquery()
    oldest = select(RUNS.c.number, rows).where(_is_old(before)).order_by(RUNS.c.completed_at, RUNS.c.number)
    numbers: list[int] = []
    total = 0
    for number, count in connection.execute(oldest.limit(bounds.runs).with_for_update(of=RUNS)):
        total += count
        if numbers and total > bounds.rows:
            break
        numbers.append(number)
    return numbers


def _count(connection: Connection, condition: ColumnElement[bool]) -> PruneCounts:
    """The runs of a condition, and what is deleted with them."""
    times = func.count(), func.min(RUNS.c.completed_at), func.max(RUNS.c.completed_at)
    runs, first, last = connection.execute(select(*times).where(condition)).one()
    results = select(func.count()).select_from(RUN_SCENARIOS).join(RUNS, RUNS.c.number == RUN_SCENARIOS.c.run)
    evaluations = select(func.count()).select_from(EVALUATIONS).join(RUNS, RUNS.c.id == EVALUATIONS.c.run_id)
    counts = [connection.scalar(query.where(condition)) or 0 for query in (results, evaluations)]
    return PruneCounts(runs, counts[0], counts[1], first=first, last=last)


def _add(one: PruneCounts, other: PruneCounts) -> PruneCounts:
    """Both together; `other` is of later runs."""
    return PruneCounts(
        one.runs + other.runs,
        one.results + other.results,
        one.evaluations + other.evaluations,
        first=one.first or other.first,
        last=other.last,
    )


def _count_kept(connection: Connection, before: datetime, found: PruneCounts) -> PruneCounts:
    """Adds how many runs are kept: those that are not old, and those that a person decided about."""
    kept = select(func.count()).select_from(RUNS)
    new = connection.scalar(kept.where(RUNS.c.completed_at >= before)) or 0
    decided = kept.where(RUNS.c.completed_at < before, RUNS.c.approval_status != "pending")
    return found._replace(kept=new, decided=connection.scalar(decided) or 0)


def _count_names(connection: Connection, before: datetime) -> int:
    """How many scenarios no run has that is kept."""
    remaining = RUN_SCENARIOS.join(RUNS, RUNS.c.number == RUN_SCENARIOS.c.run)
    has_run = (
        exists().select_from(remaining).where(RUN_SCENARIOS.c.scenario == SCENARIOS.c.number, not_(_is_old(before)))
    )
    return connection.scalar(select(func.count()).select_from(SCENARIOS).where(~has_run)) or 0


def _delete_names(database: Database, bounds: Bounds) -> int:
    """Deletes the names of scenarios that no run has; returns how many.

    A name is locked, then looked up again: a run that is being stored locks the names that it has found.
    """
    is_unused = ~exists().where(RUN_SCENARIOS.c.scenario == SCENARIOS.c.number)
    deleted, last = 0, -1
    while True:
        with database.writing() as connection:
            unused = select(SCENARIOS.c.number).where(SCENARIOS.c.number > last, is_unused)
            page = (
                unused.order_by(SCENARIOS.c.number).limit(bounds.rows).with_for_update(of=SCENARIOS, skip_locked=True)
            )
            numbers = list(connection.scalars(page))
            if not numbers:
                return deleted
            for start in range(0, len(numbers), bounds.runs):
                part = SCENARIOS.c.number.in_(numbers[start : start + bounds.runs])
                deleted += connection.execute(delete(SCENARIOS).where(part, is_unused)).rowcount
            last = numbers[-1]
