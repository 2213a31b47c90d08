"""Configurations of promptfoo as suites: the same verdicts, and each check that is not carried over named."""

from __future__ import annotations

import json

import pytest
import yaml
from documents import ROOT
from importing.promptfoo_runs import build_configuration, build_traces, read_cases
from in_process_command import evalgate

from evalgate.features.importing.application.javascript_pattern import translate_pattern


def carry(folder, config, *more, name="promptfooconfig.yaml"):
    """The written suite, and what the command printed."""
    text = config if isinstance(config, str) else yaml.safe_dump(config, sort_keys=False)
    (folder / name).write_text(text, encoding="utf-8")
    found = evalgate("import-suite", name, *more, cwd=str(folder))
    return (yaml.safe_load(found.out) if found.exit_code == 0 else {}), found


def carry_checks(folder, *checks, **test):
    """The assertions of one test."""
    suite, found = carry(folder, {"prompts": ["p"], "tests": [{"description": "a", "assert": list(checks), **test}]})
    scenarios = suite.get("scenarios", [{}])
    return scenarios[0].get("assertions", []), found


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.matrix)])
def test_imported_checks__judge_as_promptfoo_does(tmp_path, every):
    cases = read_cases()[::every]
    (tmp_path / "promptfooconfig.json").write_text(build_configuration(cases), encoding="utf-8")
    (tmp_path / "traces.jsonl").write_text(build_traces(cases), encoding="utf-8")
    written = evalgate(
        *("import-suite", "promptfooconfig.json", "-o", "suite.yaml", "--traces", "traces.jsonl"), cwd=str(tmp_path)
    )
    assert (written.exit_code, "not carried over" in written.err) == (0, False)
    evalgate("run", "suite.yaml", "-q", cwd=str(tmp_path))
    results = json.loads((tmp_path / ".evalgate/results.json").read_text(encoding="utf-8"))
    verdicts = {each["id"]: each["verdict"] == "PASS" for each in results["suites"][0]["scenarios"]}
    assert verdicts == {case.id: case.passes for case in cases}


