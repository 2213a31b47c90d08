"""How a store is named, and the messages when it is not available: never a user, never a password."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import traceback
from contextlib import closing

import pytest

from evalgate.errors import EvalGateError, SettingError, StoreUnreachable
from evalgate.features.store.adapters.database import Deadline, connect, translate_errors
from evalgate.features.store.adapters.store_url import parse_store_url
from evalgate.features.store.bootstrap.store import open_store
from evalgate.models.run.golden import Golden


@pytest.mark.parametrize(
    ("named", "target"),
    [
        ("store.db", "/work/store.db"),
        ("deep/store.db", "/work/deep/store.db"),
        ("/srv/store.db", "/srv/store.db"),
        ("sqlite:///store.db", "/work/store.db"),
        ("sqlite:////srv/store.db", "/srv/store.db"),
        ("SQLITE:store.db", "/work/store.db"),
        ("sqlite:///with%20blank.db", "/work/with blank.db"),
        ("odd name?.db", "/work/odd name?.db"),
        ("./a:b.db", "/work/a:b.db"),
    ],
)
def test_a_path_or_a_url_names_a_file(named, target):
    place = parse_store_url(named, "/work")

    assert (place.kind, place.target) == ("sqlite", target)


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ("postgresql://zelda:s3cret@db.example.com:5432/gate", "postgresql://db.example.com:5432/gate"),
        (
            "postgresql://db.example.com/gate?sslmode=require&password=s3cret",
            "postgresql://db.example.com/gate",
        ),
        ("postgresql://zelda:s3cret@/gate?host=/run/pg", "postgresql:///run/pg/gate"),
        ("postgresql:///gate", "postgresql://localhost/gate"),
        ("PostgreSQL://zelda@[::1]:5432/gate", "postgresql://[::1]:5432/gate"),
    ],
)
def test_a_server_is_shown_without_its_user_and_options(named, shown):
    place = parse_store_url(named, "/work")

    assert place.kind == "postgresql"
    assert place.shown == shown
    assert "s3cret" not in repr(place)


@pytest.mark.parametrize(
    "named",
    [
        "",
        "  ",
        ":memory:",
        "a\0b",
        "sqlite://",
        "sqlite:",
        "sqlite://host/file",
        "sqlite:///file?mode=ro",
        "sqlite:///:memory:",
        "postgres://zelda:s3cret@host/db",
        "postgresql:zelda:s3cret@host/db",
        "postgresql://zelda:s3cret@host",
        "postgresql://zelda:s3cret@host/",
        "postgresql://zelda:s3/cret@host/db/more",
        "postgresql+psycopg2://zelda:s3cret@host/db",
        "mysql://zelda:s3cret@host/db",
        "https://zelda:s3cret@host/db",
        "file:s3cret.db",
        "postgresql://zelda:s3cret@host:port/db",
        "postgresql://zelda:@s3cret@host/db",
        "postgresql://zelda:of@s3cret@host:5432/db?sslmode=require",
        "postgresql://zelda:s3cret/of@host",
        "postgresql://zelda:s3cret/of?all@host/db",
        "postgresql://zelda:of@s3cret/all?things@host/db",
        "sqlite:///a%00b",
        "/",
        ".",
        "n" * 300,
        "deep/" * 1_000 + "s.db",
    ],
)
def test_invalid_names_are_refused_without_repeating_them(named, tmp_path):
    with pytest.raises(SettingError) as refused:
        open_store(named, str(tmp_path))

    assert "s3cret" not in whole(refused.value)
    assert "zelda" not in whole(refused.value)
    assert list(tmp_path.iterdir()) == []


NOWHERE = "postgresql://zelda:s3cret@127.0.0.1:1/gate"


def whole(error):
    """All that could be printed of an error, with --debug too."""
    return "".join(traceback.format_exception(error)) + repr(error)


def test_a_missing_server_is_unreachable_and_its_password_is_not_shown():
    with pytest.raises(StoreUnreachable) as refused:
        open_store(NOWHERE, "/")

    assert refused.value.exit_code == 4
    assert str(refused.value) == "the store postgresql://127.0.0.1:1/gate can't be used: the server can't be reached"
    assert "s3cret" not in whole(refused.value)
    assert "zelda" not in whole(refused.value)


def test_a_missing_database_is_reported(postgres_server):
    named = postgres_server.replace("/postgres?", "/unheard?")

    with pytest.raises(StoreUnreachable, match="the server has no such database"):
        open_store(named, "/")


def test_a_user_without_rights_is_reported(empty_postgres_url, postgres_server):
    import store_fixtures

    store_fixtures.ask(postgres_server, "DROP ROLE IF EXISTS evalgate_guest")
    store_fixtures.ask(postgres_server, "CREATE ROLE evalgate_guest LOGIN PASSWORD 's3cret'")
    try:
        guest = empty_postgres_url.replace("postgres@", "evalgate_guest:s3cret@")
        with pytest.raises(StoreUnreachable, match="the user lacks a privilege") as refused:
            open_store(guest, "/")
        assert "s3cret" not in whole(refused.value)
    finally:
        store_fixtures.ask(postgres_server, "DROP ROLE evalgate_guest")


def test_a_server_that_disconnects_is_unreachable(postgres_url):
    import store_fixtures

    with open_store(postgres_url, "/") as store:
        store.goldens.create(Golden("g"))
        name = postgres_url.split("/")[3].split("?")[0]
        server = postgres_url.replace(f"/{name}", "/postgres")
        store_fixtures.ask(server, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608
        with pytest.raises(StoreUnreachable):
            store.goldens.get("g")
        assert store.goldens.get("g").id == "g"


def test_nothing_of_a_store_shows_its_password(postgres_url):
    named = postgres_url.replace("postgres@", "postgres:s3cret@")
    with open_store(named, "/") as store:
        shown = [repr(store), store.display_url, repr(store.goldens), repr(store.runs._database)]

    assert not [text for text in shown if "s3cret" in text or "postgres:" in text]


def test_a_store_that_must_exist_is_not_created(tmp_path):
    with pytest.raises(SettingError, match=r"there is no store at deep/store\.db") as refused:
        open_store("deep/store.db", str(tmp_path), create=False)

    assert refused.value.problems[0].hint
    assert list(tmp_path.iterdir()) == []


def test_a_new_folder_of_a_store_is_ignored_by_git(tmp_path):
    open_store(".evalgate/evalgate.db", str(tmp_path)).close()
    open_store("other/evalgate.db", str(tmp_path)).close()

    assert (tmp_path / ".evalgate/.gitignore").read_text() == "*\n"
    assert [each.name for each in (tmp_path / "other").iterdir()] == ["evalgate.db"]


def test_a_folder_that_can_not_be_created_is_reported(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(SettingError, match=r"file/store\.db"):
        open_store("file/store.db", str(tmp_path))


def test_a_closed_file_is_complete(tmp_path):
    with open_store("s.db", str(tmp_path)) as store:
        store.goldens.create(Golden("g"))

    assert [each.name for each in tmp_path.iterdir()] == ["s.db"]


@pytest.mark.parametrize(
    ("named", "missing", "extra"),
    [
        ("s.db", "sqlalchemy", "store"),
        ("postgresql:///db", "psycopg", "postgres"),
    ],
)
def test_an_extra_that_is_not_installed_is_named(tmp_path, named, missing, extra):
    program = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from evalgate.features.store.bootstrap.store import open_store\n"
        "from evalgate.errors import SettingError\n"
        f"try: open_store({named!r}, {str(tmp_path)!r})\n"
        "except SettingError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == f"a store needs an extra that is not installed (install evalgate-action[{extra}])\n"


def test_a_file_locked_for_too_long_by_another_process_is_reported(tmp_path):
    place = parse_store_url("s.db", str(tmp_path))
    open_store("s.db", str(tmp_path)).close()
    with (
        closing(sqlite3.connect(place.target, isolation_level=None)) as other,
        closing(connect(place.target, Deadline(), wait=0.01)) as waiting,
    ):
        other.execute("BEGIN IMMEDIATE")
        assert waiting.execute("SELECT count(*) FROM evalgate_goldens").fetchone() == (0,)
        message = r"the store s\.db can't be used: another process has locked it: try again"
        with pytest.raises(StoreUnreachable, match=message), translate_errors(place):
            waiting.execute("BEGIN IMMEDIATE")


def test_every_failure_is_an_evalgate_error():
    assert issubclass(StoreUnreachable, EvalGateError)
    assert StoreUnreachable("x").exit_code == 4
