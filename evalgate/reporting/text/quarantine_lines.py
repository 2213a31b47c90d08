"""Quarantines as text: what does not block, who decided that and why, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.text.globs import matches_id
from evalgate.reporting.text.escaping import escape_span
from evalgate.reporting.text.wording import scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.results.results_sections import QuarantineDoc

STATUS_ORDER = ("expired", "active", "unused")
"""Order in which statuses are shown: expired ones need attention and come first."""
STATUS_WORDS = {"active": "quarantined", "expired": "expired", "unused": "unused"}
MAX_NAME, MAX_REASON = 120, 300


def sort_quarantines(document: ResultsDoc) -> list[QuarantineDoc]:
    """Sorts by status, expired ones first, then by days left."""
    order = {status: number for number, status in enumerate(STATUS_ORDER)}
    found = document.get("quarantines") or ()
    return sorted(found, key=lambda each: (order.get(each["status"], len(STATUS_ORDER)), each["days_left"]))


def render_quarantine(quarantine: QuarantineDoc) -> str:
    """Formats one quarantine as Markdown, escaped."""
    scope, message = escape_span(_scope(quarantine), MAX_NAME), escape_span(quarantine["message"], MAX_REASON)
    head = f"{_word(quarantine)}: {scope}, {message}"
    return f"{head}, {escape_span(_reason(quarantine), MAX_NAME + MAX_REASON)}"


def format_quarantine(quarantine: QuarantineDoc) -> str:
    """Formats one quarantine as plain text, not yet escaped for a terminal."""
    head = f"quarantine {_word(quarantine)}: {_scope(quarantine)}: {quarantine['message']}"
    return f"{head}, {_reason(quarantine)}"


def summarize_quarantine(quarantine: QuarantineDoc) -> str:
    """Formats one quarantine without its scenario, for places that name it already."""
    return f"{_word(quarantine)}, {quarantine['message']}, {_reason(quarantine)}"


def find_quarantines(document: ResultsDoc, suite: str, scenario: ScenarioDoc) -> Sequence[QuarantineDoc]:
    """Finds the quarantines that cover a scenario."""
    return [
        each
        for each in sort_quarantines(document)
        if each["suite"] == suite
        and each["variant"] in (None, scenario["variant"])
        and matches_id(each["scenario"], scenario["id"])
    ]


def _word(quarantine: QuarantineDoc) -> str:
    return STATUS_WORDS.get(quarantine["status"], "unknown")


def _scope(quarantine: QuarantineDoc) -> str:
    return scope(quarantine["suite"], quarantine["scenario"], quarantine["variant"])


def _reason(quarantine: QuarantineDoc) -> str:
    return f"{quarantine['who']}: {quarantine['reason']}" if quarantine["who"] else quarantine["reason"]
