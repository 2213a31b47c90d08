from __future__ import annotations

import pytest
from damage import ANYTHING, damage_document, nest_lists
from hypothesis import given

from evalgate.adapters.formats.claude_code import CLAUDE_CODE
from evalgate.adapters.formats.claude_code import reader as claude_code
from evalgate.errors import TraceError

INIT = {
    "type": "system",
    "subtype": "init",
    "session_id": "s1",
    "model": "opus",
    "tools": ["Bash", "Task"],
    "mcp_servers": [{"name": "shop", "status": "failed"}],
    "permissionMode": "default",
    "claude_code_version": "2.1.0",
}


def usage(fresh=10, out=1, read=100, made=20):
    return {
        "input_tokens": fresh,
        "output_tokens": out,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": made,
    }


def assistant(message_id, *blocks, parent=None, **usages):
    message = {"role": "assistant", "id": message_id, "model": "opus", "content": list(blocks)}
    message["usage"] = usage(**usages)
    return {"type": "assistant", "session_id": "s1", "parent_tool_use_id": parent, "message": message}


def answers(*blocks, parent=None, **beside):
    message = {"role": "user", "content": list(blocks)}
    return {"type": "user", "session_id": "s1", "parent_tool_use_id": parent, "message": message, **beside}


def text(words):
    return {"type": "text", "text": words}


def uses(call_id, name="Bash", **given):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def answer(call_id, content="ok", **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def result(**more):
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "session_id": "s1",
        "duration_ms": 1500,
        "num_turns": 3,
        "result": "Done.",
        "total_cost_usd": 0.834,
        "usage": usage(),
        "modelUsage": {
            "haiku": {"inputTokens": 5, "outputTokens": 7, "costUSD": 0.281},
            "opus": {
                "inputTokens": 30,
                "outputTokens": 90,
                "cacheReadInputTokens": 1000,
                "cacheCreationInputTokens": 200,
                "costUSD": 0.553,
            },
        },
        **more,
    }


STREAM = [
    INIT,
    assistant("m1", {"type": "thinking", "thinking": "hm"}),
    assistant("m1", text("I look.")),
    assistant("m1", uses("t1", command="ls")),
    assistant("m1", uses("t2", command="cat x")),
    answers(answer("t1", "x")),
    answers(answer("t2", "Exit code 1\nno such file", is_error=True)),
    assistant("m2", text("Done.")),
    result(),
]


def session_line(role, content, seconds, **more):
    return {
        "type": role,
        "sessionId": "s2",
        "timestamp": f"2026-01-01T00:{seconds // 60:02}:{seconds % 60:02}Z",
        "uuid": f"u{seconds}",
        "message": {"role": role, "content": content, **more.pop("message", {})},
        **more,
    }


def read(lines):
    records = claude_code.split(lines)
    assert len(records) == 1
    return claude_code.build(records[0])


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def test_a_stream_is_one_run_with_its_settings():
    trace = read(STREAM)
    assert (trace.trace_id, trace.model, trace.status) == ("s1", "opus", "ok")
    assert trace.agent == {"name": "claude-code", "framework": "claude-code", "version": "2.1.0"}
    assert trace.tool_definitions == [{"name": "Bash"}, {"name": "Task"}]
    assert trace.metadata == {
        "permission_mode": "default",
        "mcp_servers": {"shop": "failed"},
        "num_turns": 3,
    }
    assert trace.response["content"] == "Done."
    assert trace.response["message_index"] == 3


def test_lines_of_one_message_are_one_message_and_its_calls_parallel():
    trace = read(STREAM)
    first = trace.messages[0]
    assert (first["content"], first["reasoning"]) == ("I look.", "hm")
    assert [(call["name"], call["step"], call["status"]) for call in trace.tool_calls] == [
        ("Bash", 1, "ok"),
        ("Bash", 1, "error"),
    ]
    assert len(trace.llm_calls) == 2


def test_a_call_whose_answer_comes_between_the_lines_of_its_message_is_still_of_that_message():
    lines = [*STREAM[:4], STREAM[5], STREAM[4], *STREAM[6:]]
    assert [(call["step"], call["status"]) for call in read(lines).tool_calls] == [(1, "ok"), (1, "error")]


