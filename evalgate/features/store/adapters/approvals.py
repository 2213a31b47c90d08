"""Stores approvals in their table."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from msgspec.structs import replace
from sqlalchemy import ColumnElement, or_, select, update

from evalgate.features.store.adapters.database import paginate
from evalgate.features.store.adapters.schema.tables import APPROVALS
from evalgate.features.store.adapters.schema.values import dump_json, texts
from evalgate.features.store.ports import Page
from evalgate.models.approvals.approval import Approval, Provenance, StoredApproval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date, datetime

    from sqlalchemy import Row

    from evalgate.features.store.adapters.database import Database

_FIELDS = (*("suite", "scenario", "variant", "assertion", "change", "least_score", "reason", "who", "until"),)
_PROVENANCE = Provenance._fields


class ApprovalTable:
    """Implements the port `StoredApprovals`."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def create(self, approval: StoredApproval) -> StoredApproval:
        """Stores an approval; a comment is stored once per scope."""
        stored = replace(
            approval,
            id=approval.id or _compute_id(approval),
            recorded_at=approval.recorded_at or self._now(),
        )
        with self._database.writing() as connection:
            connection.execute(self._database.insert_new(APPROVALS), _build_row(stored))
            row = connection.execute(select(APPROVALS).where(APPROVALS.c.id == stored.id)).one()
            return _parse_row(row)

    def list(self, page: Page = Page()) -> Sequence[StoredApproval]:  # noqa: B008  a constant
        """All approvals, including expired and withdrawn ones."""
        return self._select(page)

    def active(self, today: date, *, head_commit: str | None = None) -> Sequence[StoredApproval]:
        """The approvals in force on a day, for any commit or for `head_commit`."""
        where = [APPROVALS.c.withdrawn_at.is_(None), APPROVALS.c.until >= today]
        if head_commit is not None:
            where.append(or_(APPROVALS.c.head_commit.is_(None), APPROVALS.c.head_commit == head_commit))
        return self._select(None, *where)

    def withdraw(self, approval_id: str) -> bool:
        """Ends an approval now; False if none of that id is in force."""
        holds = (APPROVALS.c.id == approval_id, APPROVALS.c.withdrawn_at.is_(None))
        with self._database.writing() as connection:
            done = connection.execute(update(APPROVALS).where(*holds).values(withdrawn_at=self._now()))
            return done.rowcount > 0

    def _select(self, page: Page | None, *where: ColumnElement[bool]) -> Sequence[StoredApproval]:
        query = select(APPROVALS).where(*where).order_by(APPROVALS.c.recorded_at, APPROVALS.c.id)
        with self._database.reading() as connection:
            return [_parse_row(row) for row in connection.execute(paginate(query, page) if page else query)]


def _compute_id(approval: StoredApproval) -> str:
    """The same id for the same scope of the same comment; a random id for other approvals."""
    if approval.provenance.comment_id is None:
        return uuid4().hex
    item = approval.approval
    scope = [str(each) for each in (item.suite, item.scenario, item.variant, item.assertion, item.change)]
    ids = [approval.provenance.pull_request, approval.provenance.comment_id]
    return hashlib.sha256(dump_json([*ids, approval.provenance.head_commit, *scope]).encode()).hexdigest()[:32]


def _build_row(stored: StoredApproval) -> dict[str, Any]:
    approval = stored.approval
    return {
        **{name: getattr(approval, name) for name in _FIELDS},
        **stored.provenance._asdict(),
        "id": stored.id,
        "traces": sorted(approval.traces),
        "checks": None if approval.checks is None else sorted(approval.checks),
        "covers": None if approval.covers is None else sorted(approval.covers),
        "recorded_at": stored.recorded_at,
        "withdrawn_at": stored.withdrawn_at,
    }


def _parse_row(row: Row[Any]) -> StoredApproval:
    data = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    provenance = Provenance(**{name: data[name] for name in _PROVENANCE})
    approval = Approval(
        **{name: data[name] for name in _FIELDS},
        traces=frozenset(texts(data["traces"])),
        location=None,
        checks=None if data["checks"] is None else frozenset(texts(data["checks"])),
        provenance=provenance,
        covers=None if data["covers"] is None else frozenset(texts(data["covers"])),
    )
    return StoredApproval(data["id"], approval, provenance, data["recorded_at"], data["withdrawn_at"])
