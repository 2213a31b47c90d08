"""Spans of monocle: types in `span.type`, names in `entity.N`, content in events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.models.trace.trace import Trace, TraceLocation

ASKED = ['{"system": [{"type": "text", "text": "You help."}]}', '{"user": "Where is order 42?"}']
CALLS = '{"tools": [{"tool_id": "c1", "tool_name": "lookup_order", "tool_arguments": {"id": 42}}]}'
ANSWER = '{"assistant": "It has shipped."}'


def span(
    number: int, parent: int | None, kind: str, given: Any = None, answered: Any = None, **more: Any
) -> dict[str, Any]:
    attributes = {"monocle_apptrace.version": "0.7.0", "span.type": kind, **more.pop("attributes", {})}
    events = [
        {"name": "data.input", "attributes": {} if given is None else {"input": given}},
        {"name": "data.output", "attributes": {} if answered is None else {"response": answered}},
        *([{"name": "metadata", "attributes": more}] if more else []),
    ]
    return {
        "name": f"call.{kind}",
        "context": {"trace_id": "1" * 32, "span_id": f"{number:016x}"},
        "parent_id": None if parent is None else f"{parent:016x}",
        "start_time": f"2026-01-05T10:00:0{number}Z",
        "end_time": f"2026-01-05T10:00:0{number}.5Z",
        "attributes": attributes,
        "events": events,
    }


def infer(number: int, given: Any, answered: Any, reason: str) -> dict[str, Any]:
    tokens = {"prompt_tokens": 100 * number, "completion_tokens": number, "total_tokens": 101 * number}
    model = {"entity.1.type": "inference.openai", "entity.2.name": "gpt-4.1"}
    return span(number, 1, "inference", given, answered, attributes=model, finish_reason=reason, **tokens)


def call(number: int, name: str, given: Any, answered: Any, kind: str = "agentic.tool.invocation") -> dict[str, Any]:
    return span(number, 1, kind, given, answered, attributes={"entity.1.name": name})


def read(*spans: dict[str, Any]) -> Trace:
    document = json.loads(json.dumps(spans))
    known = detect.detect_format([document])
    (record,) = known.reader.split(document)
    trace = read_record(known.reader, record, TraceLocation("t.json", known.name), "t.json")
    assert isinstance(trace, Trace), trace.reason
    return trace


AGENT = span(1, None, "agentic.turn", "Where is order 42?", attributes={"entity.1.name": "support"})
RUN = [
    AGENT,
    infer(2, ASKED, CALLS, "tool_calls"),
    call(3, "lookup_order", "{'id': 42}", "shipped"),
    infer(4, [*ASKED, '{"tool": "shipped"}'], ANSWER, "stop"),
]


def test_a_run_has_its_messages_calls_results_and_tokens():
    trace = read(*RUN)
    assert [(one["name"], one["arguments"], one["result"]) for one in trace.tool_calls] == [
        ("lookup_order", {"id": 42}, "shipped")
    ]
    assert [(one["role"], one["content"]) for one in trace.messages if one["role"] != "tool"] == [
        ("system", "You help."),
        ("user", "Where is order 42?"),
        ("assistant", None),
        ("assistant", "It has shipped."),
    ]
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (600, 6)
    assert (trace.model, trace.response["content"], trace.gaps) == ("gpt-4.1", "It has shipped.", {})


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ("{'id': 42}", {"id": 42}),
        (["input: {'id': 42, 'exact': True}"], {"id": 42, "exact": True}),
        ('{"id": 42}', {"id": 42}),
        ({"id": 42}, {"id": 42}),
    ],
)
def test_arguments_are_read_as_json_or_as_python_prints_them(given, arguments):
    (found,) = read(AGENT, call(3, "lookup_order", given, "shipped"), infer(4, ASKED, ANSWER, "stop")).tool_calls
    assert (found["name"], found["arguments"]) == ("lookup_order", arguments)


def test_a_tool_of_an_mcp_server_is_a_call_and_the_request_inside_an_inference_counts_once():
    request = span(5, 4, "inference.modelapi")
    trace = read(
        AGENT, call(3, "search", {"q": 1}, "x", "agentic.mcp.invocation"), infer(4, ASKED, ANSWER, "stop"), request
    )
    assert trace.called == ["search"]
    assert trace.usage["total_tokens"] == 404


def test_calls_that_a_model_asked_for_count_without_a_span_of_the_tool():
    trace = read(AGENT, infer(2, ASKED, CALLS, "tool_calls"))
    assert trace.called == ["lookup_order"]


def test_without_content_the_calls_are_incomplete():
    trace = read(AGENT, infer(2, None, None, "stop"))
    assert "calls" in trace.gaps
