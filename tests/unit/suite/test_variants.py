"""Scenarios crossed with variants, and which tool their scheduling checks use."""

import pytest
from builders import make_trace

from evalgate.adapters.suites.yaml_tree import load
from evalgate.errors import OverLimit
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import SharedDefaults, name_of, parse_suite
from evalgate.suite.scheduled_tool import ScheduledTool
from evalgate.suite.suite_file import Defaults

HEAD = "suite: s\ntraces: [t.json]\n"
BODY = "scenarios:\n  - id: a\n    assertions: [{contains: x}]\n"
RENAMED = "variants: {flat: {}, grouped: {tool: tasks, action: create}}\n"


def parse(text):
    diagnostics = Diagnostics()
    shared = SharedDefaults(None, Defaults())
    suite, warnings = parse_suite(load(text, "s.yaml"), "s.yaml", ".", shared, diagnostics)
    return suite, [str(each) for each in diagnostics.problems], [str(each) for each in warnings]


def suite_of(text):
    suite, problems, warnings = parse(text)
    assert (problems, warnings) == ([], [])
    return suite


def list_scenarios(suite):
    return [(each.id, each.variant and each.variant.name) for each in suite.scenarios]


def outcomes(scenario, *calls):
    trace = make_trace(calls=calls)
    return [each.assess(trace).outcome for each in scenario.assertions]


def test_every_scenario__is_crossed_with_every_variant_in_the_order_of_the_file():
    suite = suite_of(
        HEAD + "variants: {b: {}, a: {match: {tags: [x]}}}\n" + BODY + "  - {id: '*', assertions: [{contains: y}]}\n"
    )
    assert list_scenarios(suite) == [("a", "b"), ("a", "a"), ("*", "b"), ("*", "a")]
    assert suite.scenarios[1].variant.match.tags == {"x"}
    assert suite.scenarios[1].variant.match.scenario_id is None


def test_variants_of_a_scenario__replace_those_of_the_suite():
    suite = suite_of(
        HEAD + "variants: {a: {}}\n" + BODY + "  - {id: b, variants: {}, assertions: [{contains: y}]}\n"
        "  - {id: c, variants: {z: {}}, assertions: [{contains: y}]}\n"
    )
    assert list_scenarios(suite) == [("a", "a"), ("b", None), ("c", "z")]


def test_checks_equal_in_all_variants__are_compiled_once():
    suite = suite_of(HEAD + RENAMED + "scenarios:\n  - id: a\n    expected_tool: t\n    assertions: [{contains: x}]\n")
    flat, grouped = suite.scenarios
    assert flat.assertions[1] is grouped.assertions[1]
    assert flat.assertions[0] is not grouped.assertions[0]


POSITIVE = """\
scenarios:
  - id: a
    expected_tool: schedule
    assertions:
      - {type: has_timing}
      - {type: has_timing, params: {tool: schedule}}
      - {not: {type: is_recurring}}
      - any_of: [{type: staggered_timing}, {type: has_timing}]
      - {type: has_timing, tool: other}
      - {type: no_tool, tool: schedule}
"""


def test_tool_of_a_variant__replaces_the_expected_one_in_its_checks():
    flat, grouped = suite_of(HEAD + RENAMED + POSITIVE).scenarios
    timed = {"delay_seconds": 1}
    own, theirs, other = ("schedule", timed), ("tasks", {**timed, "action": "create"}), ("other", timed)
    about_it = ["passed"] * 5
    assert outcomes(flat, own, other) == [*about_it, "passed", "failed"]
    assert outcomes(grouped, theirs, other) == [*about_it, "passed", "passed"]
    wrong_action = ("tasks", {**timed, "action": "list"})
    assert outcomes(grouped, wrong_action, other) == ["failed", "failed", "failed", "passed", "failed", "passed", "passed"]  # fmt: skip


def test_negative_scenario__in_a_variant_with_a_tool_checks_only_calls_of_this_tool():
    negative = "scenarios: [{id: a, expected_tool: null, min_calls: 0}]\n"
    flat, grouped = suite_of(HEAD + RENAMED + negative).scenarios
    create, look = ("tasks", {"action": "create"}), ("search", {})
    assert outcomes(flat, look) == ["failed"]
    assert outcomes(grouped, look, ("tasks", {"action": "list"})) == ["passed"]
    assert outcomes(grouped, create) == ["failed"]


