"""What is left out of the verdict hides nothing: a forbidden call before an outage, and failed runs of no scenario."""

from __future__ import annotations

from typing import Any

import pytest
from command import evalgate

from hostile.suite_edits import suite, trace, write

OUTAGE = {"type": "RateLimitError", "message": "429 too many requests", "status_code": 429}
DENY = {"type": "forbidden_tools", "tools": ["delete_user"], "required": True}


ASKED = [
    {"role": "user", "content": "Refund order 42."},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "lookup", "input": {"id": 42}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]},
]
ANSWER = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4",
    "content": [{"type": "text", "text": "done"}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 5, "output_tokens": 5},
}


@pytest.mark.parametrize(("reason", "code"), [("tool_use", 1), ("end_turn", 0)])
def test_an_answer_that_ended_for_a_call_which_is_not_recorded_is_no_complete_evidence(tmp_path, reason, code):
    files = {
        "traces/a.json": {"scenario_id": "refund", "messages": ASKED, "response": {**ANSWER, "stop_reason": reason}}
    }
    assert judge(tmp_path, DENY, files=files).code == code


def ended_by_outage(*tools: str) -> dict[str, Any]:
    """A run whose last model call got no answer."""
    record = trace("", tools=tools)
    record["messages"].pop()
    for message in record["messages"]:
        for call in message.get("tool_calls", ()):
            call["arguments"] = {"order": "A-7341"} if call["name"] == "delete_user" else call["arguments"]
    step = 2 * len(tools) + 1
    figures = {"usage": {"input_tokens": 50_000, "output_tokens": 100}, "cost_usd": 3, "metadata": {"tier": "gold"}}
    return {**record, **figures, "llm_calls": [{"model": "m", "step": step, "error": OUTAGE}]}


def judge(folder, *checks, files, **more):
    write(folder, {"evals/s.yaml": suite(*checks, **more), **files})
    return evalgate(folder, ["evals/s.yaml"])


