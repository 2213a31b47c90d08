"""One connection to a store, with transactions for reading and for exclusive writing.

A SQLite file is untrusted: it is opened so that it can only hold rows. A driver's errors are translated, as a
library's text may quote stored data.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import sys
import time
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, create_engine, event, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError, StatementError

from evalgate.errors import EvalGateError, Problem, RefusedPath, SettingError, StoreUnreachable
from evalgate.features.store.adapters.schema.values import MalformedError, clean_integer, dump_json, load_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Column, Connection, Engine, Select, Table

    from evalgate.features.store.adapters.store_url import StoreUrl
    from evalgate.features.store.ports import Page


_CONSTRAINT = re.compile(r"\b(?:golden|suite|run|evaluation|feedback|approval)_\w+_is_\w+|feedback_is_\w+")
_INVALID_FILE_CODES = {"SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_ERROR", "SQLITE_FORMAT"}
_SQLITE_REASONS = {
    "SQLITE_BUSY": "another process has locked it: try again",
    "SQLITE_LOCKED": "another process has locked it: try again",
    "SQLITE_INTERRUPT": "it took too long to answer",
    "SQLITE_READONLY": "there is no permission to write to it",
    "SQLITE_CANTOPEN": "the file can't be opened",
    "SQLITE_PERM": "the file can't be opened",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk reports an error",
    "SQLITE_TOOBIG": "a value is larger than it can store",
}
_POSTGRES_REASONS = {
    "08": "the server can't be reached",
    "22": "it can't store one of the values",
    "25": "the server is read-only now",
    "28": "the server rejects the user name or the password",
    "3D": "the server has no such database",
    "40": "it conflicted with another process: try again",
    "42": "the user lacks a privilege, or EvalGate's tables were altered",
    "53": "the server is out of disk space, memory or connections",
    "54": "a value is larger than it can store",
    "55": "another process has locked it: try again",
    "57": "it took too long to answer, or the server is shutting down",
}
_CONNECTION_REFUSALS = (
    ("password", "28"),
    ("authentication", "28"),
    ("pg_hba.conf", "28"),
    ("role ", "28"),
    ("database ", "3D"),
    ("too many", "53"),
)
"""Words in a refusal and the SQLSTATE they mean: a refused connection comes without a code."""


@contextmanager
def translate_errors(url: StoreUrl) -> Iterator[None]:
    """Raises StoreUnreachable or SettingError for any error of the database."""
    try:
        yield
    except IntegrityError as error:
        raise _error_from_violation(error) from None
    except StatementError as error:
        if isinstance(error.orig, EvalGateError):
            raise error.orig from None
        raise _error_from_sqlalchemy(error, url) from None
    except SQLAlchemyError as error:
        raise _error_from_sqlalchemy(error, url) from None
    except MalformedError:
        raise build_invalid_store_error(url) from None
    except sqlite3.Error as error:
        raise _error_from_sqlite(error, url) from None


def _error_from_violation(error: IntegrityError) -> SettingError:
    constraint = _CONSTRAINT.search(str(error.orig))
    if constraint is not None:
        return SettingError(f"the store refuses a value: {constraint[0].replace('_', ' ')}")
    return SettingError("the store refuses a record: it refers to an unknown id, or its own id exists already")


def _error_from_sqlalchemy(error: SQLAlchemyError, url: StoreUrl) -> EvalGateError:
    cause = error.orig if isinstance(error, DBAPIError | StatementError) else None
    if isinstance(cause, sqlite3.Error):
        return _error_from_sqlite(cause, url)
    state = getattr(cause, "sqlstate", None) or _find_sqlstate(str(cause))
    reason = _POSTGRES_REASONS.get(state[:2], "the server can't be reached")
    return StoreUnreachable(f"the store {url.shown} can't be used: {reason}")


def _find_sqlstate(message: str) -> str:
    _, fatal, refusal = message.partition("FATAL:")
    return next((state for word, state in _CONNECTION_REFUSALS if fatal and word in refusal), "")


def _error_from_sqlite(error: sqlite3.Error, url: StoreUrl) -> EvalGateError:
    name = getattr(error, "sqlite_errorname", "")
    code = next((code for code in (name, *_list_primary_codes(name)) if code in _SQLITE_REASONS), None)
    if code is not None:
        return StoreUnreachable(f"the store {url.shown} can't be used: {_SQLITE_REASONS[code]}")
    if name in _INVALID_FILE_CODES or any(each in _INVALID_FILE_CODES for each in _list_primary_codes(name)):
        return build_invalid_store_error(url)
    return StoreUnreachable(f"the store {url.shown} can't be used")


def _list_primary_codes(name: str) -> list[str]:
    """The primary code of an extended one: SQLITE_IOERR for SQLITE_IOERR_WRITE."""
    return ["_".join(name.split("_")[:2])]


def build_invalid_store_error(url: StoreUrl) -> SettingError:
    """The error for a file or database that is not an EvalGate store."""
    hint = "use another store, or move the file away"
    return SettingError(Problem(f"{url.shown} is damaged, or is not a store of EvalGate", None, hint))


HEADER = b"SQLite format 3\0"
MAX_WAIT_SECONDS = 30.0
"""Seconds that a writer waits for other writers."""
MAX_STATEMENT_SECONDS = 120.0
"""Seconds that one statement may run, in case a file is made to hang the process."""
_STEPS_PER_CHECK = 20_000
_SIDE_FILE_SUFFIXES = ("-wal", "-shm", "-journal")
_SETTINGS = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA foreign_keys = ON",
)


class Deadline:
    """Ends a statement that runs for too long."""

    def __init__(self, seconds: float = MAX_STATEMENT_SECONDS) -> None:
        self._seconds = seconds
        self.restart()

    def restart(self) -> None:
        """Starts the time of a new statement."""
        self._end = time.monotonic() + self._seconds

    def is_over(self) -> bool:
        """True if the time is over, which ends the statement."""
        return time.monotonic() > self._end


def check_file(url: StoreUrl, *, create: bool) -> None:
    """Refuses a path that is not a regular file or not a database; makes the folder of a new store.

    A new `.evalgate` folder gets a `.gitignore` that excludes it: a store is not source code.
    """
    path = Path(url.target)
    try:
        for name in (path, *(path.with_name(path.name + end) for end in _SIDE_FILE_SUFFIXES)):
            if name.is_symlink():
                raise RefusedPath(f"the store {url.shown} is a symbolic link, which is not followed")
        head = _read_header(path)
    except FileNotFoundError:
        if not create:
            hint = "`evalgate run --store-url` and `evalgate store goldens add` create one"
            raise SettingError(Problem(f"there is no store at {url.shown}", None, hint)) from None
        _make_folder(path.parent, url)
        return
    except OSError as error:
        reason = error.strerror or "unknown error"
        raise SettingError(f"the store {url.shown} can't be opened: {reason}") from None
    if head is None:
        raise RefusedPath(f"the store {url.shown} is not a regular file")
    if head and head != HEADER:
        raise build_invalid_store_error(url)


def _read_header(path: Path) -> bytes | None:
    """The first bytes; None if not a regular file. A pipe does not block."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        return os.read(handle, len(HEADER))
    finally:
        os.close(handle)


