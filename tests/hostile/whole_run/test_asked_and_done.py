"""A check looks at what was asked for and at what was done, whatever name it has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from hostile.suite_edits import suite, trace, write

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

DENY = {"type": "forbidden_tools", "tools": ["delete_*"]}
ZERO_WIDTH, CYRILLIC_E, FULL_WIDTH_D, NO_BREAK = "\u200b", "\u0435", "\uff44", "\u00a0"
WRITTEN_ALIKE = {
    "functions.delete_user": "functions.delete_user",
    "functions.default_api.delete_user": "functions.default_api.delete_user",
    "tools.delete_user": "tools.delete_user",
    f"de{ZERO_WIDTH}lete_user": "de<U+200B>lete_user",
    " delete_user": "<U+0020>delete_user",
    f"delete_user{NO_BREAK}": "delete_user<U+00A0>",
    "delete_user\n": "delete_user<U+000A>",
    f"d{CYRILLIC_E}lete_user": "d<U+0435>lete_user",
    f"{FULL_WIDTH_D}elete_user": "<U+FF44>elete_user",
    "Delete_User": "Delete_User",
    f"functions.{ZERO_WIDTH}d{CYRILLIC_E.upper()}LETE_user": "functions.<U+200B>d<U+0415>LETE_user",
}
OTHERS = ("undelete_user", "deletes", "user_delete_", "de-lete_user", "get_deleted", "d\u00e9lete_user")


def judge(folder: Path, checks: Any, *calls: str, **more: Any) -> CommandResult:
    checks = [{"required": True, **each} for each in ([checks] if isinstance(checks, dict) else checks)]
    return judge_trace(folder, checks, trace("done", tools=calls), **more)


def judge_trace(folder: Path, checks: Any, record: Any, **more: Any) -> CommandResult:
    checks = [checks] if isinstance(checks, dict) else checks
    write(folder, {"evals/s.yaml": suite(*checks, **more), "traces/a.json": record})
    return evalgate(folder, ["evals/s.yaml"])


def reasons(ran: CommandResult) -> str:
    trials = [each for suite in ran.results["suites"] for each in suite["scenarios"]]
    return json.dumps(trials, ensure_ascii=False)


def second_line(ran: CommandResult) -> str:
    return ran.text("comment.md").split("\n\n")[1]


@pytest.mark.parametrize(("name", "shown"), WRITTEN_ALIKE.items())
@pytest.mark.parametrize(
    "check",
    [
        DENY,
        {"type": "no_tool", "tool": "delete_user"},
        {"type": "no_run_code", "tool": "delete_*"},
        {"type": "expected_tool", "expected_tool": None, "tool": ["refund", "delete_user"]},
        {"type": "tool_calls", "tool": "delete_user", "max": 0},
        {"type": "tool_calls", "forbidden_tools": ["delete_user"]},
        {"not": {"type": "tool_called", "tool": "delete_user"}},
        {"not": {"type": "tool_calls", "tool": "delete_*", "min": 1}},
        {"not": {"type": "tool_sequence", "sequence": ["look", "delete_*"]}},
        {"not": {"any_of": [{"type": "tool_called", "tool": "delete_user"}, {"type": "tool_called", "tool": "x"}]}},
        {"when": {"type": "tool_called", "tool": "delete_user"}, "then": [{"type": "tool_called", "tool": "ask"}]},
    ],
    ids=lambda check: "-".join(map(str, next(iter(check.items()))))[:60],
)
def test_a_name_that_is_written_like_a_forbidden_one_is_that_tool(tmp_path, check, name, shown):
    ran = judge(tmp_path, check, "look", name)
    assert ran.code == 1, ran.text("comment.md")
    if check is DENY:
        assert shown in reasons(ran)


@pytest.mark.parametrize("name", OTHERS)
def test_a_name_that_only_resembles_a_forbidden_one_is_another_tool(tmp_path, name):
    ran = judge(tmp_path, {"type": "forbidden_tools", "tools": ["delete_user", "delete_users"]}, name)
    assert ran.code == 0
    assert "similar_tool" not in {each["code"] for each in ran.results["warnings"]}


@pytest.mark.parametrize(
    "check",
    [
        {"type": "tool_called", "tool": "delete_user"},
        {"type": "tool_calls", "tool": "delete_user", "min": 1},
        {"type": "tool_sequence", "sequence": ["delete_user"]},
        {"type": "expected_tool", "expected_tool": "delete_user"},
        {"not": {"type": "forbidden_tools", "tools": ["delete_user"]}},
        {"not": {"type": "tool_calls", "tool": "delete_user", "max": 0}},
        {"not": {"type": "tool_calls", "forbidden_tools": ["delete_user"]}},
        {"not": {"not": {"type": "tool_called", "tool": "delete_user"}}},
    ],
)
def test_a_check_that_requires_a_tool_takes_no_other_name_for_it(tmp_path, check):
    assert judge(tmp_path, check, f"d{CYRILLIC_E}lete_user", "functions.delete_user").code == 1


@pytest.mark.parametrize(
    ("name", "code"), [("functions.look", 0), ("Look", 1), (f"l{ZERO_WIDTH}ook", 1), ("mcp__x__look", 1)]
)
def test_an_allowed_tool_may_have_a_wrapper_and_no_other_name(tmp_path, name, code):
    assert judge(tmp_path, {"type": "allowed_tools", "tools": ["look"]}, name).code == code


def test_a_forbidden_namespace_is_not_every_tool(tmp_path):
    assert judge(tmp_path, {"type": "forbidden_tools", "tools": ["tools.*"]}, "look", "functions.look").code == 0


def test_a_limit_counts_calls_under_all_names(tmp_path):
    ran = judge(tmp_path, {"type": "tool_calls", "tool": "pay", "min": 1, "max": 2}, "pay", "functions.pay", "Pay")
    assert ran.code == 1
    assert "1 to 2 calls of `pay`, got 3" in reasons(ran)


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("mcp__db__delete_user", "*__delete_*"),
        ("db.delete_user", "*.delete_*"),
        ("db/delete_user", "*/delete_*"),
        ("db:delete_user", "*:delete_*"),
    ],
)
def test_a_name_that_ends_like_a_forbidden_one_is_a_warning_below_the_heading(tmp_path, name, pattern):
    ran = judge(tmp_path, DENY, name)
    assert ran.code == 0
    (warning,) = ran.results["warnings"]
    assert warning["code"] == "similar_tool"
    assert name in second_line(ran).replace("` ", "").replace(" `", "")
    assert pattern in second_line(ran)
    assert pattern in ran.stdout.splitlines()[-2] + ran.stdout.splitlines()[-1]
    assert judge(tmp_path, {"type": "forbidden_tools", "tools": ["delete_*", pattern]}, name).code == 1


@pytest.mark.parametrize(
    "checks",
    [
        [{**DENY, "not_meant": ["mcp__db__delete_user"]}],
        [{**DENY, "not_meant": ["mcp__*"]}],
        [DENY, {"type": "tool_called", "tool": "mcp__db__delete_user"}],
        [DENY, {"type": "tool_sequence", "sequence": ["mcp__db__delete_user"]}],
        [{"type": "tool_called", "tool": "mcp__db__delete_user"}],
    ],
)
def test_a_name_that_the_scenario_knows_is_no_warning(tmp_path, checks):
    ran = judge(tmp_path, checks, "mcp__db__delete_user")
    assert (ran.code, ran.results["warnings"]) == (0, [])


def test_a_name_that_is_not_meant_may_be_written_like_a_forbidden_one(tmp_path):
    check = {"type": "forbidden_tools", "tools": ["bash"], "not_meant": ["Bash"]}
    assert judge(tmp_path, check, "Bash").code == 0
    assert judge(tmp_path, check, "BASH").code == 1
    assert judge(tmp_path, {**check, "not_meant": ["bash"]}, "bash").code == 1


PARALLEL = {
    "tool_uses": [
        {"recipient_name": "functions.look", "parameters": {"id": 1}},
        {"recipient_name": "functions.delete_user", "parameters": {"id": 2}},
    ]
}


def parallel(arguments: Any) -> dict[str, Any]:
    record = dict(trace("done", tools=("multi_tool_use.parallel",)))
    record["messages"][1]["tool_calls"][0]["arguments"] = arguments
    return record


def test_a_parallel_call_is_read_as_the_calls_inside_it(tmp_path):
    ran = judge_trace(tmp_path, {**DENY, "required": True}, parallel(PARALLEL))
    assert ran.code == 1
    assert "`delete_user` must not be called, but was (call 2)" in reasons(ran)
    called = {
        "type": "tool_sequence",
        "mode": "exact",
        "sequence": [{"tool": "look", "args": {"id": 1}}, "delete_user"],
    }
    assert judge_trace(tmp_path, {**called, "required": True}, parallel(PARALLEL)).code == 0


@pytest.mark.parametrize("arguments", [{}, {"tool_uses": "x"}, {"tool_uses": [{"recipient_name": 7}]}, "not json"])
def test_a_parallel_call_that_can_not_be_read_leaves_calls_unknown(tmp_path, arguments):
    ran = judge_trace(tmp_path, {**DENY, "required": True}, parallel(arguments))
    assert ran.code == 1
    assert "does not say which tools it calls" in reasons(ran)
