"""Older stores are brought up to date, newer ones refused; the migrations lead to the tables we use."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from evalgate.errors import EvalGateError, SettingError
from evalgate.features.store.adapters import store as sql_store
from evalgate.features.store.adapters.database import Database
from evalgate.features.store.adapters.schema.tables import METADATA
from evalgate.features.store.adapters.store_url import parse_store_url
from evalgate.features.store.bootstrap.store import open_store
from evalgate.features.store.ports import Subject
from evalgate.models.comparison.comparison import ScenarioKey

OLDER = list(sql_store.FINGERPRINTS)[:-1]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """Nothing yet, not even tables."""
    url = str(tmp_path / "s.db") if request.param == "sqlite" else request.getfixturevalue("empty_postgres_url")
    opened = Database(parse_store_url(url, "/"))
    yield opened
    opened.close()


def migrate(connection, number):
    config = Config()
    config.set_main_option("script_location", str(sql_store.MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, number)


def fill(connection):
    """What the oldest schema could hold."""
    connection.execute(text(
        "INSERT INTO evalgate_goldens (id, title, description, intent, primary_stance, secondary_stances, "
        "required_memory_recall, required_tool_usage, required_refusal, user_messages, golden_responses, tags, "
        "version, created_at, updated_at) VALUES ('old', 'kept', '', 'other', 'helpful', '[]', '[]', '[]', '[]', "
        "'[\"hi\"]', '[\"ho\"]', '[]', 3, '2025-01-01 00:00:00', '2025-01-02 00:00:00')"
    ))  # fmt: skip
    connection.execute(text(
        "INSERT INTO evalgate_runs (number, id, suites, verdict, exit_code, report_only, started_at, completed_at, "
        "duration_ms, evaluated, passed, failed, regressions, improvements, degradations, issues, approval_status, "
        "approval_comment) VALUES (1, 'r1', '[\"s\"]', 'pass', 0, false, '2025-01-01 00:00:00', '2025-01-01 00:00:01', "
        "1000, 1, 1, 0, 0, 0, 0, '{\"by_category\": {}, \"by_severity\": {}, \"top\": []}', 'pending', '')"
    ))  # fmt: skip
    from evalgate.features.store.adapters.run_writer import hash_scenario

    key = ScenarioKey("s", "a", None)
    connection.execute(
        text("INSERT INTO evalgate_scenarios (number, digest, suite, scenario_id) VALUES (1, :digest, 's', 'a')"),
        {"digest": hash_scenario(key)},
    )
    connection.execute(text(
        "INSERT INTO evalgate_run_scenarios (run, scenario, position, verdict, n, passed, dimensions, completed_at) "
        "VALUES (1, 1, 0, 'PASS', 1, 1, '{}', '2025-01-01 00:00:01')"
    ))  # fmt: skip


@pytest.mark.parametrize("number", OLDER)
def test_an_older_store_is_brought_up_to_date_with_all_it_holds(database, number):
    with database.writing() as connection:
        migrate(connection, number)
        fill(connection)

    with open_store(database.url.target, "/") as store:
        assert store.goldens.get("old").version == 3
        assert store.goldens.get("old").user_messages == ("hi",)
        row = store.runs.last_status(ScenarioKey("s", "a", None)).row
        assert (row.verdict, row.quarantined, row.not_measured) == ("PASS", False, 0)
        assert [point.not_measured for point in store.runs.trend(Subject(), 10)] == [0]
        assert store.approvals.list() == []
        assert store.feedback.list() == []
    with database.reading() as connection:
        assert connection.scalar(text("SELECT version_num FROM evalgate_version")) == sql_store.NEWEST


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


def test_an_upgrade_that_fails_changes_nothing(database):
    with database.writing() as connection:
        migrate(connection, "0001")
        fill(connection)
        connection.execute(text("CREATE TABLE evalgate_approvals (mine INTEGER)"))

    with pytest.raises(EvalGateError):
        open_store(database.url.target, "/")
    with database.reading() as connection:
        assert connection.scalar(text("SELECT version_num FROM evalgate_version")) == "0001"
        assert not connection.dialect.has_table(connection, "evalgate_feedback")


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


def test_every_migration_is_known_and_is_part_of_the_package():
    script = ScriptDirectory(str(sql_store.MIGRATIONS))

    assert sorted(each.revision for each in script.walk_revisions()) == list(sql_store.FINGERPRINTS)
    assert script.get_current_head() == sql_store.NEWEST
    for each in script.walk_revisions():
        assert Path(each.path).name.startswith(f"v{each.revision}_")
        assert (Path(each.path).parent / "__init__.py").exists()
