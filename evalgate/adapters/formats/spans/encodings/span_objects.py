"""Decodes spans as tracers print them and platforms export them: one object for each span, with plain attributes.

Phoenix: arize-phoenix-client 3.5.0 (`GET /v1/projects/<project>/spans`, `get_spans_dataframe`). MLflow: 3.18.0
(`Trace.to_dict`, `search_traces`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, FieldTable, any_value, mapping, text
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.messages.blocks import get_first
from evalgate.adapters.formats.spans.detect import (
    CONTEXT_COLUMNS,
    CONTEXTS,
    PARENT_CONTEXTS,
    SPAN_IDS,
    TRACE_IDS,
    find_spans,
    is_row,
)
from evalgate.adapters.formats.spans.encodings.values import (
    DROPPED_ATTRIBUTES,
    DROPPED_EVENTS,
    decode_attributes,
    find_unknown_fields,
    parse_id,
    parse_nanos,
    parse_time,
    read_dropped,
    read_name,
    require_id,
)
from evalgate.adapters.formats.spans.span import Span, SpanEvent
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.spans.span import SpanFile

COLUMN = "attributes."
NESTED = ("llm", "openinference", "input", "output", "tool", "session", "agent", "tag", "user")
"""The first parts of the names of attributes that Phoenix keeps as nested objects."""
KEPT_OBJECTS = ("metadata", "llm.invocation_parameters", "tool.parameters")
METADATA_KEYS = ("trace_metadata", "request_metadata", "tags")
KNOWN_PREFIXES = ("mlflow.trace.", "evalgate.")


def span_from_row(row: dict[str, Any]) -> dict[str, Any]:
    """The span of a line of a data frame; empty columns are left out."""
    span: dict[str, Any] = {"context": {name: row[column] for column, name in CONTEXT_COLUMNS.items()}}
    attributes: dict[str, Any] = {}
    for column, value in row.items():
        if column.startswith(COLUMN) and value is not None:
            attributes[column.removeprefix(COLUMN)] = value
        elif column not in CONTEXT_COLUMNS and value is not None:
            span[column] = value
    return {**span, "attributes": flatten(attributes)}


def flatten(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes with one name for each value, as OpenInference records them: `llm.output_messages.0.message.role`."""
    if not any(value.__class__ is dict or value.__class__ is list for value in attributes.values()):
        return attributes
    return {
        key: each
        for name, value in attributes.items()
        for key, each in (_flatten(name, value) if name.partition(".")[0] in NESTED else [(name, value)])
    }