def test_a_repeated_line_counts_once():
    lines = [INIT, *(line for line in STREAM[1:4] for _ in range(2)), *STREAM[4:]]
    trace = read(lines)
    assert trace.messages[0]["content"] == "I look."
    assert len(trace.tool_calls) == 2


def test_commands_have_their_exit_code():
    assert [call["exit_code"] for call in read(STREAM).tool_calls] == [0, 1]


@pytest.mark.parametrize(
    ("content", "tool_use_result"),
    [("", {"backgroundTaskId": "b1"}), ("x", {"interrupted": True}), ("Command running in background", None)],
)
def test_a_command_that_did_not_end_has_no_exit_code(content, tool_use_result):
    lines = [assistant("m1", uses("t1", command="x")), answers(answer("t1", content), tool_use_result=tool_use_result)]
    assert read([INIT, *lines, result()]).tool_calls[0]["exit_code"] is None


def test_other_tools_have_no_exit_code():
    lines = [assistant("m1", uses("t1", "Read")), answers(answer("t1", "x"))]
    assert read([INIT, *lines, result()]).tool_calls[0]["exit_code"] is None


def test_an_error_in_tags_is_reported_without_them():
    lines = [
        assistant("m1", uses("t1", "Edit")),
        answers(answer("t1", "<tool_use_error>no</tool_use_error>")),
    ]
    call = read([INIT, *lines, result()]).tool_calls[0]
    assert (call["status"], call["result_text"], call["error"]["message"]) == ("error", "no", "no")


def test_the_result_counts_the_tokens_of_all_models_with_their_cache():
    trace = read(STREAM)
    assert trace.usage["input_tokens"] == 5 + 30 + 1000 + 200
    assert (trace.usage["output_tokens"], trace.usage["source"]) == (97, "recorded_total")
    assert trace.cost == {"usd": 0.834, "source": "recorded"}
    assert trace.latency == {"total_ms": 1500.0, "source": "recorded"}
    assert trace.llm_calls[0]["usage"]["input_tokens"] == 130
    assert trace.llm_calls[0]["usage"]["output_tokens"] is None  # a placeholder in streams
    assert codes(trace) == []


def test_a_result_without_counts_by_model_counts_the_main_model():
    trace = read([*STREAM[:-1], result(modelUsage=None, usage=usage(fresh=300, out=9))])
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (420, 9)


def test_a_result_that_counts_less_than_its_lines_is_a_warning():
    trace = read([*STREAM[:-1], result(modelUsage=None, usage=usage(fresh=1, read=0, made=0))])
    assert "total_mismatch" in codes(trace)


def test_a_stream_without_result_was_stopped_and_its_output_is_unknown():
    trace = read(STREAM[:-1])
    assert trace.status == "incomplete"
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (260, None)
    assert trace.cost == {"usd": None, "source": "unknown"}
    assert codes(trace) == ["incomplete", "tokens_incomplete"]


def test_a_killed_runs_calls_have_no_result():
    trace = read(STREAM[:5])
    assert [call["status"] for call in trace.tool_calls] == ["missing", "missing"]
    assert "results_missing" in codes(trace)


@pytest.mark.parametrize(
    ("more", "status", "reason"),
    [
        ({"subtype": "error_max_turns"}, "incomplete", "max_turns"),
        ({"subtype": "error_max_budget_usd", "is_error": True}, "incomplete", "max_budget_usd"),
        ({"subtype": "error_during_execution"}, "error", None),
        ({"is_error": True, "result": "API Error: 500"}, "error", None),
    ],
)
def test_a_run_that_did_not_succeed_says_how_it_ended(more, status, reason):
    trace = read([*STREAM[:-1], result(**more)])
    assert (trace.status, trace.finish_reason) == (status, reason)
    assert (trace.error is not None) == (status == "error")


def test_the_text_of_an_error_is_not_the_response():
    trace = read([*STREAM[:-1], result(is_error=True, result="API Error: 500")])
    assert trace.error == {"type": "success", "message": "API Error: 500"}
    assert trace.response["content"] == "Done."


def test_structured_output_is_the_response():
    trace = read([*STREAM[:-1], result(result="", structured_output={"b": 1, "a": 2})])
    assert trace.response == {"content": '{"a":2,"b":1}', "finish_reason": None, "message_index": None}


