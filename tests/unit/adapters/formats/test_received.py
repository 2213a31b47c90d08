"""What exporters send to `evalgate record`: decoded, attributed to a trial, written without secrets and tokens."""

from __future__ import annotations

import base64
import json

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from evalgate.features.record.adapters.received.receiver import (
    SpanReceiver,
    build_traces,
    encode_lines,
    find_missing_content,
)
from evalgate.features.record.adapters.received.tool_facts import add_tool_facts
from evalgate.features.record.application.evidence import NATIVE, OTLP, TrialEvidence, build_file
from evalgate.features.record.bootstrap.trace_readers import TraceFormats
from evalgate.features.record.models.exchange import TrialId
from evalgate.features.record.models.run import TrialSpans

PROTOBUF, JSON = "application/x-protobuf", "application/json"
TRIAL = TrialId("shop", "refund", None, 2)
OPEN = TrialId("shop", None, None, 0)
START = 1_790_000_000_000_000_000


def attribute(key, value):
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {"key": key, "value": {kind: str(value)}}


def message(role, content):
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def chat(number, *, question="Where is A1?", answer="It was shipped.", parent="", trace=None, **more):
    """The span of a model call, a trace of its own unless one is given."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "small-1",
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 7,
        **more,
    }
    if question is not None:
        attributes["gen_ai.input.messages"] = json.dumps([message("user", question)])
        attributes["gen_ai.output.messages"] = json.dumps([{**message("assistant", answer), "finish_reason": "stop"}])
    return span(number, "chat small-1", attributes, parent=parent, trace=trace)


def span(number, name, attributes, *, parent="", trace=None, **more):
    return {
        "traceId": f"{number if trace is None else trace:032x}",
        "spanId": f"{number:016x}",
        "parentSpanId": parent,
        "name": name,
        "kind": 3,
        "startTimeUnixNano": str(START + number * 10**9),
        "endTimeUnixNano": str(START + number * 10**9 + 25 * 10**7),
        "attributes": [attribute(key, value) for key, value in attributes.items()],
        "status": {},
        **more,
    }


def request(*spans, resource=(), scope="test"):
    attributes = [attribute(key, value) for key, value in dict(resource).items()]
    scopes = [{"scope": {"name": scope}, "spans": list(spans)}]
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": scopes}]}


def encode(document, content_type=JSON, kind=ExportTraceServiceRequest):
    if content_type == JSON:
        return json.dumps(document).encode()
    return ParseDict(with_bytes(document), kind()).SerializeToString()


def with_bytes(value):
    """The document with ids as protobuf's JSON has them."""
    if isinstance(value, list):
        return [with_bytes(one) for one in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: base64.b64encode(bytes.fromhex(one)).decode() if key in ids else with_bytes(one)
        for key, one in value.items()
    }


def receive(*documents, trial=TRIAL, content_type=JSON):
    receiver = SpanReceiver()
    for document in documents:
        answer = receiver.receive("traces", content_type, encode(document, content_type), trial)
        assert (answer.status, answer.content_type) == (200, content_type)
    return receiver.take()


def read(spans, trial):
    traces, problems = build_traces(spans, trial)
    assert problems == []
    return traces


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON, "application/json; charset=utf-8"])
def test_a_request_becomes_a_trace_of_the_trial_in_its_address(content_type):
    kind = content_type.partition(";")[0]
    receiver = SpanReceiver()
    answer = receiver.receive("traces", content_type, encode(request(chat(1)), kind), TRIAL)
    assert (answer.status, answer.content_type, answer.body) == (200, kind, b"{}" if kind == JSON else b"")
    ((trial, spans),) = receiver.take().items()
    (trace,) = read(spans, trial)
    assert (trial, spans.span_count, spans.problems) == (TRIAL, 1, [])
    assert (trace.scenario_id, trace.trial) == ("refund", 2)
    assert [(one["role"], one["content"]) for one in trace.messages] == [
        ("user", "Where is A1?"),
        ("assistant", "It was shipped."),
    ]
    assert receiver.take() == {}


def test_the_empty_answer_in_protobuf_is_an_export_response():
    answer = SpanReceiver().receive("traces", PROTOBUF, encode(request(chat(1)), PROTOBUF), TRIAL)
    assert ExportTraceServiceResponse.FromString(answer.body) == ExportTraceServiceResponse()


def test_model_calls_that_are_traces_of_their_own_become_one_run():
    first = chat(1)
    second = chat(2, question="And A2?", answer="Also.")
    spans = receive(request(first), request(second))[TRIAL]
    (trace,) = read(spans, TRIAL)
    assert trace.conversation_id == "evalgate:shop:refund::2"
    assert len(trace.llm_calls) == 2
    assert trace.usage["total_tokens"] == 54


