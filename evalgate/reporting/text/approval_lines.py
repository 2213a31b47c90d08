"""Approvals as text: what may fail, who approved it and why, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import escape_span
from evalgate.reporting.text.wording import scope

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_sections import ApprovalDoc

STATUS_ORDER = ("active", "proposed", "void", "expired", "unused")
"""Order in which statuses are shown: those that affect the decision come first."""
STATUS_WORDS = {"active": "approved", "proposed": "proposed", "void": "void", "expired": "expired", "unused": "unused"}
MAX_NAME, MAX_REASON = 120, 300
SHORT_SHA = 7
SELF_APPROVED = "self-approved"
ScenarioDocKey = tuple[str, str, str | None]


def sort_approvals(document: ResultsDoc) -> list[ApprovalDoc]:
    """Sorts by status, active ones first; within a status the order of the document stays."""
    order = {status: number for number, status in enumerate(STATUS_ORDER)}
    return sorted(document["approvals"], key=lambda each: order.get(each["status"], len(STATUS_ORDER)))


def find_approved_keys(document: ResultsDoc) -> set[ScenarioDocKey]:
    """Returns suite, scenario and variant of every active approval."""
    return {
        (each["suite"], each["scenario"], each["variant"])
        for each in document["approvals"]
        if each["status"] == "active"
    }


def render_approval(approval: ApprovalDoc) -> str:
    """Formats one approval as Markdown, escaped."""
    head = f"{_word(approval)}: {escape_span(_scope(approval), MAX_NAME)}"
    reason = escape_span(_reason(approval), MAX_NAME + MAX_REASON)
    parts = [head, escape_span(approval["message"], MAX_REASON), f"by {reason}"]
    if where := _origin(approval):
        parts.append(escape_span(where, MAX_NAME))
    return ", ".join([*parts, f"**{SELF_APPROVED}**"] if _is_self_approved(approval) else parts)


def format_approval(approval: ApprovalDoc) -> str:
    """Formats one approval as plain text, not yet escaped for a terminal."""
    head = f"approval {_word(approval)}: {_scope(approval)}: {approval['message']}"
    return ", ".join([head, *_list_details(approval)])


def summarize_approval(approval: ApprovalDoc) -> str:
    """Formats one approval without its scenario, for places that name it already."""
    assertion = [f"of {approval['assertion']}"] if approval["assertion"] else []
    return ", ".join([_word(approval), *assertion, approval["message"], *_list_details(approval)])


def _word(approval: ApprovalDoc) -> str:
    return STATUS_WORDS.get(approval["status"], "unknown")


def _scope(approval: ApprovalDoc) -> str:
    named = scope(approval["suite"], approval["scenario"], approval["variant"], approval["assertion"])
    limit = approval["limit"]
    bounds = [
        *([approval["change"]] if approval["change"] else []),
        *([f"score at least {limit['score']:g}"] if limit else []),
    ]
    return f"{named} ({', '.join(bounds)})" if bounds else named


def _list_details(approval: ApprovalDoc) -> list[str]:
    where = _origin(approval)
    details = [f"by {_reason(approval)}", *([where] if where else [])]
    return [*details, SELF_APPROVED] if _is_self_approved(approval) else details


def _origin(approval: ApprovalDoc) -> str:
    """Source, commit and permission of an approval; empty for one from the approvals file."""
    provenance = approval.get("provenance")
    if provenance is None:
        return ""
    comment, commit = provenance["comment_id"], provenance["head_commit"]
    parts = [f"comment {comment}" if comment is not None else provenance["source"]]
    parts += [f"for {commit[:SHORT_SHA]} only"] if commit else []
    parts += [f"permission: {provenance['permission']}"] if provenance["permission"] else []
    return ", ".join(parts)


def _is_self_approved(approval: ApprovalDoc) -> bool:
    provenance = approval.get("provenance")
    return provenance is not None and provenance["self_approved"]


def _reason(approval: ApprovalDoc) -> str:
    return f"{approval['who']}: {approval['reason']}"
