"""What a suite file can contain, and the errors of an invalid one."""

import pytest
from builders import make_trace

from evalgate.adapters.suites.yaml_tree import load
from evalgate.models.trace.trace import NO_KINDS, ToolKinds
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import SharedDefaults, parse_project, parse_suite
from evalgate.suite.suite_file import Defaults

HEAD = "version: 1\nsuite: s\ntraces: [t.json]\n"


def parse(text, defaults=None):
    diagnostics = Diagnostics()
    shared = SharedDefaults(None, Defaults()) if defaults is None else defaults
    suite, warnings = parse_suite(load(text, "s.yaml"), "s.yaml", ".", shared, diagnostics)
    return suite, [str(problem) for problem in diagnostics.problems], warnings


def problems(text):
    suite, found, _ = parse(text)
    assert suite is None
    return found


def test_suite__with_every_key_is_parsed():
    suite, found, warnings = parse(
        HEAD
        + """\
description: refunds
format: native
scenario_from: metadata.custom.case
threshold: 0.9
defaults: {assertions: [{contains: a}]}
policy: {fail_on: [hard_fail, broken], min_evaluated: 0.5, regression: {threshold: 0.1, cost: {max_increase: 0.2}}}
scenarios:
  - id: 42
    tags: [smoke, 7]
    optional: true
    allow_errors: true
    trials: {min: 2, min_pass_rate: 0.5, min_pass_k: {k: 1, of: 2}}
    match: {path: "traces/*.json", scenario_id: "4*", tags: ["k:v"], where: "metadata.trial == `0`"}
    assertions: [{contains: b, weight: 2}]
  - id: "*"
    threshold: 0.5
"""
    )
    assert found == []
    assert warnings == []
    first, rest = suite.scenarios
    assert (first.id, first.threshold, len(first.assertions)) == ("42", 0.9, 2)
    assert (first.rules.min, first.rules.min_pass_k, first.rules.optional) == (2, (1, 2), True)
    assert first.match.tags == {"k:v"}
    assert (rest.threshold, rest.is_glob, rest.match.is_exact) == (0.5, True, False)


def test_suite__a_single_trace_glob_needs_no_list():
    suite, _, _ = parse("version: 1\nsuite: s\ntraces: t.json\nscenarios: [{id: a, assertions: [{contains: x}]}]\n")
    assert suite.traces == ["t.json"]


def test_threshold__of_the_scenario_overrides_suite_project_and_default():
    scenario = (
        "scenarios: [{id: a, assertions: [{contains: x}]}, {id: b, threshold: 0.1, assertions: [{contains: x}]}]\n"
    )
    shared = SharedDefaults(None, Defaults(threshold=0.7))
    assert [each.threshold for each in parse(HEAD + scenario)[0].scenarios] == [0.8, 0.1]
    assert [each.threshold for each in parse(HEAD + scenario, shared)[0].scenarios] == [0.7, 0.1]
    assert [each.threshold for each in parse(HEAD + "threshold: 0.6\n" + scenario, shared)[0].scenarios] == [
        0.6,
        0.1,
    ]


def test_assertions__come_from_project_then_suite_then_scenario():
    diagnostics = Diagnostics()
    document = load("version: 1\nsuites: [s.yaml]\ndefaults: {assertions: [{contains: p}]}\n", "evalgate.yaml")
    shared = SharedDefaults(document, parse_project(document, diagnostics).defaults)
    text = HEAD + "defaults: {assertions: [{contains: s}]}\nscenarios: [{id: a, assertions: [{contains: own}]}]\n"
    suite, found, _ = parse(text, shared)
    assert found == []
    assert [each.name[-6:] for each in suite.scenarios[0].assertions] == ['ns "p"', 'ns "s"', ' "own"']
    assert suite.scenarios[0].assertions[0].location.file == "evalgate.yaml"


