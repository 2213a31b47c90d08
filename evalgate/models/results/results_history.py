"""What a store remembers of earlier runs, in `results.json`."""

from __future__ import annotations

from typing import TypedDict


class PastRunDoc(TypedDict):
    """One run; `cost_usd` is null where a part of it is unknown."""

    at: str
    commit: str | None
    verdict: str
    score: float | None
    pass_rate: float | None
    cost_usd: float | None


class FlakyDoc(TypedDict):
    """A scenario whose outcome turned and turned again: `flips` times in its last `runs`, since `since`.

    `new` says that it was not so in as many runs before.
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
    """The last runs of a branch (null: of any), oldest first, this one at the end; and what is flaky.

    `flaky_left` counts those that are not listed.
    """

    branch: str | None
    runs: list[PastRunDoc]
    flaky: list[FlakyDoc]
    flaky_left: int