def _flatten(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if value.__class__ is dict and value and name not in KEPT_OBJECTS:
        for key, each in value.items():
            yield from _flatten(f"{name}.{key}", each)
    elif value.__class__ is list and any(each.__class__ is dict for each in value):
        for number, each in enumerate(value):
            yield from _flatten(f"{name}.{number}", each)
    elif value is not None:
        yield name, value


def find_trace_facts(document: Any) -> dict[str, Any]:
    """What MLflow records about a whole trace (tokens, cost) and its tags for EvalGate, by key."""
    if document.__class__ is not dict:
        return {}
    info = document.get("info")
    places = [info if info.__class__ is dict else document]
    found = [place[key] for place in places for key in METADATA_KEYS if place.get(key).__class__ is dict]
    return {key: value for one in found for key, value in one.items() if key.startswith(KNOWN_PREFIXES)}


PARENT_IDS = ("parent_span_id", "parentSpanId", "parent_id", "parentId", "parentSpanID")
SCOPES = ("scope", "instrumentationScope", "instrumentation_scope", "instrumentationLibrary")
STARTS = ("start_time", "startTime")
ENDS = ("end_time", "endTime")
EXACT_STARTS = ("startTimeUnixNano", "start_time_unix_nano")
EXACT_ENDS = ("endTimeUnixNano", "end_time_unix_nano")
EVENT_LISTS = ("events", "span_events")
STATUS_KEYS = ("status_code", "status_message")
KIND = "openinference.span.kind"
OPENINFERENCE_KINDS = frozenset(
    {"LLM", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "RERANKER", "EMBEDDING", "GUARDRAIL", "EVALUATOR"}
)
SPAN_FIELDS = frozenset(
    {
        *(*CONTEXTS, *PARENT_CONTEXTS, *TRACE_IDS, *SPAN_IDS, *PARENT_IDS, *SCOPES, *STARTS, *ENDS, *EXACT_STARTS),
        *(*EXACT_ENDS, *EVENT_LISTS, *STATUS_KEYS, "name", "attributes", "resource", "status", "kind", "span_kind"),
        *(*DROPPED_ATTRIBUTES, *DROPPED_EVENTS, "droppedLinksCount", "dropped_links_count", "dropped_links"),
        *("links", "span_links", "flags", "trace_state", "traceState", "traceFlags", "trace_flags", "duration"),
    }
)
FAILED = frozenset({"2", "ERROR", "STATUS_CODE_ERROR", "STATUSCODE.ERROR"})


def read_spans(documents: Sequence[Any], span_file: SpanFile) -> None:
    """Adds all spans of the documents to `span_file`."""
    for value, path, facts in _iter_spans(documents):
        try:
            require_shallow(value)
            span = _read_span(mapping(value, path), path)
            span.resource = {**facts, **span.resource} if facts else span.resource
        except TraceError as error:
            span_file.mark_damaged(_read_trace_id(value) or "", error)
        else:
            span_file.add(span)


def iter_trace_ids(documents: Sequence[Any]) -> Iterator[str]:
    """Yields the trace ids of all readable spans."""
    return (found for value, _, _ in _iter_spans(documents) if (found := _read_trace_id(value)))


def _iter_spans(documents: Sequence[Any]) -> Iterator[tuple[Any, str, dict[str, Any]]]:
    """Yields each span, its path, and what is known of its whole trace."""
    for number, document in enumerate(_split_traces(documents)):
        found = find_spans(document)
        if found is None or (found and found[0] is document):
            yield document, f"[{number}]", {}
            continue
        place = f"[{number}]" if len(documents) > 1 else ""
        facts = find_trace_facts(document)
        for at, value in enumerate(found):
            yield value, f"{place}[{at}]", facts


def _split_traces(documents: Sequence[Any]) -> Iterator[Any]:
    """The documents; a list of objects with spans is several documents."""
    for document in documents:
        if type(document) is list and document and all(type(one) is dict and find_trace_facts(one) for one in document):
            yield from document
        else:
            yield document


def _read_span(fields: dict[str, Any], path: str) -> Span:
    fields = span_from_row(fields) if is_row(fields) else fields
    context = _read_context(fields)
    status = fields.get("status", {key: fields.get(key) for key in STATUS_KEYS})
    if type(status) is not dict:
        status = {"code": status}
    unknown = find_unknown_fields(fields, SPAN_FIELDS)
    own_id = require_id(get_first(context, SPAN_IDS), f"{path}.span_id")
    parent = _read_parent(fields, path)
    return Span(
        trace_id=require_id(get_first(context, TRACE_IDS), f"{path}.trace_id"),
        span_id=own_id,
        parent_id=None if parent == own_id else parent,
        name=read_name(fields.get("name"), f"{path}.name"),
        start_ns=_read_time(fields, EXACT_STARTS, STARTS, path),
        end_ns=_read_time(fields, EXACT_ENDS, ENDS, path),
        attributes=_read_attributes(fields, path),
        resource=_read_resource(fields.get("resource"), f"{path}.resource"),
        scope=_read_scope(fields, path),
        events=_read_events(fields, path),
        has_failed=_has_failed(status),
        status_message=_read_message(status, f"{path}.status"),
        unknown_fields=unknown,
        dropped=read_dropped(fields, path),
    )


def _read_attributes(fields: dict[str, Any], path: str) -> dict[str, Any]:
    """The span's attributes, with those that are recorded outside of them, such as Phoenix's kind."""
    found = flatten(decode_attributes(fields.get("attributes"), f"{path}.attributes"))
    if any("." in key for key in fields):
        found = {**{key: value for key, value in fields.items() if "." in key}, **found}
    kind = fields.get("span_kind")
    return {KIND: kind, **found} if type(kind) is str and kind in OPENINFERENCE_KINDS else found


def _read_context(fields: dict[str, Any]) -> dict[str, Any]:
    if is_row(fields):
        return span_from_row(fields)["context"]  # type: ignore[no-any-return]
    found = get_first(fields, CONTEXTS)
    return found if type(found) is dict else fields


def _read_parent(fields: dict[str, Any], path: str) -> str | None:
    context = get_first(fields, PARENT_CONTEXTS)
    if type(context) is dict:
        return parse_id(get_first(context, SPAN_IDS), f"{path}.parent")
    return parse_id(get_first(fields, PARENT_IDS), f"{path}.parent_id")


def _read_time(fields: dict[str, Any], exact: tuple[str, ...], others: tuple[str, ...], path: str) -> int | None:
    exact_time = get_first(fields, exact)
    if exact_time is not None:
        return parse_nanos(exact_time, f"{path}.{exact[0]}")
    return parse_time(get_first(fields, others), f"{path}.{others[0]}")


def _read_resource(value: Any, path: str) -> dict[str, Any]:
    found = mapping(value, path)
    return decode_attributes(found["attributes"], f"{path}.attributes") if "attributes" in found else found


def _read_scope(fields: dict[str, Any], path: str) -> str | None:
    found = get_first(fields, SCOPES)
    name = mapping(found, f"{path}.scope").get("name") if type(found) is not str else found
    return text(name, f"{path}.scope.name") or None


def _has_failed(status: dict[str, Any]) -> bool:
    code = get_first(status, ("code", "status_code", "statusCode"))
    return type(code) in {str, int} and str(code).upper() in FAILED


def _read_message(status: dict[str, Any], path: str) -> str | None:
    return text(get_first(status, ("message", "description", "status_message")), f"{path}.message") or None


EVENT = FieldTable(
    name=(read_name, "name", "event_name", "eventName"),
    time_ns=(parse_time, "timestamp", "time", "time_unix_nano", "timeUnixNano"),
    attributes=decode_attributes,
    body=any_value,
)


def _read_events(fields: dict[str, Any], path: str) -> list[SpanEvent]:
    return [SpanEvent(**event) for key in EVENT_LISTS for event in EVENT.read_each(fields.get(key), f"{path}.{key}")]


def _read_trace_id(value: Any) -> str | None:
    try:
        return parse_id(get_first(_read_context(value), TRACE_IDS), "") if isinstance(value, dict) else None
    except FieldError:
        return None