def test_a_conversation_that_spans_name_is_kept():
    spans = receive(request(chat(1, **{"gen_ai.conversation.id": "c-7"}), chat(2, **{"gen_ai.conversation.id": "c-7"})))
    (trace,) = read(spans[TRIAL], TRIAL)
    assert trace.conversation_id == "c-7"


def test_the_address_names_the_scenario_before_span_and_resource():
    document = request(
        chat(1, **{"evalgate.scenario.id": "other", "evalgate.trial": 9}), resource={"evalgate.trial": 8}
    )
    ((trial, spans),) = receive(document).items()
    (trace,) = read(spans, trial)
    assert (trial, trace.scenario_id, trace.trial) == (TRIAL, "refund", 2)


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
def test_spans_of_an_open_address_are_told_apart_by_span_then_resource(content_type):
    root = span(1, "run", {"evalgate.scenario.id": "by-span", "evalgate.trial": 3, "evalgate.variant": "v"}, trace=1)
    child = chat(2, parent=f"{1:016x}", trace=1)
    by_resource = {"evalgate.scenario.id": "by-resource", "evalgate.trial": "4"}
    found = receive(
        request(child, resource=by_resource),
        request(root, resource=by_resource),
        request(chat(3), resource=by_resource),
        request(chat(4)),
        trial=OPEN,
        content_type=content_type,
    )
    assert {trial: spans.span_count for trial, spans in found.items()} == {
        TrialId("shop", "by-span", "v", 3): 2,
        TrialId("shop", "by-resource", None, 4): 1,
        OPEN: 1,
    }
    trial = TrialId("shop", "by-span", "v", 3)
    (trace,) = read(found[trial], trial)
    assert (trace.scenario_id, trace.trial, trace.tags, trace.metadata["variant"]) == ("by-span", 3, ["v"], "v")


def test_log_records_join_the_span_they_name():
    receiver = SpanReceiver()
    receiver.receive("traces", JSON, encode(request(chat(1, question=None))), TRIAL)
    details = {
        "gen_ai.input.messages": json.dumps([message("user", "Hi")]),
        "gen_ai.output.messages": json.dumps([message("assistant", "Hello")]),
    }
    record = {
        "traceId": f"{1:032x}",
        "spanId": f"{1:016x}",
        "timeUnixNano": str(START + 1),
        "eventName": "gen_ai.client.inference.operation.details",
        "attributes": [attribute(key, value) for key, value in details.items()],
    }
    logs = {"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {}, "logRecords": [record]}]}]}
    body = encode(logs, PROTOBUF, ExportLogsServiceRequest)
    assert receiver.receive("logs", PROTOBUF, body, TRIAL).status == 200
    spans = receiver.take()[TRIAL]
    (trace,) = read(spans, TRIAL)
    assert (spans.span_count, [one["content"] for one in trace.messages]) == (1, ["Hi", "Hello"])


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (JSON, b""),
        (JSON, b"[]"),
        (JSON, b"{"),
        (JSON, b'{"resourceSpans": 1}'),
        (JSON, b'{"resourceSpans": [1]}'),
        (JSON, b'{"resourceSpans": [{"scopeSpans": [{"spans": [1]}]}]}'),
        (JSON, b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": {}}]}]}]}'),
        (JSON, b'{"resourceLogs": []}'),
        (JSON, b'{"resourceSpans": [], "resourceSpans": []}'),
        (JSON, b'{"resourceSpans": [' + b"[" * 200 + b"]" * 200 + b"]}"),
        (JSON, b"\xff\xfe"),
        (PROTOBUF, b"\x0a\xff\xff\xff\xff\x0f"),
        (PROTOBUF, b'{"resourceSpans": []}'),
        (PROTOBUF, encode(request({**chat(1), "traceId": "ab"}), PROTOBUF)),
    ],
)
def test_a_damaged_request_is_400_and_spans_are_noted_as_missing(content_type, body):
    receiver = SpanReceiver()
    answer = receiver.receive("traces", content_type, body, TRIAL)
    assert (answer.status, answer.content_type) == (400, content_type)
    if content_type == JSON:
        assert json.loads(answer.body)["message"]
    (problem,) = receiver.take()[TRIAL].problems
    assert problem.startswith("a request with traces was refused: ")


def test_an_error_in_protobuf_is_a_status_with_its_message():
    body = SpanReceiver().receive("traces", PROTOBUF, b"\xff" * 20, TRIAL).body
    assert body[:3] == b"\x08\x03\x12"
    assert body[4:].decode() == "the request is no protobuf message of traces"
    assert body[3] == len(body[4:])


def test_other_content_types_are_415_and_metrics_are_dropped():
    receiver = SpanReceiver()
    assert receiver.receive("traces", "text/plain", b"{}", TRIAL).status == 415
    assert receiver.receive("metrics", PROTOBUF, b"anything", TRIAL).status == 200
    assert receiver.take() == {}