def test_denied_permissions_are_a_warning():
    denied = [{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {}}]
    trace = read([*STREAM[:-1], result(permission_denials=denied)])
    assert trace.metadata["permission_denials"] == ["Bash"]
    assert codes(trace) == ["permission_denied"]


def test_hooks_are_kept_as_metadata():
    hook = {
        "type": "system",
        "subtype": "hook_response",
        "session_id": "s1",
        "hook_name": "guard",
        "exit_code": 2,
    }
    assert read([INIT, hook, *STREAM[1:]]).metadata["hooks"] == [{"hook_name": "guard", "exit_code": 2}]


def test_of_several_results_a_running_total_is_taken_once():
    first = result(total_cost_usd=0.5, modelUsage={"opus": {"inputTokens": 200, "outputTokens": 1}})
    last = result(total_cost_usd=0.9, modelUsage={"opus": {"inputTokens": 300, "outputTokens": 2}})
    trace = read([*STREAM[:7], first, STREAM[7], last])
    assert (trace.cost["usd"], trace.usage["input_tokens"]) == (0.9, 300)
    assert trace.latency["total_ms"] == 3000.0


def test_of_several_results_that_each_count_their_own_the_sum_is_taken():
    single = result(total_cost_usd=0.5, modelUsage={"opus": {"inputTokens": 130, "outputTokens": 4}})
    trace = read([*STREAM[:7], single, STREAM[7], single])
    assert (trace.cost["usd"], trace.usage["input_tokens"], trace.usage["output_tokens"]) == (1.0, 260, 8)


def test_a_cost_of_zero_beside_tokens_is_unknown():
    trace = read([*STREAM[:-1], result(total_cost_usd=0)])
    assert trace.cost["usd"] is None
    assert codes(trace) == ["zero_cost"]


def test_calls_of_sub_agents_count_and_their_text_does_not():
    lines = [
        INIT,
        assistant("m1", uses("t1", "Task", prompt="look", subagent_type="scout"), uses("t2", "Read")),
        answers(text("look"), parent="t1"),
        assistant("a1", uses("x1", command="ls"), parent="t1"),
        answers(answer("x1"), parent="t1"),
        assistant("a2", text("found"), parent="t1"),
        answers(answer("t1", "found")),
        answers(answer("t2", "r")),
        assistant("m2", uses("t3", "Write")),
        answers(answer("t3", "w")),
        assistant("m3", text("Done.")),
        result(),
    ]
    trace = read(lines)
    assert [(call["index"], call["name"], call["step"], call["agent"]) for call in trace.tool_calls] == [
        (0, "Task", 1, None),
        (1, "Read", 1, None),
        (2, "Bash", 2, "scout"),
        (3, "Write", 4, None),
    ]
    assert [call["step"] for call in trace.llm_calls] == [1, 2, 3, 4, 5]
    assert [message["content"] for message in trace.messages] == [None, "found", "r", None, "w", "Done."]


def test_side_chains_of_a_session_file_are_sub_agents_by_their_prompt():
    lines = [
        session_line("user", "do it", 0),
        session_line("assistant", [uses("t1", "Task", prompt="look", subagent_type="scout")], 1),
        session_line("user", "look", 2, isSidechain=True, parentUuid=None),
        session_line("assistant", [uses("x1", "Read")], 3, isSidechain=True, parentUuid="u2"),
        session_line("user", [answer("x1")], 4, isSidechain=True, parentUuid="u3"),
        session_line("user", [answer("t1", "found")], 5),
        session_line("assistant", [text("Done.")], 6),
    ]
    trace = read(lines)
    assert [(call["name"], call["agent"], call["turn"]) for call in trace.tool_calls] == [
        ("Task", None, 1),
        ("Read", "scout", 1),
    ]
    assert trace.turn_count == 1
    assert trace.latency == {"total_ms": 6000.0, "source": "timestamps"}


