"""Merges spans that were recorded twice, and adds log records to their spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.build.raw_message import encode_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.formats.spans.span import Span, SpanEvent

UNKNOWN = 1 << 80  # sorts after every time


def merge_duplicates(spans: Iterable[Span]) -> tuple[list[Span], dict[str, int]]:
    """Each span once, and for each trace the number of spans whose copies differ.

    Of differing copies the one that ended last counts: tracers write a span again when they know more of it.
    """
    kept: dict[tuple[str, str], Span] = {}
    conflicts: dict[str, set[str]] = {}
    for span in spans:
        key = span.trace_id, span.span_id
        other = kept.setdefault(key, span)
        if other is span or _is_equal(other, span):
            continue
        conflicts.setdefault(span.trace_id, set()).add(span.span_id)
        kept[key] = max(other, span, key=_sort_key)
    return list(kept.values()), {trace: len(ids) for trace, ids in conflicts.items()}


def add_logs(spans: list[Span], logs: Iterable[Span]) -> list[Span]:
    """Adds log records to the events of the spans they name, ordered by time.

    Records of a missing span become a span that is known only from them.
    """
    known = {(span.trace_id, span.span_id): span for span in spans}
    added: dict[tuple[str, str], Span] = {}
    seen: dict[tuple[str, str], set[str]] = {}
    for log in logs:
        key = log.trace_id, log.span_id
        content = _serialize_event(log.events[0])
        if content in seen.setdefault(key, set()):
            continue
        seen[key].add(content)
        if key in known:
            known[key].events += log.events
        elif added.setdefault(key, log) is not log:
            added[key].events += log.events
    for key in seen:
        span = known.get(key) or added[key]
        span.events.sort(key=_sort_time)
        if span.is_from_logs:
            span.start_ns = span.events[0].time_ns
    return [*spans, *added.values()]


def _is_equal(one: Span, other: Span) -> bool:
    """True for equal content; scope and resource may differ, they belong to the writer of the copy."""
    return _sort_key(one) == _sort_key(other)


def _sort_key(span: Span) -> tuple[int, int, str]:
    content = [span.name, span.parent_id, span.start_ns, span.has_failed, span.status_message]
    text = encode_json([content, span.attributes, [list(event) for event in span.events]])
    return -1 if span.end_ns is None else span.end_ns, len(span.attributes), text


def _serialize_event(event: SpanEvent) -> str:
    return encode_json(list(event))


def _sort_time(event: SpanEvent) -> int:
    return UNKNOWN if event.time_ns is None else event.time_ns
