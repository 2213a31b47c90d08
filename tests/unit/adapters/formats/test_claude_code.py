from __future__ import annotations

import pytest

from evalgate.adapters.formats.claude_code import CLAUDE_CODE
from evalgate.adapters.formats.claude_code import reader as claude_code
from evalgate.adapters.formats.core.builder.evidence_gaps import find_gaps
from evalgate.adapters.formats.core.fields import FieldError

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


@pytest.mark.parametrize("place", [0, 2])
def test_a_line_about_another_session_makes_no_session_of_its_own(place):
    """A transcript that goes on from another one may hold that one's title."""
    about = {"type": "custom-title", "customTitle": "Before", "sessionId": "s0"}
    asked = {"type": "user", "sessionId": "s1", "uuid": "u1", "message": {"role": "user", "content": "Hi."}}
    said = {**asked, "type": "assistant", "uuid": "u2", "message": {"role": "assistant", "content": [text("Hello.")]}}
    lines = [asked, said]
    lines.insert(place, about)
    (session,) = claude_code.READER.split(lines)
    assert about in session
    trace = claude_code.READER.build(session)
    assert trace.conversation_id == "s1"
    assert len(trace.messages) == 2


WORDS_IN_A_QUEUE = {
    "type": "queued_command",
    "prompt": "continue",
    "commandMode": "prompt",
    "origin": {"kind": "human"},
    "timestamp": "2026-01-01T00:00:01Z",
}
NOTICE = {
    "prompt": "<task-notification>\n<status>completed</status>\n</task-notification>",
    "commandMode": "task-notification",
    "origin": {"kind": "task-notification", "producer": "session-task"},
    "usage": {"totalTokens": 37, "toolUses": 2, "durationMs": 1048},
    "runId": "0mx0gyf1s",
}


def attachment(**more):
    held = {"type": "attachment", "sessionId": "s2", "uuid": "u9", "parentUuid": "u1"}
    return {**held, "attachment": {**WORDS_IN_A_QUEUE, **more}}


@pytest.mark.parametrize("more", [{}, NOTICE, {"prompt": [{"type": "text", "text": "go on"}]}, {"isMeta": False}])
def test_words_that_waited_for_the_agent_are_no_call(more):
    """Those of the user, and the notice of a sub-agent that ended while the main agent was at work."""
    lines = [session_line("user", "hi", 0), attachment(**more), session_line("assistant", [text("Hello.")], 1)]
    (record,) = claude_code.split(lines)
    trace = claude_code.build(record)
    find_gaps(trace, record, claude_code.READER)
    assert trace.gaps == {}


def test_an_act_beside_words_that_waited_is_no_part_of_them():
    lines = [session_line("user", "hi", 0), attachment(ran={"tool": "delete_user", "arguments": {"id": 1}})]
    (record,) = claude_code.split([*lines, session_line("assistant", [text("Hello.")], 1)])
    trace = claude_code.build(record)
    with pytest.raises(FieldError, match="delete_user"):
        find_gaps(trace, record, claude_code.READER)
