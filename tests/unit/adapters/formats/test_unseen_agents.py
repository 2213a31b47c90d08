"""Calls of sub-agents that a recording does not hold, or of which it says the number, make its calls incomplete."""

from __future__ import annotations

from typing import Any

import pytest

from evalgate.adapters.formats.copilot import COPILOT
from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.crewai import CREWAI
from evalgate.adapters.formats.gemini_cli import GEMINI_CLI
from evalgate.adapters.formats.openhands import OPENHANDS
from evalgate.models.trace.trace import Trace, TraceLocation

AT = "2026-11-28T10:00:00Z"
STARTERS = ["invoke_agent", "delegate_to_agent", "codebase_investigator", "cli_help", "generalist", "browser_agent"]


def read(of: Any, documents: list[Any]) -> Trace:
    [record] = of.reader.split(documents)
    trace = read_record(of.reader, record, TraceLocation("t.jsonl"), "t.jsonl")
    assert isinstance(trace, Trace), trace.reason
    return trace


def is_elsewhere(trace: Trace) -> bool:
    return "calls" in trace.gaps and any(each["code"] == "subagent_elsewhere" for each in trace.warnings)


def gemini_stream(tool: str, stats: dict[str, int], output: str = "done") -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"type": "init", "session_id": "g", "model": "gemini-3"},
        {"type": "message", "role": "user", "content": "Tidy."},
        {"type": "tool_use", "tool_name": tool, "tool_id": "c1", "parameters": {"agent_name": "cleaner"}},
        {"type": "tool_result", "tool_id": "c1", "status": "success", "output": output},
        {"type": "message", "role": "assistant", "content": "Tidy now.", "delta": True},
        {"type": "result", "status": "success", "stats": stats},
    ]
    return [{**event, "timestamp": AT} for event in events]


def gemini_session(tool: str, output: str = "done", shown: Any = None) -> list[dict[str, Any]]:
    result = [{"functionResponse": {"id": "c1", "name": tool, "response": {"output": output}}}]
    call = {"id": "c1", "name": tool, "args": {"agent_name": "cleaner"}, "status": "success", "result": result}
    call["resultDisplay"] = shown
    messages = [
        {"id": "1", "type": "user", "timestamp": AT, "content": "Tidy."},
        {"id": "2", "type": "gemini", "timestamp": AT, "content": "", "toolCalls": [call]},
        {"id": "3", "type": "gemini", "timestamp": AT, "content": "Tidy now."},
    ]
    return [{"sessionId": "g", "projectHash": "p", "startTime": AT, "messages": messages}]


@pytest.mark.parametrize("tool", STARTERS)
def test_a_tool_of_gemini_cli_that_runs_a_sub_agent_leaves_its_calls_elsewhere(tool: str) -> None:
    assert is_elsewhere(read(GEMINI_CLI, gemini_stream(tool, {"tool_calls": 1})))
    assert is_elsewhere(read(GEMINI_CLI, gemini_session(tool)))


def test_a_sub_agent_of_gemini_cli_with_a_tool_of_its_own_name_is_known_by_its_result() -> None:
    shown = "\nSubagent cleaner Finished\n\nTermination Reason:\n GOAL\n\nResult:\ndone\n"
    sent = "Subagent 'cleaner' finished.\nTermination Reason: GOAL\nResult:\ndone"
    for output in (shown, sent):
        assert is_elsewhere(read(GEMINI_CLI, gemini_stream("cleaner", {"tool_calls": 1}, output)))
        assert is_elsewhere(read(GEMINI_CLI, gemini_session("cleaner", output)))
    assert not read(GEMINI_CLI, gemini_session("read_file", f"The log says: {sent}")).gaps


@pytest.mark.parametrize("state", ["completed", "error"])
def test_a_sub_agent_of_gemini_cli_is_known_by_what_was_shown_of_it(state: str) -> None:
    """One that runs elsewhere returns its bare answer, and may show nothing that it did."""
    shown = {"isSubagentProgress": True, "agentName": "cleaner", "recentActivity": [], "state": state}
    assert is_elsewhere(read(GEMINI_CLI, gemini_session("cleaner", shown=shown)))
    assert not read(GEMINI_CLI, gemini_session("edit", shown={"fileDiff": "+ a", "fileName": "a.txt"})).gaps


def test_a_failed_sub_agent_of_gemini_cli_is_known_by_its_result() -> None:
    failed = "Subagent 'cleaner' failed. Error: quota"
    assert is_elsewhere(read(GEMINI_CLI, gemini_session("cleaner", failed)))
    assert not read(GEMINI_CLI, gemini_session("read_file", f"The log says: {failed}")).gaps


def test_another_tool_of_gemini_cli_is_complete() -> None:
    assert not read(GEMINI_CLI, gemini_stream("read_file", {"tool_calls": 1})).gaps
    assert not read(GEMINI_CLI, gemini_session("read_file")).gaps


@pytest.mark.parametrize(("stated", "is_complete"), [(0, True), (1, True), (2, False), (7, False)])
def test_a_stream_with_fewer_calls_than_its_result_counts_is_incomplete(stated: int, is_complete: bool) -> None:
    trace = read(GEMINI_CLI, gemini_stream("read_file", {"tool_calls": stated}))
    assert ("calls" not in trace.gaps) is is_complete
    assert is_complete or f"made {stated} tool calls, and 1 are recorded" in trace.gaps["calls"]