def _make_folder(folder: Path, url: StoreUrl) -> None:
    if folder.is_dir():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if folder.name == ".evalgate":
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        reason = error.strerror or "unknown error"
        raise SettingError(f"can't make the folder of {url.shown}: {reason}") from None


def connect(path: str, deadline: Deadline, wait: float = MAX_WAIT_SECONDS) -> sqlite3.Connection:
    """Connects so that no code in the file runs."""
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        for setting in _SETTINGS:
            connection.execute(setting)
        _set_defensive_mode(connection)
        connection.set_progress_handler(deadline.is_over, _STEPS_PER_CHECK)
        _enable_wal(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _set_defensive_mode(connection: sqlite3.Connection) -> None:
    """Forbids changes to the schema's own table, triggers and views; needs Python 3.12."""
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Sets WAL mode, in which readers and a writer do not block each other; the file keeps it.

    The mode stays unchanged if another process is setting it or the file is read-only.
    """
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode == "wal":
        return
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode = WAL").fetchone()


CONNECT_SECONDS = 10
_SESSION = (
    "SET statement_timeout = '120s'",
    "SET lock_timeout = '60s'",
    "SET idle_in_transaction_session_timeout = '300s'",
    "SET timezone = 'UTC'",
)
_WRITE_OPTION = "evalgate_writes"


class Database:
    """A store's engine. A SQLite writer takes the lock at the start: taking it later may fail."""

    def __init__(self, url: StoreUrl, *, create: bool = True) -> None:
        self.url = url
        if url.kind == "sqlite":
            check_file(url, create=create)
            self._engine = _make_sqlite_engine(url)
        else:
            self._engine = _make_postgres_engine(url)

    def __repr__(self) -> str:
        return f"Database({self.url.shown!r})"

    @property
    def is_sqlite(self) -> bool:
        """True for a file, False for a server."""
        return self.url.kind == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the store, whatever others write meanwhile."""
        with translate_errors(self.url), self._engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction: everything written in it is stored at its end, or nothing."""
        with translate_errors(self.url), self._engine.connect() as connection:
            connection.execution_options(**{_WRITE_OPTION: True})
            with connection.begin():
                yield connection

    def insert_new(self, table: Table) -> Any:
        """An insert that skips rows that exist already."""
        dialect = sqlite if self.is_sqlite else postgresql
        return dialect.insert(table).on_conflict_do_nothing()

    def insert_once(self, connection: Connection, table: Table, values: Mapping[str, Any]) -> bool:
        """Inserts a row; False if its key is taken."""
        query = self.insert_new(table).returning(*table.primary_key.columns)
        return connection.execute(query, values).first() is not None

    def close(self) -> None:
        """Closes every connection."""
        self._engine.dispose()


def _make_sqlite_engine(url: StoreUrl) -> Engine:
    deadline = Deadline()
    engine = create_engine(
        "sqlite://",
        creator=partial(connect, url.target, deadline),
        poolclass=_import_pool(),
        pool_size=1,
        json_serializer=dump_json,
        json_deserializer=load_json,
    )

    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITE_OPTION)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "begin", begin)
    event.listen(engine, "before_cursor_execute", lambda *_: deadline.restart())
    return engine


