"""Stores golden conversations and regression suites in their tables."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from sqlalchemy import ColumnElement, delete, func, insert, or_, select, update

from evalgate.errors import Problem, SettingError
from evalgate.features.store.adapters.database import find_taken, match_own, paginate
from evalgate.features.store.adapters.schema.tables import EVALUATIONS, GOLDEN_TAGS, GOLDENS, SUITE_GOLDENS, SUITES
from evalgate.features.store.adapters.schema.values import clean_text, texts
from evalgate.features.store.ports import DeletionCounts, GoldenFilter, Page
from evalgate.models.goldens import RegressionSuite
from evalgate.models.run.golden import Golden

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Row

    from evalgate.features.store.adapters.database import Database, OneRepository


_LISTS = (
    *("secondary_stances", "required_memory_recall", "required_tool_usage", "required_refusal"),
    *("user_messages", "golden_responses", "tags"),
)
_TEXTS = ("id", "conversation_id", "title", "description", "intent", "primary_stance", "creator")
_MAX_IN_VALUES = 500  # values per IN clause


class GoldenTable:
    """Implements the port `Goldens`."""

    def __init__(self, database: Database, now: Callable[[], datetime], only: OneRepository | None = None) -> None:
        """With `only` other repositories' rows are neither read nor changed, and new ones name this repository."""
        self._database, self._now, self._only = database, now, only

    def create(self, golden: Golden) -> Golden:
        """Stores a new golden as version 1; raises SettingError if the id is taken."""
        with self._database.writing() as connection:
            return self._insert(connection, golden)

    def upsert(self, golden: Golden) -> Golden:
        """Stores a golden, or updates the stored one if its content differs."""
        with self._database.writing() as connection:
            stored = self._load(connection, golden.id)
            if stored is None:
                return self._insert(connection, golden)
            if _content_fields(stored) == _content_fields(golden):
                return stored
            return self._replace(connection, stored, golden)

    def get(self, golden_id: str) -> Golden | None:
        """The golden with that id."""
        with self._database.reading() as connection:
            return self._load(connection, golden_id)

    def list(self, page: Page = Page(), by: GoldenFilter = GoldenFilter()) -> Sequence[Golden]:  # noqa: B008  constants
        """The goldens that match the filter."""
        query = paginate(select(GOLDENS).where(*self._build_where(by)).order_by(GOLDENS.c.id), page)
        with self._database.reading() as connection:
            return [_parse_row(row) for row in connection.execute(query)]

    def count(self, by: GoldenFilter = GoldenFilter()) -> int:  # noqa: B008  a constant
        """The number of goldens that match the filter."""
        with self._database.reading() as connection:
            return connection.scalar(select(func.count()).select_from(GOLDENS).where(*self._build_where(by))) or 0

    def select(
        self, ids: Sequence[str] = (), tags: Sequence[str] = (), intents: Sequence[str] = ()
    ) -> Sequence[Golden]:
        """The goldens with one of these ids, tags or intents."""
        with_tag = select(GOLDEN_TAGS.c.golden_id).where(GOLDEN_TAGS.c.tag.in_(tags))
        condition = or_(GOLDENS.c.id.in_(ids), GOLDENS.c.intent.in_(intents), GOLDENS.c.id.in_(with_tag))
        query = select(GOLDENS).where(condition, *match_own(GOLDENS, self._only)).order_by(GOLDENS.c.id)
        with self._database.reading() as connection:
            return [_parse_row(row) for row in connection.execute(query)]

    def ids(self) -> Sequence[str]:
        """All ids, sorted."""
        with self._database.reading() as connection:
            query = select(GOLDENS.c.id).where(*match_own(GOLDENS, self._only)).order_by(GOLDENS.c.id)
            return list(connection.scalars(query))

    def find_taken(self, golden_id: str) -> Problem | None:
        """The problem that another repository has a golden of that id."""
        with self._database.reading() as connection:
            return find_taken(connection, GOLDENS.c.id, golden_id, self._only)

    def update(self, golden: Golden) -> Golden:
        """Replaces the golden of that id; raises SettingError if it was changed meanwhile."""
        with self._database.writing() as connection:
            stored = self._load(connection, golden.id, lock=True)
            if stored is None:
                raise _build_unknown_error(connection, golden.id, self._only)
            if stored.version != golden.version:
                message = f"golden `{golden.id}` has changed to version {stored.version} in the meantime"
                raise SettingError(Problem(message, None, "review it, and update it again"))
            return self._replace(connection, stored, golden)

    def delete(self, golden_id: str) -> DeletionCounts | None:
        """Deletes a golden with its evaluations."""
        with self._database.writing() as connection:
            deleted = DeletionCounts(
                _count_rows(connection, EVALUATIONS.c.golden_id == golden_id),
                _count_rows(connection, SUITE_GOLDENS.c.golden_id == golden_id),
            )
            done = connection.execute(delete(GOLDENS).where(GOLDENS.c.id == golden_id, *match_own(GOLDENS, self._only)))
            return deleted if done.rowcount else None

    def _insert(self, connection: Connection, golden: Golden) -> Golden:
        now = self._now()
        stored = replace(golden, version=1, created_at=now, updated_at=now)
        row = _build_row(stored) | {"repository": self._only and self._only.name}
        if not self._database.insert_once(connection, GOLDENS, row):
            exists = Problem(f"the golden `{golden.id}` already exists", None, "update it, or choose another id")
            raise SettingError(find_taken(connection, GOLDENS.c.id, golden.id, self._only) or exists)
        _insert_tags(connection, stored)
        return self._load(connection, golden.id) or stored

    def _replace(self, connection: Connection, stored: Golden, golden: Golden) -> Golden:
        new = replace(
            golden,
            version=stored.version + 1,
            created_at=stored.created_at,
            updated_at=max(self._now(), stored.updated_at or self._now()),
        )
        connection.execute(update(GOLDENS).where(GOLDENS.c.id == golden.id), _build_row(new))
        connection.execute(delete(GOLDEN_TAGS).where(GOLDEN_TAGS.c.golden_id == golden.id))
        _insert_tags(connection, new)
        return self._load(connection, golden.id) or new

    def _load(self, connection: Connection, golden_id: str, *, lock: bool = False) -> Golden | None:
        query = select(GOLDENS).where(GOLDENS.c.id == golden_id, *match_own(GOLDENS, self._only))
        row = connection.execute(query.with_for_update() if lock else query).one_or_none()
        return None if row is None else _parse_row(row)

    def _build_where(self, by: GoldenFilter) -> Sequence[ColumnElement[bool]]:
        values: dict[ColumnElement[Any], str | None] = {
            GOLDENS.c.intent: by.intent,
            GOLDENS.c.primary_stance: by.stance,
            GOLDENS.c.creator: by.creator,
        }
        where = [
            *match_own(GOLDENS, self._only),
            *(each == value for each, value in values.items() if value is not None),
        ]
        if by.tag is not None:
            where.append(GOLDENS.c.id.in_(select(GOLDEN_TAGS.c.golden_id).where(GOLDEN_TAGS.c.tag == by.tag)))
        return where


