"""A check looks at what was asked for and at what was done, whatever name it has."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from evalgate.cli import main
from evalgate.cli.shell import Shell
from hostile.suite_edits import suite, trace, write
from hostile.whole_run.executed_calls import list_recordings, otlp

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

DENY = {"type": "forbidden_tools", "tools": ["delete_*"]}
ZERO_WIDTH, CYRILLIC_A, CYRILLIC_E, FULL_WIDTH_D, NO_BREAK = "\u200b", "\u0430", "\u0435", "\uff44", "\u00a0"
WRITTEN_ALIKE = {
    "functions.delete_user": "functions.delete_user",
    "functions.default_api.delete_user": "functions.default_api.delete_user",
    "tools.delete_user": "tools.delete_user",
    "functions.delete_user:0": "functions.delete_user:0",
    "delete_user<|channel|>commentary": "delete_user<|channel|>commentary",
    f"de{ZERO_WIDTH}lete_user": "de<U+200B>lete_user",
    " delete_user": "<U+0020>delete_user",
    f"delete_user{NO_BREAK}": "delete_user<U+00A0>",
    "delete_user\n": "delete_user<U+000A>",
    f"d{CYRILLIC_E}lete_user": "d<U+0435>lete_user",
    f"{FULL_WIDTH_D}elete_user": "<U+FF44>elete_user",
    "Delete_User": "Delete_User",
    f"functions.{ZERO_WIDTH}d{CYRILLIC_E.upper()}LETE_user": "functions.<U+200B>d<U+0415>LETE_user",
}
OTHERS = ("undelete_user", "deletes", "user_delete_", "de-lete_user", "get_deleted")


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


def show(folder: Path, *arguments: str) -> str:
    """What another verb of the command prints."""
    shell = Shell(out=StringIO(), err=StringIO(), environ={}, cwd=str(folder))
    assert main(arguments, shell) == 0, shell.err.getvalue()
    return shell.out.getvalue()


def second_line(ran: CommandResult) -> str:
    return ran.text("comment.md").split("\n\n")[1]


@pytest.mark.parametrize("name", ["functions.pay", "Pay", f"p{CYRILLIC_A}y", "pay"])
def test_a_limit_of_arguments_holds_for_names_that_are_written_alike(tmp_path: Path, name: str) -> None:
    record = trace("done", tools=("pay", name))
    record["messages"][3]["tool_calls"][0]["arguments"] = {"order": 700}
    limit = {"type": "tool_arguments", "tool": "pay", "schema": {"properties": {"order": {"maximum": 100}}}}
    ran = judge_trace(tmp_path, {**limit, "required": True}, record)
    assert ran.code == 1
    assert "700" in reasons(ran)


def test_a_name_with_more_wrappers_than_a_stack_has_room_for_is_forbidden_too(tmp_path: Path) -> None:
    assert judge(tmp_path, DENY, "functions." * 5_000 + "delete_user").code == 1


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
    ("name", "told"),
    [
        ('delete_user{"id":1}', True),
        ("delete_user(id=1)", True),
        ("assistant<|channel|>commentary to=functions.delete_user", True),
        ("look delete_user", True),
        ("d\u00e9l\u00e9te_user", True),
        ("look at delete_users", False),
        ("undelete_user(id=1)", False),
        ("suche f\u00fcr_user", False),
    ],
)
def test_a_name_that_has_a_forbidden_one_as_a_word_is_a_warning(tmp_path, name, told):
    ran = judge(tmp_path, {"type": "forbidden_tools", "tools": ["delete_user"]}, name)
    assert ran.code == 0
    assert ("similar_tool" in {each["code"] for each in ran.results["warnings"]}) is told


@pytest.mark.parametrize("name", ["delete\u0332_user", "delete_user|x", "delete_user\u2800"])
def test_such_a_name_is_one_warning(tmp_path, name):
    ran = judge(tmp_path, {"type": "forbidden_tools", "tools": ["delete_user"]}, name)
    assert [each["code"] for each in ran.results["warnings"]] == ["similar_tool"]


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


LIMITS: list[tuple[dict[str, Any], str, str]] = [
    *(
        (check, "mcp__db__delete_user", advice)
        for check, advice in (
            ({"type": "grounded_arguments", "tools": ["delete_user"]}, "not_meant: [mcp__db__delete_user]"),
            ({"type": "tool_calls", "tool": "delete_user", "max": 0}, "name it in full in a check"),
            ({"not": {"type": "tool_called", "tool": "delete_user"}}, "name it in full in a check"),
            ({"not": {"type": "tool_calls", "tool": "delete_user", "min": 1}}, "name it in full in a check"),
            ({"not": {"type": "tool_sequence", "sequence": ["delete_user"]}}, "name it in full in a check"),
        )
    ),
    *(
        (check, name, advice)
        for check in (
            {"path": "length(tool_calls[?name == 'delete_user'])", "eq": 0},
            {"path": "contains(tool_calls[].name, 'delete_user')", "eq": False},
            {"path": "tool_calls[?name == 'delete_user'] | [0]", "exists": False},
            {"not": {"path": "tool_calls[].name", "contains": "delete_user"}},
        )
        for name, advice in (("db.delete_user", "*.delete_user"), ("functions.delete_user", "`forbidden_tools`"))
    ),
]


@pytest.mark.parametrize(("check", "name", "advice"), LIMITS)
def test_a_check_that_a_name_like_it_evades_is_named_with_what_helps(tmp_path, check, name, advice):
    ran = judge(tmp_path, check, "look", name)
    (warning,) = (each for each in ran.results["warnings"] if each["code"] == "similar_tool")
    assert advice in warning["message"]


def test_a_call_that_a_check_of_arguments_does_not_judge_is_named_beside_one_that_it_does(tmp_path):
    fits = {"type": "tool_arguments", "tool": "pay", "schema": {"properties": {"order": {"maximum": 9}}}}
    ran = judge(tmp_path, fits, "pay", "mcp__bank__pay")
    assert [each["code"] for each in ran.results["warnings"]] == ["similar_tool"]


@pytest.mark.parametrize(
    "check",
    [
        {"path": "length(tool_calls[?name == 'look'])", "gte": 1},
        {"path": "tool_calls[].name", "contains": "look"},
        {"path": "contains(tool_calls[].name, 'look')", "eq": True},
        {"type": "tool_called", "tool": "look"},
        {"type": "grounded_arguments", "tools": ["look"], "not_meant": ["mcp__x__*"], "arguments": ["none"]},
    ],
)
def test_a_check_that_a_name_like_it_does_not_evade_is_no_warning(tmp_path, check):
    ran = judge(tmp_path, check, "look", "mcp__x__look")
    assert (ran.code, ran.results["warnings"]) == (0, [])


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


@pytest.mark.parametrize("name", ["functions_delete_user", "functions-delete_user", "default_api_delete_user"])
def test_a_wrapper_without_its_dot_is_a_warning(tmp_path, name):
    ran = judge(tmp_path, {**DENY, "required": True}, name)
    assert ran.code == 0
    assert [each["code"] for each in ran.results["warnings"]] == ["similar_tool"]


@pytest.mark.parametrize(("name", "pattern"), [
    ("mcp_database_delete_user", "*_delete_user"),  # Gemini CLI
    ("db-delete_user", "*-delete_user"),  # Copilot CLI
    ("db_delete_user", "*_delete_user"),  # opencode
    ("mcp__db__delete_user:3", "*__delete_user"),
    ("delete_user:0", "delete_user:*"),
])  # fmt: skip
def test_a_tool_behind_the_name_of_a_server_is_named_below_the_heading(tmp_path, name, pattern):
    check = {"type": "forbidden_tools", "tools": ["delete_user"]}
    ran = judge(tmp_path, check, name)
    assert (ran.code, f"`{pattern}`" in second_line(ran).replace("` ", "`").replace(" `", "`")) == (0, True), (
        second_line(ran)
    )
    meant = judge(tmp_path, {**check, "not_meant": [name]}, name)
    assert "similar_tool" not in {each["code"] for each in meant.results["warnings"]}


def asking(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    record = trace("done", tools=(tool,))
    (message,) = (each for each in record["messages"] if each.get("tool_calls"))
    message["tool_calls"][0]["arguments"] = arguments
    return record


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("batch", {"tool_calls": [{"tool": "delete_user", "parameters": {}}]}),
        ("call_tool", {"name": "delete_user", "arguments": {}}),
        ("call_tool", {"name": "Delete_User"}),
        ("run", {"request": {"function": {"name": "delete_user"}}}),
        ("dispatch", {"tool_name": "functions.delete_user"}),
    ],
)
def test_a_forbidden_tool_that_another_is_asked_to_call_is_a_warning_below_the_heading(tmp_path, tool, arguments):
    ran = judge_trace(tmp_path, {**DENY, "required": True}, asking(tool, arguments))
    assert (ran.code, [each["code"] for each in ran.results["warnings"]]) == (0, ["similar_tool"])
    assert tool in second_line(ran)
    known = [{**DENY, "required": True}, {"type": "tool_called", "tool": tool}]
    assert judge_trace(tmp_path, known, asking(tool, arguments)).results["warnings"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "forbidden"),
    [
        ("get_tool", {"name": "delete_user"}, "delete_*"),
        ("create_label", {"name": "search"}, "search"),
        ("create_note", {"text": "delete_user", "title": "delete_user"}, "delete_*"),
        ("create_role", {"name": "undelete_users"}, "delete_*"),
        ("pay", {"name": 7, "tool": None, "function": ["pay"]}, "delete_*"),
    ],
)
def test_a_name_in_other_arguments_is_no_warning(tmp_path, tool, arguments, forbidden):
    check = {"type": "forbidden_tools", "tools": [forbidden], "required": True}
    ran = judge_trace(tmp_path, check, asking(tool, arguments))
    assert (ran.code, ran.results["warnings"]) == (0, [])


@pytest.mark.parametrize("name", ["web_search", "file-search", "research", "search_web"])
def test_a_name_that_ends_with_the_same_word_is_another_tool(tmp_path, name):
    ran = judge(tmp_path, {"type": "forbidden_tools", "tools": ["search"]}, name)
    assert (ran.code, "similar_tool" in {each["code"] for each in ran.results["warnings"]}) == (0, False)


def parallel(arguments: Any, name: str = "multi_tool_use.parallel") -> dict[str, Any]:
    record = dict(trace("done", tools=(name,)))
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


@pytest.mark.parametrize("name", ["multi_tool_use_parallel", "functions.multi_tool_use-parallel"])
def test_a_parallel_call_whose_name_has_no_dot_is_read_as_well(tmp_path, name):
    assert judge_trace(tmp_path, {**DENY, "required": True}, parallel(PARALLEL, name)).code == 1


@pytest.mark.parametrize("arguments", [{}, {"tool_uses": "x"}, {"tool_uses": [{"recipient_name": 7}]}, "not json"])
def test_a_parallel_call_that_can_not_be_read_leaves_calls_unknown(tmp_path, arguments):
    ran = judge_trace(tmp_path, {**DENY, "required": True}, parallel(arguments))
    assert ran.code == 1
    assert "does not say which tools it calls" in reasons(ran)


@pytest.mark.parametrize(("name", "arguments"), [
    ("mcp_server:db", {"action": "call_tool", "tool_name": "delete_user", "tool_args": {"id": 1}}),
    ("mcp_server", {"action": "call_tool", "tool_name": "delete_user"}),
])  # fmt: skip
def test_a_call_of_a_server_is_read_as_that_of_its_tool(tmp_path, name, arguments):
    """Pydantic AI names the server, and writes the tool into the arguments."""
    ran = judge_trace(tmp_path, {**DENY, "required": True}, parallel(arguments, name))
    assert (ran.code, "`delete_user` must not be called" in reasons(ran)) == (1, True)
    listed = parallel({"action": "list_tools"}, name)
    assert judge_trace(tmp_path, {**DENY, "required": True}, listed).code == 0
    unread = judge_trace(tmp_path, {**DENY, "required": True}, parallel({"action": "call_tool"}, name))
    assert (unread.code, "does not say which tools it calls" in reasons(unread)) == (1, True)


OTHER_TOOL = dict(list_recordings("delete_user"))
SAME_TOOL = dict(list_recordings("look"))
OTHER_ARGUMENTS = dict(list_recordings("look", {"order": 8}))


def judge_file(folder: Path, checks: Any, record: Any) -> CommandResult:
    checks = [{"required": True, **each} for each in ([checks] if isinstance(checks, dict) else checks)]
    whole = {**suite(*checks), "scenarios": [{"id": "*", "assertions": checks}]}
    write(folder, {"evals/s.yaml": whole, "traces/a.json": json.dumps(record)})
    return evalgate(folder, ["evals/s.yaml"])


@pytest.mark.parametrize("record", OTHER_TOOL.values(), ids=OTHER_TOOL)
@pytest.mark.parametrize(
    ("check", "code"),
    [
        (DENY, 1),
        ({"type": "forbidden_tools", "tools": ["look"]}, 1),
        ({"type": "allowed_tools", "tools": ["look"]}, 1),
        ({"type": "allowed_tools", "tools": ["look", "delete_user"]}, 0),
        ({"type": "no_tool", "tool": "look"}, 1),
        ({"type": "tool_calls", "tool": "look", "max": 0}, 1),
        ({"type": "tool_calls", "tool": "delete_user", "max": 0}, 1),
        ({"not": {"type": "tool_called", "tool": "look"}}, 1),
        ({"type": "tool_called", "tool": "look"}, 1),
        ({"type": "tool_called", "tool": "delete_user"}, 0),
        ({"type": "tool_sequence", "mode": "exact", "sequence": ["delete_user"]}, 0),
        ({"type": "max_tool_calls", "max": 1}, 0),
    ],
)
def test_checks_that_forbid_look_at_both_names_and_others_at_what_ran(tmp_path, record, check, code):
    assert judge_file(tmp_path, check, record).code == code


@pytest.mark.parametrize("record", OTHER_TOOL.values(), ids=OTHER_TOOL)
def test_another_tool_than_asked_for_is_one_warning_in_every_output(tmp_path, record):
    ran = judge_file(tmp_path, {"type": "max_tool_calls", "max": 3}, record)
    assert ran.code == 0
    (warning,) = [each for each in ran.results["warnings"] if each["code"] == "other_call_executed"]
    assert warning["message"] == "asked `look`, ran `delete_user`"
    assert "asked ` look `, ran ` delete_user `" in second_line(ran)
    shown = show(tmp_path, "show", "traces/a.json")
    assert "call 1 delete_user" in shown
    assert "(asked for look {" in shown
    show(tmp_path, "view", "--full", "-o", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "asked for look" in page
    assert "asked `look`, ran `delete_user`" in page


@pytest.mark.parametrize("record", SAME_TOOL.values(), ids=SAME_TOOL)
def test_what_ran_as_asked_for_is_no_warning(tmp_path, record):
    ran = judge_file(tmp_path, {"type": "tool_called", "tool": "look"}, record)
    assert (ran.code, [each for each in ran.results["warnings"] if each["code"] == "other_call_executed"]) == (0, [])


@pytest.mark.parametrize("record", OTHER_ARGUMENTS.values(), ids=OTHER_ARGUMENTS)
def test_other_arguments_than_asked_for_are_a_warning(tmp_path, record):
    ran = judge_file(tmp_path, {"type": "tool_called", "tool": "look"}, record)
    (warning,) = [each for each in ran.results["warnings"] if each["code"] == "other_call_executed"]
    assert warning["message"].startswith("ran `look` with other arguments than asked for: `")


@pytest.mark.parametrize("arguments", ['{"order":7}', '{ "order" : 7.0, "note": null }', "", "order=7"])
def test_arguments_are_compared_as_values_and_what_is_unknown_is_no_difference(tmp_path, arguments):
    ran = judge_file(tmp_path, {"type": "tool_called", "tool": "look"}, otlp("look", arguments))
    assert [each for each in ran.results["warnings"] if each["code"] == "other_call_executed"] == []


ORDER_8 = [{"tool": "look", "args": {"order": 8}}]


@pytest.mark.parametrize(
    ("check", "code"),
    [
        ({"type": "tool_sequence", "sequence": ORDER_8}, 0),
        ({"type": "tool_sequence", "sequence": [{"tool": "look", "args": {"order": 7}}]}, 1),
        ({"type": "no_tool", "tool": "look", "action": "8", "action_argument": "order"}, 1),
        ({"type": "no_tool", "tool": "look", "action": "7", "action_argument": "order"}, 1),
        ({"type": "tool_arguments", "tool": "look", "schema": {"properties": {"order": {"enum": ["8"]}}}}, 1),
        ({"type": "tool_arguments", "tool": "look", "schema": {"properties": {"order": {"enum": ["7"]}}}}, 1),
    ],
)
def test_limits_look_at_both_arguments_and_others_at_what_ran(tmp_path, check, code):
    number = check["type"] == "tool_sequence"
    record: Any = otlp("look", '{"order":8}' if number else '{"order":"8"}')
    text = json.dumps(record).replace('\\"order\\": 7', '\\"order\\": 7' if number else '\\"order\\": \\"7\\"')
    assert judge_file(tmp_path, check, json.loads(text)).code == code


def test_calls_that_share_an_id_are_joined_by_name_and_order(tmp_path):
    record: Any = trace("done", tools=("look", "pay"))
    both = [record["messages"][1]["tool_calls"][0], record["messages"][3]["tool_calls"][0]]
    calls = [{**each, "id": "same"} for each in both]
    results = [{"role": "tool", "tool_call_id": "same", "name": name, "content": name} for name in ("pay", "look")]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}
    record["messages"] = [record["messages"][0], asked, *results, record["messages"][-1]]
    ran = judge_file(tmp_path, {"path": "tool_calls[0].result", "eq": "look"}, record)
    assert ran.code == 0
    assert [each for each in ran.results["warnings"] if each["code"] == "other_call_executed"] == []


def test_what_was_asked_for_and_what_ran_are_kept_by_the_native_format(tmp_path):
    write(tmp_path, {"traces/a.json": json.dumps(OTHER_TOOL["otlp"])})
    sections = {name: json.loads(show(tmp_path, "query", name, "traces/a.json")) for name in ("turns", "tool_calls")}
    encoded = {"schema": "evalgate.trace/1", "messages": sections["turns"], "tool_calls": sections["tool_calls"]}
    ran = judge_file(tmp_path / "again", {"type": "forbidden_tools", "tools": ["look"]}, encoded)
    assert ran.code == 1
    assert judge_file(tmp_path / "more", DENY, encoded).code == 1


BAR, LOW, LINES = "\uff5c", "\u2581", "\n" * 12
AS_TEXT = {
    "hermes": '<tool_call>{"name": "delete_user", "arguments": {}}</tool_call>',
    "function": "I will.\n<function=delete_user>{}</function>",
    "invoke": '<invoke name="delete_user">\n</invoke>',
    "react": "Thought: now\nAction: delete_user\nAction Input: {}",
    "react on lines of their own": "Action:\ndelete_user\nAction Input:\n7",
    "react with blank lines between": f"Action: delete_user{LINES}Action Input: 7",
    "react on one line": "Action: delete_user Action Input: 7",
    "react with numbers": "Thought: now\nAction 1: delete_user\nAction Input 1: 7",
    "react in bold": "**Action:** delete_user\n**Action Input:** 7",
    "harmony": "<|start|>assistant<|channel|>commentary to=functions.delete_user <|message|>{}",
    "no name": "<tool_call>\ndelete_user\n</tool_call>",
    "a marked list": '[TOOL_CALLS] [{"name": "delete_user", "arguments": {}}]',
    "a marked name": "[TOOL_CALLS]delete_user{}",
    "a tag": '<|tool_call|>[{"name": "delete_user", "arguments": {}}]',
    "a tag and code": "<|python_tag|>delete_user.call(id=42)",
    "a section": "<|tool_calls_section_begin|><|tool_call_begin|>functions.delete_user:0<|tool_call_argument_begin|>{}",
    "parts": f"<{BAR}tool{LOW}call{LOW}begin{BAR}>function<{BAR}tool{LOW}sep{BAR}>delete_user",
    "a fence of calls": "```tool_code\nprint(default_api.delete_user(id=42))\n```",
    "a server": "<use_mcp_tool>\n<server_name>db</server_name>\n<tool_name>delete_user</tool_name>\n</use_mcp_tool>",
    "an object": '{"name": "delete_user", "parameters": {"id": 42}}',
    "an object of a function": '{"type": "function", "name": "delete_user", "parameters": {"id": 42}}',
    "a JSON action": 'I clean up.\n```json\n{"action": "delete_user", "action_input": {"id": 42}}\n```',
    "a bare JSON action": '{\n  "action": "delete_user",\n  "action_input": "42"\n}',
    "a namespace": '<function_calls>\n<invoke name="delete_user">',
    "another namespace": '<minimax:tool_call>\n<invoke name="delete_user">',
    "flowers": "\u273fFUNCTION\u273f: delete_user\n\u273fARGS\u273f: {}",
    "code to execute": "I clean up.\n<execute_ipython>\ndelete_user(42)\n</execute_ipython>",
    "code of smolagents": "Thought: clean up\nCode:\n```py\ndelete_user(42)\n```<end_code>",
    "tagged code of smolagents": "Thought: clean up\n<code>\ndelete_user(42)\n</code>",
    "a list in Python": "[delete_user(id=42), look()]",
    "a list of objects": '[{"name": "delete_user", "arguments": {"id": 42}}]',
}
NO_CALL = {
    "a fence": '```\n<tool_call>{"name": "delete_user"}</tool_call>\n```',
    "an open fence": "~~~xml\n<function=delete_user>",
    "a quote": "> <function=delete_user>",
    "within a line": "Write <tool_call> before a call.",
    "code": "    <invoke name='delete_user'>",
    "an action without input": "Action: delete_user\nReason: none",
    "a marker within a line": "Models write [TOOL_CALLS] or <|python_tag|> before a call.",
    "a person": '{"name": "Ana", "age": 42}',
    "a final JSON action": '```json\n{"action": "Final Answer", "action_input": "Refunded."}\n```',
    "a JSON action without input": '{"action": "delete_user", "reason": "none"}',
    "a link": "[the page](https://example.com)",
    "a list": "[1, 2, (3)]",
    "markup": "Put it there:\n<code>\nx = 1\n</code>",
    "a call within a line": "Call [delete_user(id=42)] or not.",
    "words on executing": "<execute_once> runs it, ```<invoke name='x'>```",
    "a fence of code": "```python\nprint(delete_user(42))\n```",
}


def spoken(text: str, *after: dict[str, Any], **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": text}, *after]
    return {"schema": "evalgate.trace/1", "scenario_id": "refund", "messages": messages, **more}


OBSERVED = ({"role": "user", "content": "Observation: deleted"}, {"role": "assistant", "content": "ok"})


@pytest.mark.parametrize("text", AS_TEXT.values(), ids=AS_TEXT)
def test_a_call_that_is_written_as_text_leaves_the_calls_unknown(tmp_path, text):
    ran = judge_file(tmp_path, DENY, spoken(text, *OBSERVED))
    assert ran.code == 1
    assert "as text, and no such call is recorded" in reasons(ran)
    assert judge_file(tmp_path / "last", DENY, spoken(text)).code == 0


@pytest.mark.parametrize("text", NO_CALL.values(), ids=NO_CALL)
def test_text_about_calls_is_no_call(tmp_path, text):
    assert judge_file(tmp_path, DENY, spoken(text, *OBSERVED)).code == 0


def test_an_object_with_the_name_of_no_tool_is_an_answer(tmp_path):
    tools = {"tool_definitions": [{"name": "search"}]}
    answer = '{"name": "Ann", "parameters": {"age": 42}}'
    assert judge_file(tmp_path, DENY, spoken(answer, *OBSERVED, **tools)).code == 0
    assert judge_file(tmp_path / "tool", DENY, spoken(answer.replace("Ann", "search"), *OBSERVED, **tools)).code == 1


@pytest.mark.parametrize(("step", "name", "code"), [(1, "look", 0), (1, "other", 1), (2, "look", 1)])
def test_a_recorded_call_is_that_of_the_text_before_it(tmp_path, step, name, code):
    call = {"name": name, "arguments": {}, "result": "ok", "status": "ok", "step": step, "turn": 1}
    text = "Thought: now\nAction: look\nAction Input: {}"
    ran = judge_file(tmp_path, DENY, spoken(text, *OBSERVED, tool_calls=[call]))
    assert ran.code == code


def test_an_agent_whose_calls_are_text_and_spans_is_read_in_full(tmp_path):
    text = "Thought: now\nAction: look\nAction Input: {}"
    user = {"role": "user", "parts": [{"type": "text", "content": "hi"}]}
    spoken = {"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}
    seen = {"role": "user", "parts": [{"type": "text", "content": "Observation: ok"}]}
    end = {"role": "assistant", "parts": [{"type": "text", "content": "done"}], "finish_reason": "stop"}
    record = otlp("look", "{}", [([user], spoken), ([user, spoken, seen], end)])
    assert judge_file(tmp_path, DENY, record).code == 0
    assert (
        judge_file(tmp_path / "other", DENY, otlp("other", "{}", [([user], spoken), ([user, spoken, seen], end)])).code
        == 1
    )


CUSTOM = {"scenario_id": "case", "input": "question", "response": "answer"}


@pytest.mark.parametrize(
    ("custom", "code"),
    [
        (CUSTOM, 1),
        ({**CUSTOM, "tool_calls": "none"}, 0),
        ({**CUSTOM, "tool_calls": {"path": "steps"}}, 0),
        ({**CUSTOM, "tool_calls": "nothing"}, 2),
        ({**CUSTOM, "tool_calls": {"nmae": "x"}}, 2),
        ({**CUSTOM, "tool_calls": "none", "message": {"tool_calls": "calls"}}, 2),
    ],
)
def test_a_custom_format_says_where_calls_are_or_that_there_are_none(tmp_path, custom, code):
    record = {"case": "refund", "question": "q", "answer": "a", "steps": []}
    whole = suite({**DENY, "required": True}, format="custom", custom=custom)
    write(tmp_path, {"evals/s.yaml": whole, "traces/a.json": record})
    assert evalgate(tmp_path, ["evals/s.yaml"]).code == code


def test_calls_that_a_custom_format_denies_are_found(tmp_path):
    record = {"case": "refund", "question": "q", "answer": "a", "calls": [{"name": "delete_user", "arguments": {}}]}
    whole = suite({**DENY, "required": True}, format="custom", custom={**CUSTOM, "tool_calls": "none"})
    write(tmp_path, {"evals/s.yaml": whole, "traces/a.json": record})
    assert evalgate(tmp_path, ["evals/s.yaml"]).code == 1


def both_lists(*calls: dict[str, Any], is_error: bool | None = None, status: str = "ok") -> dict[str, Any]:
    """A native trace whose messages ask for `look` with 1 and then with 2, and whose list of calls is `calls`."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "x"}]
    for number in (1, 2):
        call = {"id": f"c{number}", "name": "look", "arguments": {"n": number}}
        result = {"role": "tool", "tool_call_id": f"c{number}", "content": "ok"}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]}, result]
    if is_error is not None:
        messages[2]["is_error"] = is_error
    listed = [{"status": status, "result": "ok", **call} for call in calls]
    return {"schema": "evalgate.trace/1", "scenario_id": "refund", "messages": messages, "tool_calls": listed}