def _make_postgres_engine(store_url: StoreUrl) -> Engine:
    try:
        url = make_url(store_url.target).set(drivername="postgresql+psycopg")
        engine = create_engine(
            url,
            poolclass=_import_pool(),
            pool_size=1,
            json_serializer=dump_json,
            json_deserializer=load_json,
            connect_args=_build_connect_arguments(url.query),
        )
    except (ArgumentError, ValueError):
        hint = "write postgresql://USER@HOST/DATABASE, with special characters as %XX"
        raise SettingError(Problem("the store's URL is not valid", None, hint)) from None

    def configure_session(connection: Any, _: object) -> None:
        with connection.cursor() as cursor:
            for statement in _SESSION:
                cursor.execute(statement)
        connection.commit()

    event.listen(engine, "connect", configure_session)
    return engine


def _build_connect_arguments(query: Any) -> dict[str, Any]:
    """Options that the URL lacks. No prepared statements: a pool may switch the server connection."""
    options = {"connect_timeout": CONNECT_SECONDS, "application_name": "evalgate"}
    return {name: value for name, value in options.items() if name not in query} | {"prepare_threshold": None}


def _import_pool() -> Any:
    from sqlalchemy.pool import QueuePool

    return QueuePool


def paginate(query: Select[Any], page: Page) -> Select[Any]:
    """The query for the rows of a page; negative limits and offsets count as 0."""
    return query.limit(max(0, clean_integer(page.limit))).offset(max(0, clean_integer(page.offset)))


class OneRepository(NamedTuple):
    """The repository whose rows are read and written; `name` None is that of rows which name none."""

    name: str | None


def match_own(table: Table, only: OneRepository | None) -> list[ColumnElement[bool]]:
    """The condition for rows of the repository and for those that name none; all rows without `only`."""
    column = table.c.repository
    return [] if only is None else [or_(column == only.name, column.is_(None))]


def find_taken(connection: Connection, key: Column[str], value: str, only: OneRepository | None) -> Problem | None:
    """The problem that a row with this key is of another repository."""
    repository = key.table.c.repository
    owner = only and connection.scalar(select(repository).where(key == value, repository != only.name))
    if not owner:
        return None
    what = key.table.name.removeprefix("evalgate_").removesuffix("s").replace("_", " ")
    message = f"the {what} `{value[:100]}` in the store belongs to the repository {owner[:100]}"
    return Problem(message, None, f"choose another {key.name}, or use another store")