def test_more_spans_than_a_trial_may_have_are_refused(monkeypatch):
    monkeypatch.setattr("evalgate.features.record.adapters.received.receiver.MAX_SPANS", 3)
    receiver = SpanReceiver()
    assert receiver.receive("traces", JSON, encode(request(chat(1), chat(2))), TRIAL).status == 200
    assert receiver.receive("traces", JSON, encode(request(chat(3), chat(4))), TRIAL).status == 400
    assert receiver.take()[TRIAL].span_count == 2


def test_an_empty_attribute_in_protobuf_costs_memory_and_is_bounded():
    """Two bytes of protobuf become an object of JSON: a million of them is refused before it is built."""
    ids = b"\x0a\x10" + b"\x01" * 16 + b"\x12\x08" + b"\x02" * 8
    body = field(1, field(2, field(2, ids + b"\x4a\x00" * 1_100_000)))
    answer = SpanReceiver().receive("traces", PROTOBUF, body, TRIAL)
    assert (answer.status, b"too many" in answer.body) == (400, True)


def field(number, inner):
    length, encoded = len(inner), b""
    while length > 0x7F:
        encoded += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([number << 3 | 2]) + encoded + bytes([length]) + inner


def test_a_file_has_a_line_a_record_without_secrets():
    key = "sk-proj-" + "A1b2C3d4" * 6
    document = request(
        chat(1, question=f"My key is {key}", **{"http.request.header.authorization": "hidden-by-its-name-42"}),
        resource={"host.name": "h", "db.password": "hunter2hunter2"},
    )
    spans = receive(document)[TRIAL]
    lines = encode_lines(spans, TRIAL, {"evalgate.commit": "c" * 40, "evalgate.agent_hash": None})
    assert lines.count(b"\n") == 1
    for secret in (key, "hunter2hunter2"):
        assert secret.encode() not in lines
    resource = json.loads(lines)["resourceSpans"][0]["resource"]["attributes"]
    assert {one["key"]: next(iter(one["value"].values())) for one in resource} == {
        "host.name": "h",
        "db.password": "[redacted: field]",
        "evalgate.commit": "c" * 40,
        "evalgate.scenario.id": "refund",
        "evalgate.trial": "2",
    }


def test_content_that_was_not_captured_names_the_setting():
    spans = receive(request(chat(1, question=None), scope="com.anthropic.sdk.python"))[TRIAL]
    (setting, *_) = find_missing_content(read(spans, TRIAL))
    assert "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content" in setting
    assert find_missing_content(read(receive(request(chat(1)))[TRIAL], TRIAL)) == []


def tool(number, name, call_id, arguments, **more):
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    attributes["gen_ai.tool.call.arguments"] = json.dumps(arguments)
    if call_id is not None:
        attributes["gen_ai.tool.call.id"] = call_id
    return span(number, f"execute_tool {name}", attributes, trace=1, **more)


def test_tool_spans_time_the_calls_that_the_proxy_saw():
    answer = [
        {"type": "tool_call", "id": call_id, "name": "look", "arguments": {"id": call_id}}
        for call_id in ("c1", "c2", "c3")
    ]
    asked = chat(1, trace=1)
    output = [{"role": "assistant", "parts": answer, "finish_reason": "tool_call"}]
    asked["attributes"][-1] = attribute("gen_ai.output.messages", json.dumps(output))
    (trace,) = read(receive(request(asked))[TRIAL], TRIAL)
    failed = {"status": {"code": 2, "message": "no such order"}}
    measured = read(
        receive(
            request(
                tool(5, "look", None, {"id": "c2"}, **failed),
                tool(6, "look", "c1", {"id": "c1"}),
                tool(7, "look", "c9", {"id": "c3"}),
            )
        )[TRIAL],
        TRIAL,
    )
    for call in trace.tool_calls:
        call["status"] = "ok"
    add_tool_facts(trace, measured)
    assert [(call["duration_ms"], call["status"]) for call in trace.tool_calls] == [
        (250.0, "ok"),
        (250.0, "error"),
        (None, "ok"),
    ]
    assert trace.tool_calls[1]["error"]["message"] == "no such order"


def test_nothing_received_is_nothing():
    assert SpanReceiver().take() == {}
    assert build_traces(TrialSpans(), TRIAL)[0] == []


@pytest.mark.parametrize("state", [None, {"after": [2]}])
def test_spans_alone_become_a_native_trace_if_there_is_a_state(state):
    spans = receive(request(chat(1)))[TRIAL]
    suffix, content = build_file(TrialEvidence(TRIAL, spans=spans, state=state), {}, TraceFormats(), print)
    assert suffix == (OTLP if state is None else NATIVE)
    assert json.loads(content).get("state") == state
