"""Writes a run into its tables, in the caller's transaction."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from evalgate.adapters.store.evaluations import insert_evaluations
from evalgate.adapters.store.run_rows import facts_values, pack, scenario_values, suite_values
from evalgate.adapters.store.schema.cleaning import clean_text, dump_json
from evalgate.adapters.store.schema.run_tables import RUN_RESULTS, RUN_SCENARIOS, RUN_SUITES, RUNS, SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from evalgate.adapters.store.database import Database
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.run.evaluation import GoldenEvaluation
    from evalgate.models.store.stored_run import StoredRun

_MANY = 500  # values per IN clause


def write_run(
    connection: Connection, database: Database, run: StoredRun, evaluations: Sequence[GoldenEvaluation]
) -> bool:
    """Stores a whole run; False if its id is stored already."""
    wanted = database.insert_new(RUNS).returning(RUNS.c.number)
    number = connection.scalar(wanted, facts_values(run.facts))
    if number is None:
        return False
    common = {"run": number, "branch": run.facts.branch, "completed_at": run.facts.completed_at}
    connection.execute(insert(RUN_RESULTS), {"run": number, "results": pack(run.results)})
    _insert(
        connection,
        insert(RUN_SUITES),
        [{**common, "position": n, **suite_values(suite)} for n, suite in enumerate(run.suites)],
    )
    numbers = _numbers(connection, database, [row.key for row in run.scenarios])
    rows = [
        {**common, "scenario": numbers[digest_of(row.key)], "position": n, **scenario_values(row)}
        for n, row in enumerate(run.scenarios)
    ]
    _insert(connection, insert(RUN_SCENARIOS), rows)
    insert_evaluations(connection, database, evaluations)
    return True


def digest_of(key: ScenarioKey) -> str:
    """A digest that identifies a scenario; its id may be too long for an index entry."""
    named = [clean_text(key.suite), clean_text(key.id), key.variant and clean_text(key.variant)]
    return hashlib.sha256(dump_json(named).encode()).hexdigest()


def _numbers(connection: Connection, database: Database, keys: Sequence[ScenarioKey]) -> Mapping[str, int]:
    """The number of each scenario by its digest; unknown scenarios are inserted.

    They are inserted in sorted order, so that two concurrent writers can't deadlock.
    """
    by_digest = {digest_of(key): key for key in keys}
    known = _known(connection, by_digest)
    new = [
        {"digest": digest, "suite": key.suite, "scenario_id": key.id, "variant": key.variant}
        for digest, key in sorted(by_digest.items())
        if digest not in known
    ]
    if new:
        _insert(connection, database.insert_new(SCENARIOS), new)
        known |= _known(connection, (row["digest"] or "" for row in new))
    return known


def _known(connection: Connection, digests: Iterable[str]) -> dict[str, int]:
    wanted, known = list(digests), {}
    for start in range(0, len(wanted), _MANY):
        some = SCENARIOS.c.digest.in_(wanted[start : start + _MANY])
        for row in connection.execute(select(SCENARIOS.c.digest, SCENARIOS.c.number).where(some)):
            known[row.digest] = row.number
    return known


def _insert(connection: Connection, statement: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(statement, rows)
