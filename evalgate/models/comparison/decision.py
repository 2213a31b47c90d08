"""The decision of the gate, from which exit code, comment, check and outputs are made; past decisions judged again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import Struct, field
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.models.comparison.comparison import ScenarioKey


GateVerdict = Literal["pass", "fail", "cannot_judge", "invalid"]

FailOn = Literal[
    "hard_fail",
    "new_hard_fail",
    "below_threshold",
    "broken",
    "regression",
    "model_changed",
    "behaviour_changed",
    "not_evaluable",
    "stale_evidence",
    "nothing_recorded",
    "variant_regression",
    "no_lift",
    "weakened",
    "no_baseline",
]
"""Words of `fail_on` that this version supports."""

VARIANT_WORDS: tuple[FailOn, ...] = ("variant_regression", "no_lift")
"""Words about variants that are compared."""

NEEDS_BASELINE: frozenset[str] = frozenset(
    {
        *("regression", "broken", "new_hard_fail", "model_changed", "behaviour_changed"),
        *("nothing_recorded", "weakened", "no_baseline"),
    }
)
"""Words that can't be judged without the baseline."""

FAILING: frozenset[str] = frozenset({*get_args(FailOn), "duplicates"}) - {"no_baseline"}
"""Codes of reasons that fail the gate; all others say that something could not be judged."""

PASS, FAILED, CANNOT_JUDGE, UNREACHABLE = 0, 1, 3, 4

VERDICTS: dict[int, GateVerdict] = {
    PASS: "pass",
    FAILED: "fail",
    CANNOT_JUDGE: "cannot_judge",
    UNREACHABLE: "cannot_judge",
}
"""The verdict of a run by its exit code, before `report_only` makes that 0."""

EXCUSES = ("quarantined", "approved", "not_gating")
"""Why a hard fail does not fail the gate; `not_gating`: the suite's `fail_on` has no hard_fail."""


def exit_code_of(codes: Iterable[str]) -> int:
    """The exit code of a run with reasons of these codes; `VERDICTS` has its verdict."""
    found = set(codes)
    if found & FAILING:
        return FAILED
    if found - {"unreachable"}:
        return CANNOT_JUDGE
    return UNREACHABLE if found else PASS


class Reason(Struct):
    """Why the gate decided as it did.

    `code` is a `fail_on` word, or duplicates, no_traces, empty_glob, not_measured, nothing_evaluated, min_evaluated,
    unreachable, nothing_compared, invalid_suite, invalid_setting, refused_path, over_limit, missing_shard.
    """

    code: str
    message: str
    suite: str | None = None
    scenario: str | None = None
    variant: str | None = None


class Decision(Struct):
    """One verdict, its exit code and every reason, most severe first."""

    verdict: GateVerdict
    exit_code: int
    reasons: list[Reason] = field(default_factory=list)
    report_only: bool = False
    suite_verdicts: dict[str, GateVerdict] = field(default_factory=dict)

    def for_report_only(self, report_only: bool) -> Decision:  # noqa: FBT001  a setting, passed on
        """The same decision; of a run that only reports with exit code 0."""
        return replace(self, exit_code=PASS, report_only=True) if report_only else self


SCHEMA = "evalgate.backtest/1"


class PastRun(Struct, frozen=True):
    """One past run: the verdict it had, and the verdict by today's rules.

    `compared_with` is the run before it. `incomplete` counts traces that it did not keep; a run with any is
    not judged. `unknown` counts today's scenarios that the run does not have.
    """

    path: str
    created_at: str
    commit: str | None
    verdict_then: str
    verdict_now: str
    reasons: Sequence[Reason]
    scenarios: int
    unknown: int = 0
    incomplete: int = 0
    compared_with: str | None = None

    @property
    def is_blocked(self) -> bool:
        """Whether today's rules would have failed the gate."""
        return self.verdict_now == "fail"


class Backtest(Struct, frozen=True):
    """All past runs, oldest first, and the number of runs that each scenario would have blocked."""

    runs: Sequence[PastRun]
    scenarios: Sequence[tuple[ScenarioKey, int]] = field(default_factory=tuple)

    @property
    def blocked(self) -> int:
        """Number of runs that would have been blocked."""
        return sum(run.is_blocked for run in self.runs)

    @property
    def newly_blocked(self) -> int:
        """Number of those that passed at the time."""
        return sum(run.is_blocked and run.verdict_then == "pass" for run in self.runs)

    @property
    def released(self) -> int:
        """Number of runs that failed at the time and would pass today."""
        return sum(run.verdict_then == "fail" and run.verdict_now == "pass" for run in self.runs)

    @property
    def unjudged(self) -> int:
        """Number of runs that can't be judged."""
        return sum(run.verdict_now == "cannot_judge" for run in self.runs)


NOT_KEPT = {
    "not_measured": "outages left too many trials unmeasured",
    "no_traces": "a suite found no traces",
    "empty_glob": "a glob of a suite found no traces",
}
"""Why a run with one of these reasons makes no baseline: later runs would be compared with what is missing."""

SUMS = {
    "scenarios": ("passed", "partial", "failed", "hard_fails", "errors", "missing", "not_evaluable"),
    "regressions": ("regressed", "broken"),
    "improvements": ("improved", "fixed"),
}
"""Counts of `summary` that are the sum of others."""
PARTS = ("quarantined",)
"""Counts of `summary` that are at most the number of scenarios; absent if 0."""


def find_wrong_count(summary: Mapping[str, Any]) -> str | None:
    """Names the first count that is not the sum of its parts; None if all are right."""
    for total, parts in SUMS.items():
        if summary[total] != sum(summary[part] for part in parts):
            return f"`{total}` is not the sum of {', '.join(parts)}"
    for part in PARTS:
        if summary.get(part, 0) > summary["scenarios"]:
            return f"`{part}` is more than `scenarios`"
    return None
