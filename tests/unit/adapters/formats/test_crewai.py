"""CrewAI's outputs and events: what is read, and that no call is lost."""

from __future__ import annotations

from copy import deepcopy

import orjson
import pytest
from damage import ANYTHING, damage_document, nest_lists
from documents import ROOT
from hypothesis import given

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.crewai import reader as crewai
from evalgate.adapters.formats.crewai.events import clean_name
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "crewai"
CREW, AGENT = (orjson.loads((FOLDER / name).read_bytes()) for name in ("crew.json", "agent.json"))
EVENTS = [orjson.loads(line) for line in (FOLDER / "events.jsonl").read_bytes().splitlines()]


def read(document):
    record, *others = crewai.split([document])
    assert others == []
    return read_record(crewai.READER, record, TraceLocation(), "trace.json")


def event(kind, **fields):
    return {"timestamp": "2026-03-01T10:00:00Z", "type": kind, "event_id": f"id-{kind}", **fields}


def tool(kind, name="drop_all", **fields):
    return event(f"tool_{kind}", tool_name=name, tool_args={"id": 7}, **fields)


def task(*messages, **fields):
    known = {"description": "Do it.", "raw": "x", "agent": "admin", "output_format": "raw"}
    return {**known, "messages": list(messages), **fields}


def called(trace):
    return [(call["name"], call["arguments"], call["status"]) for call in trace.tool_calls]


@pytest.mark.parametrize("document", [CREW, AGENT, EVENTS, {"events": EVENTS}, EVENTS[0], CREW["tasks_output"]])
def test_each_document_is_claimed(document):
    assert detect.detect_format([document]).name == "crewai"


def test_lines_with_events_are_one_run():
    assert crewai.split(EVENTS) == [{"events": EVENTS}]
    assert crewai.split([CREW, AGENT]) == [CREW, AGENT]
    assert crewai.split([[CREW, CREW]]) == [CREW, CREW]


def test_the_output_of_a_crew_has_the_calls_of_all_tasks():
    trace = read(CREW)
    assert called(trace) == [
        ("find_user", {"name": "Ada"}, "ok"),
        ("get_orders", {"id": 7}, "error"),
        ("delete_user", {"id": 7}, "ok"),
    ]
    assert [call["agent"] for call in trace.tool_calls] == ["clerk", "admin", "admin"]
    assert [call["result"] for call in trace.tool_calls] == ["7", "no such table", "removed"]
    assert (trace.usage["input_tokens"], trace.usage["total_tokens"]) == (100, 120)
    assert (trace.response["content"], trace.scenario_id, trace.gaps) == ("User 7 is removed.", "remove-account", {})


@pytest.mark.parametrize("document", [CREW["tasks_output"], CREW["tasks_output"][1]])
def test_outputs_of_tasks_are_read(document):
    assert read(document).called[-1] == "delete_user"


def test_the_output_of_an_agent_is_read():
    trace = read(AGENT)
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]
    assert (trace.usage["total_tokens"], trace.response["content"], trace.gaps) == (40, "Removed.", {})


def test_messages_that_an_agent_keeps_are_read_once():
    first = CREW["tasks_output"][1]
    second = {**first, "messages": [*first["messages"], {"role": "user", "content": "More."}]}
    assert read({**CREW, "tasks_output": [first, second]}).called == ["get_orders", "delete_user"]


def test_without_messages_no_evidence_of_calls():
    tasks = [{key: value for key, value in one.items() if key != "messages"} for one in CREW["tasks_output"]]
    trace = read({**CREW, "tasks_output": tasks})
    assert "no `messages`" in trace.gaps["calls"]
    assert trace.response["content"] == "User 7 is removed."


def test_events_have_calls_tokens_and_times():
    trace = read(EVENTS)
    assert called(trace) == [
        ("find_user", {"name": "Ada"}, "ok"),
        ("get_orders", {"name": "Ada"}, "error"),
        ("delete_user", {"id": 7}, "ok"),
    ]
    assert [call["result"] for call in trace.tool_calls] == ["7", "no such table", {"removed": 1}]
    assert [call["duration_ms"] for call in trace.tool_calls] == [500, None, 1000]
    assert (trace.usage["total_tokens"], trace.llm_calls[0]["duration_ms"]) == (148, 1000)
    assert (trace.model, trace.provider, trace.finish_reason) == ("gpt-4o", "openai", "stop")
    assert trace.latency == {"total_ms": 5000.0, "source": "timestamps"}
    assert (trace.response["content"], trace.turn_count, trace.gaps) == ("User 7 is removed.", 1, {})


def test_wrapped_events_of_crewais_tracing_are_read():
    wrapped = [
        {"type": one["type"], "event_id": one["event_id"], "timestamp": one["timestamp"], "event_data": one}
        for one in EVENTS
    ]
    assert called(read({"trace_id": "t", "events": wrapped})) == called(read(EVENTS))


