"""Opens an untrusted SQLite file so that nothing in it can run: it can only hold rows."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.adapters.store.errors import build_invalid_store_error
from evalgate.errors import Problem, RefusedPath, SettingError

if TYPE_CHECKING:
    from evalgate.adapters.store.store_url import StoreUrl

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
            hint = "`evalgate run --store-url` and `evalgate goldens add` create one"
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
