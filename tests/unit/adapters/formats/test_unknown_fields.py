"""Fields, parts and events that a reader does not know make the evidence of calls incomplete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.models.trace.trace import Trace, TraceLocation

HIDDEN = {"do": "delete_user", "with": {"id": 1}}
PART = {"type": "action_request", **HIDDEN}
if TYPE_CHECKING:
    from evalgate.adapters.formats.core.format import Reader

USER = {"role": "user", "content": "Please clean up."}
DONE = {"role": "assistant", "content": "Done."}
TOOL_USE = {"type": "tool_use", "id": "t", "name": "search", "input": {}}
LC_USER = {"type": "human", "content": "Please clean up."}
LC_DONE = {"type": "ai", "content": "Done.", "tool_calls": [], "usage_metadata": None, "id": "m"}
CALL_ITEM = {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"}
OUTPUT_ITEM = {"type": "function_call_output", "call_id": "c", "output": "found"}
SESSION = {"type": "session", "id": "sesn_1", "agent": {"name": "a"}}
SAID = {"type": "agent.message", "id": "sevt_1", "content": [{"type": "text", "text": "Done."}]}
ADK_EVENT = {"author": "agent", "content": {"role": "model", "parts": [{"text": "Done."}]}, "timestamp": 1.0}
STEP = {"source": "agent", "message": "Done."}
TURN = {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}
SAMPLE = {"id": 1, "epoch": 1, "messages": [USER, DONE]}
INSPECT = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m/m"}, "plan": {}}


def native(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"schema": "evalgate.trace/1", "scenario_id": "s", "messages": list(messages)}


def atif(step: dict[str, Any]) -> dict[str, Any]:
    return {"schema_version": "ATIF-v1.4", "agent": {"name": "a"}, "steps": [step]}


UNKNOWN: dict[str, tuple[str, Any, str]] = {
    "native part": ("native", native(USER, {**DONE, "content": [PART]}), "action_request"),
    "chat part": ("openai-chat", [USER, {**DONE, "content": [{"type": "text", "text": "x"}, PART]}], "action_request"),
    "chat part without type": ("openai-chat", [USER, {**DONE, "content": [{"doAction": HIDDEN}]}], "doAction"),
    "chat field": ("openai-chat", [USER, {**DONE, "deeds": [HIDDEN]}], "[1].deeds"),
    "chat field of words": ("openai-chat", [USER, {**DONE, "deeds": ["delete_user"]}], "[1].deeds"),
    "anthropic part": ("anthropic", [USER, {**DONE, "content": [TOOL_USE, PART]}], "action_request"),
    "anthropic field": ("anthropic", [USER, {**DONE, "content": [TOOL_USE], "deeds": HIDDEN}], "[1].deeds"),
    "langchain field": ("langchain", [LC_USER, {**LC_DONE, "deeds": [HIDDEN]}], "[1].deeds"),
    "langchain part": ("langchain", [LC_USER, {**LC_DONE, "content": [PART]}], "action_request"),
    "responses item": ("openai-responses", [USER, CALL_ITEM, OUTPUT_ITEM, PART], "action_request"),
    "codex event": (
        "codex",
        [{"type": "thread.started", "thread_id": "t"}, {"type": "act.x", **HIDDEN}, TURN],
        "act.x",
    ),
    "claude line": ("claude-code", [{"type": "deed", "session_id": "s", **HIDDEN}], "deed"),
    "managed event": ("claude-managed-agents", [SESSION, SAID, {**SAID, "type": "agent.deed", **HIDDEN}], "agent.deed"),
    "adk field": ("adk", {"id": "s", "events": [{**ADK_EVENT, "deeds": HIDDEN}]}, "events[0].deeds"),
    "adk part": (
        "adk",
        {"id": "s", "events": [{**ADK_EVENT, "content": {"parts": [{"text": "Done.", "deed": HIDDEN}]}}]},
        "parts[0].deed",
    ),
    "atif field": ("atif", atif({**STEP, "deeds": HIDDEN}), "steps[0].deeds"),
    "atif part": ("atif", atif({**STEP, "message": [PART]}), "action_request"),
    "inspect event": ("inspect", {**INSPECT, "samples": [{**SAMPLE, "events": [{"event": "deed", **HIDDEN}]}]}, "deed"),
    "inspect field": (
        "inspect",
        {**INSPECT, "samples": [{**SAMPLE, "messages": [USER, {**DONE, "deeds": HIDDEN}]}]},
        "messages[1].deeds",
    ),
}
JOINED = frozenset({"codex", "claude-code", "claude-managed-agents", "adk", "inspect"})


def get_reader(name: str) -> Reader:
    found = detect.find_format(name)
    assert found is not None
    return found.reader


def read(name: str, document: Any) -> Trace:
    reader = get_reader(name)
    documents = document if name in {"codex", "claude-code", "claude-managed-agents"} else [document]
    if name == "claude-code":
        lines = [{"type": one["role"], "message": one, "session_id": "s"} for one in (USER, DONE)]
        documents = [*lines, *documents]
    records = reader.split(documents if name in JOINED else document)
    found = read_record(reader, records[0], TraceLocation("a.json"), "a.json")
    assert isinstance(found, Trace), found
    return found


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_a_reader_does_not_know_may_be_a_call(case):
    name, document, shown = UNKNOWN[case]
    trace = read(name, document)
    assert shown in trace.gaps["calls"]
    assert [warning["where"] for warning in trace.warnings if warning["code"] == "missing_evidence"] == ["calls"]


IDLE = {"type": "session.status_idle", "id": "i", "stop_reason": {"type": "end_turn"}}
SPOKE = {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "Done."}}
LINE = {"uuid": "u", "timestamp": "2026-09-01T10:00:00Z", "sessionId": "s"}
NUMBERS = {"in": 2, "out": 3, "model": {"id": "m", "mode": "plan"}}
HARMLESS: dict[str, tuple[str, Any, str]] = {
    "chat field": ("openai-chat", [USER, {**DONE, "metrics": NUMBERS}], "`[1].metrics`"),
    "anthropic field": ("anthropic", [USER, {**DONE, "content": [TOOL_USE], "metrics": NUMBERS}], "`[1].metrics`"),
    "claude line": ("claude-code", [{**LINE, "type": "moved", "newCwd": "/w", "session_id": "s"}], "moved"),
    "codex event": (
        "codex",
        [{"type": "thread.started", "thread_id": "t"}, {"type": "x.y", "n": 1}, SPOKE, TURN],
        "x.y",
    ),
    "inspect event": ("inspect", {**INSPECT, "samples": [{**SAMPLE, "events": [{"event": "deed"}]}]}, "deed"),
    "managed event": (
        "claude-managed-agents",
        [SESSION, SAID, {"type": "agent.mood", "id": "e", "n": 1}, IDLE],
        "agent.mood",
    ),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_what_can_be_no_call_is_a_warning_and_stops_no_gate(case):
    name, document, shown = HARMLESS[case]
    trace = read(name, document)
    assert "may hold calls" not in trace.gaps.get("calls", "")
    [warning] = [each for each in trace.warnings if each["code"] == "unknown_field"]
    assert shown in warning["message"]


def test_what_can_be_a_call_counts_before_what_can_not():
    trace = read("openai-chat", [USER, {**DONE, "metrics": NUMBERS, "deeds": HIDDEN, "more": NUMBERS}])
    assert "[1].deeds" in trace.gaps["calls"]


EMPTY: list[tuple[str, Any]] = [
    ("native", native(USER, {**DONE, "content": ""})),
    ("openai-chat", [USER, {**DONE, "content": ""}]),
    ("anthropic", {"system": "x", "messages": [USER, {**DONE, "content": ""}]}),
    ("langchain", [LC_USER, {**LC_DONE, "content": ""}]),
    ("atif", atif({**STEP, "message": ""})),
    ("vercel", {"steps": [{"text": "", "toolCalls": [], "finishReason": "stop"}], "prompt": "Hi"}),
    ("inspect", {**INSPECT, "samples": [{**SAMPLE, "messages": [USER, {**DONE, "content": ""}]}]}),
]


@pytest.mark.parametrize(("name", "document"), EMPTY)
def test_an_empty_answer_is_known(name, document):
    assert read(name, document).response["content"] == ""


PARSED = {"answer": "Done", "steps": ["a"], "action": "refund", "parameters": {"id": 1}, "note": None}
AS_TEXT = '{"answer": "Done", "steps": ["a"], "action": "refund", "parameters": {"id": 1.0}}'
OTHER_TEXT = AS_TEXT.replace("refund", "none")


def parsed_copies(said: str) -> dict[str, tuple[str, Any]]:
    """What SDKs add of a text that they parsed, beside that text."""
    block = {"type": "text", "text": said}
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
    call = {**CALL_ITEM, "arguments": said}
    response = {"id": "r", "object": "response", "status": "completed", "model": "m", "input": [USER]}
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    chat_call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": said}}
    chat_call["function"]["parsed_arguments"] = PARSED
    asked = {"role": "assistant", "content": None, "tool_calls": [chat_call]}
    return {
        "chat message": ("openai-chat", [USER, {"role": "assistant", "content": said, "parsed": PARSED}]),
        "chat call": (
            "openai-chat",
            {"messages": [USER, asked, {"role": "tool", "tool_call_id": "c", "content": "ok"}]},
        ),
        "responses call": (
            "openai-responses",
            {**response, "output": [{**call, "parsed_arguments": PARSED}, OUTPUT_ITEM]},
        ),
        "responses part": (
            "openai-responses",
            [USER, CALL_ITEM, OUTPUT_ITEM, {**item, "content": [{**item["content"][0], "parsed": PARSED}]}],
        ),
        "anthropic block": (
            "anthropic",
            {"messages": [USER], "response": {**answer, "content": [{**block, "parsed_output": PARSED}]}},
        ),
        "anthropic message": (
            "anthropic",
            {"messages": [USER], "response": {**answer, "content": [block], "parsed_output": PARSED}},
        ),
    }


@pytest.mark.parametrize("case", parsed_copies(AS_TEXT))
def test_what_an_sdk_parsed_of_a_text_is_no_other_evidence(case):
    trace = read(*parsed_copies(AS_TEXT)[case])
    assert trace.gaps.get("calls") is None
    assert [each for each in trace.warnings if each["code"] == "unknown_field"] == []


@pytest.mark.parametrize("case", parsed_copies(OTHER_TEXT))
def test_what_is_called_parsed_and_is_not_the_text_may_be_a_call(case):
    reader, document = parsed_copies(OTHER_TEXT)[case]
    found = read_record(get_reader(reader), get_reader(reader).split(document)[0], TraceLocation("a.json"), "a.json")
    assert not isinstance(found, Trace) or "parsed" in found.gaps["calls"]


ACT = {"id": "c", "type": "function", "function": {"name": "search", "arguments": AS_TEXT}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [ACT]}


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("openai-chat", [USER, ASKED, {"role": "tool", "tool_call_id": "c", "content": "ok"}, DONE]),
        ("openai-responses", [USER, {**CALL_ITEM, "arguments": AS_TEXT}, OUTPUT_ITEM, DONE]),
    ],
)
def test_arguments_of_a_call_in_a_bare_list_may_name_an_act(name, document):
    assert read(name, document).gaps.get("calls") is None
