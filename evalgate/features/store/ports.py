"""The store of goldens, evaluations, feedback, regression suites, runs and approvals.

Every method may raise StoreUnreachable. Texts are stored as given, except NUL and unpaired surrogates;
callers redact them first. Times are UTC. Lists are paged and in a fixed order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from evalgate.errors import Problem
    from evalgate.models.approvals.approval import StoredApproval
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.goldens import Feedback, RegressionSuite
    from evalgate.models.history.stored_run import (
        PruneCounts,
        RunApproval,
        RunFacts,
        ScenarioHistoryEntry,
        StoredRun,
        TrendPoint,
    )
    from evalgate.models.run.golden import Golden, GoldenEvaluation


class Page(NamedTuple):
    """One page of a list."""

    limit: int = 50
    offset: int = 0


EVERYTHING = Page(limit=1_000_000)


class GoldenFilter(NamedTuple):
    """Which goldens to list: those that match every given field."""

    intent: str | None = None
    stance: str | None = None  # the primary one
    creator: str | None = None
    tag: str | None = None


class DeletionCounts(NamedTuple):
    """How many evaluations and regression suite entries were deleted with a golden.

    Feedback on it was written by people, so it stays and then names no golden.
    """

    evaluations: int
    suites: int


class Goldens(Protocol):
    """Golden conversations, ordered by id."""

    def create(self, golden: Golden) -> Golden:
        """Stores a new golden as version 1; raises SettingError if the id is taken."""

    def upsert(self, golden: Golden) -> Golden:
        """Stores the golden, or updates the one stored under its id if they differ."""

    def get(self, golden_id: str) -> Golden | None:
        """The golden with that id."""

    def list(self, page: Page = ..., by: GoldenFilter = ...) -> Sequence[Golden]:
        """The goldens that match the filter."""

    def count(self, by: GoldenFilter = ...) -> int:
        """How many goldens match the filter."""

    def select(
        self, ids: Sequence[str] = (), tags: Sequence[str] = (), intents: Sequence[str] = ()
    ) -> Sequence[Golden]:
        """The goldens that have one of the ids, tags or intents."""

    def ids(self) -> Sequence[str]:
        """All ids."""

    def find_taken(self, golden_id: str) -> Problem | None:
        """The problem that another repository than the selected one has a golden of that id."""

    def update(self, golden: Golden) -> Golden:
        """Replaces the golden with its id and raises the version.

        Raises SettingError if the id is unknown, or if `golden.version` is not the stored version because
        somebody else updated it meanwhile.
        """

    def delete(self, golden_id: str) -> DeletionCounts | None:
        """Deletes the golden and its evaluations; None if the id is unknown."""


class Evaluations(Protocol):
    """Evaluations of goldens, newest first."""

    def create(self, evaluation: GoldenEvaluation) -> GoldenEvaluation:
        """Stores an evaluation; generates an id if it has none.

        Raises SettingError if its golden or run is not stored, or its id is taken.
        """

    def get(self, evaluation_id: str) -> GoldenEvaluation | None:
        """The evaluation with that id."""

    def list(
        self,
        page: Page = ...,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        **equal: str | None,
    ) -> Sequence[GoldenEvaluation]:
        """Those of a period (from `since`, before `until`) and with every given value.

        `equal` may name suite, golden_id, regression_status, run_id and trace_sha256.
        """

    def suites(self) -> Sequence[str]:
        """The names of all suites that have evaluations."""


class Feedbacks(Protocol):
    """Feedback from people, in the order it was given."""

    def create(self, feedback: Feedback) -> Feedback:
        """Stores feedback; adds a missing id or time; raises SettingError for an unknown golden."""

    def list(
        self, page: Page = ..., *, conversation_id: str | None = None, golden_id: str | None = None
    ) -> Sequence[Feedback]:
        """All, or those on one conversation or golden."""


class RegressionSuites(Protocol):
    """Regression suites, ordered by name."""

    def create(self, suite: RegressionSuite) -> RegressionSuite:
        """Stores a new suite; raises SettingError if the name is taken or a golden is not stored."""

    def get(self, name: str) -> RegressionSuite | None:
        """The suite with that name."""

    def find_taken(self, name: str) -> Problem | None:
        """The problem that another repository than the selected one has a suite of that name."""

    def list(self, page: Page = ...) -> Sequence[RegressionSuite]:
        """All."""

    def update(self, suite: RegressionSuite) -> RegressionSuite:
        """Replaces the suite with its name; raises SettingError if it or one of its goldens is missing."""

    def delete(self, name: str) -> bool:
        """Deletes the suite; its goldens stay. False if the name is unknown."""


class Subject(NamedTuple):
    """What a trend covers: all runs, one suite, or one of its scenarios; on one branch or all."""

    suite: str | None = None
    scenario: str | None = None
    variant: str | None = None
    dimension: str | None = None
    branch: str | None = None


class Runs(Protocol):
    """Runs, newest first."""

    def record(self, run: StoredRun, evaluations: Sequence[GoldenEvaluation] = ()) -> bool:
        """Stores a run with its evaluations, all or nothing; False if its id is stored already."""

    def get(self, run_id: str) -> StoredRun | None:
        """The whole run with that id."""

    def list(
        self,
        page: Page = ...,
        *,
        suite: str | None = None,
        branch: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[RunFacts]:
        """All, or those with a suite, on a branch, or completed in a period (from, before)."""

    def count(self, *, suite: str | None = None, branch: str | None = None) -> int:
        """How many runs there are."""

    def trend(self, subject: Subject, limit: int = 20) -> Sequence[TrendPoint]:
        """The last `limit` runs that contain the subject, oldest first."""

    def last_status(self, key: ScenarioKey, branch: str | None = None) -> ScenarioHistoryEntry | None:
        """A scenario's result in the last run that had it."""

    def last_statuses(
        self, page: Page = ..., *, suite: str | None = None, branch: str | None = None
    ) -> Sequence[ScenarioHistoryEntry]:
        """Each scenario's result in the last run that had it, by suite, scenario and variant."""

    def sightings(self, key: ScenarioKey, window: int, branch: str | None = None) -> Sequence[ScenarioHistoryEntry]:
        """A scenario's results in the last `window` runs that had it, oldest first."""

    def all_sightings(
        self, window: int, *, suite: str | None = None, branch: str | None = None
    ) -> Mapping[ScenarioKey, Sequence[ScenarioHistoryEntry]]:
        """The same for every scenario."""

    def find_unsteady(
        self, window: int, *, suite: str | None = None, branch: str | None = None
    ) -> Sequence[ScenarioKey]:
        """Scenarios that passed some of the last `window` runs that had them, but not all.

        Runs that could not evaluate a scenario do not count as either.
        """

    def decide(self, run_id: str, approval: RunApproval) -> bool:
        """Stores a person's decision about a run; False if the id is unknown."""

    def delete(self, run_id: str) -> bool:
        """Deletes a run and its evaluations; False if the id is unknown."""

    def prune(self, before: datetime, *, dry_run: bool = False) -> PruneCounts:
        """Deletes runs that ended before a time, with their evaluations, a few at a time.

        Runs that a person approved or rejected are kept. With `dry_run` nothing is deleted, only counted.
        """