def test_the_page_counts_what_is_compared():
    cases = read_cases()
    page = (ROOT / "docs/migrate-from.md").read_text(encoding="utf-8").replace("\n", " ")
    assert f"{len(cases)} verdicts of {len({case.check['type'] for case in cases})} kinds of checks" in page


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ({"type": "skill-used", "value": {"name": "pdf", "min": 2}}, "it counts uses of a skill"),
        ({"type": "not-skill-used", "value": {"name": "pdf", "min": 1}}, "it counts uses of a skill"),
        ({"type": "skill-used", "value": {"name": "pdf", "pattern": "p*"}}, "it needs a `name` or a `pattern`"),
        ({"type": "skill-used", "value": {"pattern": "pd?"}}, "it needs a `name` or a `pattern`"),
        ({"type": "javascript", "value": "output.length > 1 && context.vars.a"}, "a program"),
        ({"type": "javascript", "value": "file://check.js"}, "a program"),
        ({"type": "javascript", "value": "output.length < 5", "threshold": 0.5}, "a program"),
        ({"type": "javascript", "value": "output.includes('a') && true || fetch('x')"}, "a program"),
        ({"type": "javascript", "value": "output.toLowerCase().includes('A')"}, "in lower case"),
        ({"type": "javascript", "value": "output.length < 5 &&\n  output.length > 1"}, "a program"),
        ({"type": "javascript", "value": "output.includes('a') || JSON.parse(output).b === 1"}, "ends it in an error"),
        ({"type": "not-javascript", "value": "output.includes('a')"}, "a program"),
        ({"type": "python", "value": "file://check.py"}, "a program"),
        ({"type": "contains", "value": "a", "transform": "output.b"}, "`transform` is JavaScript"),
        ({"type": "llm-rubric", "value": "polite"}, "a model judges it"),
        ({"type": "not-llm-rubric", "value": "rude", "metric": "m", "threshold": 0.5}, "a model judges it"),
        ({"type": "contains-json"}, "promptfoo's own parser"),
        ({"type": "levenshtein", "value": "a"}, "levenshtein"),
        ({"type": "rouge-n", "value": "a"}, "another measure"),
        ({"type": "select-best", "value": "a"}, "several providers"),
        ({"type": "made-up", "value": "a"}, "not known here"),
        ({"type": "promptfoo:redteam:harmful"}, "red team"),
        ({"value": "a"}, "no type"),
        ({"type": "contains", "value": ""}, "needs a value"),
        ({"type": "contains", "value": "{{missing}}"}, "no text for `{{missing}}`"),
        ({"type": "contains", "value": "{{ a | upper }}"}, "a template"),
        ({"type": "contains", "value": "{{env.HOME}}"}, "of the environment"),
        ({"type": "contains", "value": "file:///etc/passwd"}, "is in a file"),
        ({"type": "contains-any", "value": ["a", ""]}, "holds for every answer"),
        ({"type": "regex", "value": "(?i)refund"}, "JavaScript has no such group"),
        ({"type": "regex", "value": "\\Arefund"}, "the letter itself"),
        ({"type": "regex", "value": "^*refund"}, "can't be repeated"),
        ({"type": "regex", "value": "(?m:^a$)"}, "JavaScript has no such group"),
        ({"type": "regex", "value": "a("}, "not a regular expression"),
        ({"type": "is-json", "value": {"properties": {"at": {"format": "date"}}}}, "`format`"),
        ({"type": "is-json", "value": {"items": [{"type": "string"}]}}, "prefixItems"),
        ({"type": "cost"}, "needs a threshold"),
        ({"type": "word-count", "value": 5_000}, "1,000 words"),
        ({"type": "trajectory:tool-used", "value": "get_?"}, "`?`"),
        ({"type": "trajectory:tool-used", "value": "shell"}, "as a command"),
        ({"type": "trajectory:step-count", "value": {"max": 3}}, "counts spans"),
        ({"type": "trajectory:tool-args-match", "value": {"name": "a", "args": {"b": {"c": 1}}}}, "parts of objects"),
        ({"type": "tool-call-f1", "value": "a", "threshold": 0.5}, "counts each call"),
        ({"type": "contains", "value": "a", "weight": -1}, "weight"),
        ({"type": "assert-set", "threshold": 0.5, "assert": [{"type": "python", "value": "x"}]}, "a program"),
    ],
)
def test_what_can_not_be_carried_over__is_named_with_line_and_reason(tmp_path, check, reason):
    found = carry_checks(tmp_path, {"type": "contains", "value": "kept"}, check)[1]
    (refused,) = [line for line in found.err.splitlines() if line.startswith("not carried over")]
    assert refused.startswith("not carried over: promptfooconfig.yaml:")
    assert reason in refused
    assert f"# {refused[:100]}" in found.out


def test_a_file_of_which_nothing_is_carried_over__is_an_error_after_the_reasons(tmp_path):
    found = carry_checks(tmp_path, {"type": "javascript", "value": "true"})[1]
    assert (found.exit_code, found.out) == (2, "")
    assert "none of its checks can be carried over" in found.err


def test_variables_and_numbers__are_filled_in_as_javascript_writes_them(tmp_path):
    checks, _ = carry_checks(
        tmp_path,
        {"type": "contains", "value": "{{ order.id }}: {{price}} {{ok}}"},
        vars={"order": {"id": "A7"}, "price": 2.0, "ok": True},
    )
    assert checks == [{"type": "contains", "value": "A7: 2 true", "required": True}]


def test_a_list_of_values__is_a_scenario_of_each_where_a_check_uses_it(tmp_path):
    config = {
        "prompts": ["p"],
        "tests": [
            {"vars": {"q": ["one", "two"]}, "assert": [{"type": "contains", "value": "{{q}}"}]},
            {"vars": {"q": ["one", "two"]}, "assert": [{"type": "contains", "value": "x"}]},
        ],
    }
    suite, _ = carry(tmp_path, config)
    assert [(each["id"], each["match"]["where"]) for each in suite["scenarios"]] == [
        ("test-0", "metadata.custom.test == `0`"),
        ("test-1", "metadata.custom.test == `1`"),
        ("test-2", "metadata.custom.test >= `2` && metadata.custom.test <= `3`"),
    ]
    assert [each["assertions"][0]["value"] for each in suite["scenarios"]] == ["one", "two", "x"]


