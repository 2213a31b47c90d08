"""What `calibrate` and `confirm` find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.comparison.decision import Reason


class ScenarioAlarm(NamedTuple):
    """A scenario: its trials, its chance of turning an unchanged pull request red, and what is noticed of a drop."""

    key: ScenarioKey
    passed: int
    trials: int
    alarm: float
    noticed: Mapping[str, float]


class Calibration(NamedTuple):
    """How often the gate is wrong.

    `alarms` is the share of unchanged pull requests that are red, with its 95 % interval; `of_splits` that of all
    splits of the recorded trials, which overstates: a half with a failure leaves fewer for the other. `noticed` is the
    share of changes that are noticed of a scenario that falls to 3/4, 1/2 or 0 of its rate, the mean over scenarios.
    `left_out` scenarios have too few trials; `runs` were read and `other_runs` left out, as model or rules differ.
    """

    trials: int
    runs: int
    other_runs: int
    left_out: int
    alarms: float
    of_splits: float
    low: float
    high: float
    noticed: Mapping[str, float]
    scenarios: Sequence[ScenarioAlarm]
    never_failed: int
    never_failed_trials: int


Finding = Literal["regression", "flaky_recovery", "base_was_lucky", "undecided"]
"""regression: the change is one with all trials too. flaky_recovery: it passes often enough. base_was_lucky: the base
fails too. undecided: none of them, so that the first run's reasons stand."""


class Side(NamedTuple):
    """How many trials passed on a side, at first and of those added."""

    passed: int
    trials: int
    more_passed: int
    more_trials: int

    def describe(self) -> str:
        """Both counts, as `1 of 1, then 3 of 5`."""
        return f"{self.passed} of {self.trials}, then {self.more_passed} of {self.more_trials}"


class ConfirmedScenario(NamedTuple):
    """What all trials of a scenario show; `change` is the comparison's sentence."""

    key: ScenarioKey
    finding: Finding
    base: Side
    head: Side
    change: str


class Confirmation(NamedTuple):
    """What all trials show; `reasons` fail the gate, `usd` is what the added recordings cost (None if unknown)."""

    scenarios: Sequence[ConfirmedScenario]
    reasons: Sequence[Reason]
    recordings: int
    usd: float | None
