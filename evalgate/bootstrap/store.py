"""Opens the store for shell and job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.errors import Location, Problem, RefusedPath, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.ports.store import Store

DEFAULT_STORE = ".evalgate/evalgate.db"
"""The path of a shell's store if none is named."""
_EXTRAS = {"sqlite": "store", "postgresql": "postgres"}


def open_store(url: str, cwd: str, *, create: bool = True, source_date_epoch: str | None = None) -> Store:
    """Opens the store at a path or URL, and migrates an older schema.

    Without `create` a SQLite file must exist. Raises StoreUnreachable, or SettingError for an invalid name, a
    file that is not a store, or a newer schema. No message holds a user name or password.
    """
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.store.store_url import parse_store_url

    location = parse_store_url(url, cwd)
    try:
        from evalgate.adapters.store.store import SqlStore

        return SqlStore(location, SystemClock(source_date_epoch).now, create=create)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"sqlalchemy", "alembic", "psycopg"}:
            raise
        hint = f"install evalgate-action[{_EXTRAS[location.kind]}]"
        raise SettingError(Problem("a store needs an extra that is not installed", None, hint)) from None


STORE_VARIABLE = "EVALGATE_STORE_URL"
NONE = "none"


def find_store_url(flag: str | None, environ: Mapping[str, str], cwd: str) -> str | None:
    """The store named by the flag, else EVALGATE_STORE_URL, else the project file; None if none is named.

    Raises SuiteError for a project file that is invalid or names a URL, and RefusedPath if it names a file
    outside the working directory: a repository must not decide what else is written.
    """
    if flag is not None:
        return flag
    if environ.get(STORE_VARIABLE):
        return environ[STORE_VARIABLE]
    from evalgate.adapters.suites.project_file import read_project_store
    from evalgate.bootstrap.sources import build_workspace

    store_url = read_project_store(build_workspace(cwd))
    if store_url is not None and not _is_below(Path(cwd), store_url):
        hint = "name a file elsewhere with --store-url or EVALGATE_STORE_URL"
        message = "`store` is a file outside the working directory"
        raise RefusedPath(Problem(message, Location("evalgate.yaml"), hint))
    return store_url


def _is_below(folder: Path, path: str) -> bool:
    try:
        return (folder / path).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # an invalid path, or links in a circle
        return False


def choose_store(flag: str | None, environ: Mapping[str, str], cwd: str, *, create: bool = False) -> Store:
    """Opens the named store, or the shell's default one.

    Without `create` a file must exist. Raises SettingError, also for the name `none`, and StoreUnreachable.
    """
    store_url = find_store_url(flag, environ, cwd) or DEFAULT_STORE
    if store_url == NONE:
        raise SettingError(Problem("a store is required here, not `none`", None, "name one with --store-url"))
    return open_store(store_url, cwd, create=create, source_date_epoch=environ.get("SOURCE_DATE_EPOCH"))


def shell_store_opener(flag: str | None, environ: Mapping[str, str], cwd: str) -> Callable[[], Store]:
    """A function that opens the store with goldens when a suite first needs it."""
    return lambda: choose_store(flag, environ, cwd)
