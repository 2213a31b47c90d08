from __future__ import annotations

import pytest
from assess_assertion import assess

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.openhands.reader import READER
from evalgate.models.trace.trace import TraceLocation
from evalgate.models.trace.trace_view import list_evidence
from evalgate.reporting.terminal.conversation import render_conversation

AT = "2026-01-27T22:44:{:02d}.500000"


def response(response_id, *calls, words="Let me see."):
    tools = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    return {
        "id": response_id,
        "model": "anthropic/claude",
        "choices": [{"finish_reason": "tool_calls", "message": {"content": words, "tool_calls": tools}}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 40},
        },
    }


TWO = response("r1", ("c1", "execute_bash", '{"command": "ls"}'), ("c2", "editor", '{"path": "/a"}'))
LAST = response("r2", ("c3", "finish", "{}"), words="All done.")


def event(number, second, source="agent", **fields):
    return {"id": number, "timestamp": AT.format(second), "source": source, **fields}


def metadata(name, call_id, answer=TWO):
    return {"function_name": name, "tool_call_id": call_id, "model_response": answer}


def bare():
    bash, editor = metadata("execute_bash", "c1"), metadata("editor", "c2")
    return [
        event(0, 1, "user", action="message", args={"content": "Rename a file."}),
        event(1, 1, "environment", observation="agent_state_changed", content="", extras={}),
        event(2, 2, "user", action="recall", args={"query": "x"}),
        event(3, 3, action="run", args={"command": "ls -l", "thought": "t"}, tool_call_metadata=bash),
        event(
            4,
            4,
            observation="run",
            cause=3,
            content="a.py",
            tool_call_metadata=bash,
            extras={"metadata": {"exit_code": 2}},
        ),
        event(5, 5, action="edit", args={"path": "/a", "content": ""}, tool_call_metadata=editor),
        event(6, 6, observation="error", cause=5, content="No such file", tool_call_metadata=editor),
        event(
            7,
            9,
            action="finish",
            message="Renamed.",
            args={"outputs": {}, "thought": "It is renamed."},
            tool_call_metadata=metadata("finish", "c3", LAST),
        ),
    ]


def line(**fields):
    """The older, flat way, as output.jsonl has it."""
    return {
        "issue": {"owner": "acme", "repo": "shop", "number": 5},
        "instruction": "Fix it.",
        "history": [
            {"action": "message", "content": "Fix it.", "wait_for_response": False},
            {"action": "run", "command": "touch A", "thought": "Make it.", "keep_prompt": True},
            {"observation": "run", "content": "$", "command_id": -1, "command": "touch A", "exit_code": 0},
            {"action": "finish", "outputs": {}, "thought": "Made it."},
        ],
        "metrics": {"accumulated_cost": 0.5, "costs": [0.2, 0.3]},
        "success": True,
        "error": None,
        **fields,
    }


def test_content_identifies_the_format():
    assert detect.detect_format([bare()]).name == "openhands"
    assert detect.detect_format([line()]).name == "openhands"
    assert detect.detect_format([line(history=[])]).name == "openhands"


@pytest.mark.parametrize(
    ("observation", "errors", "status"),
    [
        ({"observation": "run_ipython", "content": "[No exact match found]"}, "partial", "unknown"),
        ({"observation": "mcp", "content": "failed"}, "partial", "unknown"),
        ({"observation": "run", "content": "a", "extras": {"exit_code": -1}}, "partial", "unknown"),
        ({"observation": "run", "content": "a", "exit_code": 0}, "complete", "ok"),
        ({"observation": "browse", "content": "a", "extras": {"error": False}}, "complete", "ok"),
        ({"observation": "browse", "content": "a", "extras": {"error": True}}, "complete", "error"),
        ({"observation": "edit", "content": "a"}, "complete", "ok"),
        ({"observation": "error", "content": "a"}, "complete", "error"),
    ],
)
def test_a_result_without_exit_code_or_error_flag_does_not_count_as_a_success(observation, errors, status):
    action = {"action": "run_ipython", "args": {"code": "edit()"}}
    trace = read_record(READER, line(history=[[action, observation]]), TraceLocation("a.json", "openhands"), "a.json")
    assert list_evidence(trace)["errors"] == errors
    assert trace.tool_calls[0]["status"] == status
    found = assess({"type": "max_tool_errors", "max": 0}, trace)
    assert found.outcome == {"partial": "not_evaluable"}.get(errors, "failed" if status == "error" else "passed")
    assert ("whether calls of `run_ipython` succeeded is not recorded" in found.reason) == (errors == "partial")
    shown = {"partial": "returned: "}.get(errors, f"{status}: ")
    assert f"-> {shown}{observation['content']}" in render_conversation(trace)
