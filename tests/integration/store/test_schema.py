"""Newer stores are refused; the migrations lead to the tables we use, and those are frozen."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, Table, create_engine, inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from store_builders import migrate

from evalgate.errors import EvalGateError, SettingError
from evalgate.features.store.adapters import store as sql_store
from evalgate.features.store.adapters.database import Database
from evalgate.features.store.adapters.schema.tables import METADATA
from evalgate.features.store.adapters.store_url import parse_store_url
from evalgate.features.store.bootstrap.store import open_store


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """Nothing yet, not even tables."""
    url = str(tmp_path / "s.db") if request.param == "sqlite" else request.getfixturevalue("empty_postgres_url")
    opened = Database(parse_store_url(url, "/"))
    yield opened
    opened.close()


def test_an_up_to_date_store_is_opened_without_alembic(sqlite_template):
    import subprocess
    import sys

    program = (
        "import sys; from evalgate.features.store.bootstrap.store import open_store; open_store(sys.argv[1], '/').close(); "
        "print('alembic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(sqlite_template)], capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"


def test_a_newer_store_is_refused_in_one_clear_line_and_left_alone(database):
    open_store(database.url.target, "/").close()
    with database.writing() as connection:
        connection.execute(text("UPDATE evalgate_version SET version_num = '0099'"))

    with pytest.raises(SettingError) as refused:
        open_store(database.url.target, "/")

    assert str(refused.value) == (
        f"the store {database.url.shown} has schema 0099, newer than the {sql_store.NEWEST} of this EvalGate "
        "(update EvalGate, or use another store)"
    )
    with database.reading() as connection:
        assert connection.scalar(text("SELECT version_num FROM evalgate_version")) == "0099"


@pytest.mark.parametrize("number", ["0000", "1\n::error::x"])
def test_an_unknown_version_is_not_a_store(database, number):
    open_store(database.url.target, "/").close()
    with database.writing() as connection:
        connection.execute(text("UPDATE evalgate_version SET version_num = :number"), {"number": number})

    with pytest.raises(SettingError, match="is not a store of EvalGate"):
        open_store(database.url.target, "/")


def test_a_creation_that_fails_changes_nothing(database):
    with database.writing() as connection:
        connection.execute(text("CREATE TABLE evalgate_feedback (mine INTEGER)"))

    with pytest.raises(EvalGateError):
        open_store(database.url.target, "/")
    with database.reading() as connection:
        assert inspect(connection).get_table_names() == ["evalgate_feedback"]


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()], ids=lambda each: each.name)
def test_the_tables_are_those_that_stores_have(dialect):
    """A change of them after the first release is a migration; refresh this file only together with one."""
    statements = [CreateTable(table) for table in METADATA.sorted_tables]
    statements += [CreateIndex(each) for table in METADATA.sorted_tables for each in sorted(table.indexes, key=str)]
    lines = [f"{str(each.compile(dialect=dialect)).strip()};" for each in statements]
    found = "".join(f"{line.rstrip()}\n" for statement in lines for line in statement.split("\n"))

    path = Path(__file__).parent / "tables" / f"{dialect.name}.sql"
    if os.environ.get("EVALGATE_REFRESH") == "1":
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


def test_the_migrations_lead_to_the_tables_of_today(database):
    with database.writing() as connection:
        migrate(connection, "head")

    with database.reading() as connection:
        compared = MigrationContext.configure(connection, opts={"version_table": sql_store.VERSION_TABLE})
        assert compare_metadata(compared, METADATA) == []


def test_the_migrations_lead_to_the_rules_of_today(tmp_path):
    def rules(engine):
        seen = inspect(engine)
        return {
            table: sorted((rule["name"], rule["sqltext"]) for rule in seen.get_check_constraints(table))
            for table in METADATA.tables
        }

    today = create_engine(f"sqlite:///{tmp_path}/today.db")
    METADATA.create_all(today)
    migrated = create_engine(f"sqlite:///{tmp_path}/migrated.db")
    with migrated.begin() as connection:
        migrate(connection, "head")

    assert rules(migrated) == rules(today)
    assert sum(map(len, rules(today).values())) > 30
    today.dispose()
    migrated.dispose()


def test_the_shape_of_every_schema_is_known(tmp_path):
    shapes = {}
    for number in sql_store.FINGERPRINTS:
        database = Database(parse_store_url(str(tmp_path / number), "/"))
        with database.writing() as connection:
            migrate(connection, number)
            shapes[number] = sql_store.compute_fingerprint(connection, database.url)
        database.close()

    assert shapes == sql_store.FINGERPRINTS


def test_approvals_of_a_store_of_before_are_still_there(tmp_path):
    url = str(tmp_path / "s.db")
    database = Database(parse_store_url(url, "/"))
    row = {
        "id": "1",
        "suite": "refunds",
        "scenario": "late",
        "reason": "known",
        "who": "ada",
        "until": date(2099, 1, 1),
    }
    row |= {"traces": [], "checks": ["polite"], "source": "shell", "self_approved": False}
    row |= {"recorded_at": datetime(2026, 5, 1, 12, tzinfo=UTC)}
    with database.writing() as connection:
        migrate(connection, "0005")
        connection.execute(Table("evalgate_approvals", MetaData(), autoload_with=connection).insert(), row)
    database.close()

    with open_store(url, "/") as opened:
        (found,) = opened.approvals.active(date(2026, 6, 1))

    assert found.approval.checks == frozenset({"polite"})
    assert found.approval.covers is None


def test_every_migration_is_known_and_is_part_of_the_package():
    script = ScriptDirectory(str(sql_store.MIGRATIONS))

    assert sorted(each.revision for each in script.walk_revisions()) == list(sql_store.FINGERPRINTS)
    assert script.get_current_head() == sql_store.NEWEST
    for each in script.walk_revisions():
        assert Path(each.path).name.startswith(f"v{each.revision}_")
        assert (Path(each.path).parent / "__init__.py").exists()
