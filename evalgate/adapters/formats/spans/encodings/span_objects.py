"""Decodes spans as tracers print them: one object for each span, with plain attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.spans.detect import (
    CONTEXTS,
    PARENT_CONTEXTS,
    SPAN_IDS,
    TRACE_IDS,
    spans_of,
)
from evalgate.adapters.formats.spans.encodings.any_value import attributes
from evalgate.adapters.formats.spans.encodings.values import moment, nanoseconds, required_id, span_id
from evalgate.adapters.formats.spans.span import Span, SpanEvent
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.spans.encodings.container import SpanFile

PARENT_IDS = ("parent_span_id", "parentSpanId", "parent_id", "parentId", "parentSpanID")
SCOPES = ("scope", "instrumentationScope", "instrumentation_scope", "instrumentationLibrary")
STARTS = ("start_time", "startTime")
ENDS = ("end_time", "endTime")
EXACT_STARTS = ("startTimeUnixNano", "start_time_unix_nano")
EXACT_ENDS = ("endTimeUnixNano", "end_time_unix_nano")
EVENT_LISTS = ("events", "span_events")
EVENT_NAMES = ("name", "event_name", "eventName")
EVENT_TIMES = ("timestamp", "time", "time_unix_nano", "timeUnixNano")
STATUS_KEYS = ("status_code", "status_message")
KIND = "openinference.span.kind"
OPENINFERENCE_KINDS = frozenset(
    {"LLM", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "RERANKER", "EMBEDDING", "GUARDRAIL", "EVALUATOR"}
)
FAILED = frozenset({"2", "ERROR", "STATUS_CODE_ERROR", "STATUSCODE.ERROR"})


def read(documents: Sequence[Any], held: SpanFile) -> None:
    """Adds all spans of the documents to `span_file`."""
    for value, path in _each(documents):
        try:
            require_shallow(value)
            span = _span(mapping(value, path), path)
        except TraceError as error:
            held.refuse(_known_trace(value) or "", error)
        else:
            held.add(span)


def trace_ids(documents: Sequence[Any]) -> Iterator[str]:
    """Yields the trace ids of all readable spans."""
    return (found for value, _ in _each(documents) if (found := _known_trace(value)))


def _each(documents: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    for number, document in enumerate(documents):
        found = spans_of(document)
        if found is None or (found and found[0] is document):
            yield document, f"[{number}]"
            continue
        place = f"[{number}]" if len(documents) > 1 else ""
        for at, value in enumerate(found):
            yield value, f"{place}[{at}]"


def _span(fields: dict[str, Any], path: str) -> Span:
    context = _context(fields)
    status = fields.get("status", {key: fields.get(key) for key in STATUS_KEYS})
    if type(status) is not dict:
        status = {"code": status}
    own_id = required_id(_first(context, SPAN_IDS), f"{path}.span_id")
    parent = _parent(fields, path)
    return Span(
        trace_id=required_id(_first(context, TRACE_IDS), f"{path}.trace_id"),
        span_id=own_id,
        parent_id=None if parent == own_id else parent,
        name=text(fields.get("name"), f"{path}.name") or "",
        start_ns=_time(fields, EXACT_STARTS, STARTS, path),
        end_ns=_time(fields, EXACT_ENDS, ENDS, path),
        attributes=_attributes(fields, path),
        resource=_resource(fields.get("resource"), f"{path}.resource"),
        scope=_scope(fields, path),
        events=_events(fields, path),
        has_failed=_has_failed(status),
        status_message=_message(status, f"{path}.status"),
    )


def _attributes(fields: dict[str, Any], path: str) -> dict[str, Any]:
    """The span's attributes, with the kind that Phoenix keeps outside of them."""
    found = attributes(fields.get("attributes"), f"{path}.attributes")
    kind = fields.get("span_kind")
    return {KIND: kind, **found} if type(kind) is str and kind in OPENINFERENCE_KINDS else found


def _context(fields: dict[str, Any]) -> dict[str, Any]:
    found = _first(fields, CONTEXTS)
    return found if type(found) is dict else fields


def _parent(fields: dict[str, Any], path: str) -> str | None:
    around = _first(fields, PARENT_CONTEXTS)
    if type(around) is dict:
        return span_id(_first(around, SPAN_IDS), f"{path}.parent")
    return span_id(_first(fields, PARENT_IDS), f"{path}.parent_id")


def _time(fields: dict[str, Any], exact: tuple[str, ...], others: tuple[str, ...], path: str) -> int | None:
    known = _first(fields, exact)
    if known is not None:
        return nanoseconds(known, f"{path}.{exact[0]}")
    return moment(_first(fields, others), f"{path}.{others[0]}")


def _resource(value: Any, path: str) -> dict[str, Any]:
    found = mapping(value, path)
    return attributes(found["attributes"], f"{path}.attributes") if "attributes" in found else found


def _scope(fields: dict[str, Any], path: str) -> str | None:
    found = _first(fields, SCOPES)
    name = mapping(found, f"{path}.scope").get("name") if type(found) is not str else found
    return text(name, f"{path}.scope.name") or None


def _has_failed(status: dict[str, Any]) -> bool:
    code = _first(status, ("code", "status_code", "statusCode"))
    return type(code) in {str, int} and str(code).upper() in FAILED


def _message(status: dict[str, Any], path: str) -> str | None:
    return text(_first(status, ("message", "description", "status_message")), f"{path}.message") or None


def _events(fields: dict[str, Any], path: str) -> list[SpanEvent]:
    found = []
    for key in EVENT_LISTS:
        for number, item in enumerate(listing(fields.get(key), f"{path}.{key}")):
            where = f"{path}.{key}[{number}]"
            event = mapping(item, where)
            held = attributes(event.get("attributes"), f"{where}.attributes")
            name = text(_first(event, EVENT_NAMES), f"{where}.name") or ""
            at = moment(_first(event, EVENT_TIMES), f"{where}.timestamp")
            found.append(SpanEvent(name, at, held, event.get("body")))
    return found


def _first(fields: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def _known_trace(value: Any) -> str | None:
    try:
        return span_id(_first(_context(value), TRACE_IDS), "") if isinstance(value, dict) else None
    except FieldError:
        return None
