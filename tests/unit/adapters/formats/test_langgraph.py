"""LangGraph's states, checkpoints and histories: what is read, and that no call is lost."""

from __future__ import annotations

from copy import deepcopy

import orjson
import pytest
from damage import ANYTHING, damage_document, nest_lists
from documents import ROOT
from hypothesis import given

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.langgraph import reader as langgraph
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "langgraph"
DOCUMENTS = {path.stem: orjson.loads(path.read_bytes()) for path in FOLDER.iterdir()}
STATE, CHECKPOINT, HISTORY = DOCUMENTS["state"], DOCUMENTS["checkpoint"], DOCUMENTS["history"]
USER = {"type": "human", "content": "hi"}


def read(document):
    return read_record(langgraph.READER, document, TraceLocation(), "trace.json")


def state(*messages, **fields):
    return {"values": {"messages": [USER, *messages]}, "next": [], **fields}


def called(trace):
    return [(call["name"], call["arguments"], call["status"]) for call in trace.tool_calls]


@pytest.mark.parametrize("document", [*DOCUMENTS.values(), CHECKPOINT["checkpoint"], {"values": STATE["values"]}])
def test_each_document_is_claimed(document):
    assert detect.detect_format([document]).name == "langgraph"
    assert langgraph.READER.split(document) == [document]


def test_states_of_several_threads_are_several_traces():
    other = deepcopy(STATE)
    other["config"]["configurable"]["thread_id"] = "t9"
    assert langgraph.READER.split([STATE, other]) == [STATE, other]
    assert detect.detect_format([[STATE, other]]).name == "langgraph"


def test_a_state_has_its_messages_and_what_is_next():
    trace = read(STATE)
    assert called(trace) == [
        ("find_user", {"name": "Ada"}, "ok"),
        ("get_orders", {"name": "Ada"}, "error"),
        ("delete_user", {"id": 7}, "missing"),
    ]
    assert [call["result"] for call in trace.tool_calls] == ["7", "no such table", None]
    assert (trace.usage["input_tokens"], trace.usage["total_tokens"]) == (130, 148)
    assert (trace.model, trace.finish_reason, trace.status) == ("gpt-4o", "tool_calls", "incomplete")
    assert (trace.trace_id, trace.conversation_id, trace.scenario_id) == ("cp5", "t1", "remove-account")
    assert "before `tools`" in trace.warnings[-1]["message"]
    assert trace.gaps == {}


@pytest.mark.parametrize("document", [CHECKPOINT, CHECKPOINT["checkpoint"]])
def test_a_checkpoint_has_the_messages_of_its_channels(document):
    trace = read(document)
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]
    assert (trace.response["content"], trace.status, trace.gaps) == ("User 7 is removed.", "ok", {})
    assert trace.ended_at is None or trace.ended_at == "2026-03-01T10:00:03Z"


def test_messages_that_were_written_and_not_yet_applied_are_read():
    ai = {"type": "ai", "id": "m9", "content": "", "tool_calls": [{"name": "drop_all", "args": {}, "id": "c9"}]}
    trace = read({**CHECKPOINT, "pending_writes": [["task", "messages", [ai]], ["task", "other", 1]]})
    assert [name for name, *_ in called(trace)] == ["delete_user", "drop_all"]


def test_messages_that_were_removed_from_the_state_are_read():
    trace = read(HISTORY)
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]
    assert (trace.response["content"], trace.status) == ("User 7 is removed.", "ok")
    assert (trace.latency, trace.started_at) == (
        {"total_ms": 2500.0, "source": "timestamps"},
        "2026-03-01T10:00:00Z",
    )
    assert called(read(HISTORY[::-1])) == called(trace)


def test_a_history_without_times_begins_at_its_end():
    history = [{key: value for key, value in one.items() if key != "created_at"} for one in HISTORY]
    assert called(read(history)) == [("delete_user", {"id": 7}, "ok")]


def test_equal_messages_without_an_id_are_kept():
    again = {"type": "ai", "content": "", "tool_calls": [{"name": "delete_user", "args": {}, "id": None}]}
    assert len(read(state(again, again)).tool_calls) == 2


def test_a_failed_task_is_the_error_of_the_run():
    trace = read(state({"type": "ai", "content": "x"}, tasks=[{"id": "k", "name": "tools", "error": "boom"}]))
    assert (trace.status, trace.error) == ("error", {"type": None, "message": "boom"})


@pytest.mark.parametrize(
    ("document", "named"),
    [
        (state(actions=[["delete_user"]]), "`actions`"),
        (state() | {"values": {"messages": [USER], "worker": [{"type": "ai", "content": "x"}]}}, "`values.worker`"),
        (state({"type": "ai", "content": [{"type": "robot", "do": "delete_user"}]}), "robot"),
        (state({"type": "ai", "content": "x", "steps": [["delete_user"]]}), "steps"),
    ],
)
def test_unknown_fields_and_channels_are_a_gap(document, named):
    assert named in read(document).gaps["calls"]


def test_channels_of_other_data_are_no_gap():
    values = {"messages": [USER], "documents": [{"page_content": "x", "metadata": {}}], "plan": ["a", "b"]}
    assert read({"values": values, "next": []}).gaps == {}


@pytest.mark.parametrize(
    "message",
    [
        {"type": "ai", "content": "x", "toolCalls": [{"name": "drop_all", "args": {}}]},
        {"type": "ai", "content": [{"functionCall": {"name": "drop_all", "args": {}}}]},
    ],
)
def test_a_call_that_is_not_read_is_an_error(message):
    assert isinstance(read(state(message)), DamagedTrace)


def test_calls_of_a_nested_graph_that_are_not_read_are_an_error():
    inner = {"values": {"messages": [{"type": "ai", "content": "", "tool_calls": [{"name": "drop_all", "args": {}}]}]}}
    found = read(state(tasks=[{"id": "k", "name": "worker", "state": inner}]))
    assert isinstance(found, DamagedTrace)
    assert "tasks[0].state" in found.reason


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (5, r"values.messages\[0\] is not an object"),
        ({"type": "robot", "content": "x"}, r"messages\[0\].* is"),
        ({"type": "ai", "content": "", "tool_calls": [{"args": {}}]}, r"tool_calls\[0\].name is missing"),
    ],
)
def test_errors_name_the_field(message, reason):
    with pytest.raises(TraceError, match=reason):
        langgraph.build({"values": {"messages": [message]}, "channel_values": {"messages": [message]}})


@given(damage_document(STATE) | damage_document(CHECKPOINT) | damage_document(HISTORY))
def test_damage_is_refused_with_a_reason(document):
    read(document)


@given(ANYTHING)
def test_detection_never_fails(value):
    assert detect.find_format("langgraph").claims(value) in (True, False)


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        langgraph.build({**STATE, "metadata": nest_lists(100)})
