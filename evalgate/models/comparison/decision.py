"""The decision of the gate, from which exit code, comment, check and outputs are made."""

from __future__ import annotations

from typing import Literal

from evalgate.records import dataclass, field

GateVerdict = Literal["pass", "fail", "cannot_judge", "invalid"]

FailOn = Literal[
    "hard_fail",
    "new_hard_fail",
    "below_threshold",
    "broken",
    "regression",
    "not_evaluable",
    "stale_evidence",
    "weakened",
    "no_baseline",
]
"""Words of `fail_on` that this version supports."""

NEEDS_BASELINE: frozenset[str] = frozenset({"regression", "broken", "new_hard_fail", "weakened", "no_baseline"})
"""Words that can't be judged without the baseline."""


@dataclass(slots=True)
class Reason:
    """Why the gate decided as it did.

    `code` is a `fail_on` word, or no_traces, nothing_evaluated, min_evaluated, unreachable, invalid_suite,
    invalid_setting, refused_path, over_limit, missing_shard.
    """

    code: str
    message: str
    suite: str | None = None
    scenario: str | None = None
    variant: str | None = None


@dataclass(slots=True)
class Decision:
    """One verdict, its exit code and every reason, most severe first."""

    verdict: GateVerdict
    exit_code: int
    reasons: list[Reason] = field(default_factory=list)
    report_only: bool = False
    suite_verdicts: dict[str, GateVerdict] = field(default_factory=dict)
