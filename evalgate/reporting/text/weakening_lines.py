"""Weakenings as text: which demand was weakened, in which scenario, and where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_weakenings import WeakeningDoc

NAME, REASON = 120, 300


def sorted_weakenings(document: ResultsDoc) -> Sequence[WeakeningDoc]:
    """Sorts those that fail the gate first; otherwise the order of the document stays."""
    return sorted(document.get("weakenings") or (), key=lambda each: not each["gates"])


def weakening_line(weakening: WeakeningDoc) -> str:
    """Formats one weakening as Markdown, escaped."""
    where = _place(weakening)
    at = f", at {span(where, NAME)}" if where else ""
    gates = "fails the gate: " if weakening["gates"] else ""
    return f"{gates}{span(_what(weakening), NAME)} {span(weakening['message'], REASON)}{at}"


def weakening_text(weakening: WeakeningDoc) -> str:
    """Formats one weakening as plain text, not yet escaped for a terminal."""
    where = _place(weakening)
    return f"weakened: {_what(weakening)}: {weakening['message']}{f' ({where})' if where else ''}"


def _what(weakening: WeakeningDoc) -> str:
    parts = [weakening["suite"] or "the project", weakening["scenario"], weakening["variant"]]
    return " / ".join(part for part in parts if part)


def _place(weakening: WeakeningDoc) -> str:
    location = weakening["location"]
    if location is None:
        return ""
    return location["file"] if location["line"] is None else f"{location['file']}:{location['line']}"
