"""What docs/store.md promises of the store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from documents import blocks, cells
from sqlalchemy import text
from store_builders import make_golden

from evalgate.features.store.adapters import store as sql_store
from evalgate.features.store.adapters.database import MAX_STATEMENT_SECONDS, MAX_WAIT_SECONDS, Database
from evalgate.features.store.adapters.schema.column_types import MAX_KEY_BYTES
from evalgate.features.store.adapters.schema.tables import METADATA
from evalgate.features.store.adapters.store_url import parse_store_url
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.history.stored_run import RunFacts, StoredRun, StoredScenarioRow, StoredSuiteRow

PAGE = "docs/store.md"
STATEMENTS = [block.text for block in blocks("sql") if block.document == PAGE]


def test_the_page_names_every_table():
    assert set(cells(PAGE, "What is kept", column=1)) == {*METADATA.tables, sql_store.VERSION_TABLE}


def test_the_page_names_what_is_deleted_with_a_golden_or_a_run():
    section = next(part for part in (blocks_of_page()) if part.startswith("What is kept"))
    for table in METADATA.sorted_tables:
        cascading = {key.column.table.name for key in table.foreign_keys if key.ondelete == "CASCADE"}
        row = next(line for line in section.splitlines() if line.startswith(f"| `{table.name}` |"))
        deleted_with = row.split("|")[3]
        assert ("golden" in deleted_with) == ("evalgate_goldens" in cascading)
        assert ("run" in deleted_with) == ("evalgate_runs" in cascading)


def blocks_of_page():
    from documents import ROOT

    return (ROOT / PAGE).read_text(encoding="utf-8").split("\n## ")


def test_the_page_shows_the_limits_as_they_are():
    page = "\n".join(blocks_of_page())

    assert f"at most {MAX_KEY_BYTES} bytes" in page
    assert f"up to {MAX_WAIT_SECONDS:.0f} seconds" in page
    assert (MAX_STATEMENT_SECONDS, "more than two minutes" in page) == (120, True)
    assert f"newer than the {sql_store.NEWEST} of this EvalGate" in page


@pytest.fixture
def filled(store, store_url):
    """A store with two runs and a golden, and a plain SQL connection to it."""
    for number, year in ((1, 2024), (2, 2026)):
        when = datetime(year, 3, 1, tzinfo=UTC)
        facts = RunFacts(
            f"r{number}", ("s",), "pass", 0, when, when, 1, branch="main", score=0.5, repository="acme/one"
        )
        row = StoredScenarioRow(ScenarioKey("s", "a", None), "PASS" if number == 2 else "FAIL", n=1)
        store.runs.record(StoredRun(facts, (StoredSuiteRow("s", "pass"),), (row,), b"{}"))
    store.goldens.create(make_golden())
    database = Database(parse_store_url(store_url, "/"))
    with database.writing() as connection:
        yield connection
    database.close()


def test_the_sql_of_the_page_returns_what_it_describes(filled):
    own, last, of_each, often, old = map(text, STATEMENTS)

    assert [filled.execute(own).rowcount for _ in range(2)] == [1, 0]
    assert [row.id for row in filled.execute(last)] == ["r2", "r1"]
    assert [(row.repository, str(row.completed_at)[:4]) for row in filled.execute(of_each)] == [("acme/one", "2026")]
    assert [tuple(row) for row in filled.execute(often)] == [("s", "a", None, 2, 1)]
    filled.execute(old)
    assert [row.id for row in filled.execute(last)] == ["r2"]
    assert filled.scalar(text("SELECT count(*) FROM evalgate_run_scenarios")) == 1
