"""What is known of one run of the agent besides its model calls: how it ended, and the spans that it sent."""

from __future__ import annotations

from signal import Signals
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

if TYPE_CHECKING:
    from evalgate.features.record.models.exchange import TrialId


class AgentEnd(NamedTuple):
    """How the agent ended: its exit code, negative for a signal; `interrupted` by a signal to this process.

    `stderr` is the end of what it wrote there, None if that is not kept. `reached` is the cap at which requests ended.
    """

    code: int
    has_timed_out: bool = False
    interrupted: int | None = None
    stderr: str | None = None
    reached: str | None = None

    @property
    def was_stopped(self) -> bool:
        """Whether the recording ended it."""
        return self.has_timed_out or self.interrupted is not None or self.reached is not None

    def describe(self) -> str | None:
        """Why it failed; None if it did not."""
        if self.has_timed_out:
            return "the agent did not end in time"
        if self.interrupted is not None:
            return "the recording was interrupted"
        if self.reached is not None:
            return f"the recording reached {self.reached}"
        return f"the agent ended with {self.name}" if self.code else None

    @property
    def name(self) -> str:
        """Its exit code or its signal, in words."""
        if self.code >= 0:
            return f"exit code {self.code}"
        try:
            return f"signal {-self.code} ({Signals(-self.code).name})"
        except ValueError:
            return f"signal {-self.code}"


class ProcessRun(NamedTuple):
    """What is known of a run besides its exchanges."""

    trial: TrialId
    trace_id: str
    commit: str | None = None
    agent_hash: str | None = None
    metadata: dict[str, Any] = {}  # noqa: RUF012  (never changed)


class ReceivedRecord(Struct):
    """One span or log record in OTLP's JSON, with the resource and the scope that it came from."""

    record: dict[str, Any]
    resource: dict[str, Any]
    scope: dict[str, Any]
    is_log: bool
    trace_id: str | None


class TrialSpans(Struct):
    """The spans and log records of one trial; `problems` are why some are missing."""

    records: list[ReceivedRecord] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def span_count(self) -> int:
        """Number of spans."""
        return sum(not one.is_log for one in self.records)
