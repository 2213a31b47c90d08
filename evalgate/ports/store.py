"""What the kernel asks of a store, which an optional feature provides.

Every method may raise StoreUnreachable.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Protocol, Self

from evalgate.ports.outputs import RunOutput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.approvals.approval import Approval, StoredApproval
    from evalgate.models.goldens import RegressionSuite
    from evalgate.models.history.stability import RunHistory
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.golden import Golden


class NamedGoldens(Protocol):
    """Golden conversations, ordered by id."""

    def select(
        self, ids: Sequence[str] = (), tags: Sequence[str] = (), intents: Sequence[str] = ()
    ) -> Sequence[Golden]:
        """The goldens that have one of the ids, tags or intents."""

    def ids(self) -> Sequence[str]:
        """All ids."""


class NamedSuites(Protocol):
    """Regression suites, ordered by name."""

    def get(self, name: str) -> RegressionSuite | None:
        """The suite with that name."""

    def list(self) -> Sequence[RegressionSuite]:
        """The first of all."""


class GoldenStore(Protocol):
    """The goldens that suites may name; open until its context ends."""

    @property
    def goldens(self) -> NamedGoldens:
        """Golden conversations."""

    @property
    def suites(self) -> NamedSuites:
        """Regression suites."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class RunStore(RunOutput):
    """The store that a run reads its history from, and saves its results in."""

    @abstractmethod
    def load(self) -> tuple[RunHistory | None, Sequence[Approval]]:
        """History and approvals that count; nothing, never an error, if the store is not available."""

    @abstractmethod
    def load_runs(self, branch: str | None) -> Sequence[ResultsDoc]:
        """The results of the last runs, of one branch or of all, oldest first; raises StoreUnreachable."""


class ApprovalStore(Protocol):
    """Approvals of failures in a store, which is opened for each call."""

    def record(self, approvals: Sequence[Approval], results: ResultsDoc | None, run_id: str | None) -> str:
        """Adds approvals; returns the store's name for display. Those from a comment keep their origin.

        The run of `results` is approved, too, if the store has it and it has no other failure.
        """

    def withdraw(self, approval_id: str) -> str:
        """Ends an approval today; returns the store's name for display. SettingError if there is no such one."""

    def list(self) -> Sequence[StoredApproval]:
        """All approvals, including those no longer in force."""
