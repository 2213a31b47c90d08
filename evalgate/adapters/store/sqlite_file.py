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

from evalgate.adapters.store.errors import no_store
from evalgate.errors import Problem, RefusedPath, SettingError

if TYPE_CHECKING:
    from evalgate.adapters.store.store_url import StoreUrl

HEADER = b"SQLite format 3\0"
LONGEST_WAIT = 30.0
"""Seconds that a writer waits for other writers."""
LONGEST_WORK = 120.0
"""Seconds that one statement may run, in case a file is made to hang the process."""
_STEPS = 20_000
_BESIDE = ("-wal", "-shm", "-journal")
_SETTINGS = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA foreign_keys = ON",
)


class Deadline:
    """Ends a statement that runs for too long."""

    def __init__(self, seconds: float = LONGEST_WORK) -> None:
        self._seconds = seconds
        self.restart()

    def restart(self) -> None:
        """Starts the time of a new statement."""
        self._end = time.monotonic() + self._seconds

    def is_over(self) -> bool:
        """True if the time is over, which ends the statement."""
        return time.monotonic() > self._end


def check_file(place: StoreUrl, *, create: bool) -> None:
    """Refuses a path that is not a regular file or not a database; makes the folder of a new store.

    A new `.evalgate` folder gets a `.gitignore` that excludes it: a store is not source code.
    """
    path = Path(place.target)
    try:
        for name in (path, *(path.with_name(path.name + end) for end in _BESIDE)):
            if name.is_symlink():
                raise RefusedPath(f"the store {place.shown} is a symbolic link, which is not followed")
        head = _head(path)
    except FileNotFoundError:
        if not create:
            hint = "`evalgate run --store-url` and `evalgate goldens add` make one"
            raise SettingError(Problem(f"there is no store at {place.shown}", None, hint)) from None
        _make_folder(path.parent, place)
        return
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise SettingError(f"the store {place.shown} can't be opened: {reason}") from None
    if head is None:
        raise RefusedPath(f"the store {place.shown} is no regular file")
    if head and head != HEADER:
        raise no_store(place)


def _head(path: Path) -> bytes | None:
    """The first bytes; None if not a regular file. A pipe does not block."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        return os.read(handle, len(HEADER))
    finally:
        os.close(handle)


def _make_folder(folder: Path, place: StoreUrl) -> None:
    if folder.is_dir():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if folder.name == ".evalgate":
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise SettingError(f"can't make the folder of {place.shown}: {reason}") from None


def connect(path: str, deadline: Deadline, wait: float = LONGEST_WAIT) -> sqlite3.Connection:
    """Connects so that no code in the file runs."""
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        for setting in _SETTINGS:
            connection.execute(setting)
        _defend(connection)
        connection.set_progress_handler(deadline.is_over, _STEPS)
        _read_beside_a_writer(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _defend(connection: sqlite3.Connection) -> None:
    """Forbids changes to the schema's own table, triggers and views; needs Python 3.12."""
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)


def _read_beside_a_writer(connection: sqlite3.Connection) -> None:
    """Sets WAL mode, in which readers and a writer do not block each other; the file keeps it.

    The mode stays unchanged if another process is setting it or the file is read-only.
    """
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode == "wal":
        return
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
