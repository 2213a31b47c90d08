"""A scenario that expects no tool forbids the scheduling tools: of its variant, the project, or its siblings."""

import pytest
from builders import make_trace

from evalgate.adapters.suites.yaml_tree import load
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import SharedDefaults, parse_project, parse_suite
from evalgate.suite.suite_file import Defaults

HEAD = "suite: s\ntraces: [t.json]\n"
NEGATIVE = "scenarios:\n  - {id: talk, expected_tool: null, min_calls: 0}\n"
SIBLINGS = NEGATIVE + "  - {id: tea, expected_tool: schedule_task}\n  - {id: cron, expected_tool: set_cron}\n"
PROJECT = "version: 1\nsuites: ['*.yaml']\ndefaults:\n"
VARIANTS = (
    "variants: {flat: {match: {tags: [flat]}}, grouped: {match: {tags: [grouped]}, tool: tasks, action: create}}\n"
)
SEARCH, SCHEDULE, CRON = ("search", {}), ("schedule_task", {}), ("set_cron", {})


def parse(text, project=None):
    diagnostics = Diagnostics()
    shared = SharedDefaults(None, Defaults())
    if project is not None:
        document = load(PROJECT + project, "evalgate.yaml")
        found = parse_project(document, diagnostics)
        if found is not None:
            shared = SharedDefaults(document, found.defaults)
    suite, warnings = parse_suite(load(HEAD + text, "s.yaml"), "s.yaml", ".", shared, diagnostics)
    return suite, [str(each) for each in diagnostics.problems], [str(each) for each in warnings]


def negatives(text, project=None):
    suite, problems, warnings = parse(text, project)
    assert (problems, warnings) == ([], [])
    return [each for each in suite.scenarios if each.id == "talk"]


def judge(scenario, *calls):
    (found,) = [each.assess(make_trace(calls=calls)) for each in scenario.assertions]
    return found.outcome, found.name, found.reason


def test_without_a_sibling_any_call_is_forbidden():
    (scenario,) = negatives(NEGATIVE)
    assert judge(scenario, SEARCH) == ("failed", "no tool call", "expected no tool call, got 1")


def test_the_tools_that_siblings_expect_are_forbidden_and_named():
    (scenario,) = negatives(SIBLINGS)
    name = "no call of schedule_task or set_cron"
    assert judge(scenario, SEARCH) == ("passed", name, "`schedule_task` or `set_cron` was not called")
    assert judge(scenario, SEARCH, CRON) == (
        "failed",
        name,
        "`schedule_task` or `set_cron` must not be called, but was (call 2)",
    )


def test_a_sibling_with_a_glob_or_the_same_tool_twice():
    (scenario,) = negatives(NEGATIVE + "".join(f"  - {{id: t{n}, expected_tool: 'sched*'}}\n" for n in range(3)))
    assert judge(scenario, SCHEDULE)[:2] == ("failed", "no call of sched*")
    assert judge(scenario, SEARCH)[0] == "passed"


def test_many_tools_are_counted():
    many = "".join(f"  - {{id: t{n}, expected_tool: tool_{n:02}}}\n" for n in range(20))
    (scenario,) = negatives(NEGATIVE + many)
    assert judge(scenario, ("tool_19", {}))[0] == "failed"
    assert judge(scenario)[1] == f"no call of {', '.join(f'tool_{n:02}' for n in range(12))} or 8 others"


def test_too_many_tools_are_an_error_that_says_what_to_do():
    many = "".join(f"  - {{id: t{n}, expected_tool: tool_{n}}}\n" for n in range(201))
    message = (
        "s.yaml:4:16: the other scenarios expect 201 tools, this one can forbid 200"
        " (give the project's `defaults` the scheduling tools as `tool`)"
    )
    assert parse(NEGATIVE + many)[1] == [message]
    assert parse(NEGATIVE + many, "  tool: 'tool_*'\n")[1] == []


def test_the_tools_of_the_project_come_before_those_of_siblings():
    (scenario,) = negatives(SIBLINGS, "  tool: plan_job\n")
    assert judge(scenario, SCHEDULE, CRON)[0] == "passed"
    assert judge(scenario, ("plan_job", {}))[:2] == ("failed", "no call of plan_job")
    (scenario,) = negatives(SIBLINGS, "  tool: [plan_job, set_cron]\n")
    assert judge(scenario, CRON)[:2] == ("failed", "no call of plan_job or set_cron")


