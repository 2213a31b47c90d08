"""The whole store: opens a database, and brings its tables to the newest version of the schema."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sqlalchemy import func, select, text

from evalgate.errors import Problem, SettingError
from evalgate.features.store.adapters.approvals import ApprovalTable
from evalgate.features.store.adapters.database import Database, OneRepository, build_invalid_store_error
from evalgate.features.store.adapters.evaluations import EvaluationTable
from evalgate.features.store.adapters.feedback import FeedbackTable
from evalgate.features.store.adapters.goldens import GoldenTable, SuiteTable
from evalgate.features.store.adapters.runs import RunTable
from evalgate.features.store.adapters.schema.tables import APPROVALS, FEEDBACK, GOLDENS, RUNS, SUITES

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sqlalchemy import Connection

    from evalgate.features.store.adapters.store_url import StoreUrl


VERSION_TABLE = "evalgate_version"
MIGRATIONS = Path(__file__).parent / "migrations"
FINGERPRINTS = {
    "0005": "1b3cc3ae9e4041c544caf157b27f9dbec60ce92996031af3d8927978b1f90c3f",
    "0006": "90364168695ceaef1f0973fac613ae43b067d25e721b5a55477cba04743bdb20",
    "0007": "49d62a57d744f240427a2231ae89f54a596d0005d83640418c7eeca5ff80cb68",
    "0008": "a220e4f835b157c7a6f46e338e78c51888ef298d9b5435f001f1641273e4d9f2",
}
"""Every schema version, newest last, with the fingerprint of its tables in SQLite."""
NEWEST = list(FINGERPRINTS)[-1]
MOST_UNSHARED = 2
"""How many repositories a store of one has: that, and none, which runs in a shell name."""
_LOCK = 0x4556414C47415445  # EvalGate's key among all advisory locks of a PostgreSQL database
_NUMBER = re.compile(r"[0-9]{4}")
_CREATE_STATEMENT = re.compile(r"CREATE (TABLE|(UNIQUE )?INDEX) ")
_FUNCTION_CALL = re.compile(r"(\w*)[\"'`\]]?\s*\(")
_ALLOWED_CALLS = {"CHECK", "IN", "KEY", "UNIQUE", "VARCHAR", ""}


def bring_up_to_date(database: Database) -> None:
    """Creates the tables of a new store or upgrades an older one; raises SettingError for any other.

    An up-to-date store is not locked. If several processes open a store at once, one of them upgrades it.
    """
    with database.reading() as connection:
        number = _read_version(connection, database)
    if number == NEWEST:
        return
    with database.writing() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        if _read_version(connection, database) != NEWEST:
            _upgrade(connection)


def _read_version(connection: Connection, database: Database) -> str | None:
    """The schema version; None if the store has no tables yet."""
    fingerprint = compute_fingerprint(connection, database.url) if database.is_sqlite else None
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        if fingerprint:
            raise build_invalid_store_error(database.url)
        return None
    numbers = list(connection.scalars(text(f"SELECT version_num FROM {VERSION_TABLE}")))  # noqa: S608  a constant
    if len(numbers) != 1:
        raise build_invalid_store_error(database.url)
    number = str(numbers[0])
    if number not in FINGERPRINTS:
        raise _build_version_error(number, database.url)
    if fingerprint is not None and fingerprint != FINGERPRINTS[number]:
        raise build_invalid_store_error(database.url)
    return number


def _build_version_error(number: str, url: StoreUrl) -> SettingError:
    if not _NUMBER.fullmatch(number) or number < NEWEST:
        return build_invalid_store_error(url)
    message = f"the store {url.shown} has schema {number}, newer than the {NEWEST} of this EvalGate"
    return SettingError(Problem(message, None, "update EvalGate, or use another store"))


def compute_fingerprint(connection: Connection, url: StoreUrl) -> str:
    """The fingerprint of a SQLite file's tables; empty if it has none.

    Raises SettingError for views, triggers, virtual tables and function calls: EvalGate creates none.
    """
    rows = connection.execute(
        text("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'")
    ).all()
    if not rows:
        return ""
    if not all(isinstance(row.sql, str) and _is_plain(row.sql) for row in rows):
        raise build_invalid_store_error(url)
    columns = connection.execute(
        text(
            'SELECT m.name, c.name, c.type, c."notnull", c.pk, c.hidden FROM sqlite_master AS m '
            "JOIN pragma_table_xinfo(m.name) AS c WHERE m.type = 'table' "
            "AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        )
    ).all()
    lines = sorted([*(repr(tuple(row)[:3]) for row in rows), *(repr(tuple(row)) for row in columns)])
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _is_plain(sql: str) -> bool:
    """True for tables and indexes that compute nothing but comparisons."""
    if not _CREATE_STATEMENT.match(sql) or "/*" in sql or "--" in sql:
        return False
    called = {word.upper() for word in _FUNCTION_CALL.findall(sql)}
    return all(word in _ALLOWED_CALLS or word.startswith("EVALGATE_") for word in called)


def _upgrade(connection: Connection) -> None:
    """Runs the missing migrations in the transaction of `connection`."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


class SqlStore:
    """Implements the port `Store`; opens and upgrades the database. `now` is the clock for timestamps.

    Raises SettingError if it is not a store or a newer one, and StoreUnreachable.
    """

    def __init__(self, url: StoreUrl, now: Callable[[], datetime], *, create: bool = True) -> None:
        self.display_url = url.shown
        self._database = Database(url, create=create)
        try:
            bring_up_to_date(self._database)
        except BaseException:
            self._database.close()
            raise
        self._now = now
        self.approvals = ApprovalTable(self._database, now)
        self._use(None, is_shared=False)

    def _use(self, only: OneRepository | None, *, is_shared: bool) -> None:
        self.is_shared = is_shared
        self.goldens = GoldenTable(self._database, self._now, only)
        self.evaluations = EvaluationTable(self._database, only)
        self.feedback = FeedbackTable(self._database, self._now, only)
        self.suites = SuiteTable(self._database, self._now, only)
        self.runs = RunTable(self._database, only if is_shared else None)

    def select_repository(self, name: str | None) -> None:
        """Reads what is of this repository from now on, None for what names none, if the store has others."""
        known = {None, name}
        with self._database.reading() as connection:
            for column in (table.c.repository for table in (RUNS, APPROVALS, GOLDENS, SUITES, FEEDBACK)):
                known |= {*connection.execute(select(func.min(column), func.max(column))).one()}
        is_shared = len(known) > MOST_UNSHARED
        self._use(OneRepository(name) if is_shared or name is not None else None, is_shared=is_shared)

    def __repr__(self) -> str:
        return f"SqlStore({self.display_url!r})"

    def close(self) -> None:
        """Closes the connection."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
