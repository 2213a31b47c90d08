"""Where batches are judged: in processes of this machine, or on others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.trace.trace import Trace
    from evalgate.ports.batches import BatchSource


class WorkerLostError(Exception):
    """Whoever judged a batch ended before it was done; says how."""


class Ticket(Protocol):
    """Work that was handed out."""

    def result(self) -> bytes:
        """What came back, waited for. Raises WorkerLostError where nothing will."""


class Engine(Protocol):
    """Workers that all do the same work on one batch after the other."""

    @property
    def workers(self) -> int:
        """How many there are, as far as that is known."""

    def begin(self, work: Callable[[Any], bytes]) -> None:
        """Gets workers ready to do it."""

    def submit(self, task: Any) -> Ticket:
        """Hands out one task."""

    def close(self) -> None:
        """Sends the workers home, whatever they are doing."""


class EvaluationPool(NamedTuple):
    """Workers, where they read traces, and what makes the line of a trace in a baseline."""

    source: BatchSource
    engine: Engine
    line_of: Callable[[Trace], bytes]


class EvaluationPools(Protocol):
    """Who judges, which depends on how much there is to judge."""

    def open(self, traces: Sequence[tuple[Sequence[str], str]]) -> EvaluationPool | None:
        """Workers for these patterns, each with the folder it starts from; None: this process does it."""

    def alone(self) -> EvaluationPool:
        """Nobody but this process, batch by batch."""
