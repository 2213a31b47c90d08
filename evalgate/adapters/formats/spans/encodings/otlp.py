"""Decodes spans and log records of OTLP in any of its JSON spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.spans.encodings.any_value import any_value, attributes
from evalgate.adapters.formats.spans.encodings.envelope import scopes
from evalgate.adapters.formats.spans.encodings.values import nanoseconds, required_id, span_id
from evalgate.adapters.formats.spans.span import NO_SPAN, Span, SpanEvent
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.spans.encodings.container import SpanFile
    from evalgate.adapters.formats.spans.encodings.envelope import Scope

FAILED = frozenset({"2", "STATUS_CODE_ERROR", "ERROR"})
OF_MODELS = "gen_ai."
OTHER_SPELLING = {
    "traceId": "trace_id",
    "spanId": "span_id",
    "parentSpanId": "parent_span_id",
    "startTimeUnixNano": "start_time_unix_nano",
    "endTimeUnixNano": "end_time_unix_nano",
    "timeUnixNano": "time_unix_nano",
    "observedTimeUnixNano": "observed_time_unix_nano",
    "eventName": "event_name",
}


class Around(NamedTuple):
    """The resource and scope name shared by all records of a scope."""

    resource: dict[str, Any]
    scope: str | None


def read(documents: Sequence[Any], held: SpanFile) -> None:
    """Adds all spans and log records of the documents to `span_file`."""
    for number, document in enumerate(documents):
        try:
            for scope in scopes(document, f"[{number}]" if len(documents) > 1 else ""):
                _add_all(scope, held)
        except FieldError as error:
            held.refuse("", error)


def trace_ids(documents: Sequence[Any]) -> Iterator[str]:
    """Yields the trace ids of all readable records."""
    for document in documents:
        try:
            for scope in scopes(document, ""):
                yield from filter(None, map(_known_trace, scope.records))
        except TraceError:
            continue


def _add_all(scope: Scope, held: SpanFile) -> None:
    around: Around | None = None
    for number, record in enumerate(scope.records):
        path = f"{scope.path}[{number}]"
        try:
            around = around or _around(scope)
            fields = mapping(record, path)
            span = _log(fields, path, around) if scope.is_log else _span(fields, path, around)
        except TraceError as error:
            held.refuse(_known_trace(record) or "", error)
            continue
        if span is None:
            continue
        if not scope.is_log:
            held.add(span)
        elif span.trace_id:
            held.add_log(span)
        else:
            held.unplaced += span.events[0].name.startswith(OF_MODELS)


def _span(fields: dict[str, Any], path: str, around: Around) -> Span:
    status = mapping(fields.get("status"), f"{path}.status")
    own_id = required_id(_get(fields, "spanId"), f"{path}.spanId")
    parent = span_id(_get(fields, "parentSpanId"), f"{path}.parentSpanId")
    return Span(
        trace_id=required_id(_get(fields, "traceId"), f"{path}.traceId"),
        span_id=own_id,
        parent_id=None if parent == own_id else parent,
        name=text(fields.get("name"), f"{path}.name") or "",
        start_ns=nanoseconds(_get(fields, "startTimeUnixNano"), f"{path}.startTimeUnixNano"),
        end_ns=nanoseconds(_get(fields, "endTimeUnixNano"), f"{path}.endTimeUnixNano"),
        attributes=attributes(fields.get("attributes"), f"{path}.attributes"),
        resource=around.resource,
        scope=around.scope,
        events=_events(fields.get("events"), f"{path}.events"),
        has_failed=str(status.get("code")) in FAILED,
        status_message=text(status.get("message"), f"{path}.status.message") or None,
    )


def _events(value: Any, path: str) -> list[SpanEvent]:
    found = []
    for number, item in enumerate(listing(value, path)):
        where = f"{path}[{number}]"
        fields = mapping(item, where)
        found.append(
            SpanEvent(
                name=text(fields.get("name"), f"{where}.name") or "",
                time_ns=nanoseconds(_get(fields, "timeUnixNano"), f"{where}.timeUnixNano"),
                attributes=attributes(fields.get("attributes"), f"{where}.attributes"),
            )
        )
    return found


def _log(fields: dict[str, Any], path: str, around: Around) -> Span | None:
    """A span with this record as its only event.

    None for a record without an event name: it is ordinary program output.
    """
    found = attributes(fields.get("attributes"), f"{path}.attributes")
    name = _get(fields, "eventName") or found.get("event.name") or found.get("otel.event.name")
    if type(name) is not str:
        return None
    at = nanoseconds(_get(fields, "timeUnixNano"), f"{path}.timeUnixNano")
    if at is None:
        at = nanoseconds(_get(fields, "observedTimeUnixNano"), f"{path}.observedTimeUnixNano")
    return Span(
        trace_id=span_id(_get(fields, "traceId"), f"{path}.traceId") or "",
        span_id=span_id(_get(fields, "spanId"), f"{path}.spanId") or NO_SPAN,
        parent_id=None,
        name="",
        resource=around.resource,
        scope=around.scope,
        events=[SpanEvent(name, at, found, any_value(fields.get("body"), f"{path}.body"))],
        is_from_logs=True,
    )


def _around(scope: Scope) -> Around:
    resource = mapping(scope.resource, scope.resource_path)
    path = f"{scope.path}: scope"
    return Around(
        attributes(resource.get("attributes"), f"{scope.resource_path}.attributes"),
        text(mapping(scope.scope, path).get("name"), f"{path}.name") or None,
    )


def _get(fields: dict[str, Any], name: str) -> Any:
    value = fields.get(name)
    return fields.get(OTHER_SPELLING[name]) if value is None else value


def _known_trace(record: Any) -> str | None:
    """The trace id of a record, or None if it can't be read."""
    try:
        return span_id(_get(record, "traceId"), "") if isinstance(record, dict) else None
    except FieldError:
        return None
