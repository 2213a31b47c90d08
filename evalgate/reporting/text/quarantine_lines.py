"""Quarantines as text: what does not block, who decided that and why, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.text.globs import matches_id
from evalgate.reporting.text.escaping import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.results.results_quarantine import QuarantineDoc

FIRST = ("expired", "active", "unused")
"""Order in which statuses are shown: expired ones need attention and come first."""
WORDS = {"active": "quarantined", "expired": "expired", "unused": "unused"}
NAME, REASON = 120, 300


def sorted_quarantines(document: ResultsDoc) -> list[QuarantineDoc]:
    """Sorts by status, expired ones first, then by days left."""
    order = {status: number for number, status in enumerate(FIRST)}
    found = document.get("quarantines") or ()
    return sorted(found, key=lambda each: (order.get(each["status"], len(FIRST)), each["days_left"]))


def quarantine_line(quarantine: QuarantineDoc) -> str:
    """Formats one quarantine as Markdown, escaped."""
    said = f"{_word(quarantine)}: {span(_scope(quarantine), NAME)}, {span(quarantine['message'], REASON)}"
    return f"{said}, {span(_why(quarantine), NAME + REASON)}"


def quarantine_text(quarantine: QuarantineDoc) -> str:
    """Formats one quarantine as plain text, not yet escaped for a terminal."""
    said = f"quarantine {_word(quarantine)}: {_scope(quarantine)}: {quarantine['message']}"
    return f"{said}, {_why(quarantine)}"


def quarantine_fact(quarantine: QuarantineDoc) -> str:
    """Formats one quarantine without its scenario, for places that name it already."""
    return f"{_word(quarantine)}, {quarantine['message']}, {_why(quarantine)}"


def quarantines_of(document: ResultsDoc, suite: str, scenario: ScenarioDoc) -> Sequence[QuarantineDoc]:
    """Finds the quarantines that cover a scenario."""
    return [
        each
        for each in sorted_quarantines(document)
        if each["suite"] == suite
        and each["variant"] in (None, scenario["variant"])
        and matches_id(each["scenario"], scenario["id"])
    ]


def _word(quarantine: QuarantineDoc) -> str:
    return WORDS.get(quarantine["status"], "unknown")


def _scope(quarantine: QuarantineDoc) -> str:
    parts = [quarantine["suite"], quarantine["scenario"], quarantine["variant"]]
    return " / ".join(part for part in parts if part)


def _why(quarantine: QuarantineDoc) -> str:
    return f"{quarantine['who']}: {quarantine['reason']}" if quarantine["who"] else quarantine["reason"]
