"""Builds and checks the quarantines of `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.reporting.results.clean_values import clean_name, clean_optional_name, clean_text
from evalgate.reporting.results.results_checks import MAX_DAYS, check_optional, check_range, check_records
from evalgate.reporting.results.results_fields import (
    COUNT,
    LOCATION,
    MAYBE_RECORD,
    MAYBE_TEXT,
    TEXT,
    Shape,
    optional_fields,
    required_fields,
)
from evalgate.reporting.results.trial_doc import build_location_doc

if TYPE_CHECKING:
    from evalgate.models.comparison.weakening import QuarantineRuling
    from evalgate.models.results.results_sections import QuarantineDoc

QUARANTINE: Shape = (
    *required_fields(TEXT, "suite", "scenario", "reason", "until", "status", "message"),
    *required_fields(COUNT, "scenarios", "days_left"),
    *optional_fields(MAYBE_TEXT, "variant", "who"),
    *optional_fields(MAYBE_RECORD, "location"),
)


def check_quarantines(document: dict[str, Any]) -> None:
    """Checks the quarantines; raises ShapeError."""
    for quarantine, path in check_records(document, "quarantines", QUARANTINE, ()):
        check_optional(quarantine, "location", LOCATION, path)
        check_range(quarantine, "scenarios", MAX_SCENARIOS, path)
        check_range(quarantine, "days_left", MAX_DAYS, path, minimum=-MAX_DAYS)


def build_quarantine_doc(ruling: QuarantineRuling) -> QuarantineDoc:
    """Builds the record of one quarantine, with its status."""
    quarantine = ruling.quarantine
    return {
        "suite": clean_name(ruling.suite),
        "scenario": clean_name(quarantine.scenario),
        "variant": clean_optional_name(quarantine.variant),
        "scenarios": ruling.scenarios,
        "reason": clean_text(quarantine.reason),
        "who": clean_optional_name(quarantine.who),
        "until": quarantine.until.isoformat(),
        "days_left": ruling.days_left,
        "status": ruling.status,
        "message": clean_text(ruling.message),
        "location": build_location_doc(quarantine.location),
    }
