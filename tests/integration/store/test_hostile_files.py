"""Untrusted SQLite files: refused in one line, and nothing in them ever runs."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.errors import EvalGateError, RefusedPath, SettingError, StoreUnreachable
from evalgate.features.store.adapters.database import Deadline, connect, translate_errors
from evalgate.features.store.adapters.run_rows import pack, unpack
from evalgate.features.store.adapters.store_url import parse_store_url
from evalgate.features.store.bootstrap.store import open_store
from evalgate.features.store.ports import Page, Subject
from evalgate.models.run.golden import Golden

NO_STORE = "is damaged, or is not a store of EvalGate"


@pytest.fixture
def path(tmp_path, sqlite_template):
    """A valid store with a golden in it, before it is manipulated."""
    copy = tmp_path / "store.db"
    shutil.copyfile(sqlite_template, copy)
    with open_store(str(copy), "/") as store:
        store.goldens.create(Golden("g", title="mine", tags=("t",)))
    return copy


def change(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def read_all(store):
    """Everything that a verb could request."""
    store.goldens.list(), store.goldens.ids(), store.goldens.select(tags=["t"])
    store.evaluations.list(), store.feedback.list(), store.suites.list(), store.approvals.list()
    for facts in store.runs.list(Page(5)):
        store.runs.get(facts.id)
    store.runs.trend(Subject()), store.runs.trend(Subject("s")), store.runs.last_statuses()
    store.runs.all_sightings(3)


@pytest.mark.parametrize(
    "content",
    [
        b"plain text, no database at all",
        b"SQLite format 3\0" + b"\xff" * 5000,
        b"SQLite format 3\0",
        b"{}",
        os.urandom(4096),
    ],
    ids=["text", "header", "only-header", "json", "noise"],
)
def test_a_file_that_is_not_a_database_is_refused_and_left_unchanged(tmp_path, content):
    path = tmp_path / "store.db"
    path.write_bytes(content)

    with pytest.raises(SettingError, match=NO_STORE):
        open_store(str(path), "/")
    assert path.read_bytes() == content


def test_an_empty_file_becomes_a_store(tmp_path):
    path = tmp_path / "store.db"
    path.touch()
    with open_store(str(path), "/") as store:
        assert store.goldens.list() == []


def test_the_database_of_another_program_is_refused_and_left_unchanged(tmp_path):
    path = tmp_path / "theirs.db"
    change(path, "CREATE TABLE users (name TEXT)", "INSERT INTO users VALUES ('ada')")
    before = path.read_bytes()

    with pytest.raises(SettingError, match=NO_STORE):
        open_store(str(path), "/")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM users").fetchall() == [("ada",)]
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
    assert len(path.read_bytes()) == len(before)


RECURSIVE = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"


@pytest.mark.parametrize(
    "statements",
    [
        ["DROP TABLE evalgate_feedback", f"CREATE VIEW evalgate_feedback AS {RECURSIVE}"],
        [f"CREATE VIEW extra AS {RECURSIVE}"],
        ["CREATE TRIGGER t AFTER INSERT ON evalgate_goldens BEGIN DELETE FROM evalgate_runs; END"],
        ["CREATE VIRTUAL TABLE extra USING fts4(content)"],
        ["CREATE TABLE extra (x)"],
        ["CREATE INDEX extra ON evalgate_goldens (length(title))"],
        ["CREATE INDEX extra ON evalgate_goldens (title) WHERE title LIKE '%a%'"],
        ["ALTER TABLE evalgate_goldens ADD COLUMN extra AS (abs(version)) VIRTUAL"],
        ["ALTER TABLE evalgate_goldens ADD COLUMN extra TEXT"],
        ["DROP INDEX evalgate_goldens_by_intent"],
        ["DROP TABLE evalgate_version"],
        ["DELETE FROM evalgate_version"],
        ["INSERT INTO evalgate_version VALUES ('0001')"],
    ],
    ids=lambda statements: statements[-1][:50],
)
def test_a_store_with_foreign_tables_is_refused(path, statements):
    change(path, *statements)

    with pytest.raises(SettingError, match=NO_STORE):
        open_store(str(path), "/")


def test_a_rule_that_calls_a_function_is_refused(path):
    with closing(sqlite3.connect(path)) as connection:
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'evalgate_goldens'").fetchone()
        connection.execute("PRAGMA writable_schema = ON")
        hostile = sql.replace("version >= 1", "length(randomblob(999999999)) >= version")
        assert hostile != sql
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'evalgate_goldens'", (hostile,))
        connection.commit()

    with pytest.raises(SettingError, match=NO_STORE):
        open_store(str(path), "/")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE evalgate_goldens SET title = x'00ff'",
        "UPDATE evalgate_goldens SET tags = '{'",
        "UPDATE evalgate_goldens SET tags = '5'",
        "UPDATE evalgate_goldens SET tags = '[[\"t\"]]'",
        "UPDATE evalgate_goldens SET tags = '" + "[" * 5000 + "]" * 5000 + "'",
        "UPDATE evalgate_goldens SET version = 1.5",
        "UPDATE evalgate_goldens SET version = 'many'",
        "UPDATE evalgate_goldens SET created_at = 'yesterday'",
        "UPDATE evalgate_goldens SET created_at = 12",
        "UPDATE evalgate_goldens SET created_at = '2026-99-99 00:00:00'",
    ],
    ids=lambda statement: statement[28:60],
)
def test_a_value_of_the_wrong_type_is_reported_as_damage(path, statement):
    change(path, "PRAGMA ignore_check_constraints = ON", statement)

    with open_store(str(path), "/") as store, pytest.raises(SettingError, match=NO_STORE):
        store.goldens.list()


@pytest.mark.parametrize("results", ["10000000000", "'text'", "x''"], ids=["number", "text", "nothing"])
def test_invalid_results_are_reported_as_damage(path, results):
    run = (
        "INSERT INTO evalgate_runs (number, id, suites, verdict, exit_code, report_only, started_at, completed_at, "
        "duration_ms, evaluated, passed, failed, regressions, improvements, degradations, issues, approval_status, "
        "approval_comment) VALUES (1, 'r1', '[]', 'pass', 0, 0, '2025-01-01 00:00:00', '2025-01-01 00:00:01', 1, 1, 1, 0, "
        """0, 0, 0, '{"by_category": {}, "by_severity": {}, "top": []}', 'pending', '')"""
    )
    change(path, run, f"INSERT INTO evalgate_run_results VALUES (1, {results})")  # noqa: S608

    with open_store(str(path), "/") as store, pytest.raises(SettingError, match="damaged"):
        store.runs.get("r1")


def test_results_that_unpack_to_too_much_are_reported_as_damage():
    bomb = pack(bytes(1_000_000))

    assert len(bomb) < 10_000
    assert unpack(bomb, 1_000_000) == bytes(1_000_000)
    with pytest.raises(SettingError, match="damaged, or larger than those of any run"):
        unpack(bomb, 999_999)


def test_feedback_that_breaks_a_constraint_is_reported_as_damage(path):
    change(
        path,
        "PRAGMA ignore_check_constraints = ON",
        "INSERT INTO evalgate_feedback (id, conversation_id, rating, feedback, comment, issues, created_at) "
        "VALUES ('f', 'c', 9, 'splendid', '', '[]', '2026-01-01 00:00:00')",
    )

    with open_store(str(path), "/") as store, pytest.raises(SettingError, match=NO_STORE):
        store.feedback.list()


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
def test_a_symbolic_link_is_not_followed(tmp_path, path, end):
    link = tmp_path / "link.db"
    if end:
        shutil.copyfile(path, link)
    (tmp_path / f"link.db{end}").symlink_to(path)

    with pytest.raises(RefusedPath, match="is a symbolic link, which is not followed"):
        open_store(str(link), "/")


def test_a_file_that_is_not_regular_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()

    for name in ("pipe", "folder", "/dev/null"):
        with pytest.raises(RefusedPath, match="is not a regular file"):
            open_store(name, str(tmp_path))


def test_a_statement_that_computes_for_too_long_is_ended(path):
    place = parse_store_url(str(path), "/")
    with (
        pytest.raises(StoreUnreachable, match="it took too long to answer"),
        translate_errors(place),
        closing(connect(place.target, Deadline(0.05))) as connection,
    ):
        connection.execute(f"SELECT count(*) FROM ({RECURSIVE})").fetchall()  # noqa: S608


@pytest.mark.parametrize("pragma", ["trusted_schema", "cell_size_check", "foreign_keys"])
def test_a_connection_trusts_nothing_in_the_file(path, pragma):
    with closing(connect(str(path), Deadline())) as connection:
        (value,) = connection.execute(f"PRAGMA {pragma}").fetchone()
        assert bool(value) is (pragma != "trusted_schema")
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@given(data=st.data())
def test_bytes_changed_anywhere_give_an_error_or_rows(tmp_path_factory, sqlite_template, data):
    content = bytearray(sqlite_template.read_bytes())
    for _ in range(data.draw(st.integers(1, 40))):
        place = data.draw(st.integers(0, len(content) - 1) | st.integers(0, 200) | st.integers(4000, 9000))
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "store.db"
    path.write_bytes(content)

    try:
        with open_store(str(path), "/") as store:
            read_all(store)
            store.goldens.create(Golden("new"))
    except EvalGateError as error:
        assert error.exit_code in {2, 4}
        assert "\n" not in str(error)
