"""Stores for tests: a SQLite file, and a real PostgreSQL that the tests start themselves.

`EVALGATE_TEST_POSTGRES` names a server to use instead (a URL of a user that may create databases). All workers of
one pytest-xdist run share one server: the first starts it, the last stops it. Each worker has a separate
database, which is empty when a test begins.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest

from evalgate.bootstrap.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.ports.store import Store

KINDS = ("sqlite", "postgresql")
UNPRIVILEGED_UID = 65534  # the server refuses to run as root
QUICK = "-h '' -F -c max_connections=100 -c shared_buffers=16MB"


class PostgresServer:
    """A server on a socket in a temporary folder, run by PostgreSQL's own programs."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        self.url = f"postgresql://postgres@/postgres?host={folder}"

    def start(self) -> None:
        if os.geteuid() == 0:
            person = pwd.getpwuid(UNPRIVILEGED_UID)
            os.chown(self.folder, person.pw_uid, person.pw_gid)
        data = str(self.folder / "data")
        self.call("initdb", "--no-sync", "--auth=trust", "--no-locale", "-E", "UTF8", "-U", "postgres", "-D", data)
        options = f"{QUICK} -k {self.folder}"
        self.call("pg_ctl", "-D", data, "-o", options, "-l", str(self.folder / "log"), "-w", "start")

    def stop(self) -> None:
        self.call("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder)

    def call(self, program: str, *words: str) -> None:
        as_root = os.geteuid() == 0
        done = subprocess.run(
            [str(self.programs / program), *words],
            user=UNPRIVILEGED_UID if as_root else None,
            extra_groups=[] if as_root else None,
            cwd="/",
            stdout=subprocess.DEVNULL,  # a pipe would stay open in the server
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode:
            log = self.folder / "log"
            pytest.fail(f"{program} of PostgreSQL failed: {log.read_text() if log.exists() else done.returncode}")


def programs() -> Path:
    """The folder of PostgreSQL's programs; skips the test if they are missing or can't run here."""
    found = find_spec("pgserver")
    if found is None or not found.submodule_search_locations:
        pytest.skip(
            "no PostgreSQL: pgserver is not installed (it stops at Python 3.12); name a server with EVALGATE_TEST_POSTGRES"
        )
    folder = Path(found.submodule_search_locations[0]) / "pginstall/bin"
    if os.geteuid() == 0:
        seen = subprocess.run(
            [folder / "postgres", "--version"],
            user=UNPRIVILEGED_UID,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            check=False,
        )
        if seen.returncode:
            pytest.skip("no PostgreSQL: it does not run as root, and others may not read the folder of pgserver")
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def join(shared: Path) -> PostgresServer:
    """The server of this run; the first worker starts it."""
    state = shared / "postgres.json"
    with locked(shared / "postgres.lock"):
        users, folder = json.loads(state.read_text()) if state.exists() else (0, "")
        if not users:
            where = programs()
            folder = tempfile.mkdtemp(prefix="evalgate-pg-", dir="/tmp")
            PostgresServer(where, Path(folder)).start()
        state.write_text(json.dumps([users + 1, folder]))
    return PostgresServer(programs(), Path(folder))


def leave(shared: Path, server: PostgresServer) -> None:
    """The last worker stops it."""
    state = shared / "postgres.json"
    with locked(shared / "postgres.lock"):
        users, folder = json.loads(state.read_text())
        if users == 1:
            server.stop()
        state.write_text(json.dumps([users - 1, folder]))


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server on which databases may be made."""
    pytest.importorskip("psycopg", reason="no PostgreSQL: psycopg is not installed")
    named = os.environ.get("EVALGATE_TEST_POSTGRES")
    if named:
        yield named
        return
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    server = join(shared)
    try:
        yield server.url
    finally:
        leave(shared, server)


def ask(server: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement)


def url_of(server: str, database: str) -> str:
    return urlunsplit(urlsplit(server)._replace(path=f"/{database}"))


@contextmanager
def database_on(server: str) -> Iterator[str]:
    """Creates a database; gives its URL."""
    name = f"evalgate_{uuid4().hex}"
    ask(server, f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
    try:
        yield url_of(server, name)
    finally:
        ask(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str) -> Iterator[tuple[str, list[str]]]:
    """A database with all tables, shared by the tests; its URL and the names of the tables."""
    from evalgate.adapters.store.schema.column_types import METADATA

    with database_on(postgres_server) as url:
        open_store(url, "/").close()
        yield url, [table.name for table in reversed(METADATA.sorted_tables)]


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store file with all tables, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    open_store(str(path), "/").close()
    return path


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    """A database with nothing in it."""
    with database_on(postgres_server) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_database: tuple[str, list[str]]) -> Iterator[str]:
    """An empty store in PostgreSQL."""
    url, tables = postgres_database
    yield url
    ask(url, ";".join(f"DELETE FROM {table}" for table in tables))  # noqa: S608  TRUNCATE makes a hundred files


@pytest.fixture(params=KINDS)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new store, once in SQLite and once in PostgreSQL, as `--store-url` names it."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    path = tmp_path / "store.db"
    shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
    return str(path)


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """The same, opened."""
    with open_store(store_url, "/") as opened:
        yield opened
