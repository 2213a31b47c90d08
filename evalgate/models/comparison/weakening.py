"""Demands of the baseline's suites and policies that today's no longer make, quarantines, and freshness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from evalgate.errors import Location, Problem


WeakeningKind = Literal[
    "suite_removed",
    "scenario_removed",
    "scenario_optional",
    "errors_allowed",
    "run_status_widened",
    "opaque_added",
    "lookup_added",
    "threshold_lowered",
    "trials_lowered",
    "trials_missing",
    "not_measured",
    "check_removed",
    "check_loosened",
    "check_replaced",
    "check_optional",
    "check_skippable",
    "weight_lowered",
    "traces_changed",
    "reading_changed",
    "price_lowered",
    "failure_masked",
    "rules_unchecked",
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
"""How a weakened gate is handled, the mildest first."""
STRICTNESS: tuple[str, ...] = get_args(OnWeakening)


class Weakening(NamedTuple):
    """One demand that was weakened.

    `suite` is None for the project, `scenario` for a whole suite or for several scenarios that share the
    demand: `scenarios` counts them. `assertion` names the assertion; `baseline` and `current` are the demand
    in short on either side, None if there was none. `location` is where the demand is now, else the file
    that had it. `effect` is what this changes in the run, None if that follows from the demand.
    """

    kind: WeakeningKind
    suite: str | None = None
    scenario: str | None = None
    variant: str | None = None
    assertion: str | None = None
    baseline: str | None = None
    current: str | None = None
    location: Location | None = None
    scenarios: int = 1
    effect: str | None = None


class WeakeningList(NamedTuple):
    """The listed weakenings, how many more there are, and the suites in which they fail the gate.

    In `failing`, None means the project. `unknown` is the reason why demands could not be compared, None if
    they were. `notes` are changes that weaken nothing, `ignored` those that a flag or an input left out.
    """

    listed: Sequence[Weakening] = ()
    left: int = 0
    failing: frozenset[str | None] = frozenset()
    unknown: str | None = None
    notes: Sequence[Problem] = ()
    ignored: int = 0


MAX_DAYS = 90
"""Maximum days until the end of a quarantine: it is a pause, not a way to remove an assertion."""

QuarantineStatus = Literal["active", "expired", "void", "unused"]


class Quarantine(Struct, frozen=True):
    """One quarantine as written. `scenario` may contain `*`; a `variant` of None means every variant.

    `until` is its last valid day.
    """

    scenario: str
    variant: str | None
    reason: str
    until: date
    who: str | None
    location: Location | None


class QuarantineRuling(NamedTuple):
    """The status of one quarantine in a run. `scenarios` is the number of scenarios that it holds for."""

    suite: str
    quarantine: Quarantine
    status: QuarantineStatus
    message: str
    days_left: int
    scenarios: int


class WatchedFiles(NamedTuple):
    """Files of the agent: one fingerprint of all, and the SHA-256 of each by its path from the working directory."""

    fingerprint: str
    digests: Mapping[str, str]


class FreshnessContext(NamedTuple):
    """The time of judging, the commits that count as the judged one, and the watched files.

    `commits` is empty if the commit is unknown. `watched` is by suite, for suites that watch files.
    """

    now: datetime
    commits: frozenset[str] = frozenset()
    watched: Mapping[str, WatchedFiles] = {}
