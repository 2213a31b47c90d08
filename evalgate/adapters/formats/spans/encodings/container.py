"""Collects spans, log records and errors while files of spans are decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import TraceError
from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span

MAX_SPANS = 200_000


@dataclass(slots=True)
class SpanFile:
    """The contents of all documents of one input.

    Each of `logs` is a span with one log record as its only event; nothing but its ids is known.
    `damaged` maps a trace id to the first error in its spans, and "" to the first error of unknown traces.
    `unplaced` counts events of agents and models that name no trace.
    `missing` says why spans are missing from the file, if any are known to.
    `max_records` bounds the number of spans and log records together.
    """

    spans: list[Span] = field(default_factory=list)
    logs: list[Span] = field(default_factory=list)
    damaged: dict[str, TraceError] = field(default_factory=dict)
    unplaced: int = 0
    missing: str | None = None
    max_records: int = MAX_SPANS

    def add(self, span: Span) -> None:
        """Adds a span; raises TraceError if there are too many."""
        self._require_capacity()
        self.spans.append(span)

    def add_log(self, log: Span) -> None:
        """Adds a log record; raises TraceError if there are too many."""
        self._require_capacity()
        self.logs.append(log)

    def mark_damaged(self, trace_id: str, error: TraceError) -> None:
        """Marks a trace as unreadable because of an error in one of its spans or log records."""
        self.damaged.setdefault(trace_id, error)

    def _require_capacity(self) -> None:
        if len(self.spans) + len(self.logs) >= self.max_records:
            raise TraceError(f"it contains more than {self.max_records:,} spans and log records")
