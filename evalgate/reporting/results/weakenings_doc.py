"""Builds the weakenings of `results.json`, and the causes of its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.results.clean_values import clean_optional_name, clean_text
from evalgate.reporting.results.results_fields import (
    COUNT,
    FLAG,
    MAYBE_RECORD,
    MAYBE_TEXT,
    TEXT,
    Shape,
    optional_fields,
    required_fields,
)
from evalgate.reporting.results.trial_doc import build_location_doc
from evalgate.scoring.wording import describe_weakening

if TYPE_CHECKING:
    from evalgate.models.comparison.comparison import Cause
    from evalgate.models.comparison.weakening import Weakening, WeakeningList
    from evalgate.models.results.results_sections import CauseDoc, WeakeningDoc

WEAKENING: Shape = (
    *required_fields(TEXT, "kind", "message"),
    *required_fields(COUNT, "scenarios"),
    *required_fields(FLAG, "gates"),
    *optional_fields(MAYBE_TEXT, "suite", "scenario", "variant", "assertion", "before", "after"),
    *optional_fields(MAYBE_RECORD, "location"),
)
CAUSE: Shape = (
    *required_fields(TEXT, "kind", "message"),
    *optional_fields(MAYBE_TEXT, "now_by_old_rules", "before_by_new_rules"),
)


def build_weakenings_doc(weakenings: WeakeningList) -> list[WeakeningDoc]:
    """Builds the weakenings that are listed."""
    return [_build_weakening_doc(each, gates=each.suite in weakenings.failing) for each in weakenings.listed]


def build_cause_doc(cause: Cause) -> CauseDoc:
    """Builds the cause of a change."""
    return {
        "kind": cause.kind,
        "message": clean_text(cause.message),
        "now_by_old_rules": cause.now_by_old_rules,
        "before_by_new_rules": cause.before_by_new_rules,
    }


def _build_weakening_doc(each: Weakening, *, gates: bool) -> WeakeningDoc:
    return {
        "kind": each.kind,
        "suite": clean_optional_name(each.suite),
        "scenario": clean_optional_name(each.scenario),
        "variant": clean_optional_name(each.variant),
        "assertion": clean_optional_name(each.assertion),
        "before": None if each.baseline is None else clean_text(each.baseline),
        "after": None if each.current is None else clean_text(each.current),
        "location": build_location_doc(each.location),
        "scenarios": each.scenarios,
        "gates": gates,
        "message": clean_text(describe_weakening(each)),
    }
