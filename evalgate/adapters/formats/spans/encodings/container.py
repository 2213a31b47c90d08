"""What a file of spans holds: spans, log records that may lie apart from theirs, and what can't be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import TraceError
from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span

MAX_SPANS = 200_000


@dataclass(slots=True)
class SpanFile:
    """All that the documents of one recording hold.

    Each of `logs` is one log record as the only event of a span of which no more than the ids is known.
    `damaged` has the first error of each trace with a span that can't be read, under "" where not even the
    trace is known. `unplaced` counts events of agents and models that name no trace.
    At most `most` spans and log records are held.
    """

    spans: list[Span] = field(default_factory=list)
    logs: list[Span] = field(default_factory=list)
    damaged: dict[str, TraceError] = field(default_factory=dict)
    unplaced: int = 0
    most: int = MAX_SPANS

    def add(self, span: Span) -> None:
        """One more span."""
        self._require_room()
        self.spans.append(span)

    def add_log(self, log: Span) -> None:
        """One more log record."""
        self._require_room()
        self.logs.append(log)

    def refuse(self, trace_id: str, error: TraceError) -> None:
        """A span or log record of the trace can't be read, so the trace can't be trusted."""
        self.damaged.setdefault(trace_id, error)

    def _require_room(self) -> None:
        if len(self.spans) + len(self.logs) >= self.most:
            raise TraceError(f"there are more than {self.most:,} spans and log records in it")