@pytest.mark.parametrize(
    ("events", "statuses"),
    [
        ([tool("usage_started")], ["missing"]),
        ([tool("usage_finished", output="x")], ["ok"]),
        ([tool("usage_finished", output="x"), tool("usage_finished", output="x")], ["ok", "ok"]),
        ([tool("usage_started"), tool("usage_error", error="no"), tool("execution_error", error="no")], ["error"]),
        ([tool("usage_started"), tool("usage_error", error="no"), tool("usage_finished", output="no")], ["error"]),
        ([tool("usage_started"), tool("failure_detected", failure={}), tool("usage_finished", output="x")], ["error"]),
        ([tool("usage_started"), tool("usage_finished", output="x"), tool("failure_detected", failure={})], ["error"]),
        ([tool("selection_error", error="unknown tool")], ["error"]),
        ([tool("usage_started"), tool("usage_started"), tool("usage_finished", output="x")], ["ok", "missing"]),
    ],
)
def test_each_call_of_a_tool_is_one_call(events, statuses):
    trace = read(events)
    assert trace.called == ["drop_all"] * len(statuses)
    assert [call["status"] for call in trace.tool_calls] == statuses


def test_a_tool_of_an_mcp_server_is_called_once():
    inner = event("mcp_tool_execution_completed", tool_name="drop", tool_args={"id": 7}, result="x", server_name="db")
    assert read([tool("usage_started", "db_drop"), inner, tool("usage_finished", "db_drop", output="x")]).called == [
        "db_drop"
    ]
    assert called(read([inner])) == [("drop", {"id": 7}, "ok")]


def test_events_of_models_alone_have_the_calls():
    models = [one for one in EVENTS if one["type"].startswith("llm_")]
    trace = read(models)
    assert trace.called == ["find_user", "get_orders", "delete_user"]
    assert trace.messages[0]["content"] == "Remove the account of Ada."


def test_outputs_of_tasks_are_used_if_nothing_else_has_the_calls():
    finished = [event("task_completed", output=one) for one in CREW["tasks_output"]]
    assert read(finished).called == ["find_user", "get_orders", "delete_user"]


def test_events_without_models_and_tools_are_no_evidence_of_calls():
    trace = read([EVENTS[1], event("agent_execution_completed", agent_role="admin", output="Done."), EVENTS[-1]])
    assert "no event of a model or a tool" in trace.gaps["calls"]


def test_failures_are_recorded():
    failed = event("llm_call_failed", error="overloaded", model="gpt-4o", call_id="l")
    trace = read([EVENTS[1], failed, event("crew_kickoff_failed", error="gave up", crew_name="c")])
    assert (trace.status, trace.error["message"]) == ("error", "gave up")
    assert "overloaded" in str(trace.warnings)


@pytest.mark.parametrize(
    ("name", "expected"), [("Delete User", "delete_user"), (" deleteUser ", "delete_user"), ("a's-b", "as_b")]
)
def test_names_are_those_under_which_crewai_finds_tools(name, expected):
    assert clean_name(name) == expected


def test_an_answer_that_quotes_an_action_is_no_call():
    words = "Thought: done\nFinal Answer: Action: x\nAction Input: {}"
    assert read(task({"role": "assistant", "content": words})).called == []
    result = "Action: read\nAction Input: {}\nObservation: Final Answer: 7"
    assert read(task({"role": "assistant", "content": result})).called == ["read"]


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({**CREW, "steps": [["drop_all"]]}, "`steps`"),
        (task({"role": "assistant", "content": "x", "actions": [["drop_all"]]}), "messages[0].actions"),
        (task({"role": "assistant", "content": "x"}, actions=[["drop_all"]]), "actions"),
        (task({"role": "assistant", "content": [{"type": "robot", "do": 1}]}), "robot"),
        ([*EVENTS, event("robot_moved", data=[["drop_all"]])], "robot_moved"),
    ],
)
def test_unknown_fields_and_types_are_a_gap(document, named):
    assert named in read(document).gaps["calls"]


@pytest.mark.parametrize(
    "document",
    [
        task({"role": "assistant", "content": "x", "toolCalls": [{"name": "drop_all", "args": {}}]}),
        [*EVENTS, event("robot_moved", tool_name="drop_all", tool_args={"id": 7})],
        [
            *EVENTS,
            event(
                "task_completed", output=task({"role": "assistant", "tool_calls": [{"name": "drop_all", "args": {}}]})
            ),
        ],
    ],
)
def test_a_call_that_is_not_read_is_an_error(document):
    found = read(document)
    assert isinstance(found, DamagedTrace)
    assert "drop_all" in found.reason


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"events": [event("tool_usage_started")]}, r"events\[0\].tool_name is missing"),
        ({"events": [tool("usage_started", timestamp=5)]}, r"events\[0\].timestamp is not text"),
        ({"raw": "x", "tasks_output": [task({"content": "x"})]}, r"tasks_output\[0\].messages\[0\].role is missing"),
        ({"raw": "x", "tasks_output": [5]}, r"tasks_output\[0\] is not an object"),
    ],
)
def test_errors_name_the_field(document, reason):
    with pytest.raises(TraceError, match=reason):
        crewai.build(document)


@given(damage_document(CREW) | damage_document(AGENT) | damage_document({"events": deepcopy(EVENTS)}))
def test_damage_is_refused_with_a_reason(document):
    read_record(crewai.READER, document, TraceLocation(), "trace.json")


@given(ANYTHING)
def test_detection_never_fails(value):
    assert detect.find_format("crewai").claims(value) in (True, False)


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        crewai.build({**CREW, "metadata": nest_lists(100)})
