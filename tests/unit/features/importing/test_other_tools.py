"""Specifications of Vally, evaluations of Agent Skills and OpenAI's evals as suites."""

from __future__ import annotations

import json

import pytest
import yaml
from in_process_command import evalgate


def carry(folder, name, content, *more):
    """The written suite, and what the command printed."""
    text = json.dumps(content) if name.endswith(".json") else yaml.safe_dump(content, sort_keys=False)
    (folder / name).write_text(text, encoding="utf-8")
    found = evalgate("import-suite", name, *more, cwd=str(folder))
    if found.exit_code == 0:
        (folder / "written.yaml").write_text(found.out, encoding="utf-8")
        assert evalgate("validate", "written.yaml", cwd=str(folder)).exit_code == 0
    return (yaml.safe_load(found.out) if found.exit_code == 0 else {}), found


def refusals(found):
    return [line for line in found.err.splitlines() if line.startswith("not carried over")]


def carry_grader(folder, grader, **more):
    suite, found = carry(folder, "eval.yaml", {"stimuli": [{"name": "a", "prompt": "p", "graders": [grader]}], **more})
    return suite["scenarios"][0]["assertions"] if suite else refusals(found)


@pytest.mark.parametrize(
    ("kind", "config", "entry"),
    [
        ("output-contains", {"substring": "Hi"}, {"type": "icontains", "value": "Hi"}),
        ("output-contains", {"substring": "Hi", "case_sensitive": True}, {"type": "contains", "value": "Hi"}),
        ("output-contains", {"substring": "Hi", "negate": True}, {"not": {"type": "icontains", "value": "Hi"}}),
        ("output-not-contains", {"substring": "Hi"}, {"not": {"type": "icontains", "value": "Hi"}}),
        ("output-matches", {"pattern": r"(?i)\d+$"}, {"type": "regex", "pattern": r"(?i)[0-9]+\Z"}),
        ("output-not-matches", {"pattern": "(?ms)^a$"}, {"not": {"type": "regex", "pattern": "(?ms)^a$"}}),
        ("completed", {}, {"type": "not_empty"}),
        ("tool-calls", {"required": ["create"]}, {"type": "tool_called", "tool": "*create*"}),
        ("tool-calls", {"disallowed": ["^(bash|pwsh)$"]}, {"type": "forbidden_tools", "tools": ["bash", "pwsh"]}),
        (
            "tool-calls",
            {"required": [{"name": "^bash$", "command": "npm test", "min_count": 2}]},
            {"type": "tool_sequence", "sequence": [{"tool": "bash", "args": {"command": {"$regex": "npm test"}}}] * 2},
        ),
        (
            "tool-calls",
            {"disallowed": [{"name": "^(a|b)$", "args": {"x": "y"}}]},
            {
                "not": {
                    "type": "tool_sequence",
                    "sequence": [{"one_of": [{"tool": each, "args": {"x": {"$regex": "y"}}} for each in "ab"]}],
                }
            },
        ),
        (
            "tool-calls",
            {"sequence": ["^validate$", "^create$"]},
            {"type": "tool_sequence", "sequence": ["validate", "create"]},
        ),
        ("skill-invocation", {"required": ["pdf"]}, {"type": "skill_used", "skill": "pdf"}),
        ("skill-invocation", {"disallowed": ["pdf"]}, {"type": "no_skill", "skill": ["pdf"]}),
        ("token-budget", {"max": 500}, {"type": "token_limit", "max_total": 500}),
        ("tool-call-count", {"max": 5}, {"type": "max_tool_calls", "max": 5}),
        ("wall-time", {"max": "2m"}, {"type": "latency_limit", "max_seconds": 120.0}),
        (
            "file-contains",
            {"path": "./out/a.md", "value": "Total"},
            {"type": "state", "part": "files", "path": '"out/a.md".text', "contains": "Total"},
        ),
    ],
)
def test_graders_of_vally__are_these_assertions(tmp_path, kind, config, entry):
    assert carry_grader(tmp_path, {"type": kind, "config": config}) == [{**entry, "required": True}]


