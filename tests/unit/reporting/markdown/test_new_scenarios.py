"""What the comment shows of new scenarios that pass, of which no earlier report shows anything."""

from __future__ import annotations

import pytest
from markdown_check import HOSTILE, find_flaws
from results_builder import a_baseline, a_change, a_scenario, a_suite, a_trial, an_assertion, results

from evalgate.models.comparison.trajectory import TrialExample
from evalgate.reporting.markdown.render import render_comment, render_summary
from evalgate.reporting.text.scenario_sections import describe_checks

ANSWER = an_assertion("said", type="output_contains", reason='answer contains "cancelled"')
NO_ANSWER = an_assertion("not said", type="contains", reason='does not hold, as expected: answer contains "x"')
RESULT = an_assertion("result", type="output_contains", reason="result of `f` contains 1")
CALL = an_assertion("called", type="tool_called", reason="refund is called")
STATE = an_assertion("left", type="state", reason="as expected")
COST = an_assertion("cheap", type="cost_limit", reason="0.01 USD")
GRADE = an_assertion("graded", type="recorded_score", reason="0.9")
QUERY = an_assertion("query", type="jmespath", reason="as expected")
GROUP = an_assertion("either", type="any", reason="answer contains 1")
EXAMPLE = TrialExample(0, "Cancel A1, please.", ['look_up {"id":"A1"}'], "It is cancelled.", reads_only=True)
OPEN, CLOSED = ("<details open><summary>New or changed, not failing", "<details><summary>New or changed, not failing")


def new(id_, example=EXAMPLE, checks=(ANSWER,), **more):
    change = a_change("new", previous_verdict=None)
    change |= {} if example is None else {"example": example}
    return a_scenario(id_, "PASS", change, trials=[a_trial(0, assertions=list(checks))], **more)


def comment_of(*scenarios, render=render_comment, **more):
    given = {"baseline": a_baseline(branch="main"), **more}
    options = {"key": "k"} if render is render_comment else {}
    return render(results([a_suite("s", list(scenarios))], **given), **options)


def test_a_new_scenario_is_shown_with_a_trial():
    comment = comment_of(new("a"))
    assert OPEN in comment
    assert comment.partition("\n\n` a ` in one trial (` traces/0.json `):\n\n")[2].split("\n")[:5] == [
        "- Asked: ` Cancel A1, please. `",
        '- Calls: ` look_up {"id":"A1"} ` (only look-ups)',
        "- Answer: ` It is cancelled. `",
        "- Checked by ` said `; no tool call is checked",
        "",
    ]


@pytest.mark.parametrize(
    ("example", "lines"),
    [
        (TrialExample(0, "Hi", ["a {}", "b {}"], "x", calls_left=3), ["Calls: ` a {} `, ` b {} ` and 3 more"]),
        (TrialExample(0, "Hi", [f"f{n} {{}}" for n in range(9)], "x"), ["` f4 {} ` and 4 more"]),
        (TrialExample(0, "Hi", [], "x", reads_only=True), ["Calls: none"]),
        (TrialExample(0, "", [], None), ["- Answer: none"]),
    ],
)
def test_calls_are_counted_and_what_is_not_known_is_left_out(example, lines):
    comment = comment_of(new("a", example))
    assert [each for each in lines if each not in comment] == []
    assert ("Calls:" in comment) is bool(example.calls or example.reads_only)
    assert ("Asked:" in comment) is bool(example.request)


def test_few_are_shown_and_the_others_counted():
    scenarios = [new(f"n{number}") for number in range(5)]
    comment, summary = comment_of(*scenarios), comment_of(*scenarios, render=render_summary)
    assert CLOSED in comment
    assert comment.count("in one trial") == 3
    assert "*Trials of 2 more new scenarios are not shown.*" in comment
    assert summary.count("in one trial") == 5
    assert OPEN in comment_of(*scenarios[:3])
    assert "more new scenario" not in summary + comment_of(*scenarios[:3])


def test_a_thousand_new_scenarios_stay_short():
    comment = comment_of(*(new(f"n{number:03}", EXAMPLE if number < 10 else None) for number in range(1_000)))
    assert comment.count("in one trial") == 3
    assert "*Trials of 997 more new scenarios are not shown.*" in comment
    assert len(comment) < 20_000


def test_without_a_trial_and_beside_a_failure_the_fold_is_closed():
    broke = a_scenario("b", "FAIL", a_change("broken", previous_verdict="PASS"), trials=[a_trial(0, "failed")])
    assert CLOSED in comment_of(new("a", None))
    assert "not shown" not in comment_of(new("a", None))
    assert CLOSED in comment_of(new("a"), broke)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_agents_and_people_wrote_stays_in_code(text):
    assert find_flaws(comment_of(new("a", TrialExample(0, text, [text, text], text)), render=render_summary)) == []


def test_long_texts_are_cut():
    long = TrialExample(0, "q" * 300, ["c" * 300] * 8, "a" * 300)
    assert len(comment_of(new("a", long))) - len(comment_of(new("a", None))) < 1_500


@pytest.mark.parametrize(
    ("checks", "end"),
    [
        ([ANSWER], "; no tool call is checked"),
        ([ANSWER, NO_ANSWER, COST], "; no tool call is checked"),
        ([CALL], "; the answer is not checked"),
        ([STATE, COST], "; the answer is not checked"),
        ([COST], "; neither the answer nor a tool call is checked"),
        ([ANSWER, CALL], ""),
        ([ANSWER, STATE], ""),
        *(([ANSWER, each], "") for each in (RESULT, GRADE, QUERY, GROUP)),
        *(([CALL, each], "") for each in (RESULT, GRADE, QUERY, GROUP)),
    ],
)
def test_what_the_checks_leave_out_is_said_where_it_is_sure(checks, end):
    found = describe_checks(new("a", checks=checks))
    assert found.startswith("checked by ")
    assert (found.partition("; ")[1] + found.partition("; ")[2]) == end


def test_that_no_call_is_checked_says_nothing_of_an_agent_without_tools():
    silent = a_trial(0, assertions=[ANSWER], tool_calls=[])
    assert ";" not in describe_checks({**new("a", None), "trials": [silent]})
    assert "no tool call is checked" in describe_checks({**new("a"), "trials": [silent]})
