"""Builds the weakenings of `results.json`, and the causes of its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.results.bounded import bounded_name, bounded_text
from evalgate.reporting.results.results_fields import (
    COUNT,
    FLAG,
    MAYBE_RECORD,
    MAYBE_TEXT,
    TEXT,
    Shape,
    needed,
    optional,
)
from evalgate.scoring.weakening_text import told

if TYPE_CHECKING:
    from evalgate.models.comparison.cause import Cause
    from evalgate.models.comparison.weakening import Weakening, Weakenings
    from evalgate.models.results.results_weakenings import CauseDoc, WeakeningDoc

WEAKENING: Shape = (
    *needed(TEXT, "kind", "message"),
    *needed(COUNT, "scenarios"),
    *needed(FLAG, "gates"),
    *optional(MAYBE_TEXT, "suite", "scenario", "variant", "assertion", "before", "after"),
    *optional(MAYBE_RECORD, "location"),
)
CAUSE: Shape = (
    *needed(TEXT, "kind", "message"),
    *optional(MAYBE_TEXT, "now_by_old_rules", "before_by_new_rules"),
)


def weakenings_doc(weakenings: Weakenings) -> list[WeakeningDoc]:
    """Builds the weakenings that are listed."""
    return [_weakening(each, gates=each.suite in weakenings.failing) for each in weakenings.told]


def cause_doc(cause: Cause) -> CauseDoc:
    """Builds the cause of a change."""
    return {
        "kind": cause.kind,
        "message": bounded_text(cause.message),
        "now_by_old_rules": cause.now_by_old_rules,
        "before_by_new_rules": cause.before_by_new_rules,
    }


def _weakening(each: Weakening, *, gates: bool) -> WeakeningDoc:
    place = each.location
    return {
        "kind": each.kind,
        "suite": _name(each.suite),
        "scenario": _name(each.scenario),
        "variant": _name(each.variant),
        "assertion": _name(each.assertion),
        "before": None if each.before is None else bounded_text(each.before),
        "after": None if each.after is None else bounded_text(each.after),
        "location": None
        if place is None
        else {"file": bounded_name(place.file), "line": place.line, "column": place.column},
        "scenarios": each.scenarios,
        "gates": gates,
        "message": bounded_text(told(each)),
    }


def _name(text: str | None) -> str | None:
    return None if text is None else bounded_name(text)