@pytest.mark.parametrize(
    ("change", "path", "passes"),
    [("added", "a.md", True), (None, "a.md", True), ("removed", "a.md", False), ("added", "b.md", False)],
)
def test_a_file_exists__if_it_was_recorded_and_not_removed(tmp_path, change, path, passes):
    grader = {"type": "file-exists", "config": {"path": path}}
    content = {
        "stimuli": [
            {"name": "a", "graders": [grader]},
            {"name": "b", "graders": [{**grader, "type": "file-not-exists"}]},
        ]
    }
    _, found = carry(tmp_path, "eval.yaml", content, "--traces", "t.jsonl")
    file = {"text": "x", **({"change": change} if change else {})}
    trace = {
        "schema": "evalgate.trace/1",
        "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
        "state": {"files": {"a.md": file}},
    }
    lines = [json.dumps({**trace, "trace_id": each, "scenario_id": each}) for each in "ab"]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(found.out.replace("../t.jsonl", "t.jsonl"), encoding="utf-8")
    evalgate("run", "suite.yaml", "-q", cwd=str(tmp_path))
    results = json.loads((tmp_path / ".evalgate/results.json").read_text(encoding="utf-8"))
    verdicts = [each["verdict"] == "PASS" for each in results["suites"][0]["scenarios"]]
    assert verdicts == [passes, not passes]


@pytest.mark.parametrize(
    ("grader", "reason"),
    [
        ({"type": "prompt", "config": {}}, "a model judges it"),
        ({"type": "run-command", "config": {"command": "make"}}, "a program"),
        ({"type": "file-exists", "config": {"path": "**/*.json"}}, "by a pattern"),
        ({"type": "turn-count", "config": {"max": 3}}, "answers of the model"),
        ({"type": "error-count", "config": {"max": 0}}, "errors of the session"),
        ({"type": "own-grader"}, "the project's own"),
        ({"type": "output-contains"}, "no `substring`"),
        ({"type": "tool-calls", "config": {"required": [{"name": "a", "final": True}]}}, "`final`"),
        ({"type": "tool-calls", "config": {"required": ["a.b"]}}, "can't write"),
        ({"type": "tool-calls", "config": {}}, "names no call"),
        ({"type": "token-budget", "config": {"max": True}}, "no `max`"),
        ({"config": {}}, "no type"),
    ],
)
def test_graders_that_have_no_equal__are_named(tmp_path, grader, reason):
    (refused,) = carry_grader(tmp_path, grader)
    assert refused.startswith("not carried over: eval.yaml:")
    assert reason in refused


def test_a_threshold_of_vally__weighs_grades_and_demands_its_runs(tmp_path):
    stimuli = [{"name": "a", "graders": [{"type": "completed"}, {"type": "token-budget", "config": {"max": 5}}]}]
    more = {"config": {"runs": 3}, "scoring": {"threshold": 0.7, "weights": {"completed": 0.5}}}
    suite, found = carry(tmp_path, "eval.yaml", {"stimuli": stimuli, **more})
    (scenario,) = suite["scenarios"]
    assert (scenario["threshold"], scenario["trials"]) == (0.7, {"min": 3})
    assert scenario["assertions"][0] == {"type": "not_empty", "weight": 0.5}
    assert "the threshold is one of the mean of all grades" in found.err


def test_limits_of_a_stimulus__are_checks(tmp_path):
    limits = {"max_tokens": 9, "expect_tools": ["a"], "reject_tools": ["b"], "expect_skills": ["c"], "max_turns": 4}
    stimulus = {"name": "a", "graders": [], "constraints": limits, "rubric": ["friendly"]}
    suite, found = carry(tmp_path, "eval.yaml", {"stimuli": [stimulus]})
    kinds = [each["type"] for each in suite["scenarios"][0]["assertions"]]
    assert kinds == ["token_limit", "tool_called", "forbidden_tools", "skill_used"]
    assert [line.split(": ")[1].split()[1] for line in refusals(found)] == ["max_turns", "rubric"]


def test_grades_of_models__are_checked_where_they_are_recorded(tmp_path):
    grader = {"type": "prompt", "name": "friendly", "config": {"threshold": 0.8}}
    suite, _ = carry(tmp_path, "eval.yaml", {"stimuli": [{"name": "a", "graders": [grader]}]}, "--scores")
    entry = {"type": "recorded_score", "name": "friendly", "min": 0.8, "required": True}
    assert suite["scenarios"][0]["assertions"] == [entry]
    evals = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": ["Says hello"]}]}
    suite, _ = carry(tmp_path, "evals.json", evals, "--scores")
    assert suite["scenarios"][0]["id"] == "eval-1"
    assert suite["scenarios"][0]["assertions"] == [{"type": "recorded_score", "name": "Says hello", "required": True}]