@pytest.mark.parametrize(
    ("variant", "part"),
    [({"tool": "tasks"}, "`tool` of variant `x`"), ({"action": "create"}, "`action` of variant `x`")],
)
def test_variant_with_a_tool_that_no_check_uses__is_a_warning_with_its_line(variant, part):
    _, problems, warnings = parse(HEAD + f"variants:\n  x: {variant}\n" + BODY)
    assert problems == []
    assert len(warnings) == 1
    assert warnings[0].startswith("s.yaml:4:3: no assertion uses the " + part)


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ("variants: []\n" + BODY, "s.yaml:3:1", "must be a mapping"),
        ("variants: {Flat: {tol: x}}\n" + BODY, "s.yaml:3:19", "did you mean `tool`?"),
        ("variants: {str: {match: {Tags: [x]}}}\n" + BODY, "s.yaml:3:26", "did you mean `tags`?"),
        ("variants: {tool: {tool: 5}}\n" + BODY, "s.yaml:3:19", "`tool` must be text"),
        ("variants: {a: 5}\n" + BODY, "s.yaml:3:12", "`a` must be a mapping"),
        ("variants: {'': {}}\n" + BODY, "s.yaml:3:12", "a name in `variants` must have 1 or more characters, not text"),
        (f"variants: {{{'n' * 101}: {{}}}}\n" + BODY, "s.yaml:3:12", "at most 100 characters"),
        ("variants: {a: {match: {where: 'x['}}}\n" + BODY, "s.yaml:3:24", "invalid expression"),
        ("variants: {a: {match: {path: '**/**/**/x'}}}\n" + BODY, "s.yaml:3:24", "a path pattern may have"),
        (BODY + "    variants: {'A[0]': {match: {paht: x}}}\n", "s.yaml:6:33", "did you mean `path`?"),
        (f"variants: {{{', '.join(f'v{n}: {{}}' for n in range(101))}}}\n" + BODY, "s.yaml:3:1", "at most 100 entries"),
        ("variants: {a: {action: x}}\nscenarios: [{id: a, expected_tool: null}]\n", "s.yaml:3:12", "`action` but no `tool`"),
        (RENAMED + "scenarios:\n  - id: a\n    expected_tool: t\n    assertions: [{type: has_timing, tol: x}]\n", "s.yaml:7:37", "did you mean `tool`?"),
    ],
)  # fmt: skip
def test_error_in_a_variant__is_reported_once_with_its_location(text, place, part):
    suite, problems, _ = parse(HEAD + text)
    assert suite is None
    assert len([line for line in problems if line.startswith(place + ":") and part in line]) == 1, problems
    assert len(problems) == 1


def test_errors_elsewhere__do_not_make_a_timing_check_without_a_tool_an_error():
    _, problems, _ = parse(HEAD + "treshold: 1\n" + POSITIVE)
    assert len(problems) == 1
    _, problems, _ = parse(
        HEAD
        + "treshold: 1\n"
        + RENAMED
        + "scenarios: [{id: a, expected_tool: null, assertions: [{type: has_timing}]}]\n"
    )
    assert len(problems) == 1


def test_crossing__over_the_limit_is_refused_before_it_starts():
    names = ", ".join(f"v{n}: {{}}" for n in range(100))
    entries = "".join(f"  - {{id: s{n}, assertions: [{{contains: x}}]}}\n" for n in range(1_001))
    with pytest.raises(OverLimit, match="100,100 scenarios: a run may have at most 100,000"):
        parse(HEAD + f"variants: {{{names}}}\nscenarios:\n" + entries)


def test_checks_of_crossed_scenarios__are_bounded_together():
    names = ", ".join(f"v{n}: {{}}" for n in range(100))
    entries = "".join(f"  - {{id: s{n}}}\n" for n in range(100))
    checks = ", ".join(["{contains: x}"] * 501)
    with pytest.raises(OverLimit, match="more than 5,000,000 assertions"):
        parse(HEAD + f"defaults: {{assertions: [{checks}]}}\nvariants: {{{names}}}\nscenarios:\n" + entries)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("evals/scheduling.yaml", "scheduling"),
        ("refunds.suite.yml", "refunds"),
        ("a/b.scenarios.json", "b"),
        ("v1.2.yaml", "v1.2"),
        (".suite.yaml", ".suite"),
        ("x" * 250 + ".yaml", "x" * 200),
    ],
)
def test_suite_without_a_name__has_the_name_of_its_file(path, name):
    assert name_of(path) == name


def test_suite_without_version_and_name__is_valid():
    suite = suite_of(BODY)
    assert (suite.name, list_scenarios(suite)) == ("s", [("a", None)])


@pytest.mark.parametrize("raw", [None, 5, "has_timing", [], {"type": ["has_timing"]}, {"not": None}, {"of": 3}])
def test_scheduled_tool__leaves_unknown_values_to_the_parser(raw):
    assert ScheduledTool("t", "u", "a").fill_assertion(raw) is raw


def test_scheduled_tool__does_not_change_its_input():
    raw = {"type": "has_timing", "params": {"tool": "t", "action": "old"}, "weight": 2}
    written = ScheduledTool("t", "u", "new").fill_assertion(raw)
    assert written == {"type": "has_timing", "params": {}, "tool": "u", "action": "new", "weight": 2}
    assert raw["params"] == {"tool": "t", "action": "old"}


def test_scheduled_tool__without_a_variant_leaves_an_assertion_unchanged():
    raw = {"type": "expected_tool", "expected_tool": None}
    assert ScheduledTool("t").fill_assertion(raw) is raw
    assert ScheduledTool(None, "u").fill_assertion(raw) == {**raw, "tool": "u"}
