"""Describes a weakened demand in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from evalgate.models.comparison.weakening import Weakening, WeakeningKind

_WORDS: dict[WeakeningKind, str] = {
    "suite_removed": "the suite is gone",
    "scenario_removed": "the scenario is gone",
    "scenario_optional": "it may go without a trace",
    "errors_allowed": "trials may end in errors",
    "threshold_lowered": "the threshold was lowered",
    "trials_lowered": "fewer passes are demanded of its trials",
    "trials_missing": "fewer trials were recorded",
    "check_removed": "a check was removed",
    "check_loosened": "a check was loosened",
    "check_replaced": "a check was replaced by one that is not plainly as strict",
    "check_optional": "a check is no longer required",
    "check_skippable": "a check is skipped where its evidence is missing",
    "weight_lowered": "a check weighs less",
    "fail_on_dropped": "less fails the gate",
    "tolerance_widened": "the tolerance was widened",
    "evidence_lowered": "less evidence is demanded",
    "freshness_loosened": "older or foreign recordings are let in",
    "warning_lowered": "less is said of a weakened gate",
    "approval_added": "an approval was added",
    "quarantine_added": "a quarantine was added",
    "quarantine_extended": "a quarantine lasts longer",
}


def describe_weakening(weakening: Weakening) -> str:
    """Describes one weakening without its place: what got weaker, which check, the value before and after."""
    check = f" {cut_quote(weakening.assertion)}" if weakening.assertion else ""
    move = _format_change(weakening.baseline, weakening.current)
    count = weakening.scenarios if weakening.scenario is None else 1
    where = f" in {count} scenarios" if count > 1 and weakening.kind != "suite_removed" else ""
    return f"{_WORDS[weakening.kind]}{where}{':' if check or move else ''}{check}{f' {move}' if move else ''}"


def _format_change(before: str | None, after: str | None) -> str:
    """`threshold: 0.9 -> 0.8`, with the name only once."""
    if before is None or after is None:
        return before or after or ""
    name, colon, _ = before.partition(": ")
    if not colon or name.startswith("{") or not after.startswith(f"{name}: "):
        return f"{before} -> {after}"
    return f"{before} -> {after.removeprefix(name + colon)}"
