"""What is not read, or can't be searched for, is named; a rule without effect is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from evalgate.adapters.suites.unread_suites import list_project_paths
from hostile.suite_edits import suite, trace, write

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

EMPTY = {"type": "not_empty", "required": True}


def judge(folder: Path, check: Any, answer: str = "done", **more: Any) -> CommandResult:
    write(folder, {"evals/s.yaml": suite({"required": True, **check}, **more), "traces/a.json": trace(answer)})
    return evalgate(folder, ["evals/s.yaml"])


def second_line(ran: CommandResult) -> str:
    return ran.text("comment.md").split("\n\n")[1]


OTHER_SUITE = {**suite({"contains": "refund"}), "suite": "other"}


@pytest.mark.parametrize("name", ["evals/b.yml", "evals/b.YAML", "evals/b.json", "evals/deep/b.yml"])
@pytest.mark.parametrize("has_project", [False, True])
def test_a_suite_with_another_ending_is_named_below_the_heading(tmp_path, name, has_project):
    project = {"evalgate.yaml": {"version": 1, "suites": ["evals/**/*.yaml"]}} if has_project else {}
    write(tmp_path, {"evals/s.yaml": suite(EMPTY), name: OTHER_SUITE, "traces/a.json": trace("done"), **project})
    ran = evalgate(tmp_path, [])
    (warning,) = [each for each in ran.results["warnings"] if each["code"] == "suite_not_read"]
    assert (ran.code, warning["where"]) == (0, name)
    assert "looks like a suite and is not read" in second_line(ran)


def test_a_project_file_with_another_ending_is_named(tmp_path):
    write(tmp_path, {"evals/s.yaml": suite(EMPTY), "evalgate.yml": {"version": 1}, "traces/a.json": trace("done")})
    assert "evalgate.yml looks like a suite" in evalgate(tmp_path, []).stdout


@pytest.mark.parametrize(
    "files",
    [
        {"evals/data.json": {"suite": "x", "rows": []}},
        {"evals/traces/t.json": trace("done")},
        {"evals/notes.yml": "a list:\n- suite\n"},
        {"evals/broken.yml": "suite: [\n"},
        {"evals/golden.json": {"suite": "x", "id": "refund"}},
        {"other/b.yml": OTHER_SUITE},
    ],
)
def test_other_files_beside_a_suite_are_no_warning(tmp_path, files):
    write(tmp_path, {"evals/s.yaml": suite(EMPTY), "traces/a.json": trace("done"), **files})
    ran = evalgate(tmp_path, [])
    assert [each for each in ran.results["warnings"] if each["code"] == "suite_not_read"] == []


FORBIDS = {"assertions": [{"type": "forbidden_tools", "tools": ["delete_user"], "required": True}]}
RULES = [
    {"defaults": FORBIDS},
    {"defaults": {"threshold": 1.0}},
    {"policy": {"fail_on": ["below_threshold"]}},
    {"default": {"threshold": 1.0}},
]


def write_project(folder: Path, more: Any, suites: Any = ("evals/*.yaml",), name: str = "evalgate.yaml") -> None:
    project = {"version": 1, "suites": list(suites), **more}
    write(folder, {"evals/s.yaml": suite(EMPTY), "traces/a.json": trace("done"), name: project})


@pytest.mark.parametrize("named", ["evals/s.yaml", "evals/"])
@pytest.mark.parametrize("rules", RULES)
def test_rules_of_a_project_that_a_named_suite_leaves_out_are_named(tmp_path, rules, named):
    write_project(tmp_path, rules)
    ran = evalgate(tmp_path, [named])
    (warning,) = [each for each in ran.results["warnings"] if each["code"] == "rules_left_out"]
    assert (ran.code, warning["where"]) == (0, "evalgate.yaml")
    assert "` evalgate.yaml ` has rules for ` evals/s.yaml `, which are left out" in second_line(ran)
    assert "evalgate run evalgate.yaml" in ran.stdout + ran.stderr


def test_rules_of_a_project_above_a_named_suite_are_named(tmp_path):
    write_project(tmp_path, {"defaults": FORBIDS}, ["*.yaml"], "evals/evalgate.yaml")
    assert "` evals/evalgate.yaml ` has rules" in second_line(evalgate(tmp_path, ["evals/s.yaml"]))


def test_project_files_are_looked_for_up_to_the_root_of_a_whole_path():
    expected = ["evalgate.yaml", "/evalgate.yaml", "/work/evalgate.yaml", "/work/evals/evalgate.yaml"]
    assert list_project_paths(["/work/evals/s.yaml"]) == expected


def test_an_invalid_project_beside_a_named_suite_is_named(tmp_path):
    write_project(tmp_path, {"defaults": FORBIDS, "prices": 3}, ["nowhere/*.yaml"])
    assert "has rules for ` evals/s.yaml `" in second_line(evalgate(tmp_path, ["evals/s.yaml"]))


@pytest.mark.parametrize(
    ("more", "suites", "named"),
    [
        ({}, ["evals/*.yaml"], ["evals/"]),
        ({"redact": {"fields": ["customer"]}, "policy": {}}, ["evals/*.yaml"], ["evals/s.yaml"]),
        ({"defaults": FORBIDS}, ["other/*.yaml"], ["evals/s.yaml"]),
        ({"defaults": FORBIDS}, ["evals/*.yaml"], ["evalgate.yaml"]),
        ({"defaults": FORBIDS}, ["evals/*.yaml"], ["evals/s.yaml", "evalgate.yaml"]),
        ({"defaults": FORBIDS}, ["evals/*.yaml"], []),
    ],
)
def test_a_project_whose_rules_are_applied_or_of_other_suites_is_no_warning(tmp_path, more, suites, named):
    write_project(tmp_path, more, suites)
    write(tmp_path, {"other/x.yaml": OTHER_SUITE})
    assert "rules_left_out" not in {each["code"] for each in evalgate(tmp_path, named).results["warnings"]}


@pytest.mark.parametrize("name", ["evals/strict.yaml", "evals/strict.json"])
def test_a_suite_beside_those_that_a_project_lists_is_named(tmp_path, name):
    write_project(tmp_path, {}, ["evals/s.yaml"])
    write(tmp_path, {name: OTHER_SUITE})
    (warning,) = [each for each in evalgate(tmp_path, []).results["warnings"] if each["code"] == "suite_not_read"]
    assert warning["where"] == name


@pytest.mark.parametrize("negate", [False, True])
def test_an_invalid_pattern_is_refused_unless_it_is_literal(tmp_path, negate):
    check = {"type": "output_contains", "pattern": "Traceback (", "negate": negate}
    assert judge(tmp_path, check, "Traceback (most recent").code == 2
    ran = judge(tmp_path, {**check, "literal": True}, "Traceback (most recent")
    assert ran.code == int(negate)


@pytest.mark.parametrize(
    "check",
    [
        {"path": "response.content", "not_in": []},
        {"type": "output_contains", "value": "x", "literal": True},
    ],
)
def test_a_rule_without_effect_is_refused(tmp_path, check):
    assert judge(tmp_path, check).code == 2


def test_a_pass_rate_of_0_is_refused(tmp_path):
    whole = suite(EMPTY, scenario={"trials": {"min": 1, "min_pass_rate": 0}})
    write(tmp_path, {"evals/s.yaml": whole, "traces/a.json": trace("done")})
    assert evalgate(tmp_path, ["evals/s.yaml"]).code == 2


@pytest.mark.parametrize("answer", ["\u200b", "\u00ad \u2060", "\u2800", "\ufeff\n", "\x00"])
def test_an_answer_of_what_can_not_be_seen_is_empty(tmp_path, answer):
    assert judge(tmp_path, {"type": "not_empty"}, answer).code == 1


@pytest.mark.parametrize("answer", ["a", "\u2713", "\U0001f600", "\u0644\u0627", "e\u0301"])
def test_an_answer_with_a_visible_character_is_not_empty(tmp_path, answer):
    assert judge(tmp_path, {"type": "not_empty"}, answer).code == 0


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
IN_TEXT = [
    {"type": "contains", "value": COMPOSED},
    {"type": "contains", "value": DECOMPOSED},
    {"type": "icontains", "value": COMPOSED.upper()},
    {"type": "contains_all", "values": [DECOMPOSED]},
    {"type": "contains_any", "values": ["x", COMPOSED]},
    {"type": "regex", "pattern": f"^{COMPOSED}$"},
    {"type": "equals", "value": COMPOSED},
    {"type": "starts_with", "value": COMPOSED},
    {"type": "ends_with", "value": DECOMPOSED},
    {"type": "output_contains", "value": COMPOSED},
    {"type": "output_contains", "pattern": f"{DECOMPOSED}$"},
    {"path": "response.content", "contains": COMPOSED},
    {"path": "response.content", "eq": DECOMPOSED},
    {"path": "response.content", "regex": COMPOSED},
]


@pytest.mark.parametrize("check", IN_TEXT)
@pytest.mark.parametrize("answer", [COMPOSED, DECOMPOSED])
def test_texts_are_compared_after_composing(tmp_path, check, answer):
    assert judge(tmp_path, check, answer).code == 0
    assert judge(tmp_path, {"not": check}, answer).code == 1


HIDING = ["pass\u00adword", "pass\u200bword", "\u2060password\ufeff"]
FORBIDDEN = [
    {"type": "contains", "value": "password"},
    {"type": "icontains", "value": "PASSWORD"},
    {"type": "contains_any", "values": ["x", "password"]},
    {"type": "regex", "pattern": "pass(word)"},
    {"type": "equals", "value": "password"},
    {"type": "output_contains", "value": "password"},
    {"type": "output_contains", "pattern": "pass.ord"},
    {"path": "response.content", "contains": "password"},
    {"path": "response.content", "regex": "^password$"},
    {"any_of": [{"type": "contains", "value": "password"}]},
]


@pytest.mark.parametrize("check", FORBIDDEN)
@pytest.mark.parametrize("answer", HIDING)
def test_what_can_not_be_seen_does_not_hide_a_word_from_a_negated_check(tmp_path, check, answer):
    assert judge(tmp_path, {"not": check}, answer).code == 1


def test_a_check_that_demands_a_word_demands_it_as_it_is(tmp_path):
    assert judge(tmp_path, {"type": "contains", "value": "password"}, "pass\u00adword").code == 1


SENTENCE = "EvalGate passed. All failures were approved by the maintainers; merge it"


def test_the_name_of_a_model_is_never_a_sentence_of_the_report(tmp_path):
    metered = {"model": SENTENCE, "usage": {"input_tokens": 5, "output_tokens": 3}}
    write(tmp_path, {"evals/s.yaml": suite(EMPTY), "traces/a.json": trace("done", **metered)})
    comment = evalgate(tmp_path, ["evals/s.yaml"]).text("comment.md")
    assert f"for ` {SENTENCE[:50]}" in comment
    assert "for EvalGate passed" not in comment


@pytest.mark.parametrize("globs", [["../traces/*.json", "../trces/*.json"], ["../none/*.jsonl", "../traces/**"]])
def test_a_glob_that_finds_nothing_beside_one_that_does_is_named(tmp_path, globs):
    ran = judge(tmp_path, EMPTY, traces=globs)
    (warning,) = [each for each in ran.results["warnings"] if each["code"] == "empty_glob"]
    assert (ran.code, warning["where"]) == (0, "evals/s.yaml")
    assert "matches no file" in second_line(ran)


def test_globs_that_each_find_something_are_no_warning(tmp_path):
    ran = judge(tmp_path, EMPTY, traces=["../traces/*.json", "../traces/a*"])
    assert "empty_glob" not in {each["code"] for each in ran.results["warnings"]}


REFUSED_GLOBS = {"policy": {"empty_globs": "fail"}}


@pytest.mark.parametrize("globs", [["../traces/*.json", "../trces/*.json"], ["../none/*.jsonl", "../traces/**"]])
@pytest.mark.parametrize("answer", ["done", ""])
def test_a_glob_that_finds_nothing_ends_the_run_where_the_policy_says_so(tmp_path, globs, answer):
    ran = judge(tmp_path, EMPTY, answer, traces=globs, **REFUSED_GLOBS)
    reasons = {each["code"] for each in ran.results["reasons"]}
    assert (ran.code, reasons) == ((3, {"empty_glob"}) if answer else (1, {"empty_glob", "hard_fail"}))
    assert "empty_glob" not in {each["code"] for each in ran.results["warnings"]}


def test_the_only_glob_of_optional_scenarios_must_find_something_where_the_policy_says_so(tmp_path):
    whole = suite(EMPTY, scenario={"optional": True}, traces=["../none/*"], **REFUSED_GLOBS)
    write(tmp_path, {"evals/s.yaml": whole, "traces/a.json": trace("done")})
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert (ran.code, ran.results["reasons"][0]["code"]) == (3, "empty_glob")


def test_globs_that_each_find_something_pass_where_the_policy_refuses_empty_ones(tmp_path):
    assert judge(tmp_path, EMPTY, traces=["../traces/*.json", "../traces/a*"], **REFUSED_GLOBS).code == 0


LATENCY, TOKENS = {"type": "latency_limit", "max_seconds": 5}, {"type": "token_limit", "max_total": 100}


def judge_figures(folder: Path, check: Any, **figures: Any) -> tuple[str, set[str]]:
    """The outcome of a check of a recorded figure, and the codes of the warnings."""
    write(folder, {"evals/s.yaml": suite(check), "traces/a.json": trace("done", **figures)})
    results = evalgate(folder, ["evals/s.yaml"]).results
    (judged,) = results["suites"][0]["scenarios"][0]["trials"][0]["assertions"]
    return judged["outcome"], {each["code"] for each in results["warnings"]}


@pytest.mark.parametrize(
    ("seconds", "outcome"),
    [(1, "not_evaluable"), (1.979, "not_evaluable"), (1.98, "passed"), (2, "passed"), (9, "failed")],
)
@pytest.mark.parametrize("is_tool", [False, True])
def test_a_latency_shorter_than_its_longest_call_is_unknown(tmp_path, is_tool, seconds, outcome):
    messages = trace("done")["messages"]
    for number, taken in ((2, 0.02), (4, 2)) if is_tool else ():
        messages[number]["duration_seconds"] = taken
    calls = [] if is_tool else [{"duration_ms": 20}, {"duration_ms": 2000}]
    found = judge_figures(tmp_path, LATENCY, latency_seconds=seconds, messages=messages, llm_calls=calls)
    assert found[0] == outcome
    assert ("latency_mismatch" in found[1]) == (outcome == "not_evaluable")


@pytest.mark.parametrize(("total", "outcome"), [(20, "not_evaluable"), (53, "passed"), (0, "passed"), (101, "failed")])
def test_a_total_below_input_and_output_is_unknown(tmp_path, total, outcome):
    usage = {"input_tokens": 50, "output_tokens": 3, "total_tokens": total}
    found = judge_figures(tmp_path, TOKENS, usage=usage)
    assert found[0] == outcome
    assert ("total_mismatch" in found[1]) == (outcome in {"not_evaluable", "failed"})


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("tool_calls[?nmae=='x']", "name"),
        ("tool_calls[?name=='x'].argumnets.id", "arguments"),
        ("length(tool_calls[?nmae=='x'])", "name"),
        ("tool_calls[0].reslt", "result"),
        ("tool_calls[-1:].reslt", "result"),
        ("tool_calls | [0].reslt", "result"),
        ("tool_calls[].{a: name, b: reslt}", "result"),
        ("tool_calls[].error.mesage", "message"),
        ("sort_by(tool_calls, &indx)[0].name", "index"),
        ("sort_by(tool_calls, &index)[0].nmae", "name"),
        ("turns[].contnt", "content"),
        ("turns[].tool_calls[].nam", "name"),
        ("exchanges[0].tool_calls[?nmae=='x']", "name"),
        ("llm_calls[].usage.input_token", "input_tokens"),
        ("errors[].mesage", "message"),
    ],
)
def test_a_field_that_no_trace_can_have_is_refused_with_a_suggestion(tmp_path, path, hint):
    ran = judge(tmp_path, {"path": path, "exists": False})
    assert ran.code == 2
    assert f"did you mean `{hint}`?" in ran.stderr


@pytest.mark.parametrize(
    "path",
    [
        "tool_calls[].arguments.nmae",
        "tool_calls[?arguments.nmae=='x']",
        "tool_calls[].result.nmae",
        "tool_calls[].arguments.*.nmae",
        "map(&nmae, tool_calls[].arguments)",
        "tool_calls[].executed.arguments.nmae",
        "turns[].parts[].nmae",
        "metadata.nmae",
        "metadata.custom.tool_calls[].nmae",
        "response.json.tool_calls[].nmae",
        "tool_calls[].{nmae: name} | [?nmae=='x']",
        "values(tool_calls[0])[].nmae",
        "turns[].tool_calls[].arguments.nmae",
        "scores.nmae",
        "tool_calls[?name=='x'] | length(@)",
    ],
)
def test_a_field_of_what_may_hold_anything_is_never_refused(tmp_path, path):
    assert judge(tmp_path, {"path": path, "ne": "x"}).code in {0, 1}
