from __future__ import annotations

import pytest
from damage import ANYTHING, damage_document, nest_lists
from hypothesis import given

from evalgate.adapters.formats.codex import CODEX
from evalgate.adapters.formats.codex import reader as codex
from evalgate.errors import TraceError

DONE = {
    "type": "turn.completed",
    "usage": {"input_tokens": 90, "cached_input_tokens": 40, "output_tokens": 9},
}


def item(kind, known="i1", state="completed", **more):
    return {"type": f"item.{state}", "item": {"id": known, "type": kind, **more}}


def command(known, state="completed", code=0, **more):
    fields = {"command": "ls", "aggregated_output": "", "exit_code": None, "status": "in_progress"}
    if state == "completed":
        fields |= {"aggregated_output": "x", "exit_code": code, "status": "failed" if code else "completed"}
    return item("command_execution", known, state, **fields | more)


EXEC = [
    {"type": "thread.started", "thread_id": "th1"},
    {"type": "turn.started"},
    item("reasoning", "i0", text="hm"),
    item("agent_message", "i1", text="I look."),
    command("i2", "started"),
    command("i2"),
    command("i3", "started"),
    command("i3", code=2),
    item(
        "mcp_tool_call",
        "i4",
        server="shop",
        tool="get_order",
        arguments={"id": 42},
        result={"content": [{"type": "text", "text": "sent"}], "structured_content": None},
        error=None,
        status="completed",
    ),
    item("file_change", "i5", changes=[{"path": "a", "kind": "add"}], status="completed"),
    item("todo_list", "i6", items=[]),
    item("agent_message", "i7", text="Done."),
    DONE,
]


def line(kind, seconds=0, **payload):
    return {"timestamp": f"2026-01-01T00:00:{seconds:02}.000Z", "type": kind, "payload": payload}


def message(role, words, seconds=0):
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": words}]
    return line("response_item", seconds, type="message", role=role, content=content)


def called(known, name="shell", arguments='{"command": ["ls"]}', seconds=0):
    return line("response_item", seconds, type="function_call", call_id=known, name=name, arguments=arguments)


def output(known, words, seconds=0):
    return line("response_item", seconds, type="function_call_output", call_id=known, output=words)


def tokens(total, last=None, **info):
    return line("event_msg", type="token_count", info={"total_token_usage": total, "last_token_usage": last, **info})


def counted(fresh, out, thought=0, total=None):
    return {
        "input_tokens": fresh,
        "cached_input_tokens": 5,
        "output_tokens": out,
        "reasoning_output_tokens": thought,
        "total_tokens": fresh + out if total is None else total,
    }


ROLLOUT = [
    line("session_meta", id="r1", cli_version="0.50.0", git={"commit_hash": "abc", "branch": "main"}),
    message("user", "<environment_context>cwd</environment_context>"),
    message("user", "hi", 1),
    line("event_msg", 1, type="user_message", message="hi"),
    line("turn_context", model="gpt-x"),
    line("response_item", 2, type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
    called("c1", seconds=2),
    called("c2", seconds=2),
    tokens(counted(100, 10), counted(100, 10)),
    output("c1", '{"output":"x\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}', 3),
    output("c2", "Chunk ID: 1\nProcess exited with code 3\nOutput:\nno", 4),
    message("assistant", "Done.", 5),
    tokens(counted(300, 30), counted(200, 20)),
    tokens(counted(300, 30), counted(200, 20)),
]


def read(lines):
    records = codex.split(lines)
    assert len(records) == 1
    return codex.build(records[0])


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def test_events_are_one_run():
    trace = read(EXEC)
    assert (trace.trace_id, trace.status, trace.response["content"]) == ("th1", "ok", "Done.")
    assert (trace.messages[0]["content"], trace.messages[0]["reasoning"]) == ("I look.", "hm")
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"], trace.usage["total_tokens"]) == (
        90,
        9,
        99,
    )
    assert trace.usage["cache_read_input_tokens"] == 40
    assert trace.cost["usd"] is trace.latency["total_ms"] is trace.model is None
    assert codes(trace) == []


