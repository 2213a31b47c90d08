"""A killed agent never exports its own span: what it did until then hangs on a parent that no file holds."""

from __future__ import annotations

import json

import pytest
from span_builders import agent, call_part, chat, genai_message, span, tool

from evalgate.adapters.formats.spans.assemble import build
from evalgate.models.trace.trace import Trace
from hostile.recorded_calls import read
from hostile.whole_run.case import PASS, SUITE, Case, check, suite


def read_document(document: object) -> Trace:
    (trace,) = read(json.dumps(document).encode())
    assert isinstance(trace, Trace), trace
    return trace


USER = genai_message("user", "Refund order 7, please.")
ASKED = genai_message("assistant", call_part("refund", "c1", order=7))
ANSWER = genai_message("assistant", "Refunded.")
LOST = span("service")
ROOT = agent(parent=LOST)


def ask(parent, start=0):
    return chat(start, start + 10, given=[USER], answered=[ASKED], parent=parent)


def forced(parent):
    """A model call for an answer of a given form."""
    choice = {"type": "function", "function": {"name": "refund"}}
    found = ask(parent)
    found.attributes["llm.invocation_parameters"] = json.dumps({"tool_choice": choice})
    return found


def entry(found):
    found.is_entry = True
    return found


def answer(parent, start=30):
    return chat(start, start + 10, given=[USER], answered=[ANSWER], parent=parent)


def run(parent, start=20):
    return tool("refund", start, start + 5, parent=parent, arguments={"order": 7}, result="done")


WRAPPER = span("step", parent=LOST)
KILLED = {
    "after a tool": [ask(LOST), run(LOST)],
    "after the only model call": [ask(LOST)],
    "while a tool runs": [ask(LOST), run(LOST), ask(LOST, 40)],
    "below a step that ended": [WRAPPER, ask(WRAPPER), run(WRAPPER)],
    "beside a sub-agent that ended": [ask(LOST), agent(11, 19, parent=LOST), run(LOST)],
}
HONEST = {
    "an agent that a service calls": [ROOT, ask(ROOT), run(ROOT)],
    "a loop of a service that answers": [ask(LOST), run(LOST), answer(LOST)],
    "a single model call of a service that answers": [answer(LOST)],
    "a single model call of a service that answers in a form": [forced(LOST)],
    "a single model call below another program": [entry(ask(LOST))],
    "a loop below another program": [entry(ask(LOST)), entry(run(LOST))],
    "a tool of a service": [run(LOST)],
    "spans without parents": [ask(None), run(None)],
}


@pytest.mark.parametrize("spans", KILLED.values(), ids=KILLED)
def test_calls_below_a_span_that_is_not_recorded_are_no_complete_evidence(spans):
    trace = build(spans)
    assert (trace.status, trace.stopped_by) == ("incomplete", None)
    assert "a span above calls is not recorded" in trace.warnings[0]["message"]


@pytest.mark.parametrize("spans", HONEST.values(), ids=HONEST)
def test_a_run_below_another_program_is_whole(spans):
    assert build(spans).status == "ok"


@pytest.mark.parametrize(
    ("spans", "is_noted"),
    [
        ([answer(LOST)], True),
        ([forced(LOST)], True),
        ([entry(answer(LOST))], False),
        ([answer(None)], False),
        ([ask(LOST), run(LOST), answer(LOST)], False),
        ([ROOT, answer(ROOT)], False),
    ],
    ids=["an answer", "a form", "below another program", "no parent", "a loop", "below an agent"],
)
def test_nothing_says_that_a_run_ended_with_its_only_model_call(spans, is_noted):
    trace = build(spans)
    assert (trace.status, "end_not_recorded" in [each["code"] for each in trace.warnings]) == ("ok", is_noted)
    assert not trace.gaps


