"""The approvals of `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.exports.bounded import bounded_name, bounded_text
from evalgate.reporting.exports.results_fields import (
    COUNT,
    LIST,
    MAYBE_RECORD,
    MAYBE_TEXT,
    NUMBER,
    TEXT,
    Shape,
    needed,
    optional,
)

if TYPE_CHECKING:
    from evalgate.models.approval import Ruling
    from evalgate.models.results_approvals import ApprovalDoc

APPROVAL: Shape = (
    *needed(TEXT, "suite", "scenario", "reason", "who", "until", "status", "message"),
    *needed(COUNT, "days_left"),
    *optional(MAYBE_TEXT, "variant", "assertion", "change"),
    *optional(MAYBE_RECORD, "limit", "location"),
    *optional(LIST, "trace"),
)
LIMIT: Shape = needed(NUMBER, "score")


def approval_doc(ruling: Ruling) -> ApprovalDoc:
    """One approval and what becomes of it."""
    approval, place = ruling.approval, ruling.approval.location
    return {
        "suite": bounded_name(approval.suite),
        "scenario": bounded_name(approval.scenario),
        "variant": _name(approval.variant),
        "assertion": _name(approval.assertion),
        "change": approval.change,
        "limit": None if approval.least_score is None else {"score": approval.least_score},
        "trace": sorted(approval.traces),
        "reason": bounded_text(approval.reason),
        "who": bounded_name(approval.who),
        "until": approval.until.isoformat(),
        "days_left": ruling.days_left,
        "status": ruling.status,
        "message": bounded_text(ruling.message),
        "location": None
        if place is None
        else {"file": bounded_name(place.file), "line": place.line, "column": place.column},
    }


def _name(text: str | None) -> str | None:
    return None if text is None else bounded_name(text)
