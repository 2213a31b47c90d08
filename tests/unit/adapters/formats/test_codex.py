from __future__ import annotations

import pytest

from evalgate.adapters.formats.codex import CODEX
from evalgate.adapters.formats.codex import reader as codex
from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.models.trace.trace import TraceLocation
from evalgate.models.trace.trace_view import list_evidence

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


def test_items_without_lines_around_them_are_a_rollout():
    items = [line["payload"] for line in ROLLOUT if line["type"] == "response_item"]
    items[1]["internal_chat_message_metadata_passthrough"] = {}
    assert CODEX.claims({"items": items})
    assert len(read([{"items": items}]).tool_calls) == 2


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"name": "mcp__shop__delete_user"}, "mcp__shop__delete_user"),
        ({"name": "delete_user", "namespace": "mcp__shop"}, "mcp__shop__delete_user"),
        ({"name": "delete_user", "namespace": "mcp__shop__"}, "mcp__shop__delete_user"),
        ({"name": "mcp__shop__delete_user", "namespace": "mcp__shop"}, "mcp__shop__delete_user"),
        ({"name": "delete_user", "namespace": "crm"}, "delete_user"),
        ({"name": "delete_user", "namespace": None}, "delete_user"),
    ],
)
def test_a_tool_of_an_mcp_server_has_one_name_however_it_is_recorded(fields, name):
    request = called("c9")
    request["payload"] |= fields
    assert read([*ROLLOUT, request]).tool_calls[-1]["name"] == name


@pytest.mark.parametrize("document", [*ROLLOUT, *EXEC[2:], EXEC, {"events": EXEC}])
def test_lines_and_lists_identify_the_format(document):
    assert CODEX.claims(document)


@pytest.mark.parametrize(
    "value", [{"type": "item.x"}, {"events": []}, {"items": [{"type": "function_call", "call_id": "c"}]}, []]
)
def test_other_documents_are_not_claimed(value):
    assert not CODEX.claims(value)


@pytest.mark.parametrize(
    ("output", "errors", "status"),
    [
        ("aborted by user after 3.0s", "partial", "unknown"),
        ("Exit code: 0\nOutput:\na", "complete", "ok"),
        ("Exit code: 2\nOutput:\na", "complete", "error"),
        ("Process running with session ID 4\nOutput:\na", "complete", "unknown"),
    ],
)
def test_the_output_of_a_command_without_an_exit_code_does_not_count_as_a_success(output, errors, status):
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List."}]},
        {"type": "function_call", "name": "shell", "call_id": "c", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": output},
    ]
    lines = [
        {"type": "session_meta", "payload": {"id": "s"}},
        *({"type": "response_item", "payload": i} for i in items),
    ]
    trace = read_record(codex.READER, lines, TraceLocation("a.jsonl", "codex"), "a.jsonl")
    assert trace.tool_calls[0]["status"] == status
    assert list_evidence(trace)["errors"] == errors
