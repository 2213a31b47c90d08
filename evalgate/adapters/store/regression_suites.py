"""Stores regression suites in their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from evalgate.adapters.store.goldens import require_goldens
from evalgate.adapters.store.paging import paginate
from evalgate.adapters.store.schema.stored_values import texts
from evalgate.adapters.store.schema.tables import SUITE_GOLDENS, SUITES
from evalgate.errors import Problem, SettingError
from evalgate.models.goldens import RegressionSuite
from evalgate.ports.store import Page
from evalgate.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Row

    from evalgate.adapters.store.database import Database

_LISTS = ("golden_tags", "golden_intents", "tags")
_FIELDS = tuple(name for name in RegressionSuite.__match_args__ if name not in {*_LISTS, "golden_ids"})


class SuiteTable:
    """Implements the port `RegressionSuites`."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def create(self, suite: RegressionSuite) -> RegressionSuite:
        """Stores a new suite; raises SettingError if the name is taken."""
        now = self._now()
        stored = replace(suite, created_at=now, updated_at=now)
        with self._database.writing() as connection:
            if not self._database.insert_once(connection, SUITES, _build_row(stored)):
                hint = "update it, or choose another name"
                raise SettingError(Problem(f"the regression suite `{suite.name}` already exists", None, hint))
            _insert_goldens(connection, stored)
        return stored

    def get(self, name: str) -> RegressionSuite | None:
        """The suite with that name."""
        with self._database.reading() as connection:
            row = connection.execute(select(SUITES).where(SUITES.c.name == name)).one_or_none()
            return None if row is None else _parse_row(connection, row)

    def list(self, page: Page = Page()) -> Sequence[RegressionSuite]:  # noqa: B008  a constant
        """All suites, by name."""
        with self._database.reading() as connection:
            rows = connection.execute(paginate(select(SUITES).order_by(SUITES.c.name), page)).all()
            return [_parse_row(connection, row) for row in rows]

    def update(self, suite: RegressionSuite) -> RegressionSuite:
        """Replaces the suite of that name; raises SettingError if it does not exist."""
        with self._database.writing() as connection:
            created_at = connection.scalar(select(SUITES.c.created_at).where(SUITES.c.name == suite.name))
            if created_at is None:
                raise SettingError(f"there is no regression suite `{suite.name[:100]}` in the store")
            stored = replace(suite, created_at=created_at, updated_at=self._now())
            connection.execute(update(SUITES).where(SUITES.c.name == suite.name), _build_row(stored))
            connection.execute(delete(SUITE_GOLDENS).where(SUITE_GOLDENS.c.suite == suite.name))
            _insert_goldens(connection, stored)
        return stored

    def delete(self, name: str) -> bool:
        """Deletes a suite; its goldens stay."""
        with self._database.writing() as connection:
            return connection.execute(delete(SUITES).where(SUITES.c.name == name)).rowcount > 0


def _build_row(suite: RegressionSuite) -> dict[str, Any]:
    return {
        **{name: getattr(suite, name) for name in _FIELDS},
        **{name: list(getattr(suite, name)) for name in _LISTS},
    }


def _insert_goldens(connection: Connection, suite: RegressionSuite) -> None:
    ids = list(dict.fromkeys(suite.golden_ids))
    require_goldens(connection, ids)
    rows = [{"suite": suite.name, "golden_id": each, "position": n} for n, each in enumerate(ids)]
    if rows:
        connection.execute(insert(SUITE_GOLDENS), rows)


def _parse_row(connection: Connection, row: Row[Any]) -> RegressionSuite:
    data = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    cond = SUITE_GOLDENS.c.suite == data["name"]
    ids = connection.scalars(select(SUITE_GOLDENS.c.golden_id).where(cond).order_by(SUITE_GOLDENS.c.position))
    plain: dict[str, Any] = {name: data[name] for name in _FIELDS}
    plain |= {name: texts(data[name]) for name in _LISTS}
    return RegressionSuite(**plain, golden_ids=tuple(ids))