def test_evaluations_of_skills__carry_their_texts_and_triggers(tmp_path):
    checks = [
        {"name": "a", "type": "contains", "value": "x"},
        {"type": "not_contains", "value": "y"},
        {"type": "regex", "pattern": "z$"},
        {"type": "script", "value": "rm -rf /"},
        {"name": "polite"},
        "Polite",
    ]
    evals = {"skill_name": "pdf", "evals": [{"id": "e", "prompt": "p", "assertions": checks, "should_trigger": False}]}
    suite, found = carry(tmp_path, "evals.json", evals)
    assert [{**each, "required": None} for each in suite["scenarios"][0]["assertions"]] == [
        {"type": "contains", "value": "x", "required": None},
        {"not": {"type": "contains", "value": "y"}, "required": None},
        {"type": "regex", "pattern": "z\\Z", "required": None},
        {"type": "no_skill", "skill": "pdf", "required": None},
    ]
    assert len(refusals(found)) == 3


OUTPUT, TOOLS = "{{ sample.output_text }}", "{{sample.output_tools[0].function.%s}}"


@pytest.mark.parametrize(
    ("criterion", "entry"),
    [
        ({"input": OUTPUT, "operation": "eq", "reference": "{{item.want}}"}, {"type": "equals", "value": "yes"}),
        ({"input": "{{item.n}}", "operation": "ne", "reference": OUTPUT}, {"not": {"type": "equals", "value": "4"}}),
        (
            {"input": OUTPUT, "operation": "like", "reference": "a {{item.want}}"},
            {"type": "contains", "value": "a yes"},
        ),
        ({"input": OUTPUT, "operation": "ilike", "reference": "A"}, {"type": "icontains", "value": "A"}),
        (
            {"input": "lookup", "operation": "eq", "reference": TOOLS % "name"},
            {"path": "tool_calls[0].name", "eq": "lookup"},
        ),
        (
            {"input": TOOLS % "arguments", "operation": "eq", "reference": '{"id": "{{item.want}}"}'},
            {"path": "tool_calls[0].arguments", "eq": {"id": "yes"}},
        ),
        (
            {"input": "{{sample.output_json.a.b}}", "operation": "ilike", "reference": "x.y"},
            {"path": "response.json.a.b", "regex": "(?i)x\\.y"},
        ),
    ],
)
def test_criteria_of_openai__compare_the_same(tmp_path, criterion, entry):
    (tmp_path / "rows.jsonl").write_text('{"item": {"want": "yes", "n": 4}}\n', encoding="utf-8")
    content = {"object": "eval", "name": "n", "testing_criteria": [{"type": "string_check", **criterion}]}
    suite, _ = carry(tmp_path, "eval.json", content, "--data", "rows.jsonl")
    (scenario,) = suite["scenarios"]
    assert (scenario["id"], scenario["assertions"]) == ("item-0", [{**entry, "required": True}])


@pytest.mark.parametrize(
    ("criterion", "reason"),
    [
        ({"type": "string_check", "input": OUTPUT, "operation": "eq", "reference": "{{item.a}}"}, "--data"),
        ({"type": "string_check", "input": "a", "operation": "like", "reference": OUTPUT}, "looks for the answer"),
        ({"type": "string_check", "input": f"a {OUTPUT}", "operation": "eq", "reference": "b"}, "a longer text"),
        ({"type": "string_check", "input": "a", "operation": "eq", "reference": "b"}, "does not compare the answer"),
        ({"type": "string_check", "input": OUTPUT, "operation": "is", "reference": "b"}, "none of eq"),
        ({"type": "string_check", "input": "{{sample.choices}}", "operation": "eq", "reference": "b"}, "no equal"),
        ({"type": "text_similarity", "evaluation_metric": "fuzzy_match"}, "another measure"),
        ({"type": "label_model", "name": "tone"}, "a model judges it"),
        ({"type": "python", "source": "import os"}, "a program"),
        ({"type": "made_up"}, "not known here"),
    ],
)
def test_criteria_that_have_no_equal__are_named(tmp_path, criterion, reason):
    kept = {"type": "string_check", "input": OUTPUT, "operation": "eq", "reference": "kept"}
    suite, found = carry(tmp_path, "eval.json", {"testing_criteria": [kept, criterion]})
    assert suite["scenarios"][0]["id"] == "*"
    (refused,) = refusals(found)
    assert reason in refused


