"""AutoGen and Agent Framework: what is read of messages and saved states, and that no call is lost."""

from __future__ import annotations

from copy import deepcopy

import orjson
import pytest
from damage import ANYTHING, damage_document, nest_lists
from documents import ROOT
from hypothesis import given

from evalgate.adapters.formats.autogen import reader as autogen
from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "autogen"
DOCUMENTS = {path.stem: orjson.loads(path.read_bytes()) for path in FOLDER.glob("*.json")}
RESULT, TEAM = DOCUMENTS["result"], DOCUMENTS["team"]
SESSION, RESPONSE = DOCUMENTS["framework-session"], DOCUMENTS["framework-response"]
STREAM = [orjson.loads(line) for line in (FOLDER / "stream.jsonl").read_bytes().splitlines()]
USER = {"source": "user", "models_usage": None, "content": "hi", "type": "TextMessage"}
AGENT_USER = {"type": "message", "role": "user", "contents": [{"type": "text", "text": "hi"}]}
DROP = {"id": "d", "arguments": "{}", "name": "drop_all"}


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


def test_lines_with_messages_are_one_run():
    assert autogen.split(STREAM) == [STREAM]
    assert autogen.split([STREAM]) == [STREAM]
    assert autogen.split([RESULT, RESULT]) == [RESULT, RESULT]
    assert autogen.split([[RESULT, TEAM]]) == [RESULT, TEAM]


def test_the_result_at_the_end_of_a_stream_is_the_run():
    chunk = {"source": "coder", "models_usage": None, "content": "T", "type": "ModelClientStreamingChunkEvent"}
    result = {"messages": STREAM, "stop_reason": "done"}
    assert autogen.split([*STREAM, chunk, result]) == [result]
    assert autogen.split([*STREAM, RESULT]) == [STREAM, RESULT]


def test_a_result_has_calls_tokens_and_times():
    trace = read(RESULT)
    assert [message["role"] for message in trace.messages] == [
        *("user", "assistant", "tool", "tool", "assistant", "tool", "assistant"),
    ]
    assert called(trace) == [
        ("find_user", {"name": "Ada"}, "ok"),
        ("get_orders", {"name": "Ada"}, "error"),
        ("delete_user", {"id": 7}, "ok"),
    ]
    assert (trace.messages[1]["reasoning"], trace.messages[1]["agent"]) == ("I need her id.", "support")
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"], len(trace.llm_calls)) == (130, 18, 2)
    assert trace.latency == {"total_ms": 4000.0, "source": "timestamps"}
    assert (trace.response["content"], trace.scenario_id) == ("removed", "remove-account")
    assert (trace.metadata["stop_reason"], trace.gaps) == ("Maximum number of turns 1 reached.", {})


def test_the_state_of_a_team_has_the_calls_of_its_agents():
    trace = read(TEAM)
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]
    assert trace.tool_calls[0]["agent"] == "support"
    assert [message["content"] for message in trace.messages if message["role"] == "user"] == ["Remove user 7."]
    assert trace.response["content"] == "User 7 is removed."


def test_calls_that_the_thread_and_the_agents_have_are_one():
    team = deepcopy(TEAM)
    state = team["agent_states"]["support"]["agent_state"]["llm_context"]["messages"]
    manager = team["agent_states"]["RoundRobinGroupChatManager"]
    request = answer(type="ToolCallRequestEvent", content=state[1]["content"])
    manager["message_thread"].insert(1, request)
    assert len(read(team).tool_calls) == 1
    state[1]["content"].append({**state[1]["content"][0], "arguments": '{"id": 8}'})  # the same id again
    assert [arguments["id"] for _, arguments, _ in called(read(team))] == [7, 8]


def test_the_state_of_one_agent_is_read():
    state = TEAM["agent_states"]["support"]["agent_state"]
    assert detect.detect_format([state]).name == "autogen"
    trace = read(state)
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]
    assert (trace.turn_count, trace.response["content"]) == (1, "User 7 is removed.")


def test_nested_teams_are_read():
    outer = {"type": "TeamState", "agent_states": {"inner": {"agent_state": {"inner_team_state": TEAM}}}}
    assert called(read(outer)) == [("delete_user", {"id": 7}, "ok")]


def test_calls_that_only_a_summary_has_are_read():
    trace = read([RESULT["messages"][0], RESULT["messages"][-1]])
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]


def test_equal_ids_of_several_answers_are_several_calls():
    request = answer(type="ToolCallRequestEvent", content=[DROP])
    result = answer(
        type="ToolCallExecutionEvent",
        content=[{"content": "ok", "call_id": "d", "name": "drop_all", "is_error": False}],
    )
    assert called(read([USER, request, result, request, result])) == [("drop_all", {}, "ok")] * 2


def test_code_that_ran_is_a_call():
    trace = read(STREAM)
    blocks = {"code_blocks": [{"code": "print(1 + 1)", "language": "python"}]}
    assert called(trace) == [("code_execution", blocks, "ok")]
    assert (trace.tool_calls[0]["exit_code"], trace.tool_calls[0]["result"]) == (0, "2\n")
    failed = {**STREAM[2], "result": {"exit_code": 1, "output": "no"}}
    assert called(read([STREAM[0], failed])) == [("code_execution", None, "error")]


