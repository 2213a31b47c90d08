"""Decodes spans and log records of OTLP: any of its JSON spellings, and protobuf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.fields import FieldError, FieldTable, filled_text, listing, mapping, text
from evalgate.adapters.formats.messages.blocks import get_first
from evalgate.adapters.formats.spans import detect
from evalgate.adapters.formats.spans.encodings.values import (
    DROPPED_ATTRIBUTES,
    DROPPED_EVENTS,
    decode_attributes,
    decode_value,
    find_unknown_fields,
    is_app_root,
    parse_id,
    parse_nanos,
    read_dropped,
    read_name,
    require_id,
)
from evalgate.adapters.formats.spans.span import MAX_SPANS, NO_SPAN, Span, SpanEvent
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.core.format import TraceLimits
    from evalgate.adapters.formats.spans.span import SpanFile

FAILED = frozenset({"2", "STATUS_CODE_ERROR", "ERROR"})
REMOTE = 0x300
"""Two bits of a span's flags: whether the parent is in another program is known, and it is."""
MODEL_EVENT_PREFIX = "gen_ai."
TRACE_IDS = ("traceId", "trace_id")


class ScopeContext(NamedTuple):
    """The resource and scope name shared by all records of a scope."""

    resource: dict[str, Any]
    scope: str | None


def read_spans(documents: Sequence[Any], span_file: SpanFile) -> None:
    """Adds all spans and log records of the documents to `span_file`.

    The rest of a document with a damaged list is not read, so all traces before it are damaged too.
    """
    for number, document in enumerate(documents):
        start = len(span_file.spans)
        try:
            for scope in iter_scopes(document, f"[{number}]" if len(documents) > 1 else ""):
                _add_records(scope, span_file)
        except FieldError as error:
            for trace_id in {"", *(span.trace_id for span in span_file.spans[start:])}:
                span_file.mark_damaged(trace_id, error)


def iter_trace_ids(documents: Sequence[Any]) -> Iterator[str]:
    """Yields the trace ids of all readable records."""
    for document in documents:
        try:
            for scope in iter_scopes(document, ""):
                yield from filter(None, map(_read_trace_id, scope.records))
        except TraceError:
            continue


def _add_records(scope: ScopeRecords, span_file: SpanFile) -> None:
    context: ScopeContext | None = None
    for number, record in enumerate(scope.records):
        path = f"{scope.path}[{number}]"
        try:
            context = context or _read_context(scope)
            fields = mapping(record, path)
            span = _span_from_log(fields, path, context) if scope.is_log else _read_span(fields, path, context)
        except TraceError as error:
            span_file.mark_damaged(_read_trace_id(record) or "", error)
            continue
        if span is None:
            continue
        if not scope.is_log:
            span_file.add(span)
        elif span.trace_id:
            span_file.add_log(span)
        else:
            span_file.unplaced += span.events[0].name.startswith(MODEL_EVENT_PREFIX)


EVENT = FieldTable(
    name=read_name, time_ns=(parse_nanos, "timeUnixNano", "time_unix_nano"), attributes=decode_attributes
)


def _read_events(value: Any, path: str) -> list[SpanEvent]:
    return [SpanEvent(**event) for event in EVENT.read_each(value, path)]


def _has_failed(code: Any, path: str) -> bool:
    del path
    return str(code) in FAILED


SPAN = FieldTable(
    trace_id=(require_id, "traceId", "trace_id"),
    span_id=(require_id, "spanId", "span_id"),
    parent_id=(parse_id, "parentSpanId", "parent_span_id"),
    name=read_name,
    start_ns=(parse_nanos, "startTimeUnixNano", "start_time_unix_nano"),
    end_ns=(parse_nanos, "endTimeUnixNano", "end_time_unix_nano"),
    attributes=decode_attributes,
    events=_read_events,
    has_failed=(_has_failed, "status.code"),
    status_message=(filled_text, "status.message"),
)
SPAN_FIELDS = SPAN.keys | {
    *("kind", "links", "flags", "traceState", "trace_state", "timeUnixNano", "time_unix_nano"),
    *("observedTimeUnixNano", "observed_time_unix_nano", "eventName", "event_name"),
    *(*DROPPED_ATTRIBUTES, *DROPPED_EVENTS, "droppedLinksCount", "dropped_links_count"),
}
LOG = FieldTable(
    trace_id=(parse_id, "traceId", "trace_id"),
    span_id=(parse_id, "spanId", "span_id"),
    time_ns=(parse_nanos, "timeUnixNano", "time_unix_nano"),
    observed_ns=(parse_nanos, "observedTimeUnixNano", "observed_time_unix_nano"),
    body=decode_value,
)


