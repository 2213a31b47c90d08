"""Approvals as text: what may fail, who approved it and why, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import span

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_approvals import ApprovalDoc

FIRST = ("active", "proposed", "void", "expired", "unused")
"""Order in which statuses are shown: those that affect the decision come first."""
WORDS = {
    "active": "approved",
    "proposed": "proposed",
    "void": "void",
    "expired": "expired",
    "unused": "unused",
}
NAME, REASON = 120, 300
SHORT_SHA = 7
OWN = "self-approved"
Key = tuple[str, str, str | None]


def sorted_approvals(document: ResultsDoc) -> list[ApprovalDoc]:
    """Sorts by status, active ones first; within a status the order of the document stays."""
    order = {status: number for number, status in enumerate(FIRST)}
    return sorted(document["approvals"], key=lambda each: order.get(each["status"], len(FIRST)))


def approved_keys(document: ResultsDoc) -> set[Key]:
    """Returns suite, scenario and variant of every active approval."""
    return {
        (each["suite"], each["scenario"], each["variant"])
        for each in document["approvals"]
        if each["status"] == "active"
    }


def approval_line(approval: ApprovalDoc) -> str:
    """Formats one approval as Markdown, escaped."""
    said = f"{_word(approval)}: {span(_scope(approval), NAME)}"
    line = f"{said}, {span(approval['message'], REASON)}, by {span(_by(approval), NAME + REASON)}"
    where, own = _where(approval), _is_own(approval)
    return f"{line}{f', {span(where, NAME)}' if where else ''}{f', **{OWN}**' if own else ''}"


def approval_text(approval: ApprovalDoc) -> str:
    """Formats one approval as plain text, not yet escaped for a terminal."""
    said = f"approval {_word(approval)}: {_scope(approval)}: {approval['message']}"
    return ", ".join([said, *_from_whom(approval)])


def approval_fact(approval: ApprovalDoc) -> str:
    """Formats one approval without its scenario, for places that name it already."""
    named = [f"of {approval['assertion']}"] if approval["assertion"] else []
    return ", ".join([_word(approval), *named, approval["message"], *_from_whom(approval)])


def _word(approval: ApprovalDoc) -> str:
    return WORDS.get(approval["status"], "unknown")


def _scope(approval: ApprovalDoc) -> str:
    parts = [approval["suite"], approval["scenario"], approval["variant"], approval["assertion"]]
    named = " / ".join(part for part in parts if part)
    limit = approval["limit"]
    bounds = [
        *([approval["change"]] if approval["change"] else []),
        *([f"score at least {limit['score']:g}"] if limit else []),
    ]
    return f"{named} ({', '.join(bounds)})" if bounds else named


def _from_whom(approval: ApprovalDoc) -> list[str]:
    where = _where(approval)
    said = [f"by {_by(approval)}", *([where] if where else [])]
    return [*said, OWN] if _is_own(approval) else said


def _where(approval: ApprovalDoc) -> str:
    """Source, commit and permission of an approval; empty for one from the approvals file."""
    origin = approval.get("provenance")
    if origin is None:
        return ""
    comment, commit = origin["comment_id"], origin["head_commit"]
    said = [f"comment {comment}" if comment is not None else origin["source"]]
    said += [f"for {commit[:SHORT_SHA]} only"] if commit else []
    said += [f"may {origin['permission']}"] if origin["permission"] else []
    return ", ".join(said)


def _is_own(approval: ApprovalDoc) -> bool:
    origin = approval.get("provenance")
    return origin is not None and origin["self_approved"]


def _by(approval: ApprovalDoc) -> str:
    return f"{approval['who']}: {approval['reason']}"