BODY = "scenarios:\n  - id: a\n    assertions:\n      - {contains: x}\n"


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ("version: 2\nsuite: s\n" + BODY, "s.yaml:1:1", "`version` must be 1, not"),
        ("version: true\nsuite: s\n" + BODY, "s.yaml:1:1", "`version` must be 1, not"),
        ("version: 1.0\nsuite: s\n" + BODY, "s.yaml:1:1", "`version` must be 1, not"),
        (HEAD, "s.yaml:1:1", "`scenarios` is missing (a suite has `scenarios`"),
        ("prompt: hello\n", "s.yaml:1:1", "`scenarios` is missing (a suite has `scenarios`"),
        (HEAD + "scenarios: []\n", "s.yaml:4:1", "must have at least one entry"),
        (HEAD + "treshold: 0.5\n" + BODY, "s.yaml:4:1", "did you mean `threshold`?"),
        (HEAD + "threshold: 1.5\n" + BODY, "s.yaml:4:1", "at most 1"),
        (HEAD + 'threshold: "0.5"\n' + BODY, "s.yaml:4:1", "must be a number"),
        (HEAD + "threshold: true\n" + BODY, "s.yaml:4:1", "must be a number"),
        (HEAD + "policy: {fail_on: []}\n" + BODY, "s.yaml:4:10", "report-only"),
        (HEAD + "policy: {fail_on: [x]}\n" + BODY, "s.yaml:4:20", "an entry of `fail_on` must be one of"),
        (
            HEAD + "policy: {fail_on: [hard_fial]}\n" + BODY,
            "s.yaml:4:20",
            'an entry of `fail_on` can\'t be text "hard_fial" (did you mean `hard_fail`?)',
        ),
        (HEAD + "policy: {regression: {treshold: 1}}\n" + BODY, "s.yaml:4:23", "did you mean `threshold`?"),
        (HEAD + "scenario_from: 'a.['\n" + BODY, "s.yaml:4:1", "invalid expression"),
        (HEAD + BODY + "    match: {where: 'foo('}\n", "s.yaml:8:13", "invalid expression"),
        (HEAD + BODY + "    match: {scenario: a}\n", "s.yaml:8:13", "did you mean `scenario_id`?"),
        (HEAD + BODY + "    trials: {min_pass_k: {k: 3, of: 2}}\n", "s.yaml:8:14", "`k` must be at most `of`"),
        (HEAD + BODY + "    asertions: []\n", "s.yaml:8:5", "did you mean `assertions`?"),
        (HEAD + "scenarios: [{id: a}]\n", "s.yaml:4:13", "has no assertions"),
        (HEAD + "scenarios: [{id: a, assertions: [{contains: x, weight: 0}]}]\n", "s.yaml:4:13", "sum to 0"),
        (HEAD + BODY + "  - id: a\n    assertions: [{contains: y}]\n", "s.yaml:8:5", "appears twice"),
        (
            HEAD
            + "scenarios:\n  - {id: caf\u00e9, assertions: [{contains: y}]}\n"
            + "  - {id: cafe\u0301, assertions: [{contains: y}]}\n",
            "s.yaml:6:6",
            "appears twice",
        ),
        (
            HEAD + "scenarios: [{id: '', assertions: [{contains: x}]}]\n",
            "s.yaml:4:14",
            "`id` must have 1 or more characters",
        ),
        (
            HEAD + f"scenarios: [{{id: {'x' * 513}, assertions: [{{contains: x}}]}}]\n",
            "s.yaml:4:14",
            "`id` must have at most 512 characters",
        ),
        ("", "s.yaml:1:1", "empty or not a mapping"),
        ("- a\n", "s.yaml:1:1", "empty or not a mapping"),
    ],
)
def test_error__is_reported_with_its_location_and_a_hint(text, place, part):
    found = problems(text)
    assert any(line.startswith(place) and part in line for line in found), found


@pytest.mark.parametrize(
    "unseen", ["\\u202e", "\\u200b", "\\u00ad", "\\U000e0041", "\\0", "\\n", "\\e[31m", "\\ue000", "\\u2028"]
)
@pytest.mark.parametrize(
    "text",
    [
        "suite: s\nscenarios: [{id: NAME, assertions: [{contains: x}]}]\n",
        "suite: s\nscenarios: [{id: a, match: {scenario_id: NAME}, assertions: [{contains: x}]}]\n",
        "suite: NAME\n" + BODY,
        "suite: s\nvariants: {NAME: {}}\n" + BODY,
    ],
    ids=["scenario", "match", "suite", "variant"],
)
def test_error__name_with_invisible_characters(text, unseen):
    found = problems("version: 1\ntraces: ['*.json']\n" + text.replace("NAME", f'"a{unseen}b"'))
    assert any("must have no invisible characters" in line for line in found), found


@pytest.mark.parametrize(
    "name", ["caf\u00e9", "\u540d\u524d", "\u0627\u0633\u0645", "\U0001f600", "a\u00a0b", "a | b [x] {y}"]
)
def test_name__of_any_script__is_accepted(name):
    text = f'version: 1\ntraces: ["*.json"]\nsuite: "{name}"\nscenarios: [{{id: "{name}", assertions: [{{contains: x}}]}}]\n'
    suite, found, _ = parse(text)
    assert (suite.name, found) == (name, [])


TWO = "scenarios:\n  - {id: %s, assertions: [{contains: x}]}\n  - {id: %s, assertions: [{contains: x}]}\n"


@pytest.mark.parametrize(("first", "second"), [("refund", "r\u0435fund"), ("r\u0435fund", "refund")])
def test_error__ids_that_look_alike(first, second):
    [found] = problems(HEAD + TWO % (first, second))
    letter = "one of them has U+0435 CYRILLIC SMALL LETTER IE"
    hint = "(give it another id, or write both in one alphabet)"
    assert found == f"s.yaml:6:6: scenario `{second}` looks like `{first}`: {letter} {hint}"


def test_suite__ids_of_ascii_that_look_alike_are_accepted():
    suite, found, _ = parse(HEAD + TWO % ("test-1", "test-l"))
    assert ([each.id for each in suite.scenarios], found) == (["test-1", "test-l"], [])


