"""Small runs of an agent as spans, in every container that tracers write."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

TRACE = "0af7651916cd43dd8448eb211c80319c"
OTHER = "1bf7651916cd43dd8448eb211c80319d"
T0 = 1_790_000_000_000_000_000
MS = 1_000_000
ROOT, CHAT, TOOL, LAST = (f"b7ad6b7169203{n}31" for n in range(1, 5))
TAG_TYPES = {str: "string", int: "int64", bool: "bool", float: "float64"}


def encode_message(role, text):
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def rows(question="Where is order 42?", **root):
    """(span id, parent, name, start ms, end ms, attributes) of each span of a run."""
    call = {"type": "tool_call", "id": "c1", "name": "lookup_order", "arguments": {"id": 42}}
    asked = [{"role": "assistant", "parts": [call]}]
    answer = {"type": "tool_call_response", "id": "c1", "response": "shipped"}
    history = [*json.loads(encode_message("user", question)), *asked, {"role": "tool", "parts": [answer]}]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "gen_ai.provider.name": "p"}
    first = {
        **chat,
        "gen_ai.response.id": "r1",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.input.messages": encode_message("user", question),
        "gen_ai.output.messages": json.dumps(asked),
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "lookup_order",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.result": "shipped",
    }
    last = {
        **chat,
        "gen_ai.response.id": "r2",
        "gen_ai.usage.input_tokens": 150,
        "gen_ai.usage.output_tokens": 30,
        "gen_ai.input.messages": json.dumps(history),
        "gen_ai.output.messages": encode_message("assistant", "It has shipped."),
    }
    return [
        (ROOT, None, "invoke_agent desk", 0, 900, {"gen_ai.operation.name": "invoke_agent", **root}),
        (CHAT, ROOT, "chat m-1", 10, 300, first),
        (TOOL, ROOT, "execute_tool lookup_order", 310, 350, tool),
        (LAST, ROOT, "chat m-1", 400, 890, last),
    ]


def wrapped(value):
    """A plain value as an OTLP value object."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [wrapped(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {"stringValue": value}


def pairs(attributes):
    return [{"key": key, "value": wrapped(value)} for key, value in attributes.items()]


def otlp_span(row, trace=TRACE, **extra):
    span_id, parent, name, start, end, attributes = row
    return {
        "traceId": trace,
        "spanId": span_id,
        **({} if parent is None else {"parentSpanId": parent}),
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(T0 + start * MS),
        "endTimeUnixNano": str(T0 + end * MS),
        "attributes": pairs(attributes),
        "status": {},
        **extra,
    }


def envelope(*spans, scope="my.tracer", **resource):
    scoped = {"scope": {"name": scope, "version": "1"}, "spans": list(spans)}
    around = {"attributes": pairs({"service.name": "desk", **resource})}
    return {"resourceSpans": [{"resource": around, "scopeSpans": [scoped]}]}


def otlp(trace=TRACE, **fields):
    """A whole run in one envelope."""
    return envelope(*(otlp_span(row, trace) for row in rows(**fields)))


def log(name, body, trace=TRACE, span=CHAT, at=20, **fields):
    record = {
        "observedTimeUnixNano": str(T0 + at * MS),
        "body": wrapped(body),
        "attributes": pairs({"gen_ai.system": "openai"}),
        "eventName": name,
        **fields,
    }
    return record | {key: value for key, value in (("traceId", trace), ("spanId", span)) if value is not None}


def logs(*records):
    scoped = {"scope": {"name": "l"}, "logRecords": list(records)}
    return {"resourceLogs": [{"resource": {}, "scopeLogs": [scoped]}]}


def snake(value):
    """The spelling of protobuf's JSON with its own field names, and ids in base64."""
    if isinstance(value, list):
        return [snake(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {}
    for key, item in value.items():
        name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
        is_id = name in {"trace_id", "span_id", "parent_span_id"}
        named[name] = base64.b64encode(bytes.fromhex(item)).decode() if is_id else snake(item)
    return named


def camel(value):
    """The spelling of the specification, ids as they are."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {}
    for key, item in value.items():
        first, *others = key.split("_")
        named[first + "".join(word.title() for word in others)] = camel(item)
    return named


def protobuf(document):
    """The bytes of an export request; needs the OpenTelemetry packages."""
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    kind = LogsData if "resourceLogs" in document else TracesData
    return ParseDict(camel(snake(document)), kind()).SerializeToString()


def noise(trace=OTHER, name="GET /health"):
    return otlp_span(("c7ad6b7169203331", None, name, 0, 1, {"http.method": "GET"}), trace)


def plain_span(row, trace=TRACE, **extra):
    """A span of a list, its attributes in a plain object."""
    span_id, parent, name, start, end, attributes = row
    return {
        "trace_id": trace,
        "span_id": span_id,
        "parent_span_id": parent,
        "name": name,
        "start_time": T0 + start * MS,
        "end_time": T0 + end * MS,
        "attributes": attributes,
        "scope": {"name": "my.tracer", "version": "1"},
        "status": {"code": "UNSET"},
        "span_events": [],
        **extra,
    }


def console_span(row, trace=TRACE):
    """What Python's console exporter prints."""
    span_id, parent, name, start, end, attributes = row
    first, last = (datetime.fromtimestamp((T0 // MS + at) / 1000, UTC).isoformat() for at in (start, end))
    return {
        "name": name,
        "context": {"trace_id": f"0x{trace}", "span_id": f"0x{span_id}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": None if parent is None else f"0x{parent}",
        "start_time": first,
        "end_time": last,
        "status": {"status_code": "UNSET"},
        "attributes": attributes,
        "events": [],
        "links": [],
        "resource": {"attributes": {"service.name": "desk"}, "schema_url": ""},
    }


def readable_span(row, trace=TRACE):
    """JavaScript's ReadableSpan."""
    span_id, parent, name, start, end, attributes = row
    first, last = (list(divmod(T0 + at * MS, 10**9)) for at in (start, end))
    found = {
        "name": name,
        "spanContext": {"traceId": trace, "spanId": span_id, "traceFlags": 1},
        "startTime": first,
        "endTime": last,
        "attributes": attributes,
        "status": {"code": 0},
        "events": [],
    }
    return found if parent is None else {**found, "parentSpanContext": {"traceId": trace, "spanId": parent}}


def tags(attributes):
    return [{"key": key, "type": TAG_TYPES[type(value)], "value": value} for key, value in attributes.items()]


def jaeger_span(row, trace=TRACE):
    span_id, parent, name, start, end, attributes = row
    parents = [] if parent is None else [{"refType": "CHILD_OF", "traceID": trace, "spanID": parent}]
    return {
        "traceID": trace,
        "spanID": span_id,
        "operationName": name,
        "references": parents,
        "startTime": (T0 + start * MS) // 1000,
        "duration": (end - start) * 1000,
        "tags": tags(attributes),
        "logs": [],
        "processID": "p1",
        "warnings": None,
    }


def jaeger(trace=TRACE, **fields):
    process = {"serviceName": "desk", "tags": []}
    spans = [jaeger_span(row, trace) for row in rows(**fields)]
    return {
        "data": [{"traceID": trace, "spans": spans, "processes": {"p1": process}}],
        "total": 0,
        "errors": None,
    }


def lines(*documents):
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)