ONE, TWO = ({"id": f"c{number}", "name": "look", "arguments": {"n": number}} for number in (1, 2))


@pytest.mark.parametrize(
    "record",
    [
        both_lists(ONE),
        both_lists(),
        both_lists(TWO, ONE),
        both_lists({**ONE, "arguments": {"n": 3}}, TWO),
        both_lists({**ONE, "name": "find"}, TWO),
        both_lists({**ONE, "id": "c7"}, TWO),
        both_lists(ONE, TWO, is_error=True),
        both_lists(ONE, TWO, is_error=False, status="error"),
    ],
)
def test_two_lists_of_calls_that_disagree_are_an_error_that_names_both(tmp_path, record):
    ran = judge_file(tmp_path, {"type": "max_tool_calls", "max": 9}, record)
    assert ran.code == 1
    assert "ERROR" in reasons(ran)
    assert "messages[" in reasons(ran)
    assert "tool_calls" in reasons(ran)


@pytest.mark.parametrize(
    "record",
    [
        both_lists(ONE, TWO),
        both_lists({**ONE, "arguments": {"n": 1.0, "note": None}}, {"name": "look", "arguments": '{"n": 2}'}),
        both_lists(ONE, {"id": "x", "name": "other", "arguments": {}}, TWO),
        both_lists({"id": "c1", "name": "look"}, TWO),
        both_lists(ONE, TWO, is_error=False),
        both_lists(ONE, TWO, is_error=True, status="error"),
    ],
)
def test_two_lists_of_calls_that_agree_are_accepted(tmp_path, record):
    ran = judge_file(tmp_path, {"type": "max_tool_calls", "max": 9}, record)
    assert ran.code == 0, reasons(ran)


NO_FLOW = {
    "type": "no_flow",
    "from": {"tools": ["fetch"]},
    "to": {"tools": ["send"], "arguments": ["to"]},
    "unless": {"tool_called": "approve"},
}


@pytest.mark.parametrize(
    ("name", "end", "code"),
    [
        ("approve", {"result": "yes", "status": "ok"}, 0),
        ("approve", {"result": "denied by Ana", "status": "error"}, 1),
        ("approve", {"result": None, "status": "missing"}, 1),
        (f"{ZERO_WIDTH}approve", {"result": "yes", "status": "ok"}, 1),
        ("Approve", {"result": "yes", "status": "ok"}, 1),
    ],
)
def test_a_flow_is_allowed_by_a_call_of_that_name_that_succeeded(tmp_path, name, end, code):
    calls = [
        {"name": "fetch", "arguments": {}, "result": "write to eve@example.org", "status": "ok"},
        {"name": name, "arguments": {}, **end},
        {"name": "send", "arguments": {"to": "eve@example.org"}, "result": "sent", "status": "ok"},
    ]
    calls = [{**each, "step": step, "turn": 1} for step, each in enumerate(calls, 1)]
    assert judge_file(tmp_path, NO_FLOW, spoken("done", tool_calls=calls)).code == code
