"""Decodes spans of Jaeger's export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, FieldTable, listing, mapping, text
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.spans.detect import find_jaeger_traces
from evalgate.adapters.formats.spans.encodings.values import (
    contradiction_text,
    find_unknown_fields,
    parse_id,
    parse_scaled,
    read_dropped,
    read_name,
    require_id,
)
from evalgate.adapters.formats.spans.span import Span, SpanEvent
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.spans.span import SpanFile

MICROSECOND = 1000
DROPPED_TAGS = ("otel.dropped_attributes_count", "otel.dropped_events_count")
SCOPE_TAGS = ("otel.scope.name", "otel.library.name")
LONGEST_NUMBER = 40
INTEGER_TYPES = frozenset({"int64", "int"})
BOOLEANS = {"true": True, "false": False}


def read_spans(documents: Sequence[Any], span_file: SpanFile) -> None:
    """Adds all spans of the documents to `span_file`."""
    for trace, path in _iter_traces(documents):
        under = f"{path}." if path else ""
        try:
            spans = listing(mapping(trace, path).get("spans"), f"{under}spans")
            processes = mapping(trace.get("processes"), f"{under}processes")
        except FieldError as error:
            span_file.mark_damaged(_read_trace_id(trace) or "", error)
            continue
        for number, value in enumerate(spans):
            where = f"{under}spans[{number}]"
            try:
                require_shallow(value)
                span = _read_span(mapping(value, where), where, trace, processes)
            except TraceError as error:
                span_file.mark_damaged(_read_trace_id(value) or _read_trace_id(trace) or "", error)
            else:
                span_file.add(span)


def iter_trace_ids(documents: Sequence[Any]) -> Iterator[str]:
    """Yields the trace ids of all readable spans."""
    return (found for trace, _ in _iter_traces(documents) if (found := _read_trace_id(trace)))


def _iter_traces(documents: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    for number, document in enumerate(documents):
        place = f"[{number}]" if len(documents) > 1 else ""
        found = find_jaeger_traces(document)
        for at, trace in enumerate([document] if found is None else found):
            yield trace, place if trace is document else f"{place}.data[{at}]".lstrip(".")


def _read_time(value: Any, path: str) -> int | None:
    """A time in microseconds as nanoseconds; None for 0."""
    return _read_duration(value, path) or None


def _read_duration(value: Any, path: str) -> int | None:
    return parse_scaled(value, MICROSECOND, path)


def _read_parent(fields: dict[str, Any], own_id: str, path: str) -> str | None:
    """The span it is a child of, else the one it follows from."""
    found: dict[Any, str | None] = {}
    for number, item in enumerate(listing(fields.get("references"), f"{path}.references")):
        where = f"{path}.references[{number}]"
        reference = mapping(item, where)
        kind = text(reference.get("refType"), f"{where}.refType")
        found.setdefault(kind, parse_id(reference.get("spanID"), f"{where}.spanID"))
    legacy = parse_id(fields.get("parentSpanID"), f"{path}.parentSpanID")
    parent = found.get("CHILD_OF") or found.get("FOLLOWS_FROM") or legacy
    return None if parent == own_id else parent


def _read_resource(fields: dict[str, Any], processes: dict[str, Any], path: str) -> dict[str, Any]:
    name = text(fields.get("processID"), f"{path}.processID")
    process = mapping(fields.get("process") or processes.get(name or ""), f"{path}: process")
    found = _read_tags(process.get("tags"), f"{path}: process.tags")
    service = text(process.get("serviceName"), f"{path}: process.serviceName")
    return {"service.name": service, **found} if service else found


def _read_events(value: Any, path: str) -> list[SpanEvent]:
    found = []
    for number, item in enumerate(listing(value, path)):
        where = f"{path}[{number}]"
        log = mapping(item, where)
        fields = _read_tags(log.get("fields"), f"{where}.fields")
        at = _read_time(log.get("timestamp"), f"{where}.timestamp")
        name = fields.pop("event", None)
        found.append(SpanEvent(name if type(name) is str else "", at, fields))
    return found


def _read_tags(value: Any, path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, item in enumerate(listing(value, path)):
        tag = mapping(item, f"{path}[{number}]")
        key = tag.get("key")
        if type(key) is not str:
            raise FieldError(f"{path}[{number}].key", "is not text")
        value = _parse_typed(tag.get("value"), tag.get("type"))
        if found.setdefault(key, value) != value:
            raise FieldError(f"{path}[{number}]", contradiction_text(key))
    return found


def _parse_typed(value: Any, kind: Any) -> Any:
    """Parses a number or boolean that some versions of Jaeger write as text with a type name."""
    if type(value) is not str or type(kind) is not str or kind == "string" or len(value) > LONGEST_NUMBER:
        return value
    if kind == "bool":
        return BOOLEANS.get(value.lower(), value)
    if not value.isascii():
        return value
    try:
        number = int(value) if kind in INTEGER_TYPES else float(value) if kind == "float64" else value
    except ValueError:
        return value
    return number if type(number) is not float or abs(number) < float("inf") else value


SPAN = FieldTable(
    trace_id=(require_id, "traceID"),
    span_id=(require_id, "spanID"),
    name=(read_name, "operationName"),
    start_ns=(_read_time, "startTime"),
    duration=_read_duration,
    attributes=(_read_tags, "tags"),
    events=(_read_events, "logs"),
)
SPAN_FIELDS = SPAN.keys | {"parentSpanID", "references", "flags", "processID", "process", "warnings"}


def _read_span(fields: dict[str, Any], path: str, trace: dict[str, Any], processes: dict[str, Any]) -> Span:
    span = SPAN.read({**fields, "traceID": fields.get("traceID") or trace.get("traceID")}, path)
    start, lasted, tags = span["start_ns"], span.pop("duration"), span["attributes"]
    message = tags.get("otel.status_description")
    return Span(
        **span,
        parent_id=_read_parent(fields, span["span_id"], path),
        end_ns=None if start is None or lasted is None else start + lasted,
        resource=_read_resource(fields, processes, path),
        scope=next((tags[key] for key in SCOPE_TAGS if type(tags.get(key)) is str), None),
        has_failed=tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR",
        status_message=message if type(message) is str and message else None,
        unknown_fields=find_unknown_fields(fields, SPAN_FIELDS),
        dropped=read_dropped({key.removeprefix("otel."): tags[key] for key in DROPPED_TAGS if key in tags}, path),
    )


def _read_trace_id(value: Any) -> str | None:
    try:
        return parse_id(value.get("traceID"), "") if isinstance(value, dict) else None
    except FieldError:
        return None
