"""Lines of a coding agent that name what no line holds, a head that is cut off, and ends that are no end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hostile.whole_run.case import FAILED, PASS, SUITE, Case, check, suite

if TYPE_CHECKING:
    from pathlib import Path

Line = dict[str, Any]
NO_DELETE = suite(check("forbidden_tools", tools=["delete_*"]), check("output_contains", value="refund"))
CHEAP = suite(check("cost_limit", max_usd=0.05), check("output_contains", value="refund"))
MISSING = "missing evidence (calls)"
SAID = {"type": "text", "text": "Your refund is issued."}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}


def line(kind: str, *content: Any, model_id: str | None = None, **fields: Any) -> Line:
    """A line of a stream with a message."""
    message = {"role": kind, "content": list(content), **({"id": model_id} if model_id else {})}
    return {"type": kind, "message": message, "parent_tool_use_id": None, "session_id": "s", **fields}


def use(name: str = "issue_refund", call_id: str = "t1") -> Line:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"order": "A-7"}}


def end(**fields: Any) -> Line:
    answer = {"subtype": "success", "is_error": False, "result": SAID["text"], "total_cost_usd": 0.01}
    return {"type": "result", "session_id": "s", **answer, **fields}


def stream(*between: Line, name: str = "issue_refund", ends: tuple[Line, ...] = (end(),), details: Any = "done") -> str:
    first, last = line("assistant", use(name), model_id="m1"), line("assistant", SAID, model_id="m2")
    return lines(first, *between, line("user", RESULT, tool_use_result=details), last, *ends)


def lines(*each: Line) -> str:
    return "".join(json.dumps(one) + "\n" for one in each)


def session(*before: Line, parent: str | None = None, **first: Any) -> str:
    """A session file whose first message has this parent."""
    chain = [line("user", {"type": "text", "text": "Refund order A-7."}, **first), line("assistant", use())]
    chain += [line("user", RESULT), line("assistant", SAID)]
    for number, each in enumerate(chain):
        each.pop("session_id")
        each |= {"sessionId": "s", "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else parent}
    return lines(*before, *chain)


def about(kind: str, subtype: str | None = None, **fields: Any) -> Line:
    return {"type": kind, "subtype": subtype, "session_id": "s", "uuid": f"{kind}{subtype}", **fields}


def task(subtype: str, call_id: str | None = "t1", **fields: Any) -> Line:
    return about("system", subtype, task_id="a1", tool_use_id=call_id, description="clean up", **fields)


STARTED = task("task_started", task_type="local_agent")
INSIDE = line("assistant", use("sweep", "i1"), model_id="m3") | {"parent_tool_use_id": "t1"}
BOUNDARY = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None, "sessionId": "s"}
INIT = about("system", "init", claude_code_version="2.1.330")


def turns(number: int, init: Line = INIT, *between: Line) -> str:
    """A stream whose result counts so many turns; its lines hold two, one with a call."""
    return stream(init, *between, ends=(end(num_turns=number),))


def beside(kind: str, event: str | None = "PreToolUse", call_id: str = "t9", **fields: Any) -> str:
    """A session file with a line about a hook of a call, or about a call that runs."""
    hook = {"type": "hook_progress", "hookEvent": event, "hookName": f"{event}:delete_user", "toolUseID": call_id}
    about_it = {"attachment": hook} if kind == "attachment" else {"data": hook, "parentToolUseID": call_id}
    return session({"type": kind, "uuid": "h", "parentUuid": None, "sessionId": "s", **about_it, **fields}, parent="h")


UNRECORDED = {
    "a text of the result that no message has": stream(ends=(end(result="A refund, and every account is gone."),)),
    "a hook before a call": beside("progress"),
    "a hook after a call": beside("attachment", "PostToolUse"),
    "a command while it runs": beside("progress", data={"type": "bash_progress"}),
    "progress of a call": stream(about("tool_progress", tool_use_id="t9", tool_name="delete_user")),
    "progress of an agent's call": stream(
        about("tool_progress", tool_use_id="t9", tool_name="sweep", parent_tool_use_id="t1")
    ),
    "a command in the background": stream(task("task_started", "t9", task_type="local_bash")),
    "an agent": stream(STARTED),
    "an agent that called tools": stream(STARTED, INSIDE, task("task_notification", usage={"tool_uses": 4})),
    "a task of another kind that called tools": stream(task("task_notification", None, usage={"tool_uses": 4})),
    "a cut head": session(parent="u-before"),
    "a compaction at the head": session(BOUNDARY),
    "a summary at the head": session(isCompactSummary=True),
    "an abort": stream(ends=(end(terminal_reason="aborted_tools"),)),
    "an abort of the answer": stream(ends=(end(terminal_reason="aborted_streaming"),)),
}
RECORDED = {
    "the turns that the result counts": turns(2),
    "fewer turns than lines": turns(1),
    "turns of a version that counts otherwise": turns(4, about("system", "init")),
    "turns beside a compaction": turns(3, INIT, about("system", "compact_boundary")),
    "turns of several exchanges, recorded": stream(INIT, end(num_turns=2), ends=(end(num_turns=1),)),
    "an answer by a schema": stream(ends=(end(result='{"refund": true}', structured_output={"refund": True}),)),
    "a result that ends with a space": stream(ends=(end(result=f"{SAID['text']}\n"),)),
    "a hook of a recorded call": beside("progress", call_id="t1"),
    "a hook of the session's start": beside("attachment", "SessionStart"),
    "a progress line of the session's start": beside("progress", "SessionStart"),
    "progress of a call": stream(about("tool_progress", tool_use_id="t1", tool_name="issue_refund")),
    "a command in the background": stream(task("task_started", task_type="local_bash")),
    "a command of the user": stream(task("task_started", None, task_type="local_bash")),
    "an agent": stream(STARTED, INSIDE, task("task_notification", usage={"tool_uses": 1}), name="Task"),
    "an agent that called nothing": stream(STARTED, name="Task", details={"agentId": "b", "totalToolUseCount": 0}),
    "a task that called nothing": stream(STARTED, task("task_notification", usage={"tool_uses": 0})),
    "a workflow": stream(task("task_started", task_type="local_workflow")),
    "a compaction later": stream(about("system", "compact_boundary")),
    "a head": session(),
    "a head after a hook": session(
        {"type": "attachment", "uuid": "h", "parentUuid": None, "sessionId": "s"}, parent="h"
    ),
    "a head that was copied": session(parent="u-before", forkedFrom={"sessionId": "r", "messageUuid": "x"}),
    "an end": stream(ends=(end(terminal_reason="completed"),)),
    "an end by a limit": stream(ends=(end(terminal_reason="max_turns"),)),
    "an end by a word of a later version": stream(ends=(end(terminal_reason="tired"),)),
}


def rollout(*events: str) -> str:
    """A rollout of Codex with these events around its only answer."""
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Refund order A-7."}]}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID["text"]}]}
    entries = [("session_meta", {"id": "s", "cli_version": "0.150.0"})]
    for event in events:
        if event == "answer":
            entries += [("response_item", asked), ("response_item", said)]
        else:
            entries.append(("event_msg", {"type": event, "turn_id": "1"}))
    return lines(*({"timestamp": "2026-11-01T10:00:00Z", "type": kind, "payload": each} for kind, each in entries))


OPEN = {
    "no end of its turn": rollout("task_started", "answer"),
    "a later turn without an end": rollout("turn_started", "answer", "turn_complete", "turn_started", "answer"),
    "an abort": rollout("task_started", "answer", "turn_aborted"),
}
OVER = {
    "an end": rollout("task_started", "answer", "task_complete"),
    "a version that writes neither": rollout("user_message", "answer"),
    "a message after the end": rollout("task_started", "answer", "task_complete", "user_message"),
    "an abort before the last turn": rollout("task_started", "turn_aborted", "task_started", "answer", "task_complete"),
}


def judge(name: str, recording: str, code: int, *says: str, **more: Any) -> list[str]:
    case = Case(name, {SUITE: more.pop("rules", NO_DELETE), "traces/refund.jsonl": recording}, code, says)
    return case.find_faults(case.run(more["folder"]))


@pytest.mark.parametrize("name", UNRECORDED)
def test_what_no_line_holds_is_missing(tmp_path: Path, name: str) -> None:
    assert judge(name, UNRECORDED[name], FAILED, MISSING, folder=tmp_path) == []


@pytest.mark.parametrize("name", RECORDED)
def test_what_lines_hold_is_judged(tmp_path: Path, name: str) -> None:
    assert judge(name, RECORDED[name], PASS, folder=tmp_path) == []


UNCOUNTED = {
    "a turn that the result counts": turns(3),
    "turns of several exchanges": stream(INIT, end(num_turns=3), ends=(end(num_turns=1),)),
}


@pytest.mark.parametrize("name", UNCOUNTED)
def test_more_turns_than_lines_are_told_of_below_the_heading(tmp_path: Path, name: str) -> None:
    assert judge(name, UNCOUNTED[name], PASS, "record all lines of the session", folder=tmp_path) == []


@pytest.mark.parametrize("name", [*OPEN, *OVER])
def test_the_end_of_a_rollout(tmp_path: Path, name: str) -> None:
    code, says = (FAILED, [MISSING]) if name in OPEN else (PASS, [])
    assert judge(name, {**OPEN, **OVER}[name], code, *says, folder=tmp_path) == []


def test_a_failure_that_the_result_does_not_call_an_error(tmp_path: Path) -> None:
    failed = stream(ends=(end(terminal_reason="model_error"),))
    assert judge("model", failed, FAILED, "run_failed", "model_error", folder=tmp_path) == []


def test_a_turn_that_failed_before_the_last_is_named(tmp_path: Path) -> None:
    ends = (end(subtype="error_during_execution", is_error=True), end())
    says = "1 of 2 turns ended with error_during_execution: the session went on"
    assert judge("turns", stream(ends=ends), PASS, says, folder=tmp_path) == []


@pytest.mark.parametrize(("costs", "code"), [((9.0, 0.01), FAILED), ((0.01, 0.02), PASS)])
def test_a_cost_that_shrinks_is_no_running_total(tmp_path: Path, costs: tuple[float, ...], code: int) -> None:
    ends = tuple(end(total_cost_usd=cost, usage={"input_tokens": 15, "output_tokens": 5}) for cost in costs)
    assert judge("costs", stream(ends=ends), code, folder=tmp_path, rules=CHEAP) == []


@pytest.mark.parametrize(("cost", "code"), [(9.0, FAILED), (0.01, PASS), (None, PASS)])
def test_a_cost_below_that_of_its_models_is_unknown(tmp_path: Path, cost: float | None, code: int) -> None:
    models = {"claude": {"inputTokens": 9, "outputTokens": 9, "costUSD": cost}}
    assert judge("models", stream(ends=(end(modelUsage=models),)), code, folder=tmp_path, rules=CHEAP) == []