class StoredApprovals(Protocol):
    """Approvals, oldest first."""

    def create(self, approval: StoredApproval) -> StoredApproval:
        """Stores an approval; adds a missing id or time. One comment is stored once per scope."""

    def list(self, page: Page = ...) -> Sequence[StoredApproval]:
        """All approvals, including those no longer in force."""

    def active(self, today: date, *, head_commit: str | None = None) -> Sequence[StoredApproval]:
        """Approvals neither withdrawn nor expired on a day; with `head_commit`, those bound to it or to no commit."""

    def withdraw(self, approval_id: str) -> bool:
        """Ends an approval now; False if none with that id is in force."""


class Store(Protocol):
    """The whole store. Concurrent writes by two processes lose nothing."""

    @property
    def display_url(self) -> str:
        """Its address for display, without user name and password."""

    @property
    def goldens(self) -> Goldens:
        """Golden conversations."""

    @property
    def evaluations(self) -> Evaluations:
        """Evaluations of goldens."""

    @property
    def feedback(self) -> Feedbacks:
        """Feedback from people."""

    @property
    def suites(self) -> RegressionSuites:
        """Regression suites."""

    @property
    def runs(self) -> Runs:
        """Runs."""

    @property
    def approvals(self) -> StoredApprovals:
        """Approvals."""

    @property
    def is_shared(self) -> bool:
        """Whether something in it names another repository than the selected one."""

    def select_repository(self, name: str | None) -> None:
        """Reads only runs of this repository from now on, None for those that name none, if the store has others.

        A store of one repository is read whole: runs and approvals that name none are of this one. Goldens, suites
        and feedback that name none are of all repositories; those of another are not read, and new ones name this one.
        """

    def close(self) -> None:
        """Closes the connection."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