def require_goldens(connection: Connection, ids: Sequence[str], only: OneRepository | None = None) -> None:
    """Raises SettingError for the first id that is not stored, or is of another repository than `only`."""
    golden_ids = list(dict.fromkeys(map(clean_text, ids)))
    for start in range(0, len(golden_ids), _MAX_IN_VALUES):
        some = golden_ids[start : start + _MAX_IN_VALUES]
        known = set(connection.scalars(select(GOLDENS.c.id).where(GOLDENS.c.id.in_(some), *match_own(GOLDENS, only))))
        missing = next((each for each in some if each not in known), None)
        if missing is not None:
            raise _build_unknown_error(connection, missing, only)


def _build_unknown_error(connection: Connection, golden_id: str, only: OneRepository | None) -> SettingError:
    taken = find_taken(connection, GOLDENS.c.id, golden_id, only)
    if taken is not None:
        return SettingError(taken)
    ids = connection.scalars(select(GOLDENS.c.id).where(*match_own(GOLDENS, only)).limit(5000))
    near = get_close_matches(golden_id[:100], ids, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "`evalgate store goldens list` lists them all"
    return SettingError(Problem(f"there is no golden `{golden_id[:100]}` in the store", None, hint))


def _parse_row(row: Row[Any]) -> Golden:
    data = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    plain: dict[str, Any] = {name: data[name] for name in (*_TEXTS, "version", "created_at", "updated_at")}
    return Golden(**plain | {name: texts(data[name]) for name in _LISTS})


def _build_row(golden: Golden) -> dict[str, Any]:
    return {
        **{name: getattr(golden, name) for name in _TEXTS},
        **{name: list(getattr(golden, name)) for name in _LISTS},
        "version": golden.version,
        "created_at": golden.created_at,
        "updated_at": golden.updated_at,
    }


def _content_fields(golden: Golden) -> tuple[Any, ...]:
    return tuple(getattr(golden, name) for name in (*_TEXTS, *_LISTS))


def _insert_tags(connection: Connection, golden: Golden) -> None:
    rows = [{"golden_id": golden.id, "tag": tag} for tag in dict.fromkeys(golden.tags)]
    if rows:
        connection.execute(insert(GOLDEN_TAGS), rows)


def _count_rows(connection: Connection, condition: ColumnElement[bool]) -> int:
    return connection.scalar(select(func.count()).where(condition)) or 0


_SUITE_LISTS = ("golden_tags", "golden_intents", "tags")
_SUITE_FIELDS = tuple(name for name in RegressionSuite.__match_args__ if name not in {*_SUITE_LISTS, "golden_ids"})


class SuiteTable:
    """Implements the port `RegressionSuites`."""

    def __init__(self, database: Database, now: Callable[[], datetime], only: OneRepository | None = None) -> None:
        """With `only` other repositories' rows are neither read nor changed, and new ones name this repository."""
        self._database, self._now, self._only = database, now, only

    def create(self, suite: RegressionSuite) -> RegressionSuite:
        """Stores a new suite; raises SettingError if the name is taken."""
        now = self._now()
        stored = replace(suite, created_at=now, updated_at=now)
        with self._database.writing() as connection:
            row = _build_suite_row(stored) | {"repository": self._only and self._only.name}
            if not self._database.insert_once(connection, SUITES, row):
                hint = "update it, or choose another name"
                exists = Problem(f"the regression suite `{suite.name}` already exists", None, hint)
                raise SettingError(find_taken(connection, SUITES.c.name, suite.name, self._only) or exists)
            _insert_goldens(connection, stored, self._only)
        return stored

    def get(self, name: str) -> RegressionSuite | None:
        """The suite with that name."""
        with self._database.reading() as connection:
            query = select(SUITES).where(SUITES.c.name == name, *match_own(SUITES, self._only))
            row = connection.execute(query).one_or_none()
            return None if row is None else _parse_suite(connection, row)

    def find_taken(self, name: str) -> Problem | None:
        """The problem that another repository has a suite of that name."""
        with self._database.reading() as connection:
            return find_taken(connection, SUITES.c.name, name, self._only)

    def list(self, page: Page = Page()) -> Sequence[RegressionSuite]:  # noqa: B008  a constant
        """All suites, by name."""
        with self._database.reading() as connection:
            query = select(SUITES).where(*match_own(SUITES, self._only)).order_by(SUITES.c.name)
            rows = connection.execute(paginate(query, page)).all()
            return [_parse_suite(connection, row) for row in rows]

    def update(self, suite: RegressionSuite) -> RegressionSuite:
        """Replaces the suite of that name; raises SettingError if it does not exist."""
        with self._database.writing() as connection:
            named = (SUITES.c.name == suite.name, *match_own(SUITES, self._only))
            created_at = connection.scalar(select(SUITES.c.created_at).where(*named))
            if created_at is None:
                raise SettingError(f"there is no regression suite `{suite.name[:100]}` in the store")
            stored = replace(suite, created_at=created_at, updated_at=self._now())
            connection.execute(update(SUITES).where(SUITES.c.name == suite.name), _build_suite_row(stored))
            connection.execute(delete(SUITE_GOLDENS).where(SUITE_GOLDENS.c.suite == suite.name))
            _insert_goldens(connection, stored, self._only)
        return stored

    def delete(self, name: str) -> bool:
        """Deletes a suite; its goldens stay."""
        with self._database.writing() as connection:
            named = (SUITES.c.name == name, *match_own(SUITES, self._only))
            return connection.execute(delete(SUITES).where(*named)).rowcount > 0


def _build_suite_row(suite: RegressionSuite) -> dict[str, Any]:
    return {
        **{name: getattr(suite, name) for name in _SUITE_FIELDS},
        **{name: list(getattr(suite, name)) for name in _SUITE_LISTS},
    }


def _insert_goldens(connection: Connection, suite: RegressionSuite, only: OneRepository | None) -> None:
    ids = list(dict.fromkeys(suite.golden_ids))
    require_goldens(connection, ids, only)
    rows = [{"suite": suite.name, "golden_id": each, "position": n} for n, each in enumerate(ids)]
    if rows:
        connection.execute(insert(SUITE_GOLDENS), rows)


def _parse_suite(connection: Connection, row: Row[Any]) -> RegressionSuite:
    data = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    cond = SUITE_GOLDENS.c.suite == data["name"]
    ids = connection.scalars(select(SUITE_GOLDENS.c.golden_id).where(cond).order_by(SUITE_GOLDENS.c.position))
    plain: dict[str, Any] = {name: data[name] for name in _SUITE_FIELDS}
    plain |= {name: texts(data[name]) for name in _SUITE_LISTS}
    return RegressionSuite(**plain, golden_ids=tuple(ids))
