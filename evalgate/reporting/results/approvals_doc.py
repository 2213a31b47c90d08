"""Builds the approvals of `results.json`; their field shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.results.clean_values import clean_name, clean_optional_name, clean_text
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
    optional_fields,
    required_fields,
)
from evalgate.reporting.results.trial_doc import build_location_doc

if TYPE_CHECKING:
    from evalgate.models.approvals.approval import ApprovalRuling, Provenance
    from evalgate.models.results.results_sections import ApprovalDoc, ProvenanceDoc

APPROVAL: Shape = (
    *required_fields(TEXT, "suite", "scenario", "reason", "who", "until", "status", "message"),
    *required_fields(COUNT, "days_left"),
    *optional_fields(MAYBE_TEXT, "variant", "assertion", "change"),
    *optional_fields(MAYBE_RECORD, "limit", "location"),
    *optional_fields(LIST, "trace"),
    Field("checks", MAYBE_LIST, "fine"),
    Field("provenance", MAYBE_RECORD, "fine"),
)
PROVENANCE: Shape = (
    *required_fields(TEXT, "source"),
    *optional_fields(MAYBE_COUNT, "pull_request", "comment_id"),
    *optional_fields(MAYBE_TEXT, "comment_url", "head_commit", "permission"),
    *required_fields(FLAG, "self_approved"),
)
LIMIT: Shape = required_fields(NUMBER, "score")


def build_approval_doc(ruling: ApprovalRuling) -> ApprovalDoc:
    """Builds the record of one approval, with its status."""
    approval = ruling.approval
    document: ApprovalDoc = {
        "suite": clean_name(approval.suite),
        "scenario": clean_name(approval.scenario),
        "variant": clean_optional_name(approval.variant),
        "assertion": clean_optional_name(approval.assertion),
        "change": approval.change,
        "limit": None if approval.least_score is None else {"score": approval.least_score},
        "trace": sorted(approval.traces),
        "reason": clean_text(approval.reason),
        "who": clean_name(approval.who),
        "until": approval.until.isoformat(),
        "days_left": ruling.days_left,
        "status": ruling.status,
        "message": clean_text(ruling.message),
        "location": build_location_doc(approval.location),
    }
    if approval.checks is not None:
        document["checks"] = sorted(map(clean_name, approval.checks))
    if approval.provenance is not None:
        document["provenance"] = _build_provenance_doc(approval.provenance)
    return document


def _build_provenance_doc(provenance: Provenance) -> ProvenanceDoc:
    return {
        "source": provenance.source,
        "pull_request": provenance.pull_request,
        "comment_id": provenance.comment_id,
        "comment_url": clean_optional_name(provenance.comment_url),
        "head_commit": clean_optional_name(provenance.head_commit),
        "permission": clean_optional_name(provenance.permission),
        "self_approved": provenance.self_approved,
    }
