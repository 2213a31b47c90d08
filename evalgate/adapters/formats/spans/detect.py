"""Detects spans: OTLP, Jaeger's export, and lists of the objects that tracers print."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import first_object

SPAN_RESOURCES = ("resourceSpans", "resource_spans", "batches")
LOG_RESOURCES = ("resourceLogs", "resource_logs")
UNAMBIGUOUS_RESOURCES = frozenset({*SPAN_RESOURCES[:2], *LOG_RESOURCES})
SPAN_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
WRAPPERS = ("trace", "result")
TRACE_IDS = ("trace_id", "traceId", "traceID")
SPAN_IDS = ("span_id", "spanId", "spanID")
CONTEXTS = ("context", "spanContext", "span_context")
CONTEXT_COLUMNS = {"context.trace_id": "trace_id", "context.span_id": "span_id"}
"""Columns of Phoenix's data frame with the fields of the context."""
PARENT_CONTEXTS = ("parentSpanContext", "parent_span_context", "parent")
PROTOBUF_START = b"\n"
# Tags that may follow the length of the first message: resource, scopes, schema URL.
INNER_TAGS = frozenset(b"\n\x12\x1a")
CONTROL_BYTES = frozenset(range(32)) - frozenset(b"\t\n\r\x0b\x0c\x1b")
LENGTH_PREFIX = 4


def find_envelope(value: Any) -> Any:
    """The object that holds the resources: the value itself, or one wrapped in a server's response."""
    if isinstance(value, dict):
        for key in WRAPPERS:
            if isinstance(value.get(key), dict) and _is_envelope(value[key]):
                return value[key]
    return value


def find_spans(value: Any) -> list[Any] | None:
    """The list of spans: the value itself, or its field `spans`; None if there is no list.

    A single span (a line) becomes a list of one. For a list of objects with `spans`, all spans are joined.
    """
    if isinstance(value, dict):
        spans = _nested_spans(value)
        return [value] if spans is None and is_span(value) else spans
    if not isinstance(value, list):
        return None
    if _nested_spans(first_object(value)) is None:
        return value
    listed = [(one, _nested_spans(one)) for one in value]
    return [span for one, spans in listed for span in ([one] if spans is None else spans)]


def _nested_spans(value: Any) -> list[Any] | None:
    if not isinstance(value, dict):
        return None
    data = value.get("data")
    if isinstance(data, list):
        return data if is_span(first_object(data)) else None
    spans = value.get("spans", data.get("spans") if isinstance(data, dict) else None)
    return spans if isinstance(spans, list) else None


def find_jaeger_traces(value: Any) -> list[Any] | None:
    """The traces of Jaeger's export; None for any other value."""
    if not isinstance(value, dict):
        return None
    traces = value.get("data", [value])
    first = first_object(traces) if isinstance(traces, list) else {}
    return traces if isinstance(first.get("spans"), list) and "traceID" in first else None


def is_span(value: Any) -> bool:
    """True for a span that has ids, directly or in a context, maybe in columns of a data frame."""
    if not isinstance(value, dict):
        return False
    if "name" not in value and "attributes" not in value:
        return is_row(value)
    ids: Any = next((value[key] for key in CONTEXTS if isinstance(value.get(key), dict)), value)
    return is_row(value) or (any(key in ids for key in TRACE_IDS) and any(key in ids for key in SPAN_IDS))


def is_row(value: dict[str, Any]) -> bool:
    """True for a line of Phoenix's data frame: one column for each field of the span."""
    return value.keys() >= CONTEXT_COLUMNS.keys()


def _is_envelope(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if any(isinstance(value[key], list) for key in UNAMBIGUOUS_RESOURCES.intersection(value)):
        return True
    return "batches" in value and any(key in first_object(value["batches"]) for key in SPAN_SCOPES)


def is_otlp(value: Any) -> bool:
    """True for an envelope of OTLP."""
    return _is_envelope(find_envelope(first_object(value)))


def is_jaeger(value: Any) -> bool:
    """True for an export of Jaeger."""
    return find_jaeger_traces(value) is not None


def is_span_list(value: Any) -> bool:
    """True for a span, or a list of them."""
    found = find_spans(value) or [None]
    return is_span(found[0])


def is_protobuf(head: bytes) -> bool:
    """True for an export request, with or without the length that the Collector writes before each.

    Text that begins with an empty line doesn't match, since it has no control characters.
    """
    if head[:1] != PROTOBUF_START:
        head = head[LENGTH_PREFIX:] if head[:1] == b"\0" else b""
    after = 1
    while after < len(head) and head[after] & 0x80:
        after += 1
    inner = head[after + 1 : after + 2]
    return head[:1] == PROTOBUF_START and bool(inner) and inner[0] in INNER_TAGS and not CONTROL_BYTES.isdisjoint(head)
