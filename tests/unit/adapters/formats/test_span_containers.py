from __future__ import annotations

import gzip
import json
import subprocess
import sys

import pytest
from damage import damage_document, nest_lists
from fakes.files import MemoryFiles
from hypothesis import given
from hypothesis import strategies as st
from span_containers import (
    CHAT,
    LAST,
    OTHER,
    ROOT,
    T0,
    TOOL,
    TRACE,
    console_span,
    encode_message,
    envelope,
    jaeger,
    jaeger_span,
    lines,
    log,
    logs,
    noise,
    otlp,
    otlp_span,
    pairs,
    plain_span,
    protobuf,
    readable_span,
    rows,
    snake,
)

from evalgate.adapters.formats.core.format import TraceLimits
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.adapters.formats.opentelemetry import reader as span_readers
from evalgate.adapters.formats.spans.span import Span, SpanFile
from evalgate.adapters.formats.spans.span_records import group_runs
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, Trace

ANSWER = "It has shipped."


def read(content, name="t/run.json", **limits):
    if not isinstance(content, dict) or "t/" not in "".join(content):
        content = {name: content}
    files = {path: one if isinstance(one, bytes) else json.dumps(one).encode() for path, one in content.items()}
    return list(TraceFiles(MemoryFiles(files), TraceLimits(**limits)).read(["t"], "", "auto"))


def only(records):
    assert len(records) == 1, records
    assert isinstance(records[0], Trace), records[0]
    return records[0]


def refused(records):
    assert len(records) == 1, records
    assert isinstance(records[0], DamagedTrace), records[0]
    return records[0].reason


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def summarize_trace(trace):
    """The parts of a trace that its container must not change."""
    return {
        "id": trace.trace_id, "messages": trace.messages, "calls": trace.tool_calls, "llm": trace.llm_calls,
        "usage": trace.usage, "latency": trace.latency, "response": trace.response, "agent": trace.agent,
        "times": (trace.started_at, trace.ended_at), "status": trace.status, "warnings": trace.warnings,
    }  # fmt: skip


SPANS = [otlp_span(row) for row in rows()]
CONTAINERS = {
    "one envelope": otlp(),
    "a span a line": lines(*(envelope(span) for span in reversed(SPANS))),
    "a list of envelopes": [envelope(*SPANS[:2]), envelope(*SPANS[2:])],
    "snake case and base64": snake(otlp()),
    "Tempo": {"trace": otlp()},
    "Tempo's old batches": {
        "batches": [{"resource": {}, "instrumentationLibrarySpans": [{"instrumentationLibrary": {}, "spans": SPANS}]}]
    },
    "Jaeger's third interface": {"result": otlp()},
    "gzip": gzip.compress(json.dumps(otlp()).encode()),
    "metrics between": lines({"resourceMetrics": []}, otlp(), {}),
    "protobuf": protobuf(otlp()),
    "protobuf, two requests": b"".join(map(protobuf, (envelope(*SPANS[:2]), envelope(*SPANS[2:])))),
    "protobuf of the Collector": b"".join(
        len(part).to_bytes(4, "big") + part for part in map(protobuf, (envelope(*SPANS[:2]), envelope(*SPANS[2:])))
    ),
    "protobuf in gzip": gzip.compress(protobuf(otlp())),
    "Jaeger": jaeger(),
    "Jaeger, one trace": jaeger()["data"][0],
    "a list": [plain_span(row) for row in rows()],
    "a list, lines": lines(*(plain_span(row) for row in rows())),
    "under spans": {"session_id": "s", "span_count": 4, "spans": [plain_span(row) for row in rows()]},
    "MLflow": {"info": {}, "data": {"spans": [plain_span(row) for row in rows()]}},
    "Python's console": lines(*(console_span(row) for row in rows())),
    "JavaScript's spans": [readable_span(row) for row in rows()],
}


@pytest.mark.parametrize("form", CONTAINERS)
def test_every_container_gives_the_same_trace(form):
    trace = only(read(CONTAINERS[form]))
    assert summarize_trace(trace) == summarize_trace(only(read(otlp())))
    assert (trace.trace_id, trace.response["content"]) == (TRACE, ANSWER)
    assert trace.latency == {"total_ms": 900, "source": "span"}
    assert trace.usage["total_tokens"] == 300
    assert [call["result"] for call in trace.tool_calls] == ["shipped"]
    assert trace.warnings == []


