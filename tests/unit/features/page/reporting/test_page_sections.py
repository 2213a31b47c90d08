"""Parts of the HTML page: goldens, approvals, history, and cut texts."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from documents import ROOT
from msgspec import convert
from page_builders import a_large_run, a_page, a_small_page, a_step, an_approval
from results_builder import a_change, a_scenario, a_suite, a_trial, an_assertion, results

from evalgate.models.comparison.behaviour import BehaviourDifference
from evalgate.models.comparison.comparison import Cause
from evalgate.models.comparison.trajectory import TrialExample
from evalgate.models.results.results import ResultsDoc
from evalgate.reporting.text.escaping import clean_page_text


def read(page):
    """The text of a page."""
    return " ".join(unescape(re.sub("<(style|script).*?</(style|script)>|<[^>]+>", " ", page, flags=re.DOTALL)).split())


def test_golden_shows_its_dimensions_and_issues():
    path = ROOT / "tests/acceptance/cases/golden_conversation_degraded/expected/results.json"
    document = convert(json.loads(path.read_text()), ResultsDoc)
    scenario = next(each for each in document["suites"][0]["scenarios"] if each.get("golden"))
    text = read(a_page(document, {}))

    assert f"version {scenario['golden']['version']}" in text
    for issue in scenario["golden"]["issues"]:
        assert issue["message"].replace("`", "").split()[-1] in text
    for move in scenario["golden"]["moves"]:
        assert move["dimension"].replace("_", " ") in text


def test_scenario_shows_who_approved_it_and_the_page_lists_all_approvals():
    text = read(a_small_page("refund"))

    assert "Approval approved, of refund, refund, by refund" in text
    assert "Approvals (1)" in text


def test_approval_of_another_scenario_is_only_listed():
    document = a_large_run(1, 1, 1)
    document["approvals"] = [an_approval("other")]
    text = read(a_page(document, {}))

    assert "Approvals (1)" in text
    assert "Approval approved" not in text


def test_history_is_a_line_and_a_table_of_the_newest_run_first():
    document = a_large_run(1, 1, 1)
    runs = [
        {
            "at": f"2026-03-0{day}T10:00:00Z",
            "commit": "c" * 40,
            "verdict": "pass",
            "score": score,
            "pass_rate": 0.5,
            "cost_usd": None,
        }
        for day, score in ((1, 0.0), (2, None), (3, 1.0))
    ]
    document["history"] = {"branch": "main", "runs": runs, "flaky": [], "flaky_left": 0}
    page = a_page(document, {})

    assert "The last 3 runs of main" in page
    assert 'points="0.0,38.0 300.0,2.0"' in page
    assert re.findall("2026-03-0[0-9] 10:00", page) == ["2026-03-03 10:00", "2026-03-02 10:00", "2026-03-01 10:00"]


@pytest.mark.parametrize("limit", [2_000, 20_000])
@pytest.mark.parametrize("between", ["", "\u200b"])
def test_no_secret_that_is_cut_in_two_shows_although_others_before_it_are_redacted(limit, between):
    secret = "ghp_" + "a1B2" * 9
    hidden = between.join(secret)
    for filler in (1_000, 1_007, 1_013):
        text = (secret + " ") * 500 + "x" * filler + " " + (hidden + "y" * 3 + " ") * 100
        for start in range(0, 40, 7):
            shown = clean_page_text(text[start:], limit)
            assert "ghp_" not in shown.replace("\\u{200b}", "")
            assert len(shown) < limit + 100


def a_compared(id_, verdict, kind, score=0.0, before="PASS", **changes):
    change = a_change(kind, previous_verdict=before)
    return a_scenario(id_, verdict, change, score=score, **changes)


def test_worst_verdict_is_first_then_what_broke_then_the_lowest_score():
    scenarios = [
        a_compared("passes", "PASS", "unchanged", 1.0),
        a_compared("known", "HARD_FAIL", "unchanged", 0.0, "HARD_FAIL"),
        a_compared("partly", "PARTIAL", "broken", 0.5),
        a_compared("quarantined", "HARD_FAIL", "broken", quarantined=True),
        a_compared("worse", "HARD_FAIL", "broken", 0.25),
        a_compared("fixed", "PASS", "fixed", 1.0, "FAIL"),
        a_compared("worst", "HARD_FAIL", "broken", 0.0),
    ]
    page = a_page(results([a_suite("support", scenarios, "fail")], "fail"), {})
    expected = ["worst", "worse", "known", "partly", "quarantined", "fixed", "passes"]

    assert re.findall('href="#s[0-9]+">([a-z]+)</a>', page) == expected
    rows = [read(row) for row in re.findall("<tr data-.*?</tr>|<tr  data-.*?</tr>", page)]
    assert [row.split()[2:5] for row in rows[:3]] == [["HARD", "FAIL", "broken"]] * 2 + [["HARD", "FAIL", "still"]]
    assert "still failing" in rows[2]


def test_heading_counts_what_broke_apart_from_what_failed_before():
    scenarios = [
        a_compared("a", "FAIL", "broken"),
        a_compared("b", "FAIL", "unchanged", before="FAIL"),
        a_compared("c", "PASS", "fixed", before="FAIL"),
    ]
    document = results([a_suite("support", scenarios, "fail")], "fail")
    document["baseline"] = {
        **dict.fromkeys(("sha", "age_seconds", "path", "distance")),
        "status": "given",
        "summary": document["summary"],
    }

    assert "Against the baseline: 1 broken, 1 still failing and 1 fixed." in read(a_page(document, {}))


def a_checked(*checks, change="broken"):
    trial = a_trial(0, "failed", assertions=list(checks))
    document = results([a_suite("support", [a_scenario("refund", "FAIL", change, trials=[trial])], "fail")], "fail")
    return a_page(document, {})


def test_failed_check_names_its_suite_line_and_links_its_call_before_those_not_evaluable():
    unknown = [an_assertion(f"unknown {number}", "not_evaluable", weight=9.0) for number in range(7)]
    failed = an_assertion("no refund", "failed", reason="`refund` must not be called, but was (call 2)")
    page = a_checked(*unknown, failed)
    text = read(page)

    assert "Why \u2717 no refund : refund must not be called, but was (call 2) call 2 evals/support.yaml:12" in text
    assert '<a href="#s0t0c2">call 2</a>' in page
    assert text.index("no refund") < text.index("7 checks not evaluable: unknown 0, unknown 1")
    assert "<details open><summary>7 checks" not in page


def test_how_a_run_ended_comes_before_other_failed_checks_and_stands_in_the_list():
    end = an_assertion("run_failed", "failed", required=True, type="run_failed", reason="the agent ended: KeyError")
    order = an_assertion("tools in order", "failed", required=True, weight=9.0, reason="expected `refund` third")
    change = a_change("broken", calls={"trial_before": 0, "before": ["find", "refund"], "trial": 0, "now": ["find"]})
    scenario = a_scenario("refund", "HARD_FAIL", change, trials=[a_trial(0, "failed", assertions=[order, end])])
    page = a_page(results([a_suite("support", [scenario], "fail")], "fail"), {})

    assert re.findall('<div class="finding">([^<]+)</div>', page) == ["the agent ended: KeyError"]
    assert re.findall('<b class="name">([^<]+)</b>', page)[:2] == ["run_failed", "tools in order"]


def test_new_scenario_says_how_it_is_checked_and_what_the_agent_did():
    example = TrialExample(0, "Cancel A1.", ['look_up {"id":"A1"}'], "It is &lt;cancelled&gt; <b>.", reads_only=True)
    check = an_assertion("said", type="contains", reason='answer contains "cancelled"')
    scenario = a_scenario("a", "PASS", a_change("new", example=example), trials=[a_trial(assertions=[check])])
    page = read(a_page(results([a_suite("support", [scenario])]), {}))
    assert "checked by said ; no tool call is checked" in page
    assert 'calls: look_up {"id":"A1"} (only look-ups)' in page
    assert "answer: It is &lt;cancelled&gt; <b>." in page


def test_checks_not_evaluable_are_open_if_nothing_else_explains_the_verdict():
    assert "<details open><summary>1 check not evaluable: unknown</summary>" in a_checked(
        an_assertion("unknown", "not_evaluable")
    )


def test_check_of_a_missing_call_links_the_call_of_the_baseline():
    behaviour = {"trial_before": 0, "trial": 0, "first": None, "steps": [a_step("removed", "refund", 5)]}
    behaviour |= {"steps_left": 0, "said": [], "response": [], "figures": []}
    failed = an_assertion("refunds", "failed", reason="`refund` was not called")

    page = a_checked(failed, change=a_change("broken", behaviour=behaviour))
    assert '<a href="#s0bc5">call 5 of the baseline, which is missing</a>' in page
    assert 'id="s0bc5"' in page


@pytest.mark.parametrize(
    "steps",
    [
        [a_step("removed", "refund", 2), a_step("same", "check", 3, 2), a_step("added", "refund", None, 3)],
        [a_step("changed", "refund", 3, 3)],
    ],
)
def test_check_that_names_a_tool_links_its_call_if_that_moved_or_has_other_arguments(steps):
    behaviour = {"trial_before": 0, "trial": 0, "first": None, "steps": steps}
    behaviour |= {"steps_left": 0, "said": [], "response": [], "figures": []}
    failed = an_assertion("order", "failed", reason="expected `refund` first, got `check`")

    assert '<a href="#s0t0c3">call 3</a>' in a_checked(failed, change=a_change("broken", behaviour=behaviour))


def test_unknown_cost_says_why():
    document = a_large_run(1, 1, 1)
    trial = document["suites"][0]["scenarios"][0]["trials"][0]
    trial.cost_usd = document["summary"]["cost_usd"] = None
    assert "Cost unknown: neither a cost nor a model with the tokens of all its calls is recorded" in read(
        a_page(document, {})
    )

    pricing = {"table": "prices", "usd": None, "known_usd": 0.0, "recorded_usd": 0.0, "usage": None}
    trial.pricing = {**pricing, "missing_models": ["new-model"]}
    assert read(a_page(document, {})).count("unknown: no price is known for new-model; set `prices`") == 1
    trial.pricing = {**trial.pricing, "table": None}
    assert (
        "prices are missing: install evalgate-action[prices] (without internet: docs/enterprise.md) or set `prices`"
        in read(a_page(document, {}))
    )


def test_filter_counts_the_scenarios_of_each_group_and_the_list_marks_what_acts_differently():
    calls = {"trial_before": 0, "before": ["get"], "trial": 0, "now": ["find"]}
    other = a_compared("d", "PASS", "unchanged")
    other["differences"] = [BehaviourDifference("answer", "answer", "In 2 days.", "", 4, 4)]
    scenarios = [
        a_compared("a", "FAIL", "broken"),
        a_compared("b", "FAIL", "unchanged", before="FAIL"),
        a_compared("c", "PASS", "fixed", before="FAIL"),
        a_scenario("e", "PASS", a_change("unchanged", previous_verdict="PASS", calls=calls)),
        other,
        a_compared("f", "PASS", "unchanged"),
    ]
    scenarios[-1]["differences"] = [BehaviourDifference("prompt", "system prompt", "", "", 4, 4)]
    page = a_page(results([a_suite("support", scenarios, "fail")], "fail"), {})
    options = re.findall('<option value="([a-z]+)">([^<]+)</option>', page)

    assert options == [
        ("all", "all (6)"),
        ("failing", "failing (2)"),
        ("broken", "broken or worse (1)"),
        ("before", "still failing (1)"),
        ("fixed", "fixed or better (1)"),
        ("other", "passing, acting differently (1)"),
        ("changed", "changed (4)"),
    ]
    marked = [read(row) for row in re.findall("<tr data-.*?</tr>", page) if "data-other" in row]
    assert [row.split()[:1] for row in marked] == [["d"]]
    assert "acts differently" in marked[0]


def test_of_scenarios_that_pass_one_that_acts_differently_is_shown_first():
    by_kind = {
        "prompt": BehaviourDifference("prompt", "system prompt", "", "", 4, 4),
        "silent": BehaviourDifference("answer", "answer", "In 2 days.", "", 4, 4),
    }
    scenarios = [a_compared("same", "PASS", "unchanged"), a_compared("fixed", "PASS", "fixed", before="FAIL")]
    for name, difference in by_kind.items():
        scenarios.append(a_compared(name, "PASS", "unchanged", score=1.0))
        scenarios[-1]["differences"] = [difference]
    page = a_page(results([a_suite("support", scenarios)]), {})

    names = [read(row).split()[0] for row in re.findall("<tr data-.*?</tr>", page)]
    assert names == ["silent", "fixed", "prompt", "same"]
    assert "acts differently: answer: In 2 days. -> nothing in 4 of 4" in read(page)
    tones = re.findall('<span class="tone ([a-z]+)">(acts differently|has another system prompt)</span>', page)
    assert dict(map(reversed, tones)) == {"acts differently": "warn", "has another system prompt": "plain"}


@pytest.mark.parametrize("others", [0, 1])
def test_cause_of_all_regressions_stands_once_at_the_top(others):
    cause = Cause("model_or_tools", "comes with model a -> b", None, None)
    change = a_change("broken", cause=cause, comes_with=["model a -> b"])
    scenarios = [a_scenario(str(number), "FAIL", change) for number in range(2)]
    scenarios += [a_scenario("other", "FAIL", "broken")] * others
    text = read(a_page(results([a_suite("support", scenarios, "fail")], "fail"), {}))

    count = "2 of 3" if others else "All 2"
    assert f"{count} scenarios that broke or regressed come with model a \u2192 b ." in text
    assert text.count("comes with model a -> b") == 2 * others


def test_checks_of_trials_that_are_not_shown_count_too():
    trials = []
    for number in range(100):
        looks, says = number < 20, 30 <= number < 35
        checks = [
            an_assertion("look", "failed" if looks else "passed"),
            an_assertion("done", "failed" if says else "passed"),
        ]
        trials.append(a_trial(number, "failed" if looks or says else "passed", assertions=checks))
    document = results([a_suite("support", [a_scenario("refund", "FAIL", trials=trials)], "fail")], "fail")
    text = read(a_page(document, {}))

    assert "in 20 of 100 trials" in text
    assert "in 5 of 100 trials" in text
    assert "without a failure in any trial" not in text
    assert "80 more trials not shown" in text


@pytest.mark.parametrize("outcomes", [("not_evaluable", "error"), ("error", "not_evaluable")])
def test_an_error_is_not_hidden_behind_a_trial_that_could_not_be_evaluated(outcomes):
    trials = [a_trial(at, "error", assertions=[an_assertion("n", each)]) for at, each in enumerate(outcomes)]
    document = results([a_suite("support", [a_scenario("refund", "ERROR", trials=trials)], "fail")], "fail")
    text = read(a_page(document, {}))

    assert "check not evaluable" not in text
    assert "in 1 of 2 trials" in text