def test_a_sub_agent_of_a_sub_agent_stays_with_the_step_that_began_both():
    lines = [
        INIT,
        assistant("m1", uses("t1", "Task", prompt="a")),
        assistant("a1", uses("t2", "Task", prompt="b"), parent="t1"),
        assistant("b1", uses("t3", "Read"), parent="t2"),
        answers(answer("t3"), parent="t2"),
        answers(answer("t2"), parent="t1"),
        answers(answer("t1")),
        result(),
    ]
    assert [(call["id"], call["step"]) for call in read(lines).tool_calls] == [
        ("t1", 1),
        ("t2", 2),
        ("t3", 3),
    ]


def test_sub_agents_that_began_each_other_are_read():
    lines = [
        assistant("a1", uses("t2", "Task"), parent="t1"),
        assistant("b1", uses("t1", "Task"), parent="t2"),
        assistant("m1", text("x")),
        result(),
    ]
    assert len(read(lines).tool_calls) == 2


def test_a_file_of_a_sub_agent_alone_is_its_conversation():
    lines = [
        session_line("user", "look", 0, isSidechain=True, parentUuid=None),
        session_line("assistant", [text("found")], 1, isSidechain=True, parentUuid="u0"),
    ]
    assert read(lines).response["content"] == "found"


def test_a_session_file_takes_the_last_count_of_each_message_and_the_cost_of_its_lines():
    def line(seconds, out):
        counted = {"id": "m1", "model": "opus", "usage": usage(out=out)}
        return session_line("assistant", [text(f"{seconds}")], seconds, costUSD=0.25, message=counted)

    trace = read([session_line("user", "hi", 0), line(1, 1), line(2, 50)])
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (130, 50)
    assert trace.cost == {"usd": 0.25, "source": "recorded"}
    assert trace.messages[1]["content"] == "1\n2"


def test_messages_of_claude_code_to_itself_open_no_turn():
    lines = [
        session_line("user", "caveat", 0, isMeta=True),
        session_line("user", "earlier talk", 1, isCompactSummary=True),
        session_line("user", "hi", 2),
        session_line("assistant", [text("hello")], 3),
    ]
    assert [message["content"] for message in read(lines).messages] == ["hi", "hello"]


def test_time_between_turns_is_not_waited_for():
    lines = [
        session_line("user", "a", 0),
        session_line("assistant", [text("b")], 5),
        session_line("user", "c", 600),
        session_line("assistant", [text("d")], 602),
    ]
    assert read(lines).latency["total_ms"] == 7000.0


@pytest.mark.parametrize(
    "last",
    [session_line("user", "and?", 9), session_line("assistant", [uses("t9")], 9)],
    ids=["asked", "calls"],
)
def test_a_session_that_ends_before_an_answer_is_incomplete(last):
    lines = [session_line("user", "a", 0), session_line("assistant", [text("b")], 5), last]
    assert read(lines).status == "incomplete"


def test_an_error_of_the_service_at_the_end_is_the_runs_error():
    failed = {"model": "<synthetic>"}
    error = session_line("assistant", [text("API Error: 529")], 5, isApiErrorMessage=True, message=failed)
    trace = read([session_line("user", "a", 0), error])
    assert (trace.status, trace.error["message"]) == ("error", "API Error: 529")
    later = [session_line("user", "a", 0), error, session_line("assistant", [text("b")], 6)]
    assert read(later).status == "ok"


def test_a_copied_line_of_a_session_counts_once():
    lines = [session_line("user", "a", 0), session_line("assistant", [text("b")], 5)]
    assert len(read([*lines, *lines]).messages) == 2


def test_sessions_of_one_file_are_separate_runs():
    lines = [
        {"type": "summary", "summary": "x", "leafUuid": "l"},
        session_line("user", "a", 0),
        {**session_line("user", "b", 1), "sessionId": "s3"},
    ]
    records = claude_code.split(lines)
    assert [claude_code.build(record).trace_id for record in records] == ["s2", "s3"]
    assert claude_code.build(records[0]).name == "x"


def test_lines_with_only_tokens_are_read_with_a_warning():
    line = {"sessionId": "s", "costUSD": 0.1, "message": {"role": "assistant", "id": "m", "usage": usage()}}
    trace = read([line])
    assert "content_not_captured" in codes(trace)
    assert trace.cost["usd"] == 0.1