def test_a_threshold__counts_the_mean_in_each_trial(tmp_path):
    suite, found = carry(
        tmp_path,
        {
            "prompts": ["p"],
            "defaultTest": {"threshold": 0.5},
            "tests": [
                {
                    "description": "a",
                    "assert": [{"type": "contains", "value": "x", "weight": 2}, {"type": "python", "value": "x"}],
                }
            ],
        },
    )
    (scenario,) = suite["scenarios"]
    assert (scenario["threshold"], scenario["trials"]) == (0.5, {"min_pass_rate": 1.0})
    assert scenario["assertions"] == [{"type": "contains", "value": "x", "weight": 2}]
    assert "its threshold is a mean over all its checks, of which some are not here" in found.err


def test_defaults_templates_scenarios_and_shared_descriptions(tmp_path):
    config = {
        "prompts": ["p"],
        "assertionTemplates": {"short": {"type": "word-count", "value": {"max": 9}}},
        "defaultTest": {"assert": [{"$ref": "#/assertionTemplates/short"}, {"type": "latency", "threshold": 1500}]},
        "tests": [
            {"description": "same", "assert": [{"type": "equals", "value": "a"}]},
            {"description": "same", "options": {"disableDefaultAsserts": True}, "assert": [{"type": "is-json"}]},
        ],
        "scenarios": [
            {
                "config": [{"vars": {"city": "Rome"}}],
                "tests": [{"description": "trip", "assert": [{"type": "contains", "value": "{{city}}"}]}],
            }
        ],
    }
    suite, _ = carry(tmp_path, config)
    first, second, third = suite["scenarios"]
    assert [each["id"] for each in (first, second, third)] == ["test-0", "test-1", "trip"]
    assert [each["type"] for each in first["assertions"]] == ["regex", "latency_limit", "equals"]
    assert [each["type"] for each in second["assertions"]] == ["is_json"]
    assert third["assertions"][-1] == {"type": "contains", "value": "Rome", "required": True}


def test_checks_that_all_tests_share__are_written_once(tmp_path):
    config = {
        "prompts": ["p"],
        "defaultTest": {"assert": [{"type": "cost", "threshold": 0.1}]},
        "tests": [{"description": name, "assert": [{"type": "equals", "value": name}]} for name in "ab"],
    }
    suite, found = carry(tmp_path, config)
    assert suite["defaults"]["assertions"] == [{"type": "cost_limit", "max_usd": 0.1, "required": True}]
    assert found.out.count("cost_limit") == 1


def test_tests_in_tables__are_read_below_the_working_directory(tmp_path):
    (tmp_path / "tests.csv").write_text(
        'q,__expected,__expected2,__description\nhi,"contains-all: a, b",not-icontains: sorry,first\nho,4,,second\n'
    )
    (tmp_path / "more.jsonl").write_text('{"description": "third", "assert": [{"type": "is-json"}]}\n')
    suite, _ = carry(tmp_path, {"prompts": ["p"], "tests": ["file://tests.csv", "file://more.jsonl"]})
    assert [(each["id"], len(each["assertions"])) for each in suite["scenarios"]] == [
        ("first", 2),
        ("second", 1),
        ("third", 1),
    ]
    assert suite["scenarios"][0]["assertions"][1] == {"not": {"type": "icontains", "value": "sorry"}, "required": True}


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("file://../outside.yaml", "outside the workspace"),
        ("file:///etc/passwd", "outside the workspace"),
        ("file://tests.js", "it is code"),
        ("file://missing.yaml", "does not exist"),
        ("file://notes.txt", "only YAML, JSON, JSON Lines and CSV"),
        ("https://example.com/tests.csv", "on another server"),
        ("file://link.yaml", "symbolic link"),
    ],
)
def test_files_that_are_not_read__are_named(tmp_path, reference, reason):
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "outside.yaml").write_text("- {assert: [{type: is-json}]}")
    (folder / "notes.txt").write_text("a")
    (folder / "link.yaml").symlink_to("../outside.yaml")
    kept = {"description": "a", "assert": [{"type": "is-json"}]}
    _, found = carry(folder, {"prompts": ["p"], "tests": [kept, reference]})
    assert found.exit_code == 0
    (refused,) = [line for line in found.err.splitlines() if line.startswith("not carried over")]
    assert reason in refused


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("prompts: [" + "[" * 100 + "]" * 100 + "]", "at most 64 levels"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nprompts: *b\ntests: [{vars: {a: !!python/object:os.system x}}]", "tags"),
        ("prompts: [p\n", "never closed"),
        ("- 1\n", "no suite of a tool"),
        ("", "no suite of a tool"),
        ("prompts: [p]\ntests: [{vars: {" + ", ".join(f"a{n}: [x, y]" for n in range(30)) + "}}]", "combinations"),
        (
            "prompts: [p]\ndefaultTest: {assert: ["
            + "{type: is-json}, " * 200
            + "]}\ntests: ["
            + "{vars: {}}, " * 200
            + "]",
            "20,000 checks",
        ),
    ],
)
def test_a_hostile_or_damaged_file__is_one_clear_error(tmp_path, text, reason):
    found = carry(tmp_path, text)[1]
    assert found.exit_code == 2
    assert reason in found.err
    assert "Traceback" not in found.err