def test_the_trace_of_a_container_equals_that_of_its_spans():
    trace = only(read(otlp()))
    assert [m["role"] for m in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert [(c["id"], c["name"], c["arguments"], c["duration_ms"]) for c in trace.tool_calls] == [
        ("c1", "lookup_order", {"id": 42}, 40)
    ]
    assert trace.started_at == "2026-09-21T14:13:20Z"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (otlp(), "otlp"),
        ([otlp()], "otlp"),
        (logs(), "otlp"),
        ({"batches": [{"scopeSpans": []}]}, "otlp"),
        (jaeger(), "jaeger"),
        ([plain_span(rows()[0])], "span-list"),
        (readable_span(rows()[0]), "span-list"),
    ],
)
def test_content_identifies_the_container(value, name):
    assert detect.detect_format([value]).name == name


@pytest.mark.parametrize(
    "value",
    [
        {"batches": [1]}, {"batches": "x"}, {"trace": {"id": 1}}, {"data": []}, {"data": [{"spans": []}]}, {"spans": []},
        {"spans": [{"name": "x"}]}, {"resourceSpans": {}}, [[]], None, 5, {"data": {"spans": 5}}, {"spanContext": 5},
    ],
)  # fmt: skip
def test_a_document_that_only_resembles_a_container_is_not_claimed(value):
    found = detect.find_claiming_format(value)
    assert found is None or found.name not in {"otlp", "jaeger", "span-list"}


@pytest.mark.parametrize(
    "head",
    [
        b"\n" + json.dumps(otlp()).encode(),
        b'\n{\n  "resourceSpans": []}',
        b"\n\n\n\n{}\n",
        b"\n\x12",
        b"\n{\n" + b"\t" * 40,
        b"",
        b"\x00",
        b"\x00\x00\x00\x05hello",
        b"{}",
    ],
)
def test_a_text_that_begins_with_empty_lines_is_not_protobuf(head):
    assert detect.find_packed_format(head) is None or head == b"\n\x12"


def test_text_after_an_empty_line_is_read_as_text():
    assert only(read(b"\n\n" + json.dumps(otlp()).encode())).response["content"] == ANSWER


@pytest.mark.parametrize("cut", [30, 200, 1000])
def test_truncated_protobuf_is_refused_with_a_reason(cut):
    whole = protobuf(otlp())
    assert refused(read(whole[:-cut])) == "the file looks like OTLP in protobuf but is damaged"
    framed = len(whole).to_bytes(4, "big") + whole
    assert refused(read(framed[:-cut])) == "the file looks like OTLP in protobuf but is damaged"


def field(number, payload):
    """A message within a message of protobuf."""
    size, length = len(payload), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + payload


FAR_TOO_MANY = {
    "resources": field(1, b"") * 401_000,
    "scopes": field(1, field(2, b"") * 401_000),
    "spans": field(1, field(2, field(2, b"") * 401_000)),
    "attributes": field(1, field(2, field(2, field(9, b"") * 1_001_000))),
    "attributes of a resource": field(1, field(1, field(1, b"") * 1_001_000) + field(2, b"")),
}


@pytest.mark.parametrize("data", FAR_TOO_MANY.values(), ids=FAR_TOO_MANY)
def test_protobuf_of_far_too_many_messages_is_refused_before_they_fill_the_memory(data):
    assert "too many spans, attributes or events" in refused(read(data))


def test_a_message_of_protobuf_that_is_larger_than_a_record_is_refused():
    whole = protobuf(otlp())
    reason = refused(read(whole, record_bytes=len(whole) - 1))
    assert reason == f"a protobuf message is larger than {len(whole) - 1:,} bytes (raise limit `record`)"
    assert isinstance(only(read(whole, record_bytes=len(whole))), Trace)


def test_protobuf_nested_too_deep_is_refused_with_a_reason():
    value = field(1, b"x")
    for _ in range(120):
        value = field(5, field(1, value))
    attribute = field(9, field(1, b"k") + field(2, value))
    span = field(1, b"t" * 16) + field(2, b"s" * 8) + attribute
    data = field(1, field(1, b"") + field(2, field(2, span)))
    assert "damaged" in refused(read(data))