def event(kind: str, data: dict[str, Any], **about: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": kind, "parentId": None, "timestamp": AT, **about}


def copilot(*between: dict[str, Any], name: str = "task", has_ended_well: bool = True) -> Trace:
    call = {"toolCallId": "c1", "name": name, "arguments": {"agent_type": "general"}}
    return read(
        COPILOT,
        [
            event("session.start", {"sessionId": "s", "version": 1, "producer": "copilot-agent"}),
            event("user.message", {"content": "Tidy."}),
            event("assistant.message", {"content": "", "toolRequests": [call]}),
            *between,
            event("tool.execution_complete", {"toolCallId": "c1", "success": has_ended_well, "result": {}}),
            event("assistant.message", {"content": "Tidy now."}),
        ],
    )


STARTED = event("subagent.started", {"toolCallId": "c1", "agentName": "general"})
INNER = event("tool.execution_start", {"toolCallId": "i1", "toolName": "rm", "arguments": {}}, agentId="a1")
OF_CALL = event("tool.execution_start", {"toolCallId": "i1", "toolName": "rm", "parentToolCallId": "c1"})
SAID = event("assistant.message", {"content": "ok", "parentToolCallId": "c1"}, agentId="a1")


def ended(**total: int) -> dict[str, Any]:
    return event("subagent.completed", {"toolCallId": "c1", "agentName": "general", **total})


UNSEEN = {
    "no event": (),
    "only its start and end": (STARTED, ended()),
    "a number of calls": (STARTED, ended(totalToolCalls=4)),
    "a call of two": (STARTED, SAID, INNER, ended(totalToolCalls=2)),
}
SEEN = {
    "its calls": (STARTED, SAID, INNER, ended(totalToolCalls=1)),
    "its calls, by the call that started it": (STARTED, OF_CALL, ended(totalToolCalls=1)),
    "no calls": (STARTED, ended(totalToolCalls=0)),
    "its answer": (STARTED, SAID, ended()),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_a_sub_agent_of_copilot_with_fewer_calls_than_it_made_is_elsewhere(name: str) -> None:
    assert is_elsewhere(copilot(*UNSEEN[name]))


@pytest.mark.parametrize("name", SEEN)
def test_a_sub_agent_of_copilot_that_is_recorded_is_complete(name: str) -> None:
    assert not copilot(*SEEN[name]).gaps


def test_a_task_of_copilot_that_did_not_start_is_complete() -> None:
    assert not copilot(has_ended_well=False).gaps
    assert not copilot(name="read").gaps


def crew(tool: str) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": '{"coworker": "Cleaner"}'}}
    messages = [
        {"role": "user", "content": "Tidy."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": "Tidy now."},
    ]
    task = {"description": "d", "raw": "Tidy now.", "agent": "boss", "messages": messages}
    return [{"raw": "Tidy now.", "tasks_output": [task], "token_usage": {}}]


def crew_events(*roles: str) -> list[dict[str, Any]]:
    """The events of a boss that asks its coworker, and of those who act before that ended."""
    call = {"tool_name": "Ask question to coworker", "tool_args": {"coworker": "cleaner"}, "agent_role": "boss"}
    inner = [{"type": "agent_execution_started", "agent_role": role, "task_prompt": "Sweep."} for role in roles]
    events = [
        {"type": "agent_execution_started", "agent_role": "boss", "task_prompt": "Tidy."},
        {"type": "tool_usage_started", **call},
        *inner,
        {"type": "tool_usage_finished", **call, "output": "done"},
        {"type": "agent_execution_completed", "agent_role": "boss", "output": "Tidy now."},
    ]
    return [{"events": [{**one, "timestamp": AT} for one in events]}]


@pytest.mark.parametrize("tool", ["delegate_work_to_coworker", "ask_question_to_coworker"])
def test_the_work_of_a_coworker_is_in_no_output_of_a_crew(tool: str) -> None:
    assert is_elsewhere(read(CREWAI, crew(tool)))
    assert not read(CREWAI, crew("search")).gaps


def test_the_work_of_a_coworker_is_in_its_events() -> None:
    assert not read(CREWAI, crew_events("Cleaner ")).gaps
    assert is_elsewhere(read(CREWAI, crew_events()))
    assert is_elsewhere(read(CREWAI, crew_events("painter")))


def delegation(*between: dict[str, Any]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"source": "user", "action": "message", "args": {"content": "Tidy."}},
        {"source": "agent", "action": "delegate", "args": {"agent": "Cleaner", "inputs": {"task": "tidy"}}},
        *between,
        {"source": "agent", "observation": "delegate", "content": "tidy now", "cause": 1},
        {"source": "agent", "action": "finish", "args": {"final_thought": "Tidy now."}},
    ]
    return [{"id": number, "timestamp": AT, **event} for number, event in enumerate(events)]


def test_openhands_whose_delegate_has_no_event() -> None:
    assert is_elsewhere(read_one(delegation()))


def test_openhands_whose_delegate_ran_a_command() -> None:
    ran = {"source": "agent", "action": "run", "args": {"command": "ls"}}
    seen = {"source": "agent", "observation": "run", "content": "a", "extras": {"metadata": {"exit_code": 0}}}
    trace = read_one(delegation(ran, {**seen, "cause": 2}))
    assert trace.called == ["delegate", "run", "finish"]
    assert not is_elsewhere(trace)


def read_one(record: Any) -> Trace:
    trace = read_record(OPENHANDS.reader, record, TraceLocation("t.json"), "t.json")
    assert isinstance(trace, Trace), trace.reason
    return trace
