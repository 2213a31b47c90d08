"""Where batches are judged: in processes on this machine, or on others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.trace.trace import Trace
    from evalgate.ports.batches import BatchSource


class WorkerLostError(Exception):
    """A worker died before its batch was done; the message describes how."""


class PendingResult(Protocol):
    """A submitted task whose result is pending."""

    def result(self) -> bytes:
        """Waits for the result. Raises WorkerLostError if the worker died."""


class Engine(Protocol):
    """Workers that all run the same function on one batch after another."""

    @property
    def workers(self) -> int:
        """The number of workers, as far as known."""

    def begin(self, work: Callable[[Any], bytes]) -> None:
        """Starts the workers with the function to run."""

    def submit(self, task: Any) -> PendingResult:
        """Submits one task."""

    def close(self) -> None:
        """Stops the workers, even if they are busy."""


class EvaluationPool(NamedTuple):
    """Workers, their source of traces, and the encoder of a trace's line in a baseline."""

    source: BatchSource
    engine: Engine
    encode_line: Callable[[Trace], bytes]


class EvaluationPools(Protocol):
    """Chooses who judges, depending on how much there is to judge."""

    def open(self, traces: Sequence[tuple[Sequence[str], str]]) -> EvaluationPool | None:
        """Workers for these patterns, each with its start folder; None: this process judges."""

    def open_in_process(self) -> EvaluationPool:
        """A pool of only this process, which judges batch by batch."""
