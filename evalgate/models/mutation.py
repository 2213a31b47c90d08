"""What a suite would notice: changes made to passing traces, and in how many of them a check fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence  # noqa: TC003  (needed when a report is decoded)
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from evalgate.models.comparison.comparison import ScenarioKey  # noqa: TC001  (needed when a report is decoded)

OperatorName = Literal[
    "drop_call",
    "duplicate_call",
    "swap_calls",
    "change_argument",
    "other_tool",
    "ignored_error",
    "empty_answer",
    "triple_cost",
    "triple_latency",
    "refusal",
    "truncated_run",
    "extra_destructive_call",
    "invented_argument",
    "steered_recipient",
    "second_record",
    "failed_run",
    "other_skill",
    "known_argument",
]


MAX_CHANGES = 10_000
"""Changes that are tried by default."""
MANY_CHANGES = 5_000
"""Changes from which worker processes are faster than one."""
Effect = Literal["missed", "gated", "lower_score", "below_threshold", "allowed", "already_failing"]
"""What a change does. `missed`: no check fails that passed. All others are caught.

`gated`: the gate fails by it. Else the trial still passes with a `lower_score`, or it would fail by `below_threshold`
if `fail_on` had it, or it is `allowed` by `fail_on` and the scenario's pass rate; or the gate is `already_failing` with
the scenario as it was recorded.
"""


class Mutation(NamedTuple):
    """One small change to a trace, not made yet; which fields are set depends on the operator.

    `at` is the index of a call in `Trace.tool_calls`; `tool` its name; `other` the second tool, the argument, or the
    place in the state, which is the `at`-th of those that can change.
    """

    operator: OperatorName
    at: int = 0
    tool: str = ""
    other: str = ""


class Tally(Struct, array_like=True):
    """How many changes were tried, in how many of them a check fails, and how many of these fail the gate."""

    tried: int = 0
    caught: int = 0
    gated: int = 0

    @property
    def score(self) -> float | None:
        """The share that was caught, None if none was tried."""
        return self.caught / self.tried if self.tried else None

    def add(self, effect: Effect) -> None:
        """Counts one change."""
        self.tried += 1
        self.caught += effect != "missed"
        self.gated += effect == "gated"


class SuiteMutations(NamedTuple):
    """How many small changes a suite notices, and how many its version in the baseline does; None if it is new."""

    suite: str
    tally: Tally
    baseline: Tally | None


class Survivor(Struct):
    """Changes of one kind that a scenario did not notice: `count` of `tried`; `example` locates the first.

    The lower `harm` the worse. `check` is an assertion that notices `noticed` of them and fails on no trace that
    passes, None if none was found; it belongs into the scenario of the suite with the id `entry`.
    """

    scenario: ScenarioKey
    operator: OperatorName
    tool: str
    other: str
    count: int
    tried: int
    example: str
    harm: int = 0
    entry: str = ""
    check: dict[str, Any] | None = None
    noticed: int = 0


class MutationReport(Struct):
    """What suites noticed. `possible` changes exist, of which at most the requested number were tried.

    `shown` more are not counted, because another passing trace of the scenario shows the same. `recorded_failures` pass
    the suite and are left out, since their record says that they failed. `fail_on` has the words of each suite, none if
    it is not set; `effects` counts what changes did to the gate. Suggestions were not tried on
    `untried` of the traces that they should hold for.
    """

    operators: dict[OperatorName, Tally]
    scenarios: dict[ScenarioKey, dict[OperatorName, Tally]]
    survivors: list[Survivor]
    traces: int = 0
    passing: int = 0
    changed: int = 0
    possible: int = 0
    shown: int = 0
    fail_on: Sequence[Sequence[str]] = ()
    recorded_failures: int = 0
    effects: dict[Effect, int] = {}
    untried: int = 0

    @property
    def total(self) -> Tally:
        """All changes together."""
        return add_up(self.operators.values())


def add_up(tallies: Iterable[Tally]) -> Tally:
    """All changes of several tallies."""
    listed = list(tallies)
    return Tally(*(sum(counts) for counts in zip(*((t.tried, t.caught, t.gated) for t in listed), strict=True)))
