"""Weakenings as text: which requirement was weakened, in which scenario, and where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import escape_span
from evalgate.reporting.text.wording import location, scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_sections import WeakeningDoc

MAX_NAME, MAX_REASON = 120, 300


def sort_weakenings(document: ResultsDoc) -> Sequence[WeakeningDoc]:
    """Sorts those that fail the gate first; otherwise the order of the document stays."""
    return sorted(document.get("weakenings") or (), key=lambda each: not each["gates"])


def render_weakening(weakening: WeakeningDoc) -> str:
    """Formats one weakening as Markdown, escaped."""
    where = location(weakening["location"])
    at = f", at {escape_span(where, MAX_NAME)}" if where else ""
    gates = "fails the gate: " if weakening["gates"] else ""
    scope, message = escape_span(_scope(weakening), MAX_NAME), escape_span(weakening["message"], MAX_REASON)
    return f"{gates}{scope} {message}{at}"


def format_weakening(weakening: WeakeningDoc) -> str:
    """Formats one weakening as plain text, not yet escaped for a terminal."""
    where = location(weakening["location"])
    return f"weakened: {_scope(weakening)}: {weakening['message']}{f' ({where})' if where else ''}"


def _scope(weakening: WeakeningDoc) -> str:
    return scope(weakening["suite"] or "the project", weakening["scenario"], weakening["variant"])
