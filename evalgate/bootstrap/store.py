"""The store, for every front door that was told of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from evalgate.ports.store import Store

DEFAULT = ".evalgate/evalgate.db"
"""Where a shell keeps its store when none is named."""
_EXTRAS = {"sqlite": "store", "postgresql": "postgres"}


def open_store(named: str, cwd: str, *, create: bool = True, source_date_epoch: str | None = None) -> Store:
    """Opens the store that a path or a URL names; an older schema is brought up to date on the way.

    Not `create`: a SQLite file must be there. Raises SettingError for what can't be meant, is no store or is
    one of a newer EvalGate, and StoreUnreachable. No message holds a user's name or password.
    """
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.store.store_url import place_of

    place = place_of(named, cwd)
    try:
        from evalgate.adapters.store.store import SqlStore

        return SqlStore(place, SystemClock(source_date_epoch).now, create=create)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"sqlalchemy", "alembic", "psycopg"}:
            raise
        hint = f"install evalgate-action[{_EXTRAS[place.kind]}]"
        raise SettingError(Problem("a store needs an extra that is not installed", None, hint)) from None
