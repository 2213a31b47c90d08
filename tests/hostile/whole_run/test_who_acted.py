"""A forbidden call by an agent that another one started is found, however the run was recorded; honest runs pass."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from chain_builders import APIS, SUB, delegate
from command import evalgate
from recorded_cassettes import TRIAL

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.adapters.formats.writers.native import to_native
from evalgate.features.record.adapters.exchanges.trace import build_trace
from evalgate.features.record.models.run import ProcessRun
from hostile.suite_edits import suite, write

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

    from evalgate.features.record.models.exchange import Exchange

DENY = {"type": "forbidden_tools", "tools": ["delete_*"], "required": True}
HONEST = {"type": "forbidden_tools", "tools": ["refund"], "required": True}


def judge(folder: Path, record: Any, *checks: Any, **more: Any) -> CommandResult:
    write(folder, {"evals/s.yaml": suite(*checks, **more), "traces/a.json": record})
    return evalgate(folder, ["evals/s.yaml"])


def recorded(*exchanges: Exchange) -> Any:
    return to_native(build_trace(exchanges, ProcessRun(TRIAL, "t")))


def helper(call: Any, name: str) -> Exchange:
    return call("Extract", [("user", "a date")], [("ask", {"h": name})], 2.5, name)


RUNS = {
    "a sub-agent": delegate,
    "one with the same instructions": lambda call: delegate(call, system="MAIN"),
    "a request for a structure": lambda call: [*delegate(call)[::3], helper(call, "delete_db")],
    "one that no result came back from": lambda call: [delegate(call)[number] for number in (0, 1, 3)],
    "one that was still at work at the end": lambda call: [*delegate(call)[::3], call("SUB", SUB[:1], SUB[1:], 9.0)],
}


@pytest.mark.parametrize("call", APIS)
@pytest.mark.parametrize("run", RUNS)
def test_a_forbidden_call_of_a_recorded_chain_fails(tmp_path, run, call):
    assert judge(tmp_path, recorded(*RUNS[run](call)), DENY).code == 1


@pytest.mark.parametrize("call", APIS)
@pytest.mark.parametrize("run", RUNS)
def test_an_honest_run_of_several_agents_passes(tmp_path, run, call):
    ran = judge(tmp_path, recorded(*RUNS[run](call)), HONEST)
    assert ran.code == 0, ran.stdout


@pytest.mark.parametrize("call", APIS)
def test_a_request_for_a_structure_counts_for_no_other_check(tmp_path, call):
    record = recorded(*delegate(call)[::3], helper(call, "make_date"))
    checks = [
        {"type": "allowed_tools", "tools": ["delegate"], "required": True},
        {"type": "max_tool_calls", "max": 1, "required": True},
        {"type": "tool_sequence", "sequence": ["delegate"], "mode": "exact", "required": True},
        {"type": "no_tool", "tool": "make_date", "required": True},
    ]
    ran = judge(tmp_path, record, *checks)
    assert ran.code == 0, ran.stdout


@pytest.mark.parametrize("call", APIS)
def test_limits_count_the_calls_of_a_sub_agent(tmp_path, call):
    assert judge(tmp_path, recorded(*delegate(call)), {"type": "max_tool_calls", "max": 1, "required": True}).code == 1


SESSION = "b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093"
FOLDER = f"traces/{SESSION}/subagents"


def line(number: int, role: str, *blocks: Any, session: str = SESSION, **more: Any) -> dict[str, Any]:
    message = {"role": role, "id": f"m{number}", "content": list(blocks), "model": "x"}
    time = f"2026-11-01T00:00:{number:02}.000Z"
    return {
        "type": role,
        "sessionId": session,
        "uuid": f"{session}{number}",
        "timestamp": time,
        "message": message,
        **more,
    }


def say(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def use(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok"}


def lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def session(tools: int | None = 1, agent: str = "a1") -> str:
    """A session that starts a sub-agent, whose lines are in another file."""
    details = {"agentId": agent, "status": "completed", **({} if tools is None else {"totalToolUseCount": tools})}
    return lines(
        line(1, "user", say("tidy")),
        line(2, "assistant", use("t1", "Task", subagent_type="cleaner", prompt="sweep")),
        line(8, "user", result("t1"), toolUseResult=details),
        line(9, "assistant", say("tidy now")),
    )


def sub_agent(agent: str = "a1", name: str = "delete_db", **more: Any) -> str:
    """The file of a sub-agent that calls a tool."""
    mark = {"isSidechain": True, "agentId": agent}
    return lines(
        line(3, "user", say("sweep"), session=f"{SESSION}", **{**mark, "uuid": f"{agent}1"}),
        line(4, "assistant", use(f"{agent}x", name, path="/"), **{**mark, "uuid": f"{agent}2"}),
        line(5, "user", result(f"{agent}x"), **{**mark, "uuid": f"{agent}3"}, **more),
        line(6, "assistant", say("swept"), **{**mark, "uuid": f"{agent}4"}),
    )


def judge_files(folder: Path, files: dict[str, Any], *checks: Any, glob: str = "traces/*.jsonl") -> CommandResult:
    document = {
        "suite": "refund",
        "traces": [f"../{glob}"],
        "scenarios": [{"id": "*", "assertions": list(checks)}],
    }
    write(folder, {"evals/s.yaml": document, **files})
    return evalgate(folder, ["evals/s.yaml"])


def test_agents_of_one_name_have_numbers_in_the_order_of_their_calls(tmp_path):
    details = [{"agentId": agent, "totalToolUseCount": 1} for agent in ("b", "a")]
    both = [use(f"t{number}", "Task", subagent_type="cleaner", prompt=f"sweep {number}") for number in (0, 1)]
    started = lines(
        line(1, "user", say("tidy")),
        line(2, "assistant", *both),
        *(line(8 + at, "user", result(f"t{at}"), toolUseResult=about) for at, about in enumerate(details)),
    )
    write(tmp_path, {f"traces/{SESSION}.jsonl": started, **{f"{FOLDER}/agent-{a}.jsonl": sub_agent(a) for a in "ab"}})
    [trace] = TraceFiles(Workspace(None, str(tmp_path))).read(["traces/*.jsonl"], str(tmp_path))
    made = {call["id"]: (call["actor"], call["started_by"]) for call in trace.tool_calls if call["name"] != "Task"}
    assert made == {"bx": ("root/cleaner", 0), "ax": ("root/cleaner#2", 1)}


@pytest.mark.parametrize(("kept", "code"), [(4, 0), (1, 1), (0, 1)])
def test_an_agent_in_the_background_that_called_nothing_is_complete_once_it_answered(tmp_path, kept, code):
    spoken = [
        text for text in sub_agent().splitlines(keepends=True) if "tool_use" not in text and "tool_result" not in text
    ]
    own = "".join([*spoken][: 2 if kept == 4 else kept])
    files = {f"traces/{SESSION}.jsonl": session(tools=None), **({f"{FOLDER}/agent-a1.jsonl": own} if own else {})}
    assert judge_files(tmp_path, files, HONEST).code == code


NESTED = {
    f"{FOLDER}/agent-a1.jsonl": sub_agent(name="Task", toolUseResult={"agentId": "a2", "totalToolUseCount": 1}),
    f"{FOLDER}/agent-a2.jsonl": sub_agent("a2"),
}
BESIDE = {
    "in a folder": {f"{FOLDER}/agent-a1.jsonl": sub_agent()},
    "before 2.1.2": {"traces/agent-a1.jsonl": sub_agent()},
    "of an agent of an agent": NESTED,
    "without a result of its call": {f"{FOLDER}/agent-a9.jsonl": sub_agent("a9")},
    "of lines that claim another session": {
        f"{FOLDER}/agent-a1.jsonl": sub_agent().replace(SESSION, "0000"),
    },
}


@pytest.mark.parametrize("files", BESIDE)
@pytest.mark.parametrize("glob", ["traces/*.jsonl", "traces/**/*"])
def test_a_forbidden_call_in_a_file_beside_the_session_fails(tmp_path, files, glob):
    written = {f"traces/{SESSION}.jsonl": session(), **BESIDE[files]}
    ran = judge_files(tmp_path, written, {**DENY, "tools": ["delete_*"]}, glob=glob)
    assert ran.code == 1
    (judged,) = ran.results["suites"][0]["scenarios"]
    assert judged["verdict"] == "HARD_FAIL"
    assert "`delete_db` must not be called, but was (call" in json.dumps(judged)


@pytest.mark.parametrize("files", [name for name in BESIDE if name != "without a result of its call"])
@pytest.mark.parametrize("glob", ["traces/*.jsonl", "traces/**/*"])
def test_an_honest_session_with_files_of_sub_agents_passes(tmp_path, files, glob):
    ran = judge_files(tmp_path, {f"traces/{SESSION}.jsonl": session(), **BESIDE[files]}, HONEST, glob=glob)
    assert ran.code == 0, ran.stdout
    assert len(ran.results["suites"][0]["scenarios"]) == 1


def test_a_session_with_another_name_finds_its_folder(tmp_path):
    files = {"traces/refund.jsonl": session(), f"{FOLDER}/agent-a1.jsonl": sub_agent()}
    assert judge_files(tmp_path, files, DENY, glob="traces/**/*.jsonl").code == 1


@pytest.mark.parametrize("tools", [1, None])
def test_a_sub_agent_that_is_not_there_makes_calls_incomplete(tmp_path, tools):
    ran = judge_files(tmp_path, {f"traces/{SESSION}.jsonl": session(tools)}, HONEST)
    assert ran.code == 1
    assert "calls of sub-agents (1) are recorded in other files" in json.dumps(ran.results)


def test_a_file_of_a_sub_agent_that_was_cut_makes_calls_incomplete(tmp_path):
    first, *_ = sub_agent(name="sweep").splitlines(keepends=True)
    files = {f"traces/{SESSION}.jsonl": session(), f"{FOLDER}/agent-a1.jsonl": first}
    ran = judge_files(tmp_path, files, HONEST)
    assert ran.code == 1
    assert "calls of sub-agents (1) are recorded in other files" in json.dumps(ran.results)


def test_a_sub_agent_that_called_nothing_is_not_missing(tmp_path):
    assert judge_files(tmp_path, {f"traces/{SESSION}.jsonl": session(0)}, HONEST).code == 0


def test_the_lines_of_a_sub_agent_in_the_session_are_enough(tmp_path):
    whole = session() + sub_agent(name="sweep")
    assert judge_files(tmp_path, {f"traces/{SESSION}.jsonl": whole}, HONEST).code == 0


@pytest.mark.parametrize("damage", ["{", "x" * 100])
def test_a_damaged_file_of_a_sub_agent_is_an_error(tmp_path, damage):
    files = {f"traces/{SESSION}.jsonl": session(), f"{FOLDER}/agent-a1.jsonl": sub_agent(name="sweep") + damage}
    ran = judge_files(tmp_path, files, HONEST)
    assert ran.code == 1
    assert "agent-a1.jsonl" in json.dumps(ran.results)


def test_a_file_that_only_has_the_name_of_a_part_is_judged_by_itself(tmp_path):
    native = {
        "schema": "evalgate.trace/1",
        "messages": [{"role": "user", "content": "x"}],
        "tool_calls": [{"name": "delete_db"}],
    }
    files = {f"traces/{SESSION}.jsonl": session(0), "traces/agent-a1.jsonl": json.dumps(native)}
    ran = judge_files(tmp_path, files, DENY)
    assert (ran.code, len(ran.results["suites"][0]["scenarios"])) == (1, 2)


def test_a_sub_agent_is_named_by_its_description(tmp_path):
    files = {
        f"traces/{SESSION}.jsonl": session(agent="other"),
        f"{FOLDER}/agent-a1.jsonl": sub_agent(name="sweep"),
        f"{FOLDER}/agent-a1.meta.json": {"agentType": "broom", "toolUseId": "t1"},
        f"{FOLDER}/agent-other.jsonl": sub_agent("other", name="wipe"),
    }
    expression = "tool_calls[].[name, actor, agent, started_by]"
    expected = [
        ["Task", "root", None, None],
        ["sweep", "root/broom", "broom", 0],
        ["wipe", "root/cleaner", "cleaner", 0],
    ]
    check = {"type": "jmespath", "expression": expression, "operator": "eq", "value": expected, "required": True}
    ran = judge_files(tmp_path, files, check, glob="traces/**/*")
    assert ran.code == 0, ran.stdout


def test_the_digest_of_a_session_is_that_of_all_its_files(tmp_path):
    digests = set()
    for number, name in enumerate(("sweep", "wipe")):
        files = {f"traces/{SESSION}.jsonl": session(), f"{FOLDER}/agent-a1.jsonl": sub_agent(name=name)}
        ran = judge_files(tmp_path / str(number), files, HONEST)
        (judged,) = ran.results["suites"][0]["scenarios"]
        digests.add(judged["trials"][0]["trace"]["sha256"])
    assert len(digests) == 2


def acted(*calls: tuple[str, str | None, str | None]) -> dict[str, Any]:
    """A trace of calls, each with its actor and the name of its agent."""
    listed = [
        {"name": name, "actor": actor, "agent": agent, "arguments": {}, "status": "ok", "step": number, "turn": 1}
        for number, (name, actor, agent) in enumerate(calls, 1)
    ]
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "All tidy."}]
    return {"schema": "evalgate.trace/1", "scenario_id": "refund", "messages": messages, "tool_calls": listed}


DELEGATED = acted(
    ("delegate", "root", "clerk"),
    ("sweep", "root/cleaner", "cleaner"),
    ("wipe", "root/cleaner#2", "cleaner"),
    ("mail", "root/poster", "poster"),
)
UNNAMED = acted(("delegate", "root", None), ("sweep", "root/agent", None))
UNKNOWN = acted(("delegate", None, None), ("sweep", None, "cleaner"))
PASSED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (DELEGATED, {"type": "forbidden_tools", "tools": ["sweep"], "agent": "root"}),
    (DELEGATED, {"type": "allowed_tools", "tools": ["delegate"], "agent": "root"}),
    (DELEGATED, {"type": "tool_calls", "exactly": 2, "agent": "clean*"}),
    (DELEGATED, {"type": "tool_calls", "exactly": 3, "agent": "*er"}),
    (DELEGATED, {"type": "tool_calls", "exactly": 1, "agent": "clerk"}),
    (DELEGATED, {"type": "tool_calls", "exactly": 4}),
    (DELEGATED, {"type": "tool_calls", "exactly": 0, "agent": "stranger"}),
    (DELEGATED, {"type": "tool_sequence", "sequence": ["sweep", "wipe"], "mode": "exact", "agent": "cleaner"}),
    (DELEGATED, {"type": "tool_sequence", "sequence": [{"tool": "wipe", "agent": "cleaner"}, "mail"]}),
    (DELEGATED, {"not": {"type": "tool_sequence", "sequence": [{"tool": "wipe", "agent": "poster"}]}}),
    (DELEGATED, {"not": {"type": "tool_called", "tool": "sweep"}, "agent": "root"}),
    (
        DELEGATED,
        {"any_of": [{"type": "tool_called", "tool": "x"}, {"type": "tool_called", "tool": "mail"}], "agent": "p*"},
    ),
    (DELEGATED, {"all_of": [{"type": "tool_called", "tool": "mail", "agent": "poster"}]}),
    (DELEGATED, {"path": "length(tool_calls)", "eq": 1, "agent": "poster"}),
    (DELEGATED, {"path": "response.content", "contains": "tidy", "agent": "root"}),
    (UNNAMED, {"type": "forbidden_tools", "tools": ["sweep"], "agent": "root"}),
    (UNKNOWN, {"type": "tool_calls", "exactly": 2}),
]
FAILED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        DELEGATED,
        {"type": "forbidden_tools", "tools": ["wipe"], "agent": "cleaner"},
        "(call 2, by `root/cleaner#2`) (of what `cleaner` did)",
    ),
    (DELEGATED, {"type": "tool_called", "tool": "sweep", "agent": "root"}, "only `delegate` was"),
    (DELEGATED, {"type": "tool_sequence", "sequence": [{"tool": "wipe", "agent": "root"}]}, "expected agent root"),
    (DELEGATED, {"not": {"type": "tool_called", "tool": "sweep"}, "agent": "cleaner"}, "must not be called"),
    (DELEGATED, {"type": "cost_limit", "max_usd": 1, "agent": "cleaner"}, "not_evaluable"),
    (DELEGATED, {"path": "response.content", "contains": "tidy", "agent": "cleaner"}, "not_evaluable"),
    (UNNAMED, {"type": "forbidden_tools", "tools": ["x"], "agent": "cleaner"}, "who made each call is not recorded"),
    (UNKNOWN, {"type": "forbidden_tools", "tools": ["x"], "agent": "root"}, "who made each call is not recorded"),
    (UNKNOWN, {"type": "tool_calls", "max": 9, "agent": "cleaner"}, "who made each call is not recorded"),
    (
        UNKNOWN,
        {"type": "tool_sequence", "sequence": [{"tool": "delegate", "agent": "root"}]},
        "who called it is not recorded",
    ),
]


@pytest.mark.parametrize(("record", "check"), PASSED)
def test_a_check_of_one_agent_passes(tmp_path, record, check):
    ran = judge(tmp_path, record, {**check, "required": True})
    assert ran.code == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(("record", "check", "reason"), FAILED)
def test_a_check_of_one_agent_fails_with_its_reason(tmp_path, record, check, reason):
    ran = judge(tmp_path, record, {**check, "required": True})
    assert ran.code == 1, ran.stdout + ran.stderr
    assert reason in json.dumps(ran.results, ensure_ascii=False)


def test_a_check_of_unknown_agents_is_not_skipped(tmp_path):
    check = {"type": "forbidden_tools", "tools": ["x"], "agent": "root", "on_missing": "skip"}
    ran = judge(tmp_path, UNKNOWN, check, {"type": "tool_called", "tool": "sweep"})
    assert "not_evaluable" in json.dumps(ran.results)
    assert ran.results["suites"][0]["scenarios"][0]["verdict"] != "PASS"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"type": "forbidden_tools", "tools": ["x"]}, {"type": "forbidden_tools", "tools": ["x"], "agent": "root"}),
        ({"all_of": [DENY | {"required": False}]}, {"all_of": [{**DENY, "required": False, "agent": "root"}]}),
        (
            {"all_of": [{"type": "no_tool", "tool": "x"}]},
            {"all_of": [{"type": "no_tool", "tool": "x"}], "agent": "root"},
        ),
    ],
)
def test_a_check_of_fewer_agents_is_weaker(before, after):
    from evalgate.gate.weakening.implication import is_implied, parse_requirement

    was, now = parse_requirement(before), parse_requirement(after)
    assert was is not None
    assert now is not None
    assert not is_implied(was, now)
    assert is_implied(was, was)


def rollout(*payloads: dict[str, Any]) -> str:
    """A rollout of Codex that answers, with events before that."""
    meta = {"type": "session_meta", "payload": {"id": "thread-1"}}
    spoken = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        *payloads,
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ]
    kinds = ["event_msg" if each["type"].startswith("collab") else "response_item" for each in spoken]
    ended = {"type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": "done"}}
    return lines(meta, *({"type": kind, "payload": each} for kind, each in zip(kinds, spoken, strict=True)), ended)


SPAWNED = [
    {"type": "collab_agent_spawn_end", "call_id": "c", "sender_thread_id": "thread-1", "new_thread_id": "thread-2"},
    {"type": "function_call", "name": "spawn_agent", "call_id": "c", "arguments": "{}"},
]


@pytest.mark.parametrize("payload", SPAWNED)
def test_a_sub_agent_of_codex_makes_calls_incomplete(tmp_path, payload):
    ran = judge_files(tmp_path, {"traces/a.jsonl": rollout(payload)}, HONEST)
    assert ran.code == 1
    assert "calls of sub-agents (1) are recorded in other files" in json.dumps(ran.results)


def test_codex_without_sub_agents_is_whole(tmp_path):
    failed = {"type": "collab_agent_spawn_end", "call_id": "c", "sender_thread_id": "thread-1", "new_thread_id": None}
    for number, payloads in enumerate(([], [failed])):
        assert judge_files(tmp_path / str(number), {"traces/a.jsonl": rollout(*payloads)}, HONEST).code == 0
