"""Rollouts of Codex's sub-agents are joined into that of their session, as versions 0.100 to 0.171 write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from hostile.suite_edits import write

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.trace_files import TraceFiles

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.models.trace.trace import Trace

ROOT, CHILD, GRANDCHILD, OTHER = (f"01a21fac-0000-7000-8000-00000000000{number}" for number in range(4))
DAY = "traces/2026/11/28"


def line(of_type: str, at: float, **more: Any) -> dict[str, Any]:
    when = f"2026-11-28T01:00:{at:06.3f}Z"
    return {"timestamp": when, "type": of_type, "payload": more}


def settings(thread: str, at: float, parent: str | None = None, *, is_new: bool = True, **spawn: Any) -> dict[str, Any]:
    """The first line of a rollout; versions that are not new name neither session nor parent beside the source."""
    source: Any = "exec"
    if parent is not None:
        source = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1, **spawn}}}
    named = {"session_id": ROOT, **({"parent_thread_id": parent} if parent else {})} if is_new else {}
    stamp = f"2026-11-28T01:00:{at:06.3f}Z"
    return line("session_meta", at, id=thread, timestamp=stamp, cli_version="0.171.0", source=source, **named)


def says(role: str, text: str, at: float, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return line("response_item", at, type="message", role=role, content=[{"type": kind, "text": text}], **more)


def calls(name: str, call_id: str, at: float, returned: Any = None, **given: Any) -> list[dict[str, Any]]:
    """A call and what it returned one second later."""
    text = returned if isinstance(returned, str) else json.dumps(returned or {"ok": True})
    asked = {"type": "function_call", "name": name, "call_id": call_id, "arguments": json.dumps(given)}
    answered = {"type": "function_call_output", "call_id": call_id, "output": text}
    return [line("response_item", at, **asked), line("response_item", at + 1, **answered)]


def counted(tokens: int, at: float) -> dict[str, Any]:
    total = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
    return line("event_msg", at, type="token_count", info={"total_token_usage": total, "last_token_usage": total})


def session(*more: dict[str, Any], returned: Any = None, is_new: bool = True) -> list[dict[str, Any]]:
    """A rollout that starts a sub-agent with call `s1`."""
    given = {"agent_id": CHILD, "nickname": "Ada"} if returned is None else returned
    return [
        settings(ROOT, 0, is_new=is_new),
        line("event_msg", 0, type="thread_settings_applied", thread_settings={"model": "gpt-5"}),
        says("user", "tidy", 1),
        *calls("spawn_agent", "s1", 2, given, message="sweep"),
        *more,
        counted(10, 20),
        says("assistant", "tidy now", 21),
    ]


def child(*more: dict[str, Any], thread: str = CHILD, parent: str = ROOT, at: float = 4, **about: Any) -> list[Any]:
    """The rollout of a sub-agent that deletes."""
    return [
        settings(thread, at, parent, **{"agent_role": "cleaner", "agent_nickname": "Ada", **about}),
        says("user", "sweep", at),
        *calls("delete_db", f"d{thread[-1]}", at + 1, path="prod"),
        *more,
        counted(5, at + 3),
        says("assistant", "swept", at + 3),
    ]


def name_of(thread: str) -> str:
    return f"{DAY}/rollout-2026-11-28T01-00-0{thread[-1]}-{thread}.jsonl"


def lay_out(folder: Path, *rollouts: list[Any]) -> None:
    texts = {name_of(each[0]["payload"]["id"]): "".join(f"{json.dumps(one)}\n" for one in each) for each in rollouts}
    write(folder, texts)


def read(folder: Path, pattern: str = f"{DAY}/*.jsonl") -> list[Trace]:
    return list(TraceFiles(Workspace(None, str(folder))).read([pattern], str(folder)))


def acted(trace: Trace) -> list[tuple[Any, ...]]:
    return [(call["name"], call.get("actor", "root"), call.get("started_by")) for call in trace.tool_calls]


JOINED = [("spawn_agent", "root", None), ("delete_db", "root/cleaner", 0)]


def event(of_type: str, **more: Any) -> dict[str, Any]:
    return line("event_msg", 3, type=of_type, **more)


STARTS = {
    "what the tool returned": session(),
    "an event of it": session(
        event("collab_agent_spawn_end", call_id="s1", new_thread_id=CHILD), returned={"x": 1}, is_new=False
    ),
    "an item of it": session(
        event("item_completed", item={"type": "CollabAgentToolCall", "id": "s1", "tool": "spawn_agent",
                                      "receiver_thread_ids": [CHILD]}), returned={"x": 1}
    ),
    "an activity of it": session(
        event("item_completed", item={"type": "SubAgentActivity", "id": "s1", "kind": "started",
                                      "agent_thread_id": CHILD, "agent_path": "/root/cleaner"}),
        returned={"task_name": "/root/cleaner"},
    ),
    "an activity that is an event": session(
        event("sub_agent_activity", event_id="s1", kind="started", agent_thread_id=CHILD), returned={"task_name": "c"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("pattern", [f"{DAY}/*.jsonl", name_of(ROOT)])
@pytest.mark.parametrize("start", STARTS)
def test_a_sub_agent_is_joined_below_the_call_that_started_it(tmp_path, start, pattern):
    lay_out(tmp_path, STARTS[start], child())
    (trace,) = read(tmp_path, pattern)
    assert acted(trace) == JOINED
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (15, 2)
    assert trace.response["content"] == "tidy now"
    assert not trace.gaps
    assert not trace.warnings


def test_the_name_is_the_role_or_that_of_the_task_never_the_nickname(tmp_path):
    lay_out(tmp_path, session(), child(agent_role=None, agent_path="/root/sweeper"))
    assert acted(read(tmp_path)[0])[1] == ("delete_db", "root/sweeper", 0)
    lay_out(tmp_path, session(), child(agent_role=None))
    assert acted(read(tmp_path)[0])[1] == ("delete_db", "root/agent", 0)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_sub_agent_of_a_sub_agent_is_joined_too(tmp_path, is_new):
    inner = calls("spawn_agent", "s2", 6.5, {"agent_id": GRANDCHILD}, message="mop")
    last = child(thread=GRANDCHILD, parent=CHILD, at=8, is_new=is_new, agent_role="mop")
    lay_out(tmp_path, session(is_new=is_new), child(*inner, is_new=is_new), last)
    (trace,) = read(tmp_path)
    assert acted(trace) == [
        *JOINED,
        ("spawn_agent", "root/cleaner", 0),
        ("delete_db", "root/cleaner/mop", 2),
    ]
    assert not trace.gaps


def inherited(*lines: dict[str, Any], at: float) -> list[dict[str, Any]]:
    """Lines of a parent as its sub-agent inherits them: with new times, the items marked."""
    when = f"2026-11-28T01:00:{at:06.3f}Z"
    return [
        {**each, "timestamp": when, **({"metadata": {"inherited_user_message": True}} if is_marked else {})}
        for each in lines
        for is_marked in [each["type"] == "response_item"]
    ]


@pytest.mark.parametrize("is_marked", [True, False])
def test_what_a_sub_agent_inherited_is_not_counted_twice(tmp_path, is_marked):
    start = calls("spawn_agent", "s1", 2, {"agent_id": CHILD}, message="sweep")
    before = [*calls("look", "l1", 1.2), *start]
    whole = [settings(ROOT, 0), says("user", "tidy", 1), *before, says("assistant", "tidy now", 21)]
    copied = inherited(*whole[1:-2], at=4.1) if is_marked else [{**each, "metadata": {}} for each in whole[1:-2]]
    own = child()
    lay_out(tmp_path, whole, [own[0], settings(ROOT, 4.05), *copied, *own[1:]])
    (trace,) = read(tmp_path)
    assert acted(trace) == [("look", "root", None), ("spawn_agent", "root", None), ("delete_db", "root/cleaner", 1)]
    (alone,) = read(tmp_path, name_of(CHILD)) if is_marked else ([trace])
    assert ("look", "root", None) not in acted(alone) or alone is trace


@pytest.mark.parametrize(
    ("rollouts", "missing"),
    [
        ((session(),), 1),
        ((session(), child(*calls("spawn_agent", "s2", 6.5, {"agent_id": OTHER}))), 1),
        ((session(*calls("spawn_agent", "s3", 5, {"agent_id": OTHER})), child()), 1),
        ((session(*calls("spawn_agent", "s3", 5, {"task_name": "/root/x"})), child()), 1),
        ((session(event("item_completed", item={"type": "CollabAgentToolCall", "id": "r", "tool": "resume_agent",
                                                "receiver_thread_ids": [OTHER]})), child()), 1),
        ((session(*calls("spawn_agent", "s3", 5, "agent thread limit reached (max 6)")), child()), 0),
        ((session(returned="unsupported call: spawn_agent"),), 0),
    ],
)  # fmt: skip
def test_a_sub_agent_whose_rollout_is_not_here_makes_calls_incomplete(tmp_path, rollouts, missing):
    lay_out(tmp_path, *rollouts)
    (trace,) = read(tmp_path)
    assert [each["code"] for each in trace.warnings if each["code"] == "subagent_elsewhere"] == (
        ["subagent_elsewhere"] * missing
    )
    assert ("calls" in trace.gaps) is bool(missing)


def test_a_thread_that_a_user_forked_or_started_is_a_run_of_its_own(tmp_path):
    forked = [settings(CHILD, 30), settings(ROOT, 31), *session()[2:]]
    forked[0]["payload"] |= {"forked_from_id": ROOT, "source": "cli"}
    lay_out(tmp_path, session(returned="refused"), forked, [settings(OTHER, 40, is_new=False), *child()[1:]])
    assert len(read(tmp_path)) == 3


def test_a_sub_agent_without_its_session_is_read_alone(tmp_path):
    lay_out(tmp_path, child())
    assert acted(read(tmp_path)[0]) == [("delete_db", "root", None)]


@pytest.mark.parametrize("tool", ["wait", "send_input"])
def test_events_of_exec_that_show_a_sub_agent_without_naming_it_are_incomplete(tmp_path, tool):
    item = {"id": "i1", "type": "collab_tool_call", "tool": tool, "receiver_thread_ids": [], "status": "completed"}
    events = [
        {"type": "thread.started", "thread_id": ROOT},
        {"type": "turn.started"},
        {"type": "item.completed", "item": item},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
    ]
    write(tmp_path, {"traces/run.jsonl": "".join(f"{json.dumps(each)}\n" for each in events)})
    (trace,) = read(tmp_path, "traces/run.jsonl")
    assert "calls" in trace.gaps


@pytest.mark.parametrize(("tool", "code"), [("delete_*", 1), ("refund", 0)])
def test_a_forbidden_call_of_a_sub_agent_fails(tmp_path, tool, code):
    lay_out(tmp_path, session(), child())
    check = {"type": "forbidden_tools", "tools": [tool], "required": True}
    suite = {"suite": "s", "traces": ["../traces/**/*.jsonl"], "scenarios": [{"id": "*", "assertions": [check]}]}
    write(tmp_path, {"evals/s.yaml": suite})
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert ran.code == code, ran.stdout
