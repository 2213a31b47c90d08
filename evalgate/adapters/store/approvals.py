"""Stores approvals in their table."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sqlalchemy import ColumnElement, or_, select, update

from evalgate.adapters.store.paging import paged
from evalgate.adapters.store.schema.cleaning import dump_json
from evalgate.adapters.store.schema.stored_values import texts
from evalgate.adapters.store.schema.tables import APPROVALS
from evalgate.models.approvals.approval import Approval
from evalgate.models.approvals.provenance import Provenance
from evalgate.models.approvals.stored_approval import StoredApproval
from evalgate.ports.store import Page
from evalgate.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date, datetime

    from sqlalchemy import Row

    from evalgate.adapters.store.database import Database

_SAID = (*("suite", "scenario", "variant", "assertion", "change", "least_score", "reason", "who", "until"),)
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
            id=approval.id or _id_of(approval),
            recorded_at=approval.recorded_at or self._now(),
        )
        with self._database.writing() as connection:
            connection.execute(self._database.insert_new(APPROVALS), _values(stored))
            kept = connection.execute(select(APPROVALS).where(APPROVALS.c.id == stored.id)).one()
            return _approval(kept)

    def list(self, page: Page = Page()) -> Sequence[StoredApproval]:  # noqa: B008  a constant
        """All approvals, including expired and withdrawn ones."""
        return self._listed(page)

    def active(self, today: date, *, head_commit: str | None = None) -> Sequence[StoredApproval]:
        """The approvals in force on a day, for any commit or for `head_commit`."""
        asked = [APPROVALS.c.withdrawn_at.is_(None), APPROVALS.c.until >= today]
        if head_commit is not None:
            asked.append(or_(APPROVALS.c.head_commit.is_(None), APPROVALS.c.head_commit == head_commit))
        return self._listed(None, *asked)

    def withdraw(self, approval_id: str) -> bool:
        """Ends an approval now; False if none of that id is in force."""
        holds = (APPROVALS.c.id == approval_id, APPROVALS.c.withdrawn_at.is_(None))
        with self._database.writing() as connection:
            done = connection.execute(update(APPROVALS).where(*holds).values(withdrawn_at=self._now()))
            return done.rowcount > 0

    def _listed(self, page: Page | None, *asked: ColumnElement[bool]) -> Sequence[StoredApproval]:
        wanted = select(APPROVALS).where(*asked).order_by(APPROVALS.c.recorded_at, APPROVALS.c.id)
        with self._database.reading() as connection:
            return [_approval(row) for row in connection.execute(paged(wanted, page) if page else wanted)]


def _id_of(approval: StoredApproval) -> str:
    """The same id for the same scope of the same comment; a random id for other approvals."""
    if approval.provenance.comment_id is None:
        return uuid4().hex
    said = approval.approval
    scope = [str(each) for each in (said.suite, said.scenario, said.variant, said.assertion, said.change)]
    place = [approval.provenance.pull_request, approval.provenance.comment_id]
    return hashlib.sha256(dump_json([*place, approval.provenance.head_commit, *scope]).encode()).hexdigest()[
        :32
    ]


def _values(stored: StoredApproval) -> dict[str, Any]:
    approval = stored.approval
    return {
        **{name: getattr(approval, name) for name in _SAID},
        **stored.provenance._asdict(),
        "id": stored.id,
        "traces": sorted(approval.traces),
        "checks": None if approval.checks is None else sorted(approval.checks),
        "recorded_at": stored.recorded_at,
        "withdrawn_at": stored.withdrawn_at,
    }


def _approval(row: Row[Any]) -> StoredApproval:
    told = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    provenance = Provenance(**{name: told[name] for name in _PROVENANCE})
    approval = Approval(
        **{name: told[name] for name in _SAID},
        traces=frozenset(texts(told["traces"])),
        location=None,
        checks=None if told["checks"] is None else frozenset(texts(told["checks"])),
        provenance=provenance,
    )
    return StoredApproval(told["id"], approval, provenance, told["recorded_at"], told["withdrawn_at"])
