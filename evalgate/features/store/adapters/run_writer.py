"""Writes a run into its tables, in the caller's transaction, and deletes old runs, a few in each transaction."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, not_, select

from evalgate.features.store.adapters.evaluations import insert_evaluations
from evalgate.features.store.adapters.run_rows import dump_facts, dump_scenario, dump_suite, pack
from evalgate.features.store.adapters.schema.tables import (
    EVALUATIONS,
    RUN_RESULTS,
    RUN_SCENARIOS,
    RUN_SUITES,
    RUNS,
    SCENARIOS,
)
from evalgate.features.store.adapters.schema.values import clean_text, dump_json
from evalgate.models.history.stored_run import PruneCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from evalgate.features.store.adapters.database import Database
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.history.stored_run import StoredRun
    from evalgate.models.run.golden import GoldenEvaluation

_MAX_IN_VALUES = 500  # values per IN clause


def write_run(
    connection: Connection, database: Database, run: StoredRun, evaluations: Sequence[GoldenEvaluation]
) -> bool:
    """Stores a whole run; False if its id is stored already."""
    query = database.insert_new(RUNS).returning(RUNS.c.number)
    number = connection.scalar(query, dump_facts(run.facts))
    if number is None:
        return False
    common = {"run": number, "branch": run.facts.branch, "completed_at": run.facts.completed_at}
    of_repository = {**common, "repository": run.facts.repository}
    connection.execute(insert(RUN_RESULTS), {"run": number, "results": pack(run.results)})
    _insert_rows(
        connection,
        insert(RUN_SUITES),
        [{**common, "position": n, **dump_suite(suite)} for n, suite in enumerate(run.suites)],
    )
    numbers = _number_all(connection, database, [row.key for row in run.scenarios])
    rows = [
        {**of_repository, "scenario": numbers[hash_scenario(row.key)], "position": n, **dump_scenario(row)}
        for n, row in enumerate(run.scenarios)
    ]
    _insert_rows(connection, insert(RUN_SCENARIOS), rows)
    insert_evaluations(connection, database, evaluations)
    return True


def hash_scenario(key: ScenarioKey) -> str:
    """A digest that identifies a scenario; its id may be too long for an index entry."""
    names = [clean_text(key.suite), clean_text(key.id), key.variant and clean_text(key.variant)]
    return hashlib.sha256(dump_json(names).encode()).hexdigest()


def _number_all(connection: Connection, database: Database, keys: Sequence[ScenarioKey]) -> Mapping[str, int]:
    """The number of each scenario by its digest; unknown scenarios are inserted.

    They are inserted in sorted order, so that two concurrent writers can't deadlock.
    """
    by_digest = {hash_scenario(key): key for key in keys}
    numbers = _find_numbers(connection, by_digest)
    new = [
        {"digest": digest, "suite": key.suite, "scenario_id": key.id, "variant": key.variant}
        for digest, key in sorted(by_digest.items())
        if digest not in numbers
    ]
    if new:
        _insert_rows(connection, database.insert_new(SCENARIOS), new)
        numbers |= _find_numbers(connection, (row["digest"] or "" for row in new))
    return numbers


def _find_numbers(connection: Connection, digests: Iterable[str]) -> dict[str, int]:
    all_digests, numbers = list(digests), {}
    for start in range(0, len(all_digests), _MAX_IN_VALUES):
        condition = SCENARIOS.c.digest.in_(all_digests[start : start + _MAX_IN_VALUES])
        # Locked until the run is stored, so that no other process deletes a name that no run has yet.
        query = (
            select(SCENARIOS.c.digest, SCENARIOS.c.number).where(condition).with_for_update(key_share=True, read=True)
        )
        for row in connection.execute(query):
            numbers[row.digest] = row.number
    return numbers


def _insert_rows(connection: Connection, statement: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(statement, rows)


class BatchBounds(NamedTuple):
    """What one transaction deletes at most; a single run may have more rows."""

    runs: int = 200
    rows: int = 20_000


BOUNDS = BatchBounds()


def prune_runs(
    database: Database,
    before: datetime,
    *,
    dry_run: bool,
    bounds: BatchBounds = BOUNDS,
    seen: Callable[[int], object] = bool,
) -> PruneCounts:
    """Deletes runs that ended before a time and that no person decided about; returns what was deleted.

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


def _select_batch(connection: Connection, before: datetime, bounds: BatchBounds) -> list[int]:
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


def _delete_names(database: Database, bounds: BatchBounds) -> int:
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