def _read_span(fields: dict[str, Any], path: str, context: ScopeContext) -> Span:
    unknown = find_unknown_fields(fields, SPAN_FIELDS)
    span = Span(**SPAN.read(fields, path), resource=context.resource, scope=context.scope, unknown_fields=unknown)
    span.dropped = read_dropped(fields, path)
    span.parent_id = None if span.parent_id == span.span_id else span.parent_id
    flags = fields.get("flags")
    span.is_entry = (type(flags) is int and flags & REMOTE == REMOTE) or is_app_root(span.attributes)
    return span


def _span_from_log(fields: dict[str, Any], path: str, context: ScopeContext) -> Span | None:
    """A span with this record as its only event.

    None for a record without an event name: it is ordinary program output.
    """
    found = decode_attributes(fields.get("attributes"), f"{path}.attributes")
    name = get_first(fields, ("eventName", "event_name")) or found.get("event.name") or found.get("otel.event.name")
    if type(name) is not str:
        return None
    log = LOG.read(fields, path)
    at = log["observed_ns"] if log["time_ns"] is None else log["time_ns"]
    return Span(
        trace_id=log["trace_id"] or "",
        span_id=log["span_id"] or NO_SPAN,
        parent_id=None,
        name="",
        resource=context.resource,
        scope=context.scope,
        events=[SpanEvent(name, at, found, log["body"])],
        is_from_logs=True,
        dropped=(0, sum(read_dropped(fields, path))),
    )


def _read_context(scope: ScopeRecords) -> ScopeContext:
    resource = mapping(scope.resource, scope.resource_path)
    path = f"{scope.path}: scope"
    return ScopeContext(
        decode_attributes(resource.get("attributes"), f"{scope.resource_path}.attributes"),
        text(mapping(scope.scope, path).get("name"), f"{path}.name") or None,
    )


def _read_trace_id(record: Any) -> str | None:
    """The trace id of a record, or None if it can't be read."""
    try:
        return parse_id(get_first(record, TRACE_IDS), "") if isinstance(record, dict) else None
    except FieldError:
        return None


SCOPE_KEYS = ("scope", "instrumentationLibrary", "instrumentation_library")
LOG_SCOPES = ("scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs")
LOG_RECORDS = ("logRecords", "log_records", "logs")


class ScopeRecords(NamedTuple):
    """The records of one instrumentation of one resource; `path` is where they are in the document."""

    resource: Any
    resource_path: str
    scope: Any
    records: list[Any]
    path: str
    is_log: bool


def iter_scopes(document: Any, place: str) -> Iterator[ScopeRecords]:
    """Yields all scopes of a document; raises FieldError where an object or a list is expected."""
    envelopes = document if isinstance(document, list) else [document]
    for number, one in enumerate(envelopes):
        where = f"{place}[{number}]" if envelopes is document else place
        envelope = detect.find_envelope(one)
        if not isinstance(envelope, dict):
            raise FieldError(where, "is not an object")
        for path, resource in _objects(envelope, detect.SPAN_RESOURCES, where):
            yield from _resource_scopes(resource, path, detect.SPAN_SCOPES, ("spans",), is_log=False)
        for path, resource in _objects(envelope, detect.LOG_RESOURCES, where):
            yield from _resource_scopes(resource, path, LOG_SCOPES, LOG_RECORDS, is_log=True)


def _resource_scopes(
    resource: dict[str, Any], path: str, keys: tuple[str, ...], inner: tuple[str, ...], *, is_log: bool
) -> Iterator[ScopeRecords]:
    for where, scope in _objects(resource, keys, path):
        name = next((scope[key] for key in SCOPE_KEYS if scope.get(key) is not None), None)
        for key in inner:
            if scope.get(key) is not None:
                records_path = f"{where}.{key}"
                records = listing(scope[key], records_path)
                yield ScopeRecords(resource.get("resource"), f"{path}.resource", name, records, records_path, is_log)