FORBIDDING: list[dict[str, Any]] = [
    DENY,
    {"type": "no_tool", "tool": "delete_*", "required": True},
    {"not": {"type": "tool_called", "tool": "delete_user"}, "required": True},
    {"type": "allowed_tools", "tools": ["lookup"], "required": True},
    {"all_of": [{"type": "no_tool", "tool": "delete_user"}, {"contains": "done"}], "required": True},
    {"all_of": [{"type": "allowed_tools", "tools": ["lookup"]}, {"contains": "done"}], "required": True},
    {"type": "tool_calls", "tool": "delete_user", "max": 0, "required": True},
    {"type": "max_tool_calls", "max": 1, "required": True},
    {"not": {"type": "tool_sequence", "sequence": ["delete_user"]}, "required": True},
    {"type": "tool_sequence", "sequence": ["lookup"], "mode": "exact", "required": True},
]
DELETES = "tool_calls[?name == 'delete_user']"
INVENTED = {"type": "grounded_arguments", "tools": ["delete_user"]}
FORBIDDING += [
    {"required": True, **each}
    for each in (
        INVENTED,
        {"all_of": [INVENTED, {"contains": "done"}]},
        {"all_of": [{"path": f"length({DELETES})", "eq": 0}, {"contains": "done"}]},
        {"type": "no_loops", "max_repeats": 1},
        {"type": "no_flow", "from": {"tools": ["lookup"]}, "to": {"tools": ["delete_user"]}},
        {"path": f"length({DELETES})", "eq": 0},
        {"path": f"length({DELETES})", "lt": 1},
        {"path": f"length({DELETES})", "in": [0]},
        {"path": f"{DELETES} | length(@)", "eq": 0},
        {"path": f"length({DELETES}) == `0`", "eq": True},
        {"path": f"`0` < length({DELETES})", "ne": True},
        {"path": DELETES, "length": 0},
        {"path": DELETES, "length": {"lte": 0}},
        {"path": DELETES, "eq": []},
        {"path": f"{DELETES} | [0].arguments.order", "ne": "A-7341"},
        {"path": f"{DELETES} | [0]", "exists": False},
        {"path": f"!({DELETES})", "eq": True},
        {"path": "max(tool_calls[?name == 'lookup'].arguments.order)", "lt": 7},
        {"path": "metadata.tool_call_count", "lte": 1},
        {"path": "contains(tool_calls[].name, 'delete_user')", "eq": False},
        {"path": "!contains(tool_calls[].name, 'delete_user') && !contains(tool_calls[].name, 'x')", "eq": True},
        {"not": {"path": "tool_calls[].name", "contains": "delete_user"}},
        {"not": {"path": DELETES, "length": {"gte": 1}}},
        {"not": {"path": f"length({DELETES})", "ne": 0}},
    )
]
CALLED = {"type": "tool_called", "tool": "lookup"}
NO_CALL = {"path": f"length({DELETES})", "eq": 0}
WRONG_ORDER = {"type": "tool_arguments", "tool": "delete_user", "schema": {"properties": {"order": {"const": 42}}}}
FORBIDDING += [
    {"required": True, **each}
    for each in (
        {"any_of": [INVENTED, {"type": "no_tool", "tool": "delete_user"}]},
        {"any_of": [NO_CALL, {"all_of": [INVENTED, {"contains": "done"}]}]},
        {"at_least": {"k": 2, "of": [CALLED, INVENTED, NO_CALL]}},
        {"at_least": {"k": 2, "of": [{"contains": "done"}, INVENTED, NO_CALL]}},
        {"when": CALLED, "then": [NO_CALL]},
        {"when": {"not": {"type": "forbidden_tools", "tools": ["look*"]}}, "then": [INVENTED]},
        {"when": {"path": "exchanges[0].user", "contains": "money"}, "then": [NO_CALL]},
        {"when": {"path": "contains(turns[0].content, 'money')", "eq": True}, "then": [WRONG_ORDER]},
        {"when": {"path": "metadata.scenario_id", "eq": "refund"}, "then": [INVENTED]},
        {"when": {"path": "metadata.custom.tier", "eq": "gold"}, "then": [INVENTED]},
        {"when": {"path": "tool_calls[0].name == 'lookup'", "eq": True}, "then": [INVENTED]},
        {"not": {"any_of": [{"not": INVENTED}, {"type": "tool_called", "tool": "refund"}]}},
        {"not": {"all_of": [CALLED, {"not": NO_CALL}]}},
        {"all_of": [WRONG_ORDER, {"contains": "done"}]},
        {"all_of": [{"type": "max_tool_calls", "max": 1}, {"contains": "done"}]},
        {"type": "token_limit", "max_total": 1_000},
        {"path": "usage.total_tokens", "lte": 1_000},
        {"any_of": [{"type": "cost_limit", "max_usd": 1}, {"path": "metadata.cost_usd", "lt": 2}]},
    )
]
UNDECIDED: list[dict[str, Any]] = [
    {**DENY, "required": False},
    {**DENY, "tools": ["wipe"]},
    {"type": "tool_called", "tool": "refund", "required": True},
    {"type": "tool_sequence", "sequence": ["lookup", "delete_user", "refund"], "required": True},
    {"type": "tool_calls", "tool": "refund", "min": 1, "required": True},
    {"type": "latency_limit", "max_seconds": 0.001, "required": True},
    {"contains": "done", "required": True},
    {"any_of": [{"type": "no_tool", "tool": "delete_user"}, {"contains": "done"}], "required": True},
]
UNDECIDED += [
    {"required": True, **each}
    for each in (
        {"path": "metadata.status", "eq": "ok"},
        {"path": "length(tool_calls[?name == 'refund'])", "eq": 1},
        {"path": "length(tool_calls)", "gte": 5},
        {"path": "length(tool_calls)", "eq": 3},
        {"path": DELETES, "length": {"gte": 2}},
        {"path": "tool_calls[].name", "contains": "refund"},
        {"path": "contains(tool_calls[].name, 'refund')", "eq": True},
        {"path": "tool_calls[-1].name", "eq": "refund"},
        {"path": "tool_calls[?name == 'refund'] | [0]", "exists": True},
        {"path": "length(tool_calls[?status != 'ok'])", "eq": 0},
        {"not": {"path": "length(tool_calls)", "ne": 3}},
        {"not": {"type": "grounded_arguments", "tools": ["lookup"]}},
        {"any_of": [{"path": f"length({DELETES})", "eq": 0}, {"contains": "done"}]},
        {"when": {"contains": "x"}, "then": [INVENTED]},
        {"when": {"not": {"type": "tool_called", "tool": "approve"}}, "then": [NO_CALL]},
        {"when": {"path": "tool_calls[2].name == 'refund'", "eq": False}, "then": [NO_CALL]},
        {"when": {"path": "length(turns)", "lte": 9}, "then": [NO_CALL]},
        {"when": {"path": "metadata.custom.tier", "eq": "silver"}, "then": [INVENTED]},
        {"path": "metadata.custom.tier", "eq": "silver"},
        {"path": "turns[0].content", "contains": "Cancel"},
        {"path": "!tool_calls[2]", "eq": False},
        {"any_of": [INVENTED, {"type": "tool_called", "tool": "approve"}]},
        {"at_least": {"k": 1, "of": [INVENTED, NO_CALL, {"contains": "done"}]}},
        {"all_of": [CALLED, {"contains": "done"}]},
        {"not": {"any_of": [INVENTED, {"contains": "done"}]}},
        {"type": "max_tool_errors", "max": 0},
        {"type": "token_limit", "max_total": 100_000},
        {"path": f"length({DELETES})", "eq": 0, "agent": "cleaner"},
    )
]


