"""A call that started a sub-agent of Claude Code, of which nothing is recorded, makes the calls incomplete."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hostile.whole_run.test_who_acted import HONEST, SESSION, judge_files, line, lines, result, say, sub_agent, use

MISSING = "calls of sub-agents ({}) are recorded in other files"


def start(call_id: str = "t1", name: str = "Task") -> dict[str, Any]:
    return line(2, "assistant", use(call_id, name, subagent_type="cleaner", prompt="sweep"))


def session(*between: dict[str, Any]) -> str:
    return lines(line(1, "user", say("tidy")), *between, line(9, "assistant", say("tidy now")))


def stream(*between: dict[str, Any]) -> str:
    """The same as `claude -p --output-format stream-json` prints it."""
    marks = {"session_id": SESSION, "parent_tool_use_id": None}
    end = {"type": "result", "subtype": "success", "result": "tidy now", "num_turns": 2, "session_id": SESSION}
    kept = [
        {**each, **marks, **each.get("marks", {})}
        for each in (start(), *between, line(9, "assistant", say("tidy now")))
    ]
    return lines(*({name: each[name] for name in each if name not in ("sessionId", "marks")} for each in kept), end)


RESULT = line(8, "user", result("t1"))
REFUSED = line(8, "user", {**result("t1"), "content": "no agent of this type", "is_error": True})
OWN = line(3, "user", say("sweep"), marks={"parent_tool_use_id": "t1"})
UNSEEN = {
    "of a session": session(start(), RESULT),
    "by its other name": session(start(name="Agent"), RESULT),
    "without a result": session(start()),
    "of a stream": stream(RESULT),
    "that a sub-agent started": session(start()) + sub_agent(name="Agent"),
}
SEEN = {
    "refused": session(start(), REFUSED),
    "called nothing": session(start(), {**RESULT, "toolUseResult": {"totalToolUseCount": 0}}),
    "lines of another prompt": session(start(), RESULT) + sub_agent(name="sweep").replace('"sweep"}]', '"Sweep"}]'),
    "lines in a stream": stream(OWN, RESULT),
    "a task of another kind": session(line(2, "assistant", use("t1", "TaskCreate", subject="x")), RESULT),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_a_sub_agent_of_which_nothing_is_recorded_makes_calls_incomplete(tmp_path, name):
    ran = judge_files(tmp_path, {f"traces/{SESSION}.jsonl": UNSEEN[name]}, HONEST)
    assert ran.code == 1, ran.stdout
    assert MISSING.format(1) in json.dumps(ran.results)


@pytest.mark.parametrize("name", SEEN)
def test_a_sub_agent_that_is_recorded_or_did_nothing_is_complete(tmp_path, name):
    ran = judge_files(tmp_path, {f"traces/{SESSION}.jsonl": SEEN[name]}, HONEST)
    assert ran.code == 0, ran.stdout
