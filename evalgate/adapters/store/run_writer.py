"""Writes a run into its tables, in the caller's transaction."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from evalgate.adapters.store.evaluations import insert_evaluations
from evalgate.adapters.store.run_rows import dump_facts, dump_scenario, dump_suite, pack
from evalgate.adapters.store.schema.cleaning import clean_text, dump_json
from evalgate.adapters.store.schema.run_tables import RUN_RESULTS, RUN_SCENARIOS, RUN_SUITES, RUNS, SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from evalgate.adapters.store.database import Database
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.run.golden import GoldenEvaluation
    from evalgate.models.store.stored_run import StoredRun

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
    connection.execute(insert(RUN_RESULTS), {"run": number, "results": pack(run.results)})
    _insert_rows(
        connection,
        insert(RUN_SUITES),
        [{**common, "position": n, **dump_suite(suite)} for n, suite in enumerate(run.suites)],
    )
    numbers = _number_all(connection, database, [row.key for row in run.scenarios])
    rows = [
        {**common, "scenario": numbers[hash_scenario(row.key)], "position": n, **dump_scenario(row)}
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