def test_the_tool_of_a_variant_comes_first():
    flat, grouped = negatives(VARIANTS + SIBLINGS, "  tool: plan_job\n")
    assert judge(flat, ("plan_job", {}))[0] == "failed"
    assert judge(flat, ("tasks", {"action": "create"}))[0] == "passed"
    assert judge(grouped, ("plan_job", {}), ("tasks", {"action": "list"}))[0] == "passed"
    assert judge(grouped, ("tasks", {"action": "create"}))[:2] == ("failed", 'no call of tasks with action "create"')


def test_a_variant_without_a_tool_forbids_those_of_siblings_in_the_same_variant():
    flat, grouped = negatives(VARIANTS + SIBLINGS)
    assert judge(flat, CRON)[0] == "failed"
    assert judge(flat, ("tasks", {"action": "create"}))[0] == "passed"
    assert judge(grouped, CRON)[0] == "passed"


def test_a_negative_scenario_without_variants_forbids_the_tools_of_all_variants_of_its_siblings():
    text = VARIANTS + SIBLINGS.replace("min_calls: 0", "variants: {}")
    (scenario,) = negatives(text)
    assert judge(scenario)[1] == "no call of schedule_task, tasks or set_cron"


def test_an_action_narrows_the_tools_of_siblings():
    text = "variants: {grouped: {match: {tags: [grouped]}, action: create}}\n" + SIBLINGS
    (scenario,) = negatives(text)
    assert judge(scenario, ("schedule_task", {"action": "list"}))[0] == "passed"
    assert judge(scenario, ("schedule_task", {"action": "create"}))[0] == "failed"


def test_variants_of_the_project_hold_for_suites_without_their_own():
    project = "  " + VARIANTS
    flat, grouped = negatives(SIBLINGS, project)
    assert (flat.variant.name, grouped.variant.name) == ("flat", "grouped")
    assert judge(grouped, ("tasks", {"action": "create"}))[0] == "failed"
    assert str(flat.variant.location).startswith("evalgate.yaml:4:")
    (own,) = negatives("variants: {x: {}}\n" + SIBLINGS, project)
    assert own.variant.name == "x"
    (none,) = negatives("variants: {}\n" + SIBLINGS, project)
    assert none.variant is None
    (stored,) = [suite.content["variants"] for suite in [parse(SIBLINGS, project)[0]]]
    assert stored["grouped"] == {"match": {"tags": ["grouped"]}, "tool": "tasks", "action": "create"}


def test_variants_of_the_project_that_a_suite_has_no_use_for_are_no_warning():
    assert parse("scenarios: [{id: a, assertions: [{contains: x}]}]\n", "  " + VARIANTS)[1:] == ([], [])


def test_an_error_in_the_variants_of_the_project_is_reported_once_with_its_line():
    _, problems, _ = parse(SIBLINGS, "  variants: {a: {match: {where: 'x['}}}\n")
    (problem,) = problems
    assert problem.startswith("evalgate.yaml:4:")
    assert "invalid expression" in problem


@pytest.mark.parametrize("tool", ["5", "[]", "['']"])
def test_an_invalid_tool_of_the_project_is_an_error_with_its_line(tool):
    _, problems, _ = parse(SIBLINGS, f"  tool: {tool}\n")
    assert any(each.startswith("evalgate.yaml:4:") for each in problems), problems


def test_several_tools_of_an_assertion_that_expects_a_call_are_an_error():
    text = "scenarios: [{id: talk, assertions: [{type: expected_tool, tool: [a, b]}]}]\n"
    assert "several tools can only be forbidden" in parse(text)[1][0]


def test_an_assertion_written_out_forbids_what_it_says():
    text = SIBLINGS.replace(
        "expected_tool: null, min_calls: 0", "assertions: [{type: expected_tool, expected_tool: null}]"
    )
    (scenario,) = negatives(text)
    assert judge(scenario, SEARCH)[:2] == ("failed", "no tool call")