def test_started_and_completed_are_one_call_with_its_exit_code():
    trace = read(EXEC)
    assert [(call["name"], call["status"], call["exit_code"]) for call in trace.tool_calls] == [
        ("command_execution", "ok", 0),
        ("command_execution", "error", 2),
        ("get_order", "ok", None),
        ("file_change", "ok", None),
    ]
    assert trace.tool_calls[0]["arguments"] == {"command": "ls"}
    assert trace.tool_calls[2]["arguments"] == {"id": 42}
    assert trace.tool_calls[2]["result_text"] == "sent"
    assert [call["step"] for call in trace.tool_calls] == [1, 2, 3, 4]


def test_commands_that_ran_at_the_same_time_are_of_one_step():
    events = [command("a", "started"), command("b", "started"), command("a"), command("b"), DONE]
    assert [(call["step"], call["status"]) for call in read(events).tool_calls] == [(1, "ok"), (1, "ok")]


def test_a_repeated_completed_item_counts_once():
    assert len(read([command("a"), command("a"), DONE]).tool_calls) == 1


@pytest.mark.parametrize("before", [[command("a", "started"), command("a")], [command("a", "started")]])
def test_an_item_of_a_known_id_that_does_something_else_is_another_call(before):
    trace = read([*before, command("a", command="rm -rf /"), DONE])
    assert [call["arguments"]["command"] for call in trace.tool_calls] == ["ls", "rm -rf /"]


def test_fields_of_a_completed_item_belong_to_its_call():
    begun = item("web_search", "w", "started", query="", action={"type": "other"})
    done = item("web_search", "w", query="price", action={"type": "search"})
    (call,) = read([begun, done, DONE]).tool_calls
    assert call["arguments"] == {"query": "price", "action": {"type": "search"}}


def test_an_item_of_an_unknown_kind_that_has_a_status_is_a_call():
    events = [item("browser_action", "b", url="x.test", status="failed", error={"message": "no"}), DONE]
    (call,) = read(events).tool_calls
    assert (call["name"], call["arguments"], call["status"]) == ("browser_action", {"url": "x.test"}, "error")


def test_a_tool_of_a_server_that_failed_says_why():
    failed = item("mcp_tool_call", "a", tool="t", status="failed", error={"message": "no"}, result=None)
    call = read([failed, DONE]).tool_calls[0]
    assert (call["status"], call["error"]["message"]) == ("error", "no")


def test_structure_that_a_server_gave_is_the_result():
    done = item("mcp_tool_call", "a", tool="t", result={"content": [], "structured_content": {"x": 1}})
    assert read([done, DONE]).tool_calls[0]["result"] == {"x": 1}


def test_events_without_a_completed_turn_are_incomplete():
    trace = read(EXEC[:5])
    assert (trace.status, codes(trace)) == ("incomplete", ["results_missing", "incomplete"])


def test_a_failed_turn_is_an_error():
    trace = read([*EXEC[:-1], {"type": "turn.failed", "error": {"message": "quota"}}])
    assert (trace.status, trace.error) == ("error", {"type": "turn_failed", "message": "quota"})


def test_totals_of_later_turns_replace_earlier_ones():
    later = {"type": "turn.completed", "usage": {"input_tokens": 200, "output_tokens": 20}}
    trace = read([*EXEC, {"type": "turn.started"}, item("agent_message", "i9", text="Again."), later])
    assert trace.usage["input_tokens"] == 200


def test_threads_of_one_file_are_separate_runs():
    assert len(codex.split([*EXEC, *EXEC])) == 2


def test_a_rollout_is_one_run_with_its_settings():
    trace = read(ROLLOUT)
    assert (trace.trace_id, trace.model, trace.provider, trace.status) == ("r1", "gpt-x", "openai", "ok")
    assert trace.agent == {"name": "codex", "framework": "codex", "version": "0.50.0"}
    assert trace.metadata == {"git_commit_hash": "abc", "git_branch": "main"}
    assert trace.response["content"] == "Done."
    assert trace.latency == {"total_ms": 4000.0, "source": "timestamps"}