@pytest.mark.parametrize("store", ["postgresql://u:p@db/x", "sqlite:///x.db", "http://x", "file:x"])
def test_error__project_with_a_store_that_is_not_a_file(store):
    diagnostics = Diagnostics()
    project = f"version: 1\nsuites: [s.yaml]\nstore: {store}\n"
    assert parse_project(load(project, "evalgate.yaml"), diagnostics) is None
    [problem] = diagnostics.problems
    assert str(problem).startswith("evalgate.yaml:3:1: `store`")


def test_errors__of_a_whole_file_are_reported_at_once():
    found = problems(
        HEAD
        + """\
treshold: 0.5
policy: {fail_on: [nope]}
defaults: {assertions: [{type: nope}]}
scenarios:
  - id: a
    asertions: []
    assertions: [{contain: x}, {gt: "1"}]
"""
    )
    assert sorted(int(line.split(":")[1]) for line in found) == [4, 5, 6, 9, 10, 10]


SCHEDULING = (
    HEAD
    + """\
scenarios:
  - id: remind-me
    prompt: Remind me tomorrow at nine.
    category: one-off
    expected_tool: schedule_task
    min_calls: 2
    assertions: [{type: has_timing}]
  - id: small-talk
    prompt: How are you?
    category: negative
    expected_tool: null
    min_calls: 0
"""
)


def test_scenario__with_an_expected_tool_requires_its_calls_or_none():
    suite, found, _ = parse(SCHEDULING)
    assert found == []
    positive, negative = suite.scenarios
    called = make_trace(calls=[("schedule_task", {"delay_seconds": 5}), ("schedule_task", {"delay_seconds": 9})])
    once, never = make_trace(calls=[("schedule_task", {"delay_seconds": 5})]), make_trace()
    assert [each.assess(called).outcome for each in positive.assertions] == ["passed", "passed"]
    assert [each.assess(once).outcome for each in positive.assertions] == ["failed", "passed"]
    assert [each.assess(never).outcome for each in negative.assertions] == ["passed"]
    assert [each.assess(once).outcome for each in negative.assertions] == ["failed"]
    assert str(positive.assertions[0].location) == "s.yaml:8:5"


@pytest.mark.parametrize(
    ("lines", "place", "part"),
    [
        ("    min_calls: 2\n", "s.yaml:8:5", "`expected_tool`, which is missing"),
        ("    expected_tool: x\n    min_calls: 0\n", "s.yaml:8:5", "checks nothing"),
        ("    expected_tool: null\n    min_calls: 2\n", "s.yaml:8:5", ""),
    ],
)
def test_scenario__with_an_invalid_requirement_is_an_error(lines, place, part):
    found = problems(HEAD + BODY + lines)
    assert any(line.startswith(place) and part in line for line in found), found


def test_errors__over_the_limit_are_counted_and_not_all_read():
    entries = "".join(f"  - {{id: s{n}, assertions: [{{gt: x}}]}}\n" for n in range(3_000))
    found = problems(HEAD + "scenarios:\n" + entries)
    assert len(found) == 101
    assert "too many errors: the other scenarios were not checked" in found[-1]


TOOLS = HEAD + "scenarios: [{id: a, assertions: [{contains: b}]}]\n"


def test_tools__says_which_are_look_ups_and_which_change_something():
    suite, found, _ = parse(TOOLS + "tools: {lookups: [berth_reading, 'open_*'], changing: [sync_view]}\n")
    assert found == []
    assert suite.tool_kinds == ToolKinds(("berth_reading", "open_*"), ("sync_view",))
    assert parse(TOOLS)[0].tool_kinds is NO_KINDS


def test_tools__of_a_suite_replace_those_of_its_project():
    shared = SharedDefaults(None, Defaults.model_validate({"tools": {"lookups": ["peek"]}}))
    assert parse(TOOLS, shared)[0].tool_kinds == ToolKinds(("peek",))
    assert parse(TOOLS + "tools: {changing: [view]}\n", shared)[0].tool_kinds == ToolKinds((), ("view",))


def test_tools__that_are_in_both_lists_are_an_error_with_its_place():
    text = TOOLS + "tools:\n  lookups: [a, b]\n  changing: [c, b]\n"
    assert problems(text) == ["s.yaml:7:17: 'b' is in `lookups` too"]


def test_tools__that_are_in_both_lists_of_a_project_are_an_error_with_its_place():
    text = "version: 1\nsuites: [s.yaml]\ndefaults:\n  tools: {lookups: [a], changing: [a]}\n"
    diagnostics = Diagnostics()
    parse_project(load(text, "evalgate.yaml"), diagnostics)
    assert [str(each) for each in diagnostics.problems] == ["evalgate.yaml:4:36: 'a' is in `lookups` too"]


@pytest.mark.parametrize("tools", ["{lookup: [a]}", "[a]", "{lookups: ['']}", "{lookups: [3]}"])
def test_tools__in_another_form_are_an_error(tools):
    assert problems(TOOLS + f"tools: {tools}\n")