def test_the_only_model_call_below_a_lost_span_is_named_below_the_heading(tmp_path):
    only = {**CHAT, "input": [{"role": "user", "content": "Refund"}]}
    export = {"id": "t1", "timestamp": "2026-11-28T10:00:00Z", "observations": [only], "scores": []}
    export["metadata"] = {"evalgate.scenario.id": "refund"}
    checks = suite(check("forbidden_tools", tools=["delete_*"]))
    case = Case("only", {SUITE: checks, "traces/refund.json": export}, PASS, ["a span above the only model call"])
    assert case.find_faults(case.run(tmp_path)) == []
    heading = (tmp_path / "now/.evalgate/comment.md").read_text().partition("<details>")[0]
    assert "a span above the only model call" in heading


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"flags": 0x300}, "ok"),
        ({"flags": 0x100}, "incomplete"),
        ({}, "incomplete"),
        ({"attributes": [{"key": "langfuse.internal.is_app_root", "value": {"boolValue": True}}]}, "ok"),
    ],
    ids=["in another program", "in the same program", "unknown", "of no interest"],
)
def test_a_tracer_says_that_a_parent_is_not_its_own(fields, status):
    """OTLP by its flags, Langfuse's SDK by an attribute."""
    asked = ask(LOST)
    attributes = [{"key": key, "value": {"stringValue": str(value)}} for key, value in asked.attributes.items()]
    one = {"traceId": "1" * 32, "spanId": "1" * 16, "parentSpanId": "2" * 16, "name": "chat"}
    one |= {"startTimeUnixNano": "1760000000000000000", "endTimeUnixNano": "1760000001000000000", **fields}
    one["attributes"] = attributes + one.get("attributes", [])
    assert read_document({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}).status == status


def observation(number: int, kind: str, **fields):
    begin, end = (f"2026-11-28T10:00:{number + each:02d}Z" for each in (0, 1))
    row = {"id": f"o{number}", "traceId": "t1", "type": kind, "name": kind.lower(), "startTime": begin, "endTime": end}
    return {**row, "parentObservationId": None if kind == "AGENT" else "o0", **fields}


CHAT = observation(1, "GENERATION", model="m", input=[{"role": "user", "content": "Refund"}], output="Refunded.")
CALLS = [{"id": "c1", "type": "function", "function": {"name": "refund", "arguments": "{}"}}]
CALLING = {**CHAT, "output": {"role": "assistant", "content": None, "tool_calls": CALLS}}
TOOL = observation(3, "TOOL", name="refund", input={"order": 7}, output="done")


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ([CHAT, TOOL], "incomplete"),
        ([observation(0, "AGENT", input="Refund", output="Refunded."), CHAT, TOOL], "ok"),
        ([{**CHAT, "parentObservationId": None}, {**TOOL, "parentObservationId": None}], "ok"),
        ([CALLING], "incomplete"),
        ([{**CALLING, "metadata": {"attributes": {"langfuse.internal.is_app_root": "true"}}}], "ok"),
        ([{**CALLING, "isAppRoot": True}], "ok"),
        ([TOOL, {**CHAT, "startTime": "2026-11-28T10:00:05Z", "endTime": "2026-11-28T10:00:06Z"}], "ok"),
    ],
    ids=["killed", "whole", "without parents", "only a call", "marked", "marked in a column", "a service that answers"],
)
def test_observations_below_a_lost_one_are_no_complete_evidence(rows, status):
    export = {"id": "t1", "timestamp": "2026-11-28T10:00:00Z", "name": "n", "observations": rows, "scores": []}
    trace = read_document(export)
    assert (trace.status, set(trace.gaps) >= {"calls"}) == (status, status == "incomplete")


def sdk_span(span_id: str, parent: str | None, **data):
    times = {"started_at": "2026-11-28T10:00:01Z", "ended_at": "2026-11-28T10:00:02Z"}
    return {"object": "trace.span", "id": span_id, "trace_id": "t", "parent_id": parent, "span_data": data, **times}


AGENT = sdk_span("agent", "job", type="agent", name="main")
MODEL = sdk_span("model", "agent", type="response", response_id="r1", usage={"input_tokens": 1, "output_tokens": 1})
CALL = sdk_span("call", "agent", type="function", name="refund", input="{}", output="done")


@pytest.mark.parametrize(
    ("spans", "status"),
    [([MODEL, CALL], "incomplete"), ([MODEL], "incomplete"), ([AGENT, MODEL, CALL], "ok")],
    ids=["after a tool", "after a model call", "an agent below a job"],
)
def test_the_agents_sdk_exports_an_agent_only_when_it_has_ended(spans, status):
    trace = read_document([{"object": "trace", "id": "t", "workflow_name": "w"}, *spans])
    assert trace.status == status
