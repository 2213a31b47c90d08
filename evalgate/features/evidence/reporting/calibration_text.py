"""What `calibrate` prints: the share of red pull requests without a change, what causes it, and what is noticed."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import escape_terminal
from evalgate.reporting.text.wording import pluralize, scenario_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.features.evidence.models import Calibration, ScenarioAlarm

MOST_SHOWN = 10
RULE_OF_THREE = 3
"""J. Hanley and A. Lippman-Hand, "If nothing goes wrong, is everything all right?" (1983): at most 3/n at 95 %."""


def render_calibration(found: Calibration) -> Iterator[str]:
    """Renders the calibration, one fact a line."""
    low, high = wording.rare_percent(found.low), wording.rare_percent(found.high)
    yield f"red without a change: {wording.rare_percent(found.alarms)} of pull requests (95% {low} to {high})"
    splits = f"of all splits of the recorded trials {wording.rare_percent(found.of_splits)} are red"
    yield f"{splits}, which overstates where trials are few"
    drops = ", ".join(f"to {name} in {wording.rare_percent(share)}" for name, share in found.noticed.items())
    yield f"notices a scenario that falls: {drops}"
    if found.never_failed:
        most = wording.rare_percent(min(1.0, RULE_OF_THREE / found.never_failed_trials))
        never = f"{pluralize(found.never_failed, 'scenario')} never failed"
        number = pluralize(found.never_failed_trials, "trial")
        yield f"{never} in {number}: they may still fail in up to {most} of trials (rule of three)"
    causes = [each for each in found.scenarios if each.alarm > 0]
    if causes:
        yield "what turns it red, by the splits of its trials:"
    yield from map(_render_scenario, causes[:MOST_SHOWN])
    if len(causes) > MOST_SHOWN:
        yield f"  ... and {len(causes) - MOST_SHOWN:,} more"
    if advice := advise(found):
        yield advice
    yield (
        f"{pluralize(len(found.scenarios), 'scenario')} at {pluralize(found.trials, 'trial')} a side, of"
        f" {pluralize(found.runs, 'run')}; left out: {pluralize(found.left_out, 'scenario')} with too few trials,"
        f" {pluralize(found.other_runs, 'run')} of another model, other tools, another prompt or other rules"
    )


def _render_scenario(each: ScenarioAlarm) -> str:
    name = escape_terminal(scenario_name(each.key.id, each.key.variant))
    return f"  {name}: {wording.rare_percent(each.alarm)}, passed {each.passed} of {each.trials} trials"


def advise(found: Calibration) -> str:
    """The fewest scenarios without which the share of red pull requests halves; empty if there are none."""
    chances = [each.alarm for each in found.scenarios]
    for count in range(1, len(chances)):
        if found.of_splits > 0 and 1 - prod(1 - each for each in chances[count:]) <= found.of_splits / 2:
            names = ", ".join(escape_terminal(each.key.id) for each in found.scenarios[: min(count, 5)])
            more = f" and {count - 5:,} more" if count > 5 else ""  # noqa: PLR2004  the names that are shown
            return f"half as often: fix or quarantine {names}{more}, or record more trials of them"
    return ""


def build_calibration_document(found: Calibration) -> dict[str, Any]:
    """Builds the calibration as JSON."""
    return {
        "schema": "evalgate.calibration/1",
        "trials": found.trials,
        "runs": found.runs,
        "other_runs": found.other_runs,
        "left_out": found.left_out,
        "red_without_change": {
            "share": round(found.alarms, 6),
            "of_splits": round(found.of_splits, 6),
            "low": round(found.low, 6),
            "high": round(found.high, 6),
        },
        "noticed": {name: round(share, 6) for name, share in found.noticed.items()},
        "never_failed": {"scenarios": found.never_failed, "trials": found.never_failed_trials},
        "scenarios": [
            {
                **each.key._asdict(),
                "passed": each.passed,
                "trials": each.trials,
                "red_without_change": round(each.alarm, 6),
                "noticed": {name: round(share, 6) for name, share in each.noticed.items()},
            }
            for each in found.scenarios
        ],
    }