def _objects(value: dict[str, Any], keys: tuple[str, ...], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for key in keys:
        where = f"{path}.{key}" if path else key
        for number, item in enumerate(listing(value.get(key), where)):
            yield f"{where}[{number}]", mapping(item, f"{where}[{number}]")


LENGTH_BYTES = 4
DETAILS_PER_SPAN = 5
DETAIL_FIELDS = ("attributes", "events", "links")
LIST_FIELDS = {
    "TracesData": ("resource_spans", "scope_spans", "spans"),
    "LogsData": ("resource_logs", "scope_logs", "log_records"),
}
SPAN_TRACE_ID_LENGTHS = frozenset({16})
LOG_TRACE_ID_LENGTHS = frozenset({0, 16})
DAMAGED = "the file looks like OTLP in protobuf but is damaged"
MISSING = "OTLP in protobuf needs an extra: install evalgate-action[otlp], or record OTLP as JSON"


class MessageBudget:
    """The number of nested messages a file may still have; raises TraceError if exceeded."""

    def __init__(self) -> None:
        self._records = 2 * MAX_SPANS
        self._details = DETAILS_PER_SPAN * MAX_SPANS

    def take(self, messages: int) -> None:
        """Counts this many more requests, resources, scopes, spans or log records."""
        self._records -= messages
        self._require_budget()

    def take_details(self, message: Any) -> None:
        """Counts the attributes, events and links of one message."""
        self._details -= sum(len(getattr(message, name, ())) for name in DETAIL_FIELDS)
        self._require_budget()

    def _require_budget(self) -> None:
        if self._records < 0 or self._details < 0:
            raise TraceError("the protobuf file has too many spans, attributes or events")


def unpack(data: bytes, limits: TraceLimits) -> Iterator[Any]:
    """Yields the documents of a file as OTLP's JSON; raises TraceError.

    Two bytes may encode a span or attribute that takes hundreds in memory, so both are counted before they
    are converted to JSON. A message has no more bytes than `limits.record_bytes`.
    """
    load_messages()
    budget = MessageBudget()
    for part in _split_messages(data):
        if len(part) > limits.record_bytes:
            raise TraceError(f"a protobuf message is larger than {limits.record_bytes:,} bytes (raise limit `record`)")
        budget.take(1)
        found = decode_message(part, "traces", budget)
        document = decode_message(part, "logs", budget) if found is None else found
        if document is None:
            raise TraceError(DAMAGED)
        yield document


def decode_message(data: bytes, signal: str, budget: MessageBudget) -> dict[str, Any] | None:
    """A protobuf message of `traces` or `logs` as OTLP's JSON, None for other bytes; raises TraceError."""
    kind, lengths = load_messages()[signal]
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError

    try:
        message = kind.FromString(data)
    except DecodeError:
        return None
    if not {len(record.trace_id) for record in _iter_records(message, budget)} <= lengths:
        return None
    document: dict[str, Any] = MessageToDict(message)
    return document


def load_messages() -> dict[str, tuple[Any, frozenset[int]]]:
    """The message of each signal, and the lengths that its trace ids may have; raises TraceError without the extra."""
    try:
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError:
        raise TraceError(MISSING) from None
    return {"traces": (TracesData, SPAN_TRACE_ID_LENGTHS), "logs": (LogsData, LOG_TRACE_ID_LENGTHS)}


def _split_messages(data: bytes) -> Iterator[bytes]:
    """Yields the messages of a file; requests without a length are one, since protobuf joins them."""
    if data[:1] != b"\0":
        yield data
        return
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + LENGTH_BYTES], "big")
        at += LENGTH_BYTES
        if not size or at + size > len(data):
            raise TraceError(DAMAGED)
        yield data[at : at + size]
        at += size


def _iter_records(message: Any, budget: MessageBudget) -> Iterator[Any]:
    """Yields spans or log records; bytes of the wrong kind also parse, but give ids of a wrong length."""
    resources, scopes, records = LIST_FIELDS[message.DESCRIPTOR.name]
    budget.take(len(getattr(message, resources)))
    for resource in getattr(message, resources):
        budget.take_details(resource.resource)
        budget.take(len(getattr(resource, scopes)))
        for scope in getattr(resource, scopes):
            budget.take(len(getattr(scope, records)))
            for record in getattr(scope, records):
                budget.take_details(record)
                yield record
