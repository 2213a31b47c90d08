"""Stability of scenarios over the runs in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import datetime

    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.history.stored_run import ScenarioHistoryEntry, TrendPoint

WINDOW = 20
"""Number of last runs for stability; as many runs before them decide whether flakiness is new."""
MIN_RUNS = 4
"""Minimum number of runs for a statement on stability."""
FEWEST_RUNS = 10
"""Past runs of the same rules and agent from which on a report says how often the gate is red by chance."""
PASSED, FAILED = "+", "-"

Steadiness = Literal["unknown", "steady", "changed", "flaky"]


class Flip(NamedTuple):
    """A run, counted from 0, whose outcome differs from that of the run before it."""

    run: int
    at: datetime


class PastOutcomes(Struct, frozen=True):
    """The past outcomes of one scenario: `outcomes` has one sign per run, oldest first.

    `fingerprint` is that of the last run's trace: judging the same trace again replaces its outcome.
    """

    key: ScenarioKey
    outcomes: str
    flips: tuple[Flip, ...] = ()
    fingerprint: str | None = None


class Stability(Struct, frozen=True):
    """One scenario over its last runs: the number of runs, of passes, and of changes between them.

    `interval` is the 95% confidence interval of the pass rate. `since` is the time of the first change in
    these runs. `is_new` is true if it is flaky and was not in the runs before.
    """

    key: ScenarioKey
    runs: int
    passed: int
    flips: int
    interval: tuple[float, float] | None
    steadiness: Steadiness
    passes_now: bool
    since: datetime | None = None
    is_new: bool = False


class ScenarioHistory(NamedTuple):
    """One scenario: its result in the last run that had it, and its stability.

    `outcomes` has one sign for each of its last runs that could evaluate it, oldest first.
    """

    last: ScenarioHistoryEntry
    stability: Stability
    outcomes: str


class ScenarioCount(NamedTuple):
    """How many of a scenario's recorded trials passed."""

    key: ScenarioKey
    passed: int
    trials: int


class TrialCounts(NamedTuple):
    """The trials of `runs` past runs that the same rules judged, of one agent; `rules` identifies these."""

    rules: str
    runs: int
    scenarios: tuple[ScenarioCount, ...]


class RunHistory(Struct, frozen=True):
    """The past runs in a store that a new run reports on, oldest first; `branch` is their branch, None for all.

    `trials` are those of the newest rules and agent, None if the runs do not note their rules.
    """

    branch: str | None
    runs: tuple[TrendPoint, ...] = ()
    scenarios: tuple[PastOutcomes, ...] = ()
    trials: TrialCounts | None = None
