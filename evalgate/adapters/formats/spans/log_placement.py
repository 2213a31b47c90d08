"""Assigns log records that name a trace but no span to model calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.spans.groups import is_request
from evalgate.adapters.formats.spans.span import NO_SPAN
from evalgate.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.adapters.formats.spans.span import Span


def assign_logs(spans: Iterable[Span], logs: Sequence[Span]) -> tuple[list[Span], int]:
    """The records that have a span, and the number of ambiguous ones (several calls match, or no call does).

    With one model call in the trace, the record belongs to it; with several, to the one that ran at its time.
    Records of a trace without model calls are unchanged.
    """
    unplaced_traces = {log.trace_id for log in logs if log.span_id == NO_SPAN}
    requests: dict[str, list[Span]] = {}
    for span in spans if unplaced_traces else ():
        if span.trace_id in unplaced_traces and is_request(span):
            requests.setdefault(span.trace_id, []).append(span)
    found = [
        log if log.span_id != NO_SPAN else _assign_log(log, requests.get(log.trace_id, [])) for log in logs
    ]
    assigned = [log for log in found if log is not None]
    return assigned, len(found) - len(assigned)


def _assign_log(log: Span, requests: Sequence[Span]) -> Span | None:
    if not requests:
        return log
    running = requests if len(requests) == 1 else [one for one in requests if _ran_at(one, log)]
    return replace(log, span_id=running[0].span_id) if len(running) == 1 else None


def _ran_at(request: Span, log: Span) -> bool:
    at = log.events[0].time_ns
    return (
        at is not None
        and request.start_ns is not None
        and request.end_ns is not None
        and request.start_ns <= at <= request.end_ns
    )