@pytest.mark.parametrize("holder", ["loglines", "messages"])
def test_lines_may_be_held_by_an_object_and_name_no_session(holder):
    lines = [
        session_line("user", "hi", 0),
        session_line("assistant", [text("I look."), uses("t1", command="ls")], 1),
        session_line("user", [answer("t1", "a.py")], 2),
        session_line("assistant", [text("One file.")], 3),
    ]
    document = {holder: [{k: v for k, v in line.items() if k != "sessionId"} for line in lines]}
    assert CLAUDE_CODE.claims(document)
    trace = read([document])
    assert (trace.response["content"], trace.tool_calls[0]["result"]) == ("One file.", "a.py")
    assert (trace.trace_id, trace.status, trace.latency["total_ms"]) == ("", "ok", 3000)


def test_a_message_without_a_role_is_of_the_one_its_line_names():
    line = session_line("user", [answer("t1", "ok")], 2)
    del line["message"]["role"]
    lines = [session_line("user", "hi", 0), session_line("assistant", [uses("t1")], 1), line]
    assert read(lines).tool_calls[0]["result"] == "ok"


@pytest.mark.parametrize("line", STREAM, ids=lambda line: line["type"])
def test_every_line_identifies_the_format(line):
    assert CLAUDE_CODE.claims(line)
    assert CLAUDE_CODE.claims([line])


@pytest.mark.parametrize(
    "value",
    [
        {"type": "result"},
        {"type": "message", "role": "assistant", "content": []},
        [{"role": "user", "content": "x"}],
        {"type": "user", "message": "x"},
        {"type": "user", "message": {"role": "user"}},
        {"type": "user", "message": {"role": "assistant", "content": "x"}},
        {"messages": [{"role": "user", "content": "x"}]},
        {"messages": [{"type": "human", "data": {"content": "x"}}]},
        {"loglines": [{"level": "info", "message": "started"}]},
        {"loglines": "x"},
        {"session_id": "x", "step": 1, "event": "action"},
    ],
)
def test_other_documents_are_not_claimed(value):
    assert not CLAUDE_CODE.claims(value)


SIDE = [
    assistant("m1", uses("t1", "Task", prompt="look")),
    assistant("a1", uses("x1", command="ls"), parent="t1"),
    session_line("user", "look", 2, isSidechain=True, parentUuid=None, costUSD=0.5),
]


@given(damage_document([*STREAM, *SIDE]))
def test_damaged_lines_are_a_trace_or_a_reason(document):
    for record in claude_code.split(document):
        claude_code.READER.identify(record)
        try:
            claude_code.build(record)
        except TraceError as error:
            assert len(str(error)) < 300


@given(ANYTHING)
def test_any_json_is_claimed_or_not(value):
    assert CLAUDE_CODE.claims(value) in (True, False)
    assert CLAUDE_CODE.claims([value]) in (True, False)


def test_deep_input_is_refused():
    with pytest.raises(TraceError, match="64 levels"):
        read([INIT, assistant("m1", uses("t1", deep=nest_lists(70))), result()])


def test_a_line_of_a_known_id_with_another_message_is_also_read():
    line = session_line("assistant", [uses("t1")], 5)
    other = {**line, "message": {"role": "assistant", "content": [uses("t1", "Delete")]}}
    trace = read([session_line("user", "a", 0), line, other, line])
    assert [call["name"] for call in trace.tool_calls] == ["Bash", "Delete"]


@pytest.mark.parametrize(
    "marks", [{"isMeta": True}, {"isVisibleInTranscriptOnly": True}, {"message": {"model": "<synthetic>"}}]
)
def test_tools_used_in_lines_that_are_marked_as_silent_are_read(marks):
    trace = read([session_line("user", "a", 0), session_line("assistant", [uses("t1", "Delete")], 5, **marks)])
    assert [call["name"] for call in trace.tool_calls] == ["Delete"]


def test_the_cost_of_several_results_is_unknown_where_one_lacks_it():
    silent = {key: value for key, value in result().items() if key != "total_cost_usd"}
    lines = [
        *(answers(text("a")), assistant("m1", text("b"), fresh=10**6), silent),
        *(answers(text("c")), assistant("m2", text("d"), fresh=10**6), result()),
    ]
    assert read([INIT, *lines]).cost["usd"] is None
