"""The history of runs from a store, in `results.json`."""

from __future__ import annotations

from typing import TypedDict


class PastRunDoc(TypedDict):
    """One run; `cost_usd` is null if a part of it is unknown."""

    at: str
    commit: str | None
    verdict: str
    score: float | None
    pass_rate: float | None
    cost_usd: float | None


class FlakyDoc(TypedDict):
    """A flaky scenario: its outcome changed `flips` times in its last `runs` runs, first at `since`.

    `new` is true if it was not flaky in as many runs before.
    """

    suite: str
    scenario: str
    variant: str | None
    runs: int
    passed: int
    flips: int
    since: str | None
    new: bool


class HistoryDoc(TypedDict):
    """The last runs of a branch (null: of any), oldest first, ending with this one; and flaky scenarios.

    `flaky_left` counts flaky scenarios that are not listed.
    """

    branch: str | None
    runs: list[PastRunDoc]
    flaky: list[FlakyDoc]
    flaky_left: int