def test_a_file_of_logs_alone_still_gives_the_conversation():
    records = [
        log("gen_ai.user.message", {"content": "Where is order 42?"}),
        log("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}, at=300),
    ]  # fmt: skip
    trace = only(read(lines(*map(logs, records))))
    assert [m["content"] for m in trace.messages] == ["Where is order 42?", ANSWER]
    assert trace.latency["total_ms"] is None
    assert trace.status == "ok"
    binary = only(read(protobuf(logs(*records))))
    assert summarize_trace(binary) == summarize_trace(trace)


SPAN_WITHOUT_CONTENT = (
    CHAT, None, "chat m-1", 10, 300,
    {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m-1",
     "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 2},
)  # fmt: skip
LOGS = [
    log("gen_ai.user.message", {"content": "Where is order 42?"}, at=11),
    log("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}, at=299),
]  # fmt: skip


@pytest.mark.parametrize("together", [True, False])
def test_logs_belong_to_their_spans_in_the_same_file_or_another(together):
    spans = envelope(otlp_span(SPAN_WITHOUT_CONTENT))
    log_document = logs(*reversed(LOGS))
    content = lines(spans, log_document) if together else {"t/a.traces.json": spans, "t/b.logs.json": log_document}
    trace = only(read(content))
    assert [m["content"] for m in trace.messages] == ["Where is order 42?", ANSWER]
    assert (trace.usage["total_tokens"], trace.latency["total_ms"]) == (11, 290)


def lost(name, content, at):
    body = {"message": {"content": content}, "index": 0} if name == "choice" else {"content": content}
    return log(f"gen_ai.{name}", body, span=None, at=at)


def test_logs_that_name_no_span_belong_to_the_only_model_call():
    records = [lost("user.message", "Where is order 42?", 900), lost("choice", ANSWER, 901)]
    trace = only(read(lines(envelope(otlp_span(SPAN_WITHOUT_CONTENT)), logs(*records))))
    assert [m["content"] for m in trace.messages] == ["Where is order 42?", ANSWER]
    assert (trace.usage["total_tokens"], len(trace.llm_calls), trace.warnings) == (11, 1, [])


def test_logs_that_name_no_span_belong_to_the_model_call_at_that_time_or_to_no_call():
    second = ("9" * 16, None, "chat m-1", 400, 700, SPAN_WITHOUT_CONTENT[5])
    spans = envelope(otlp_span(SPAN_WITHOUT_CONTENT), otlp_span(second))
    records = [lost("user.message", "Hi", 11), lost("choice", "Yes?", 299), lost("choice", ANSWER, 650)]
    trace = only(read(lines(spans, logs(*records, lost("user.message", "Never", 800)))))
    assert [m["content"] for m in trace.messages] == ["Hi", "Yes?", ANSWER]
    assert (trace.usage["total_tokens"], len(trace.llm_calls), codes(trace)) == (22, 2, ["left_out"])
    assert trace.warnings[0]["message"] == ("1 event without a span id may belong to several model calls: left out")


def test_an_events_name_may_be_in_either_attribute():
    score = log("", {}, at=299)
    del score["eventName"], score["body"]
    evaluation = {"gen_ai.evaluation.name": "relevance", "gen_ai.evaluation.score.value": 0.9}
    for key in ("event.name", "otel.event.name"):
        score["attributes"] = pairs({key: "gen_ai.evaluation.result", **evaluation})
        trace = only(read(lines(envelope(otlp_span(SPAN_WITHOUT_CONTENT)), logs(score))))
        assert [(one["name"], one["score_value"]) for one in trace.evaluations] == [("relevance", 0.9)]


def test_a_log_record_recorded_twice_is_one():
    spans = envelope(otlp_span(SPAN_WITHOUT_CONTENT))
    trace = only(read(lines(spans, logs(*LOGS), logs(*LOGS))))
    assert len(trace.messages) == 2


def test_log_lines_of_a_program_are_not_events():
    plain = {"timeUnixNano": str(T0), "body": {"stringValue": "started"}, "traceId": OTHER, "spanId": ROOT}
    assert codes(only(read(lines(otlp(), logs(plain))))) == []
    assert refused(read(logs(plain))) == "it contains no trace"


def test_events_that_name_no_trace_are_counted_and_never_guessed():
    lost = logs(log("gen_ai.user.message", {"content": "hi"}, trace=None, span=None))
    assert refused(read(lost)) == (
        "no span records what an agent did: 1 event without a trace id can't be assigned to a run"
    )
    trace = only(read(lines(otlp(), lost)))
    assert codes(trace) == ["left_out"]


def test_spans_of_a_trace_in_several_files_are_one():
    parts = {f"t/{name}.jsonl": lines(envelope(span)) for name, span in zip("abcd", SPANS, strict=True)}
    trace = only(read(parts))
    assert summarize_trace(trace) == summarize_trace(only(read(otlp())))
    assert trace.source.path == "t/a.jsonl"


def test_files_that_share_no_trace_stay_apart():
    records = read({"t/a.json": otlp(), "t/b.json": otlp(OTHER)})
    assert [(r.scenario_id, r.trace_id) for r in records] == [("a", TRACE), ("b", OTHER)]


def test_several_traces_of_a_file_are_several():
    records = read(lines(otlp(), otlp(OTHER, question="Refund!")))
    assert [r.trace_id for r in records] == [TRACE, OTHER]
    assert [r.source.record for r in records] == [0, 1]
    assert len({r.scenario_id for r in records}) == 2


def test_a_span_recorded_twice_is_one():
    trace = only(read({"t/a.json": otlp(), "t/b.json": otlp()}))
    assert summarize_trace(trace) == summarize_trace(only(read(otlp())))


def test_of_two_copies_of_a_span_the_one_that_ended_last_counts():
    begun = otlp_span(rows()[3], endTimeUnixNano="0", attributes=[])
    for order in ([begun, *SPANS], [*SPANS, begun]):
        trace = only(read(envelope(*order)))
        assert trace.response["content"] == ANSWER
        assert codes(trace) == ["span_conflict"]
        assert trace.warnings[0]["message"].startswith("1 span recorded more than once, with different content")


def test_among_copies_with_the_same_end_the_same_one_wins_in_any_order():
    other = [*rows()[3][:5], {**rows()[3][5], "gen_ai.output.messages": encode_message("assistant", "No.")}]
    one, two = only(read(envelope(*SPANS, otlp_span(other)))), only(read(envelope(otlp_span(other), *SPANS)))
    assert one.response == two.response
    assert codes(one) == codes(two) == ["span_conflict"]


def chats(*conversations, key="gen_ai.conversation.id", ids=(CHAT, LAST, TOOL)):
    """One trace a call of the model, as an instrumentor of a client library records them."""
    found = []
    for number, conversation in enumerate(conversations):
        attributes = {
            "gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", key: conversation,
            "gen_ai.input.messages": encode_message("user", f"question {number}"),
            "gen_ai.output.messages": encode_message("assistant", f"answer {number}"),
            "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 1,
        }  # fmt: skip
        row = (ids[number], None, "chat m-1", 100 * number, 100 * number + 50, attributes)
        found.append(otlp_span(row, trace=f"{number + 1:032x}"))
    return envelope(*found)


@pytest.mark.parametrize("key", ["gen_ai.conversation.id", "session.id"])
def test_traces_without_a_root_that_name_one_conversation_are_one_run(key):
    trace = only(read(chats("c1", "c1", key=key)))
    assert (trace.usage["input_tokens"], trace.response["content"]) == (20, "answer 1")


@pytest.mark.parametrize(
    "document",
    [
        chats("c1", "c2"),
        chats("c1", "c1", ids=(CHAT, CHAT)),
        lines(otlp(**{"session.id": "s"}), otlp(OTHER, **{"session.id": "s"})),
    ],
    ids=["other conversations", "ids that clash", "agents of one session"],
)
def test_other_traces_are_separate_runs(document):
    assert len(read(document)) == 2


def test_conversations_of_several_files_stay_apart():
    first, second = (envelope(span) for span in chats("c", "c")["resourceSpans"][0]["scopeSpans"][0]["spans"])
    assert len(read({"t/a.json": first, "t/b.json": second})) == 2


def test_traces_without_an_agent_are_left_out_and_counted():
    trace = only(read(lines(envelope(noise()), otlp(), envelope(noise("2" * 32)))))
    assert codes(trace) == ["left_out"]
    assert trace.warnings[0]["message"] == (
        "2 spans of 2 traces, such as `GET /health`, record nothing about an agent and are left out"
    )


@pytest.mark.parametrize("operation", ["create_agent", "embeddings"])
def test_other_operations_next_to_a_run_are_left_out(operation):
    beside = otlp_span(("b" * 16, None, "beside", 0, 1, {"gen_ai.operation.name": operation}), "2" * 32)
    assert codes(only(read(lines(envelope(beside), otlp())))) == ["left_out"]
    assert refused(read(envelope(beside))) == ("no span records what an agent did: 1 span of 1 trace, such as `beside`")


def test_a_file_without_an_agent_is_one_damaged_record():
    assert refused(read(lines(envelope(noise()), envelope(noise("2" * 32))))) == (
        "no span records what an agent did: 2 spans of 2 traces, such as `GET /health`"
    )


def test_one_broken_span_spoils_its_trace_and_no_other():
    broken = otlp_span(rows()[1], OTHER, startTimeUnixNano="soon")
    good, bad = read(lines(otlp(), envelope(broken, *(otlp_span(row, OTHER) for row in rows()))))
    assert good.response["content"] == ANSWER
    assert bad.reason == "[1].resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano is not a valid time"


def test_a_broken_span_of_an_unknown_trace_is_a_damaged_record_by_itself():
    lost = otlp_span(rows()[1])
    del lost["traceId"]
    good, bad = read(envelope(*SPANS, lost))
    assert good.response["content"] == ANSWER
    assert bad.reason == "resourceSpans[0].scopeSpans[0].spans[4].traceId is missing"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"resourceSpans": [5]}, "resourceSpans[0] is not an object"),
        ({"resourceSpans": [{"scopeSpans": 5}]}, "resourceSpans[0].scopeSpans is not a list"),
        (
            {"resourceSpans": [{"scopeSpans": [{"spans": {}}]}]},
            "resourceSpans[0].scopeSpans[0].spans is not a list",
        ),
        ({"resourceSpans": []}, "it contains no trace"),
        ({"data": [{"traceID": "a", "spans": [5]}]}, "data[0].spans[0] is not an object"),
        ([*map(plain_span, rows()), 5], f"[{len(rows())}] is not an object"),
    ],
)
def test_an_envelope_of_another_shape_is_refused_with_its_path(document, reason):
    assert [r.reason for r in read(document) if isinstance(r, DamagedTrace)] == [reason]


