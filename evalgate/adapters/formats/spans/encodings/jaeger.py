"""Decodes spans of Jaeger's export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.spans.detect import jaeger_traces
from evalgate.adapters.formats.spans.encodings.any_value import contradicts
from evalgate.adapters.formats.spans.encodings.values import required_id, scaled, span_id
from evalgate.adapters.formats.spans.span import Span, SpanEvent
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.spans.encodings.container import SpanFile

MICROSECOND = 1000
SCOPE_TAGS = ("otel.scope.name", "otel.library.name")
LONGEST_NUMBER = 40
WHOLE = frozenset({"int64", "int"})
TRUTHS = {"true": True, "false": False}


def read(documents: Sequence[Any], held: SpanFile) -> None:
    """Adds all spans of the documents to `span_file`."""
    for trace, path in _traces(documents):
        under = f"{path}." if path else ""
        try:
            spans = listing(mapping(trace, path).get("spans"), f"{under}spans")
            processes = mapping(trace.get("processes"), f"{under}processes")
        except FieldError as error:
            held.refuse(_known_trace(trace) or "", error)
            continue
        for number, value in enumerate(spans):
            where = f"{under}spans[{number}]"
            try:
                require_shallow(value)
                span = _span(mapping(value, where), where, trace, processes)
            except TraceError as error:
                held.refuse(_known_trace(value) or _known_trace(trace) or "", error)
            else:
                held.add(span)


def trace_ids(documents: Sequence[Any]) -> Iterator[str]:
    """Yields the trace ids of all readable spans."""
    return (found for trace, _ in _traces(documents) if (found := _known_trace(trace)))


def _traces(documents: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    for number, document in enumerate(documents):
        place = f"[{number}]" if len(documents) > 1 else ""
        found = jaeger_traces(document)
        for at, trace in enumerate([document] if found is None else found):
            yield trace, place if trace is document else f"{place}.data[{at}]".lstrip(".")


def _span(fields: dict[str, Any], path: str, trace: dict[str, Any], processes: dict[str, Any]) -> Span:
    own_id = required_id(fields.get("spanID"), f"{path}.spanID")
    whole = required_id(fields.get("traceID") or trace.get("traceID"), f"{path}.traceID")
    tags = _tags(fields.get("tags"), f"{path}.tags")
    start = scaled(fields.get("startTime"), MICROSECOND, f"{path}.startTime") or None
    lasted = scaled(fields.get("duration"), MICROSECOND, f"{path}.duration")
    message = tags.get("otel.status_description")
    scope = next((tags[key] for key in SCOPE_TAGS if type(tags.get(key)) is str), None)
    return Span(
        trace_id=whole,
        span_id=own_id,
        parent_id=_parent(fields, own_id, path),
        name=text(fields.get("operationName"), f"{path}.operationName") or "",
        start_ns=start,
        end_ns=None if start is None or lasted is None else start + lasted,
        attributes=tags,
        resource=_resource(fields, processes, path),
        scope=scope,
        events=_events(fields.get("logs"), f"{path}.logs"),
        has_failed=tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR",
        status_message=message if type(message) is str and message else None,
    )


def _parent(fields: dict[str, Any], own_id: str, path: str) -> str | None:
    """The span it is a child of, else the one it follows from."""
    found: dict[Any, str | None] = {}
    for number, item in enumerate(listing(fields.get("references"), f"{path}.references")):
        where = f"{path}.references[{number}]"
        reference = mapping(item, where)
        kind = text(reference.get("refType"), f"{where}.refType")
        found.setdefault(kind, span_id(reference.get("spanID"), f"{where}.spanID"))
    old = span_id(fields.get("parentSpanID"), f"{path}.parentSpanID")
    parent = found.get("CHILD_OF") or found.get("FOLLOWS_FROM") or old
    return None if parent == own_id else parent


def _resource(fields: dict[str, Any], processes: dict[str, Any], path: str) -> dict[str, Any]:
    name = text(fields.get("processID"), f"{path}.processID")
    process = mapping(fields.get("process") or processes.get(name or ""), f"{path}: process")
    found = _tags(process.get("tags"), f"{path}: process.tags")
    service = text(process.get("serviceName"), f"{path}: process.serviceName")
    return {"service.name": service, **found} if service else found


def _events(value: Any, path: str) -> list[SpanEvent]:
    found = []
    for number, item in enumerate(listing(value, path)):
        where = f"{path}[{number}]"
        log = mapping(item, where)
        fields = _tags(log.get("fields"), f"{where}.fields")
        at = scaled(log.get("timestamp"), MICROSECOND, f"{where}.timestamp") or None
        name = fields.pop("event", None)
        found.append(SpanEvent(name if type(name) is str else "", at, fields))
    return found


def _tags(value: Any, path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, item in enumerate(listing(value, path)):
        tag = mapping(item, f"{path}[{number}]")
        key = tag.get("key")
        if type(key) is not str:
            raise FieldError(f"{path}[{number}].key", "is not text")
        value = _typed(tag.get("value"), tag.get("type"))
        if found.setdefault(key, value) != value:
            raise FieldError(f"{path}[{number}]", contradicts(key))
    return found


def _typed(value: Any, kind: Any) -> Any:
    """Parses a number or boolean that some versions of Jaeger write as text with a type name."""
    if type(value) is not str or type(kind) is not str or kind == "string" or len(value) > LONGEST_NUMBER:
        return value
    if kind == "bool":
        return TRUTHS.get(value.lower(), value)
    if not value.isascii():
        return value
    try:
        number = int(value) if kind in WHOLE else float(value) if kind == "float64" else value
    except ValueError:
        return value
    return number if type(number) is not float or abs(number) < float("inf") else value


def _known_trace(value: Any) -> str | None:
    try:
        return span_id(value.get("traceID"), "") if isinstance(value, dict) else None
    except FieldError:
        return None