def test_a_similarity_and_a_formula_of_openai__are_named_as_differing(tmp_path):
    similar = {
        "type": "text_similarity",
        "input": OUTPUT,
        "reference": "a",
        "evaluation_metric": "rouge_l",
        "pass_threshold": 0.5,
    }
    name = {"type": "string_check", "input": TOOLS % "name", "operation": "eq", "reference": "b"}
    content = {"testing_criteria": [similar, {"type": "multi", "graders": {"x": name}, "calculate_output": "x"}]}
    suite, found = carry(tmp_path, "eval.json", content)
    assert [each.get("type", each.get("path")) for each in suite["scenarios"][0]["assertions"]] == [
        "similarity",
        "tool_calls[0].name",
    ]
    assert "by another implementation" in found.err
    assert "there a formula weighs its graders" in found.err


def test_a_name_with_a_star__is_one_scenario(tmp_path):
    suite, _ = carry(tmp_path, "eval.yaml", {"stimuli": [{"name": "all * of it", "graders": [{"type": "completed"}]}]})
    (scenario,) = suite["scenarios"]
    assert (scenario["id"], scenario["match"]) == ("stimulus-0", {"scenario_id": "all * of it"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"testing_criteria":\t[{"type": ' + "[" * 70 + "]" * 70 + "}]}", "64 levels"),
        ('{"testing_criteria":\t[{"type": ' + "[" * 5_000 + "]" * 5_000 + "}]}", "invalid JSON document"),
        ('{"testing_criteria": [NaN]}', "NaN is not a number"),
        ('{"testing_criteria": [], "testing_criteria": []}', "appears twice"),
        ("\xff", "not UTF-8"),
    ],
)
def test_json_is_read_within_the_same_limits(tmp_path, text, reason):
    (tmp_path / "eval.json").write_bytes(text.encode("latin-1"))
    found = evalgate("import-suite", "eval.json", cwd=str(tmp_path))
    assert found.exit_code == 2
    assert reason in found.err


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"name": "x" * 600}, "at most 512 characters"), ({"name": "a\u0000*"}, "no invisible characters")],
)
def test_a_stimulus_that_no_scenario_can_be__is_named(tmp_path, change, reason):
    stimuli = [{"name": "kept", "graders": [{"type": "completed"}]}, {"graders": [{"type": "exit-success"}], **change}]
    (tmp_path / "eval.json").write_text(json.dumps({"stimuli": stimuli}), encoding="utf-8")
    found = evalgate("import-suite", "eval.json", cwd=str(tmp_path))
    assert found.exit_code == 0
    (refused,) = refusals(found)
    assert reason in refused


def test_a_threshold_that_none_reaches__is_named(tmp_path):
    grader = {"type": "completed"}
    content = {"stimuli": [{"name": "a", "graders": [grader]}], "scoring": {"threshold": 1.5}}
    _, found = carry(tmp_path, "eval.yaml", content)
    assert found.exit_code == 2
    assert "`threshold` must be at most 1" in refusals(found)[0]


def test_json_with_tabs__is_read(tmp_path):
    row = '{"testing_criteria":\t[{"type": "string_check", "input": "{{sample.output_text}}", "operation": "eq", "reference": "a"}]}'
    (tmp_path / "eval.json").write_text(row, encoding="utf-8")
    assert evalgate("import-suite", "eval.json", cwd=str(tmp_path)).exit_code == 0


@pytest.mark.parametrize("name", ["eval.yaml", "evals.json", "openai.json"])
def test_a_hostile_file_of_any_tool__is_one_clear_error_or_a_named_line(tmp_path, name):
    deep = {"a": 1}
    for _ in range(30):
        deep = {"a": deep}
    values = [None, 1, "\u202e\x1b[31m", [], deep, {"type": {"a": 1}}, {"type": "contains", "value": ["x"]}, True]
    content = {
        "eval.yaml": {
            "stimuli": [{"name": each, "graders": values, "constraints": {"max_tokens": each}} for each in values]
        },
        "evals.json": {"evals": [{"id": each, "assertions": values} for each in values], "skill_name": []},
        "openai.json": {
            "testing_criteria": [{"type": "string_check", "input": each, "graders": each} for each in values] + values
        },
    }[name]
    (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    found = evalgate("import-suite", name, cwd=str(tmp_path))
    assert found.exit_code in (0, 2)
    assert "a bug in EvalGate" not in found.err
    assert not {"\u202e", "\x1b"} & {*found.out, *found.err}
