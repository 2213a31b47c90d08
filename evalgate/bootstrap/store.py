"""Opens the store for shell and job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from evalgate.ports.store import Store

DEFAULT_STORE = ".evalgate/evalgate.db"
"""The path of a shell's store if none is named."""
_EXTRAS = {"sqlite": "store", "postgresql": "postgres"}


def open_store(url: str, cwd: str, *, create: bool = True, source_date_epoch: str | None = None) -> Store:
    """Opens the store at a path or URL, and migrates an older schema.

    Without `create` a SQLite file must exist. Raises StoreUnreachable, or SettingError for an invalid name, a
    file that is no store, or a newer schema. No message holds a user name or password.
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