def test_an_agent_that_asks_for_input_speaks_for_a_person():
    asked = {
        "source": "anna",
        "type": "UserInputRequestedEvent",
        "content": "",
        "request_id": "r",
        "models_usage": None,
    }
    spoke = {"source": "anna", "type": "TextMessage", "content": "Yes.", "models_usage": None}
    assert [message["role"] for message in read([USER, answer(), asked, spoke]).messages] == [
        *("user", "assistant", "user"),
    ]


def test_an_agent_named_user_that_calls_tools_is_an_agent():
    trace = read([answer(type="ToolCallRequestEvent", source="user", content=[DROP])])
    assert trace.called == ["drop_all"]


def test_structured_and_multimodal_messages_have_their_content():
    found = read(
        [
            answer(source="user", type="MultiModalMessage", content=["see", {"data": "AAAA"}]),
            answer(type="StructuredMessage[Answer]", content={"total": 2}),
        ]
    )
    assert found.messages[0]["parts"] == [{"type": "text", "text": "see"}, {"type": "image"}]
    assert found.response["content"] == '{"total":2}'


def test_tokens_of_0_are_unknown():
    trace = read([USER, answer(models_usage={"prompt_tokens": 0, "completion_tokens": 0})])
    assert (trace.usage["total_tokens"], trace.llm_calls) == (None, [])


def test_a_session_of_agent_framework_has_approved_calls_once():
    trace = read(SESSION)
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]
    assert (trace.response["content"], trace.conversation_id) == ("User 7 is removed.", "s1")
    assert (trace.agent["framework"], trace.gaps) == ("agent-framework", {})


def test_an_approval_without_its_request_is_the_agents_call():
    messages = [
        message for message in SESSION["state"]["in_memory"]["messages"] if "approval_request" not in str(message)
    ]
    assert read(messages).called == ["delete_user"]


def test_a_response_of_agent_framework_has_tokens_and_errors():
    trace = read(RESPONSE)
    assert called(trace) == [("delete_user", {"id": 7}, "error"), ("search", {"q": "x"}, "ok")]
    assert (trace.tool_calls[0]["result"], trace.tool_calls[1]["result"]) == ("Error: denied", ["found"])
    assert (trace.usage["input_tokens"], trace.usage["total_tokens"]) == (90, 110)
    assert (trace.finish_reason, trace.trace_id, trace.messages[1]["reasoning"]) == ("stop", "resp-1", "I delete.")
    assert trace.gaps == {}


@pytest.mark.parametrize(
    ("content", "name", "arguments"),
    [
        ({"type": "shell_tool_call", "call_id": "s", "commands": ["rm x"]}, "shell", {"commands": ["rm x"]}),
        ({"type": "computer_tool_call", "call_id": "s", "actions": [{"t": 1}]}, "computer", {"actions": [{"t": 1}]}),
        ({"type": "image_generation_tool_call", "image_id": "i"}, "image_generation", {"image_id": "i"}),
        ({"type": "code_interpreter_tool_call", "call_id": "s"}, "code_interpreter", None),
        ({"type": "search_tool_call", "call_id": "s", "tool_name": "find", "arguments": '{"q": 1}'}, "find", {"q": 1}),
    ],
)
def test_calls_of_provider_tools_are_read(content, name, arguments):
    assert called(read(framework(content))) == [(name, arguments, "missing")]


def test_a_shell_that_failed_is_an_error():
    call = {"type": "shell_tool_call", "call_id": "s", "commands": ["x"]}
    output = {"type": "shell_command_output", "stdout": "", "stderr": "no", "exit_code": 2}
    trace = read(framework(call, {"type": "shell_tool_result", "call_id": "s", "outputs": [output]}))
    assert (trace.tool_calls[0]["status"], trace.tool_calls[0]["exit_code"]) == ("error", 2)


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ([USER, answer(type="RobotEvent", content=[["drop_all"]])], "messages[1].RobotEvent"),
        ([USER, answer(actions=[["drop_all"]])], "messages[1].actions"),
        ({"messages": [USER, answer()], "steps": [["drop_all"]]}, "`steps`"),
        (TEAM | {"steps": [["drop_all"]]}, "`steps`"),
        (framework({"type": "robot_call", "do": "drop_all"}), "contents[0].robot_call"),
        (framework({"type": "text", "text": "x", "robot": ["drop_all"]}), "contents[0].robot"),
        (framework({"type": "text", "text": "x"}, actions=[["drop_all"]]), "messages[1].actions"),
    ],
)
def test_unknown_types_and_fields_are_a_gap(document, named):
    assert named in read(document).gaps["calls"]


@pytest.mark.parametrize(
    "document",
    [
        [USER, answer(toolCalls=[DROP])],
        [USER, answer(type="RobotEvent", content=[DROP])],
        framework({"type": "tool_use", "name": "drop_all", "input": {}}),
        TEAM | {"later": {"messages": [{"tool_calls": [DROP]}]}},
    ],
)
def test_a_call_that_is_not_read_is_an_error(document):
    found = read(document)
    assert isinstance(found, DamagedTrace) or found.called == ["drop_all"]


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


@given(ANYTHING)
def test_detection_never_fails(value):
    assert detect.find_format("autogen").claims(value) in (True, False)


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        autogen.build({**RESULT, "metadata": nest_lists(100)})
