"""A weakened gate: what the suites and policies demanded when the baseline was made, and demand no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.errors import Location

WeakeningKind = Literal[
    "suite_removed",
    "scenario_removed",
    "scenario_optional",
    "errors_allowed",
    "threshold_lowered",
    "trials_lowered",
    "trials_missing",
    "check_removed",
    "check_loosened",
    "check_replaced",
    "check_optional",
    "check_skippable",
    "weight_lowered",
    "fail_on_dropped",
    "tolerance_widened",
    "evidence_lowered",
    "freshness_loosened",
    "warning_lowered",
    "approval_added",
    "quarantine_added",
    "quarantine_extended",
]
OnWeakening = Literal["ignore", "warn", "fail"]
"""What becomes of a weakened gate, the mildest first."""
STRICTNESS: tuple[str, ...] = get_args(OnWeakening)


class Weakening(NamedTuple):
    """One demand that was weakened.

    `suite` is None where the project is meant, `scenario` where a whole suite is, or several scenarios of it
    that share the demand: `scenarios` counts them. `assertion` names the check, `before` and `after` are what
    it said, in short, None where there is nothing. `location` is where it stands now, else the file where it
    stood.
    """

    kind: WeakeningKind
    suite: str | None = None
    scenario: str | None = None
    variant: str | None = None
    assertion: str | None = None
    before: str | None = None
    after: str | None = None
    location: Location | None = None
    scenarios: int = 1


class Weakenings(NamedTuple):
    """Those that are told, how many more there are, and the places in which they fail the gate.

    A place is a suite's name, None for the project. `unknown` says why demands could not be compared, and is
    None where they were.
    """

    told: Sequence[Weakening] = ()
    left: int = 0
    failing: frozenset[str | None] = frozenset()
    unknown: str | None = None