def test_a_damaged_trace_keeps_its_scenario():
    spans = [otlp_span(row) for row in rows(**{"evalgate.scenario.id": "refund", "evalgate.trial": 2})]
    spans[1]["name"] = 5
    (found,) = read(envelope(*spans))
    assert isinstance(found, DamagedTrace)
    assert (found.scenario_id, found.trial) == ("refund", 2)


def test_too_many_spans_are_refused():
    with pytest.raises(TraceError, match="more than 3 spans and log records"):
        span_readers.otlp.read_spans([otlp()], SpanFile(max_records=3))
    with pytest.raises(TraceError, match="more than 1 spans and log records"):
        span_readers.otlp.read_spans([logs(*LOGS)], SpanFile(max_records=1))


def test_cycles_and_spans_that_are_their_own_parents_are_read():
    spans = [otlp_span(row) for row in rows()]
    spans[0]["parentSpanId"] = CHAT
    spans[2]["parentSpanId"] = TOOL
    assert only(read(envelope(*spans))).usage["total_tokens"] == 300


def test_attributes_nested_too_deep_are_refused():
    assert "levels deep" in refused(read([plain_span(rows()[1], attributes={"gen_ai.x": nest_lists(70)})]))


def test_tags_of_jaeger_that_contradict_each_other_damage_their_trace():
    data = jaeger()
    tags = data["data"][0]["spans"][0]["tags"]
    tags.append(dict(tags[0]))
    assert isinstance(only(read(data)), Trace)
    tags.append({**tags[0], "value": "another"})
    assert refused(read(data)).endswith(f"has `{tags[0]['key']}` twice, with different values")


