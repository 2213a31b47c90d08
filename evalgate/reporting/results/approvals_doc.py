"""Builds the approvals of `results.json`; their field shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.results.bounded import bounded_name, bounded_text
from evalgate.reporting.results.results_fields import (
    COUNT,
    FLAG,
    LIST,
    MAYBE_COUNT,
    MAYBE_LIST,
    MAYBE_RECORD,
    MAYBE_TEXT,
    NUMBER,
    TEXT,
    Field,
    Shape,
    needed,
    optional,
)

if TYPE_CHECKING:
    from evalgate.models.approvals.approval import Ruling
    from evalgate.models.approvals.provenance import Provenance
    from evalgate.models.results.results_approvals import ApprovalDoc, ProvenanceDoc

APPROVAL: Shape = (
    *needed(TEXT, "suite", "scenario", "reason", "who", "until", "status", "message"),
    *needed(COUNT, "days_left"),
    *optional(MAYBE_TEXT, "variant", "assertion", "change"),
    *optional(MAYBE_RECORD, "limit", "location"),
    *optional(LIST, "trace"),
    Field("checks", MAYBE_LIST, "fine"),
    Field("provenance", MAYBE_RECORD, "fine"),
)
PROVENANCE: Shape = (
    *needed(TEXT, "source"),
    *optional(MAYBE_COUNT, "pull_request", "comment_id"),
    *optional(MAYBE_TEXT, "comment_url", "head_commit", "permission"),
    *needed(FLAG, "self_approved"),
)
LIMIT: Shape = needed(NUMBER, "score")


def approval_doc(ruling: Ruling) -> ApprovalDoc:
    """Builds the record of one approval, with its status."""
    approval, place = ruling.approval, ruling.approval.location
    document: ApprovalDoc = {
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
    if approval.checks is not None:
        document["checks"] = sorted(map(bounded_name, approval.checks))
    if approval.provenance is not None:
        document["provenance"] = _provenance(approval.provenance)
    return document


def _provenance(origin: Provenance) -> ProvenanceDoc:
    return {
        "source": origin.source,
        "pull_request": origin.pull_request,
        "comment_id": origin.comment_id,
        "comment_url": _name(origin.comment_url),
        "head_commit": _name(origin.head_commit),
        "permission": _name(origin.permission),
        "self_approved": origin.self_approved,
    }


def _name(text: str | None) -> str | None:
    return None if text is None else bounded_name(text)
