"""What `calibrate` and `confirm` find."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.errors import Problem
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.comparison.decision import Reason
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.arms import Confirmation


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


class ConfirmedRun(NamedTuple):
    """What all trials show, the reasons that fail the gate, and the run's document with both.

    `added` is the document of the added trials of this commit alone, for the history; None if nothing was added.
    `warnings` name what was not compared, not planned, or may be a copy.
    """

    confirmation: Confirmation
    reasons: Sequence[Reason]
    document: ResultsDoc
    added: ResultsDoc | None = None
    warnings: Sequence[Problem] = ()