def test_jaeger_records_errors_events_and_resources_in_tags():
    document = jaeger()
    span = document["data"][0]["spans"][2]
    span["tags"] += [
        {"key": "error", "type": "bool", "value": True},
        {"key": "otel.status_description", "type": "string", "value": "timed out"},
        {"key": "otel.library.name", "type": "string", "value": "lib"},
        {"key": "n", "type": "int64", "value": "12"},
        {"key": "f", "type": "float64", "value": "0.5"},
        {"key": "b", "type": "bool", "value": "false"},
        {"key": "odd", "type": "int64", "value": "many"},
        {"key": "text", "type": "string", "value": "12"},
    ]
    fields = [
        {"key": "event", "type": "string", "value": "exception"},
        {"key": "k", "type": "int64", "value": 1},
    ]
    span["logs"] = [{"timestamp": T0 // 1000, "fields": fields}]
    held = SpanFile()
    span_readers.jaeger.read_spans([document], held)
    found = held.spans[2]
    assert (found.has_failed, found.status_message, found.scope) == (True, "timed out", "lib")
    assert [found.attributes[key] for key in ("n", "f", "b", "odd", "text")] == [12, 0.5, False, "many", "12"]
    assert found.resource == {"service.name": "desk"}
    (event,) = found.events
    assert (event.name, event.time_ns, event.attributes) == ("exception", T0, {"k": 1})
    assert only(read(document)).tool_calls[0]["status"] == "error"


def test_jaeger_spans_that_follow_from_others_are_their_children():
    document = jaeger()
    for span in document["data"][0]["spans"]:
        for reference in span["references"]:
            reference["refType"] = "FOLLOWS_FROM"
    assert summarize_trace(only(read(document))) == summarize_trace(only(read(otlp())))
    child, follower = jaeger_span(rows()[1]), {"refType": "FOLLOWS_FROM", "spanID": TOOL}
    child["references"].insert(0, follower)
    held = SpanFile()
    span_readers.jaeger.read_spans([{"data": [{"traceID": TRACE, "spans": [child]}]}], held)
    assert held.spans[0].parent_id == ROOT


@pytest.mark.parametrize(
    "status",
    [
        {"code": 2},
        {"code": "ERROR"},
        {"status_code": "ERROR", "description": "no"},
        "ERROR",
        "StatusCode.ERROR",
    ],
)
def test_a_plain_span_has_failed_in_any_spelling_of_its_status(status):
    row = rows()[2]
    spans = [plain_span(one, status=status) if one is row else plain_span(one) for one in [*rows()[:2], row, rows()[3]]]
    assert only(read(spans)).tool_calls[0]["status"] == "error"


def phoenix_span(row, **fields):
    """A span as Phoenix exports it: its kind and status are outside of the attributes."""
    kinds = {"chat": "LLM", "execute_tool": "TOOL", "invoke_agent": "AGENT"}
    one = plain_span(row)
    attributes = {key: value for key, value in one["attributes"].items() if key != "gen_ai.operation.name"}
    kind = kinds[row[5]["gen_ai.operation.name"]]
    del one["status"]
    return {**one, "attributes": attributes, "span_kind": kind, "status_code": "OK", "status_message": "", **fields}


def test_spans_of_phoenix_have_their_kind_and_status_outside_of_the_attributes():
    first, second, ran, last = rows()
    failed = phoenix_span(ran, status_code="ERROR", status_message="no such order")
    trace = only(read([phoenix_span(first), phoenix_span(second), failed, phoenix_span(last)]))
    assert (trace.usage["total_tokens"], len(trace.llm_calls)) == (
        only(read(otlp())).usage["total_tokens"],
        2,
    )
    [call] = trace.tool_calls
    assert (call["status"], call["error"]["message"]) == ("error", "no such order")


def test_a_list_of_traces_that_hold_their_spans_is_all_of_them():
    traces = [
        {"info": {"state": "OK"}, "data": {"spans": [plain_span(row, trace) for row in rows()]}}
        for trace in (TRACE, "2" * 32)
    ]
    records = read(traces)
    assert [record.trace_id for record in records] == [TRACE, "2" * 32]
    assert {record.response["content"] for record in records} == {ANSWER}
    assert len(read([*traces, {"spans": []}])) == len(records)
    assert read([*traces[:1], {"info": {}}])[-1].reason == "[4].span_id is missing"


def test_ids_that_are_numbers_and_a_parent_that_is_an_object_are_read():
    ids = {name: number for number, (name, *_) in enumerate(rows(), start=12324293800750531911)}

    def numbered(row):
        one = plain_span(row)
        rest = {key: value for key, value in one.items() if not key.endswith("_id")}
        trace_id = 100927429609276267646756448943279827607
        context = {"trace_id": trace_id, "span_id": ids[row[0]]}
        return {**rest, "context": context, "parent": {"trace_id": trace_id, "span_id": ids.get(row[1])}}

    held = SpanFile()
    span_readers.span_objects.read_spans([json.loads(json.dumps({"spans": [numbered(row) for row in rows()]}))], held)
    assert [span.parent_id for span in held.spans] == [
        None if parent is None else str(ids[parent]) for _, parent, *_ in rows()
    ]
    trace = only(read({"spans": [numbered(row) for row in rows()], "final_output": ANSWER}))
    assert (trace.response["content"], len(trace.llm_calls), len(trace.tool_calls)) == (ANSWER, 2, 1)


def test_spans_and_their_logs_may_be_in_one_document():
    request = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    document = envelope(otlp_span((CHAT, None, "chat", 0, 9, request))) | logs(
        log("gen_ai.user.message", {"content": "hi"}),
        log("gen_ai.choice", {"index": 0, "message": {"content": "yo"}, "finish_reason": "stop"}, at=21),
    )
    assert [message["content"] for message in only(read(document)).messages] == ["hi", "yo"]


def test_without_the_extra_protobuf_says_what_to_install():
    code = (
        "import sys; sys.modules['google.protobuf'] = None\n"
        "from evalgate.adapters.formats.opentelemetry.reader import READER\n"
        "from evalgate.errors import TraceError\n"
        "try:\n    list(READER.unpack(b'', None))\nexcept TraceError as error:\n    print(error)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "install evalgate-action[otlp]" in answer.stdout


def _anything_but_a_crash(reader, document):
    try:
        records = reader.split([document])
        list(reader.join_keys([document]))
    except TraceError:
        return
    for record in records:
        reader.identify(record)
        try:
            assert isinstance(reader.build(record), Trace)
        except TraceError as error:
            assert str(error)


BOTH = {**otlp(), **logs(*LOGS)}
LIST = [plain_span(row, span_events=[{"event_name": "e", "timestamp": T0, "attributes": {}}]) for row in rows()]


def test_a_conversation_of_many_traces_is_joined_in_no_more_than_linear_time():
    many = [
        Span(f"t{n}", f"s{n}", None, "chat", n, n + 1, {"gen_ai.operation.name": "chat", "session.id": "one"})
        for n in range(20_000)
    ]
    (run,) = group_runs(many)
    assert len(run) == 20_000


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
def test_damaged_protobuf_is_documents_or_a_reason(place, instead):
    whole = protobuf(otlp())
    at = place % len(whole)
    data = whole[:at] + instead + whole[at + len(instead) :]
    try:
        documents = list(span_readers.READER.unpack(data, TraceLimits()))
    except TraceError as error:
        assert str(error) == "the file looks like OTLP in protobuf but is damaged"
        return
    for document in documents:
        _anything_but_a_crash(span_readers.READER, document)


@given(damage_document(BOTH))
def test_damaged_otlp_is_a_trace_or_a_reason(document):
    _anything_but_a_crash(span_readers.READER, document)


@given(damage_document(jaeger()))
def test_damaged_jaeger_is_a_trace_or_a_reason(document):
    _anything_but_a_crash(span_readers.JAEGER_READER, document)


@given(damage_document(LIST))
def test_a_damaged_list_of_spans_is_a_trace_or_a_reason(document):
    _anything_but_a_crash(span_readers.SPAN_LIST_READER, document)
