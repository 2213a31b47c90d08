"""AutoGen and Agent Framework: what is read of messages and saved states, and that no call is lost."""

from __future__ import annotations

import orjson
import pytest
from damage import damage_document, nest_lists
from documents import ROOT
from hypothesis import given

from evalgate.adapters.formats.autogen import reader as autogen
from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import TraceLocation
from evalgate.models.trace.trace_view import list_evidence

FOLDER = ROOT / "tests" / "recordings" / "autogen"
DOCUMENTS = {path.stem: orjson.loads(path.read_bytes()) for path in FOLDER.glob("*.json")}
RESULT, TEAM = DOCUMENTS["result"], DOCUMENTS["team"]
SESSION, RESPONSE = DOCUMENTS["framework-session"], DOCUMENTS["framework-response"]
STREAM = [orjson.loads(line) for line in (FOLDER / "stream.jsonl").read_bytes().splitlines()]
USER = {"source": "user", "models_usage": None, "content": "hi", "type": "TextMessage"}
AGENT_USER = {"type": "message", "role": "user", "contents": [{"type": "text", "text": "hi"}]}


def read(document):
    return read_record(autogen.READER, document, TraceLocation(), "trace.json")


def answer(**fields):
    return {"source": "support", "models_usage": None, "type": "TextMessage", "content": "x", **fields}


def framework(*contents, role="assistant", **fields):
    return [AGENT_USER, {"type": "message", "role": role, "contents": list(contents), **fields}]


def called(trace):
    return [(call["name"], call["arguments"], call["status"]) for call in trace.tool_calls]


@pytest.mark.parametrize("document", [*DOCUMENTS.values(), RESULT["messages"], RESPONSE["response"], STREAM, STREAM[0]])
def test_each_document_is_claimed(document):
    assert detect.detect_format([document]).name == "autogen"


def test_the_state_of_one_agent_is_read():
    state = TEAM["agent_states"]["support"]["agent_state"]
    assert detect.detect_format([state]).name == "autogen"
    trace = read(state)
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]
    assert (trace.turn_count, trace.response["content"]) == (1, "User 7 is removed.")


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (
            [USER, answer(type="ToolCallRequestEvent", content=[{"id": "c"}])],
            r"messages\[1\].content\[0\].name is missing",
        ),
        ([USER, answer(type=5)], r"messages\[1\].type is not text"),
        (framework({"type": "function_call", "call_id": "c"}), r"messages\[1\].contents\[0\].name is missing"),
        (framework(role="robot"), r"messages\[1\].role is not one of"),
    ],
)
def test_errors_name_the_field(document, reason):
    with pytest.raises(TraceError, match=reason):
        autogen.build(document)


@given(damage_document(RESULT) | damage_document(TEAM) | damage_document(SESSION) | damage_document(RESPONSE))
def test_damage_is_refused_with_a_reason(document):
    read(document)


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        autogen.build({**RESULT, "metadata": nest_lists(100)})


def save_team(state, *events):
    thread = [USER, *events, {**answer(), "source": "support"}]
    agents = {"support/1": {"agent_state": state}, "user": {"agent_state": {"type": "BaseState", "version": "1.0.0"}}}
    return {"agent_states": {**agents, "RoundRobinGroupChatManager": {"message_thread": thread, "current_turn": 0}}}


@pytest.mark.parametrize("state", [{"type": "BaseState"}, {"llm_context": {}}, {"llm_context": {"messages": []}}])
def test_the_calls_of_an_agent_without_memory_are_unknown(state):
    trace = read(save_team(state))
    assert list_evidence(trace)["calls"] == "missing"
    assert "no memory of `support`" in trace.gaps["calls"]
    event = answer(type="ToolCallRequestEvent", content=[{"id": "c", "name": "look_up", "arguments": "{}"}])
    assert "calls" not in read(save_team(state, event)).gaps


def test_the_calls_of_an_agent_with_memory_are_known():
    messages = [{"content": "x", "source": "support", "type": "AssistantMessage"}]
    assert list_evidence(read(save_team({"llm_context": {"messages": messages}})))["calls"] == "complete"
    inner = save_team({"llm_context": {"messages": messages}})
    assert "calls" not in read(save_team({"inner_team_state": inner})).gaps