@pytest.mark.parametrize("check", FORBIDDING)
def test_a_forbidden_call_before_an_outage_was_made(tmp_path, check):
    files = {
        "traces/a.json": ended_by_outage("lookup", "delete_user"),
        "traces/b.json": trace("done", tools=("lookup",)),
    }
    if check.get("type") == "no_loops":
        files["traces/a.json"] = ended_by_outage("delete_user", "delete_user")
    if check.get("type") == "no_flow":
        files["traces/a.json"]["messages"][2]["content"] = "it is A-7341"
    ran = judge(tmp_path, check, files=files)
    assert ran.code == 1, ran.stdout
    (judged,) = ran.results["suites"][0]["scenarios"]
    statuses = {each["status"] for each in judged["trials"]}
    assert "hard_fail" in statuses
    assert "not_measured" not in statuses


@pytest.mark.parametrize("check", UNDECIDED)
def test_a_run_that_an_outage_ended_is_else_not_measured(tmp_path, check):
    ran = judge(tmp_path, check, files={"traces/a.json": ended_by_outage("lookup", "delete_user")})
    (judged,) = ran.results["suites"][0]["scenarios"]
    assert [each["status"] for each in judged["trials"]] == ["not_measured"]


GOOD = {"traces/a.json": trace("done", tools=("lookup",))}
LEFT = {
    "a failed run": ({"scenario_id": "other", "status": "error"}, "1 trace of a failed run belongs to no scenario"),
    "an id in other letters": ({"scenario_id": "Refund"}, "1 trace with a scenario's id belongs to no scenario"),
    "an id with a blank": ({"scenario_id": "refund "}, "1 trace with a scenario's id belongs to no scenario"),
}


@pytest.mark.parametrize("name", LEFT)
def test_a_run_of_no_scenario_that_leaves_doubt_is_named_below_the_heading(tmp_path, name):
    fields, expected = LEFT[name]
    ran = judge(tmp_path, DENY, files={**GOOD, "traces/b.json": {**trace("done", tools=("delete_user",)), **fields}})
    heading, *lines = [line for line in ran.text("comment.md").splitlines() if line and not line.startswith("<!--")]
    assert ran.code == 0, heading
    assert expected in lines[0]
    assert expected in ran.stdout
    assert ran.stdout.count("to no scenario") == 1


def test_another_run_of_no_scenario_stays_in_the_list(tmp_path):
    ran = judge(tmp_path, DENY, files={**GOOD, "traces/b.json": trace("done", scenario="other")})
    comment = ran.text("comment.md")
    assert "belongs to no scenario" in comment
    assert comment.count("belongs to no scenario") == 1
