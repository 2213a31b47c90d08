"""Builds and checks the quarantines of `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.reporting.results.bounded import bounded_name, bounded_text
from evalgate.reporting.results.results_checks import MOST_DAYS, bound, maybe, records
from evalgate.reporting.results.results_fields import (
    COUNT,
    LOCATION,
    MAYBE_RECORD,
    MAYBE_TEXT,
    TEXT,
    Shape,
    needed,
    optional,
)

if TYPE_CHECKING:
    from evalgate.models.comparison.quarantine import QuarantineRuling
    from evalgate.models.results.results_quarantine import QuarantineDoc

QUARANTINE: Shape = (
    *needed(TEXT, "suite", "scenario", "reason", "until", "status", "message"),
    *needed(COUNT, "scenarios", "days_left"),
    *optional(MAYBE_TEXT, "variant", "who"),
    *optional(MAYBE_RECORD, "location"),
)


def check_quarantines(document: dict[str, Any]) -> None:
    """Checks the quarantines; raises ShapeError."""
    for quarantine, place in records(document, "quarantines", QUARANTINE, ()):
        maybe(quarantine, "location", LOCATION, place)
        bound(quarantine, "scenarios", MAX_SCENARIOS, place)
        bound(quarantine, "days_left", MOST_DAYS, place, least=-MOST_DAYS)


def quarantine_doc(ruling: QuarantineRuling) -> QuarantineDoc:
    """Builds the record of one quarantine, with its status."""
    written, place = ruling.quarantine, ruling.quarantine.location
    return {
        "suite": bounded_name(ruling.suite),
        "scenario": bounded_name(written.scenario),
        "variant": _name(written.variant),
        "scenarios": ruling.scenarios,
        "reason": bounded_text(written.reason),
        "who": _name(written.who),
        "until": written.until.isoformat(),
        "days_left": ruling.days_left,
        "status": ruling.status,
        "message": bounded_text(ruling.message),
        "location": None
        if place is None
        else {"file": bounded_name(place.file), "line": place.line, "column": place.column},
    }


def _name(text: str | None) -> str | None:
    return None if text is None else bounded_name(text)