def test_messages_of_codex_to_the_model_open_no_turn():
    trace = read(ROLLOUT)
    assert trace.turn_count == 1
    assert [message["role"] for message in trace.messages[:3]] == ["system", "user", "assistant"]


def test_calls_of_a_rollout_are_parallel_and_have_their_exit_code():
    calls = read(ROLLOUT).tool_calls
    assert [(call["step"], call["status"], call["exit_code"]) for call in calls] == [
        (1, "ok", 0),
        (1, "error", 3),
    ]
    assert calls[0]["result"] == "x\n"
    assert calls[0]["arguments"] == {"command": ["ls"]}


def test_output_of_other_tools_is_left_as_it_is():
    words = "Process exited with code 3"
    call = read([called("c", "get_order", "{}"), output("c", words)]).tool_calls[0]
    assert (call["status"], call["exit_code"], call["result"]) == ("ok", None, words)


def test_token_totals_are_cumulative_and_repeated():
    trace = read(ROLLOUT)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (300, 30)
    assert [call["usage"]["input_tokens"] for call in trace.llm_calls] == [100, 200]


def test_reasoning_that_a_total_counts_beside_the_output_is_added_to_it():
    assert read([*ROLLOUT, tokens(counted(300, 40, 8))]).usage["output_tokens"] == 40
    assert read([*ROLLOUT, tokens(counted(300, 40, 8, 348))]).usage["output_tokens"] == 48


@pytest.mark.parametrize("last", [line("event_msg", type="turn_aborted"), called("c9"), message("user", "and?")])
def test_a_rollout_that_ends_before_an_answer_is_incomplete(last):
    assert read([*ROLLOUT, last]).status == "incomplete"


def test_an_error_is_cleared_when_the_user_continues():
    failed = line("event_msg", type="error", message="quota")
    assert read([*ROLLOUT, failed]).error == {"type": "turn_failed", "message": "quota"}
    again = [message("user", "again"), line("event_msg", type="user_message"), message("assistant", "ok")]
    assert read([*ROLLOUT, failed, *again]).status == "ok"


def test_items_without_lines_around_them_are_a_rollout():
    items = [line["payload"] for line in ROLLOUT if line["type"] == "response_item"]
    items[1]["internal_chat_message_metadata_passthrough"] = {}
    assert CODEX.claims({"items": items})
    assert len(read([{"items": items}]).tool_calls) == 2


def test_token_counts_alone_are_read_with_a_warning():
    trace = read([tokens(counted(10, 1))])
    assert (trace.usage["total_tokens"], codes(trace)) == (11, ["content_not_captured"])


@pytest.mark.parametrize("document", [*ROLLOUT, *EXEC[2:], EXEC, {"events": EXEC}])
def test_lines_and_lists_identify_the_format(document):
    assert CODEX.claims(document)


@pytest.mark.parametrize(
    "value", [{"type": "item.x"}, {"events": []}, {"items": [{"type": "function_call", "call_id": "c"}]}, []]
)
def test_other_documents_are_not_claimed(value):
    assert not CODEX.claims(value)


@pytest.mark.parametrize("lines", [EXEC, ROLLOUT])
def test_deep_input_is_refused(lines):
    with pytest.raises(TraceError, match="64 levels"):
        read([*lines, {"deep": nest_lists(70)}])


@given(damage_document(EXEC))
def test_damaged_events_are_a_trace_or_a_reason(document):
    build_all(document)


@given(damage_document(ROLLOUT))
def test_a_damaged_rollout_is_a_trace_or_a_reason(document):
    build_all(document)


def build_all(document):
    for record in codex.split(document):
        try:
            codex.build(record)
        except TraceError as error:
            assert len(str(error)) < 300


@given(ANYTHING)
def test_any_json_is_claimed_or_not(value):
    for document in (value, [value], {"events": value}, {"items": [value]}):
        assert CODEX.claims(document) in (True, False)
        build_all([document])
