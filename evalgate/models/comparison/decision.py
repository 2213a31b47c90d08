"""The decision of the gate, from which exit code, comment, check and outputs are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Iterable

GateVerdict = Literal["pass", "fail", "cannot_judge", "invalid"]

FailOn = Literal[
    "hard_fail",
    "new_hard_fail",
    "below_threshold",
    "broken",
    "regression",
    "model_changed",
    "not_evaluable",
    "stale_evidence",
    "weakened",
    "no_baseline",
]
"""Words of `fail_on` that this version supports."""

NEEDS_BASELINE: frozenset[str] = frozenset(
    {"regression", "broken", "new_hard_fail", "model_changed", "weakened", "no_baseline"}
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

    `code` is a `fail_on` word, or duplicates, no_traces, not_measured, nothing_evaluated, min_evaluated, unreachable,
    invalid_suite, invalid_setting, refused_path, over_limit, missing_shard.
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
