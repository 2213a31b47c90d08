"""Stores for tests: a SQLite file, and a real PostgreSQL that the tests start themselves.

`EVALGATE_TEST_POSTGRES` names a server to use instead (a URL of a user that may create databases). All workers of
one pytest-xdist run share one server: the first starts it, the last stops it. Each worker has a separate
database, which is empty when a test begins.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest

from evalgate.features.store.bootstrap.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.features.store.ports import Store

KINDS = ("sqlite", "postgresql")
AS_ROOT = os.geteuid() == 0
UNPRIVILEGED_UID = 65534  # the server refuses to run as root
SERVER_USER: dict[str, Any] = {"user": UNPRIVILEGED_UID, "extra_groups": []} if AS_ROOT else {}
QUICK = "-h '' -F -c max_connections=100 -c shared_buffers=16MB"


class PostgresServer:
    """A server on a socket in a temporary folder, run by PostgreSQL's own programs."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        self.url = f"postgresql://postgres@/postgres?host={folder}"

    def start(self) -> None:
        data = str(self.folder / "data")
        self.call("initdb", "--no-sync", "--auth=trust", "--no-locale", "-E", "UTF8", "-U", "postgres", "-D", data)
        options = f"{QUICK} -k {self.folder}"
        self.call("pg_ctl", "-D", data, "-o", options, "-l", str(self.folder / "log"), "-w", "start")

    def stop(self) -> None:
        self.call("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder)

    def call(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [str(self.programs / program), *words],
            **SERVER_USER,
            cwd="/",
            stdout=subprocess.DEVNULL,  # a pipe would stay open in the server
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode:
            log = self.folder / "log"
            pytest.fail(f"{program} of PostgreSQL failed: {log.read_text() if log.exists() else done.returncode}")


def installed() -> Path:
    """The folder of PostgreSQL's programs; skips the test if they are not installed."""
    found = find_spec("pgserver")
    if found is None or not found.submodule_search_locations:
        pytest.skip(
            "no PostgreSQL: pgserver is not installed (it stops at Python 3.12); name a server with EVALGATE_TEST_POSTGRES"
        )
    return Path(found.submodule_search_locations[0]) / "pginstall/bin"


def runs_here(programs: Path) -> bool:
    """Whether the user of the server may enter the folders above, and run them."""
    version = [programs / "initdb", "--version"]
    try:
        seen = subprocess.run(version, **SERVER_USER, cwd="/", capture_output=True, check=False)
    except PermissionError:
        return False
    return seen.returncode == 0


def copy_programs(programs: Path, folder: Path) -> Path:
    """Copies the programs and their libraries, which they find beside their package, for the user of the server."""
    packages, below = programs.parents[2], programs.parent.relative_to(programs.parents[2])
    unused = shutil.ignore_patterns("include", "pgxs", "*.a")
    for each in (below, Path("pgserver.libs")):
        if (packages / each).is_dir():
            shutil.copytree(packages / each, folder / each, ignore=unused)
    give_to_server(folder, *folder.rglob("*"))
    return folder / below / programs.name


def give_to_server(*paths: Path) -> None:
    if AS_ROOT:
        for path in paths:
            os.chown(path, UNPRIVILEGED_UID, -1)


def find_programs(programs: Path, folder: Path) -> Path:
    """The programs where the server's user can run them: a copy in `folder`, where only root may enter theirs."""
    if AS_ROOT and not runs_here(programs):
        programs = copy_programs(programs, folder / "programs")
    if not runs_here(programs):
        pytest.skip("no PostgreSQL: its programs do not run here; name a server with EVALGATE_TEST_POSTGRES")
    return programs


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def start_server() -> PostgresServer:
    programs = installed()
    folder = Path(tempfile.mkdtemp(prefix="evalgate-pg-", dir="/tmp"))
    give_to_server(folder)
    try:
        server = PostgresServer(find_programs(programs, folder), folder)
        server.start()
    except BaseException:  # which `pytest.skip` and `pytest.fail` raise
        shutil.rmtree(folder)
        raise
    return server


def join(shared: Path) -> PostgresServer:
    """The server of this run; the first worker starts it."""
    state = shared / "postgres.json"
    with locked(shared / "postgres.lock"):
        users, programs, folder = json.loads(state.read_text()) if state.exists() else (0, "", "")
        if not users:
            server = start_server()
            programs, folder = str(server.programs), str(server.folder)
        state.write_text(json.dumps([users + 1, programs, folder]))
    return PostgresServer(Path(programs), Path(folder))


def leave(shared: Path, server: PostgresServer) -> None:
    """The last worker stops it."""
    state = shared / "postgres.json"
    with locked(shared / "postgres.lock"):
        users, *place = json.loads(state.read_text())
        if users == 1:
            server.stop()
        state.write_text(json.dumps([users - 1, *place]))


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
    from evalgate.features.store.adapters.schema.column_types import METADATA

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