def test_a_test_whose_number_is_not_known__needs_a_description(tmp_path):
    check = {"assert": [{"type": "is-json"}]}
    for unknown in ("file://generate.js", {"vars": {"q": "file://q/*.txt"}, **check}):
        described = [
            {"description": "a", **check},
            {"description": "twice", **check},
            {"description": "twice", **check},
        ]
        suite, found = carry(tmp_path, {"prompts": ["p"], "tests": [check, unknown, *described, check]})
        assert [each["id"] for each in suite["scenarios"]] == ["test-0", "a"]
        assert "its number in promptfoo's results is not known" in found.err


@pytest.mark.parametrize(
    ("source", "translated"),
    [
        (r"[\w.]+\b$", r"[A-Za-z0-9_.]+(?a:\b)\Z"),
        (r"{a}[]]", r"\{a\}(?!)\]"),
        (r"[[a]\k<n>(?<n>b)", r"[\[a](?P=n)(?P<n>b)"),
        (r"(?i:a)\u00e9\x41\/", r"(?i:a)\u00e9\x41\/"),
    ],
)
def test_patterns__match_here_what_they_match_in_javascript(source, translated):
    assert translate_pattern(source) == translated


@pytest.mark.parametrize(
    ("config", "kind", "reason"),
    [
        ({"tests": {"path": "file://make.mjs", "config": {}}}, "file", "it is code"),
        ({"tests": [{"path": "file://make.py:tests"}]}, "file", "it is code"),
        ({"tests": [{"assert": "is-json"}]}, "check", "it has no type"),
        ({"tests": [7]}, "test", "it has no checks"),
        ({"tests": []}, "test", "it has no checks"),
        ({"scenarios": [{"config": 7, "tests": [{"assert": [7]}]}]}, "check", "it has no type"),
    ],
)
def test_what_is_written_in_another_form__is_named_too(tmp_path, config, kind, reason):
    found = carry(tmp_path, {"prompts": ["p"], **config})[1]
    assert found.exit_code == 2
    refused = [line for line in found.err.splitlines() if line.startswith("not carried over")]
    assert len(refused) == 1
    assert f" {kind}: {reason}" in refused[0]


def test_a_configuration_without_tests__is_one_of_its_defaults(tmp_path):
    suite, _ = carry(tmp_path, {"prompts": ["p"], "defaultTest": {"assert": [{"type": "is-json"}]}})
    assert [(each["id"], len(each["assertions"])) for each in suite["scenarios"]] == [("test-0", 1)]


def test_names_that_look_like_markup__stay_in_their_line(tmp_path):
    name = "a # b: c\u202e {{x}}\n- id: evil"
    suite, found = carry(
        tmp_path, {"prompts": ["p"], "tests": [{"description": name, "assert": [{"type": "is-json"}]}]}
    )
    assert [each["id"] for each in suite["scenarios"]] == ["test-0"]
    assert "\u202e" not in found.out + found.err


def test_the_suite__is_the_same_each_time_and_never_overwritten_unasked(tmp_path):
    config = {"prompts": ["p"], "tests": [{"description": "a", "assert": [{"type": "is-json"}]}]}
    texts = {carry(tmp_path, config)[1].out for _ in range(2)}
    assert len(texts) == 1
    written = [carry(tmp_path, config, "-o", "evals/mine.yaml", *more)[1] for more in ((), (), ("--force",))]
    assert [each.exit_code for each in written] == [0, 2, 0]
    assert "exists already" in written[1].err
    assert evalgate("validate", "evals/mine.yaml", cwd=str(tmp_path)).exit_code == 0
    assert "suite: mine\n" in (tmp_path / "evals/mine.yaml").read_text()
