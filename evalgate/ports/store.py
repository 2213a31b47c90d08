"""A memory of goldens, evaluations, feedback, regression suites, runs and approvals.

Every method may raise StoreUnreachable. Texts are kept as given, but for NUL and halves of surrogate pairs;
whoever stores has redacted before. Times are UTC. Lists are paged and in a fixed order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from evalgate.models.approvals.stored_approval import StoredApproval
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.goldens.feedback import Feedback
    from evalgate.models.goldens.regression_suite import RegressionSuite
    from evalgate.models.run.evaluation import GoldenEvaluation, RegressionStatus
    from evalgate.models.run.golden import Golden
    from evalgate.models.store.stored_run import RunApproval, RunFacts, Sighting, StoredRun, TrendPoint


class Page(NamedTuple):
    """A part of a list."""

    limit: int = 50
    offset: int = 0


EVERYTHING = Page(limit=1_000_000)


class GoldenFilter(NamedTuple):
    """Which goldens are listed: those of which all that is said here is true."""

    intent: str | None = None
    stance: str | None = None  # the primary one
    creator: str | None = None
    tag: str | None = None


class Deleted(NamedTuple):
    """What went with a golden: its evaluations, its places in regression suites.

    Feedback on it is a person's word and stays; it then names no golden.
    """

    evaluations: int
    suites: int


class Goldens(Protocol):
    """Golden conversations, in the order of their ids."""

    def create(self, golden: Golden) -> Golden:
        """Stores a new one as version 1; raises SettingError where the id is taken."""

    def keep(self, golden: Golden) -> Golden:
        """Stores it, or updates what is stored under its id where that says something else."""

    def get(self, golden_id: str) -> Golden | None:
        """The one of that id."""

    def list(self, page: Page = ..., by: GoldenFilter = ...) -> Sequence[Golden]:
        """Those that the filter lets through."""

    def count(self, by: GoldenFilter = ...) -> int:
        """How many the filter lets through."""

    def chosen(
        self, ids: Sequence[str] = (), tags: Sequence[str] = (), intents: Sequence[str] = ()
    ) -> Sequence[Golden]:
        """Those that an id, a tag or an intent names."""

    def ids(self) -> Sequence[str]:
        """All ids."""

    def update(self, golden: Golden) -> Golden:
        """Replaces the one of its id and raises the version.

        Raises SettingError where there is none, or where `golden.version` is not the one that is stored:
        somebody else was faster.
        """

    def delete(self, golden_id: str) -> Deleted | None:
        """Takes it away with its evaluations; None where there is none."""


class Evaluations(Protocol):
    """Goldens as judged, the newest first."""

    def create(self, evaluation: GoldenEvaluation) -> GoldenEvaluation:
        """Stores one, with an id where it has none.

        Raises SettingError for a golden or a run that is not stored, or an id that is taken.
        """

    def get(self, evaluation_id: str) -> GoldenEvaluation | None:
        """The one of that id."""

    def list(
        self,
        page: Page = ...,
        *,
        suite: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[GoldenEvaluation]:
        """All, of one suite, of a time (from `since`, before `until`)."""

    def of_golden(self, golden_id: str, page: Page = ...) -> Sequence[GoldenEvaluation]:
        """Those of one golden."""

    def with_status(self, status: RegressionStatus, page: Page = ...) -> Sequence[GoldenEvaluation]:
        """Those of one regression status."""

    def of_run(self, run_id: str, page: Page = ...) -> Sequence[GoldenEvaluation]:
        """Those of one run."""

    def of_trace(self, trace_sha256: str, page: Page = ...) -> Sequence[GoldenEvaluation]:
        """Those of one recording."""

    def previous(self, golden_id: str, suite: str, before: datetime) -> GoldenEvaluation | None:
        """The last one of a golden in a suite before a moment."""


class Feedbacks(Protocol):
    """What people said, the oldest first."""

    def create(self, feedback: Feedback) -> Feedback:
        """Stores one, with an id and a time where it has none; raises SettingError for an unknown golden."""

    def list(self, page: Page = ...) -> Sequence[Feedback]:
        """All."""

    def of_conversation(self, conversation_id: str, page: Page = ...) -> Sequence[Feedback]:
        """Those on one conversation."""

    def of_golden(self, golden_id: str, page: Page = ...) -> Sequence[Feedback]:
        """Those on one golden."""


class RegressionSuites(Protocol):
    """Regression suites, in the order of their names."""

    def create(self, suite: RegressionSuite) -> RegressionSuite:
        """Stores a new one; raises SettingError where the name is taken or a golden is not stored."""

    def get(self, name: str) -> RegressionSuite | None:
        """The one of that name."""

    def list(self, page: Page = ...) -> Sequence[RegressionSuite]:
        """All."""

    def update(self, suite: RegressionSuite) -> RegressionSuite:
        """Replaces the one of its name; raises SettingError where there is none, or no such golden."""

    def delete(self, name: str) -> bool:
        """Takes it away; its goldens stay. False where there is none."""


class Subject(NamedTuple):
    """What a trend is of: all runs, a suite, or a scenario of it; on one branch or on all of them."""

    suite: str | None = None
    scenario: str | None = None
    variant: str | None = None
    dimension: str | None = None
    branch: str | None = None


class Runs(Protocol):
    """Runs, the newest first."""

    def record(self, run: StoredRun, evaluations: Sequence[GoldenEvaluation] = ()) -> bool:
        """Stores a run with its evaluations, all or nothing; False where its id is stored already."""

    def get(self, run_id: str) -> StoredRun | None:
        """The whole run of that id."""

    def list(
        self,
        page: Page = ...,
        *,
        suite: str | None = None,
        branch: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[RunFacts]:
        """All, those with a suite, those of a branch, those completed in a time (from, before)."""

    def count(self, *, suite: str | None = None, branch: str | None = None) -> int:
        """How many there are."""

    def trend(self, subject: Subject, limit: int = 20) -> Sequence[TrendPoint]:
        """The last `limit` runs with the subject, oldest first."""

    def last_status(self, key: ScenarioKey, branch: str | None = None) -> Sighting | None:
        """How a scenario stood in the last run that had it."""

    def last_statuses(
        self, page: Page = ..., *, suite: str | None = None, branch: str | None = None
    ) -> Sequence[Sighting]:
        """How each scenario stood in the last run that had it, by suite, scenario and variant."""

    def sightings(self, key: ScenarioKey, window: int, branch: str | None = None) -> Sequence[Sighting]:
        """How a scenario stood in the last `window` runs that had it, oldest first."""

    def all_sightings(
        self, window: int, *, suite: str | None = None, branch: str | None = None
    ) -> Mapping[ScenarioKey, Sequence[Sighting]]:
        """The same of every scenario."""

    def turned(
        self, window: int, *, suite: str | None = None, branch: str | None = None
    ) -> Sequence[ScenarioKey]:
        """Scenarios that passed some of the last `window` runs that had them, and did not pass others.

        Runs that learned nothing of a scenario do not count as either.
        """

    def decide(self, run_id: str, approval: RunApproval) -> bool:
        """Keeps what a person decided about a run; False where there is none."""

    def delete(self, run_id: str) -> bool:
        """Takes a run away with its evaluations; False where there is none."""


class StoredApprovals(Protocol):
    """Approvals, the oldest first."""

    def create(self, approval: StoredApproval) -> StoredApproval:
        """Stores one, with an id and a time where it has none. One comment is stored once per scope."""

    def list(self, page: Page = ...) -> Sequence[StoredApproval]:
        """All, also those that no longer hold."""

    def active(self, today: date, *, head_commit: str | None = None) -> Sequence[StoredApproval]:
        """Those that hold on a day: not withdrawn, not expired.

        With `head_commit` those that are bound to no commit or to this one.
        """

    def withdraw(self, approval_id: str) -> bool:
        """Ends one now; False where there is none that holds."""


class Store(Protocol):
    """All of it behind one door. Two processes that write at once lose nothing."""

    @property
    def place(self) -> str:
        """Where it lies, for people: no name and no password of a user."""

    @property
    def goldens(self) -> Goldens:
        """Golden conversations."""

    @property
    def evaluations(self) -> Evaluations:
        """Goldens as judged."""

    @property
    def feedback(self) -> Feedbacks:
        """What people said."""

    @property
    def suites(self) -> RegressionSuites:
        """Regression suites."""

    @property
    def runs(self) -> Runs:
        """Runs."""

    @property
    def approvals(self) -> StoredApprovals:
        """Approvals."""

    def close(self) -> None:
        """Lets go of the connection."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
