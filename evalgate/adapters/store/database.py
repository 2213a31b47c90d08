"""One connection to a store, with transactions for reading and for exclusive writing."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from evalgate.adapters.store import sqlite_file
from evalgate.adapters.store.errors import translate_errors
from evalgate.adapters.store.schema.cleaning import dump_json, load_json
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Engine, Table

    from evalgate.adapters.store.store_url import StoreUrl

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
            sqlite_file.check_file(url, create=create)
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
    deadline = sqlite_file.Deadline()
    engine = create_engine(
        "sqlite://",
        creator=partial(sqlite_file.connect, url.target, deadline),
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
