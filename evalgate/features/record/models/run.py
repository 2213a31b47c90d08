"""What is known of one run of the agent besides its model calls: how it ended, and the spans that it sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

if TYPE_CHECKING:
    from evalgate.features.record.models.exchange import TrialId


class AgentEnd(NamedTuple):
    """How the agent ended: its exit code, negative for a signal; `interrupted` by a signal to this process."""

    code: int
    has_timed_out: bool = False
    interrupted: int | None = None

    def describe(self) -> str | None:
        """Why it failed; None if it did not."""
        if self.has_timed_out:
            return "the agent did not end in time"
        if self.interrupted is not None:
            return "the recording was interrupted"
        if self.code < 0:
            return f"the agent was ended by signal {-self.code}"
        return f"the agent ended with exit code {self.code}" if self.code else None


class ProcessRun(NamedTuple):
    """What is known of a run besides its exchanges; `failure` is why the agent's process failed, if it did."""

    trial: TrialId
    trace_id: str
    failure: str | None = None
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
