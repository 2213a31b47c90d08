"""How steadily a scenario passed over the runs that a store remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.records import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.store.stored_run import Sighting, TrendPoint

WINDOW = 20
"""Runs over which stability is told; as many before them say whether that is new."""
LEAST = 4
"""Runs below which nothing is said."""
PASSED, FAILED = "+", "-"

Steadiness = Literal["unknown", "steady", "changed", "flaky"]


class Flip(NamedTuple):
    """The outcome of a run, counted from 0, is another than the one before it."""

    run: int
    at: datetime


@dataclass(frozen=True, slots=True)
class PastOutcomes:
    """What is remembered of one scenario: `outcomes` has a sign a run, the oldest first.

    `fingerprint` is that of the last run's recording: the same recording judged again is no news.
    """

    key: ScenarioKey
    outcomes: str
    flips: tuple[Flip, ...] = ()
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Stability:
    """One scenario over its last runs: how many, how many passed, and how often that turned.

    `interval` bounds the rate behind the share of passes, with 95% confidence. `since` is when it turned for
    the first time in these runs. `is_new` where it is flaky and was not in the runs before.
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


class Remembered(NamedTuple):
    """One scenario: how it stood in the last run that had it, and how steady it is.

    `outcomes` has a sign for each of its last runs that learned something, the oldest first.
    """

    last: Sighting
    stability: Stability
    outcomes: str


@dataclass(frozen=True, slots=True)
class History:
    """What a store remembers of earlier runs, as far as a new one tells of it: oldest first.

    `branch` is the one that it is about, None for all.
    """

    branch: str | None
    runs: tuple[TrendPoint, ...] = ()
    scenarios: tuple[PastOutcomes, ...] = ()
