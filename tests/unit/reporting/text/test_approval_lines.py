"""Approvals in comment, table, heading and explanation, whatever their text."""

from __future__ import annotations

import pytest
from results_builder import a_change, a_scenario, a_suite, a_trial, results

from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.markdown.heading import build_heading
from evalgate.reporting.markdown.render import render_comment
from evalgate.reporting.results.load_results import load_results
from evalgate.reporting.results.results_json import dump_results
from evalgate.reporting.terminal.explanation import render_explanation
from evalgate.reporting.terminal.run_table import render_table
from evalgate.reporting.text.ruling_lines import format_approval, render_approval
from evalgate.reporting.text.scenario_sections import SuiteScenario


def an_approval(status="active", scenario="s1", **changes):
    return {
        "suite": "support",
        "scenario": scenario,
        "variant": None,
        "assertion": None,
        "change": None,
        "limit": None,
        "trace": [],
        "reason": "outage",
        "who": "Ana",
        "until": "2026-11-24",
        "days_left": 3,
        "status": status,
        "message": "expires in 3 days",
        "location": LocationDoc("evalgate-approvals.yaml", 2, 5),
        **changes,
    }


def document(*approvals, verdicts=("HARD_FAIL",), change=None):
    scenarios = [a_scenario(f"s{number}", verdict, change) for number, verdict in enumerate(verdicts, 1)]
    return results([a_suite("support", scenarios)], approvals=list(approvals))


def test_an_approval_is_shown_with_person_reason_and_expiry():
    assert render_approval(an_approval()) == (
        "approved: ` support / s1 (at any score, also 0) `, by ` Ana: outage `; expires in 3 days"
    )


def test_the_limits_of_an_approval_are_shown():
    narrow = an_approval(variant="v", assertion="check", change="broken", limit={"score": 0.7})
    text = "approval approved: support / s1 / v / check (broken, score at least 0.7): expires in 3 days, by Ana: outage"
    assert format_approval(narrow) == text


ORIGIN = {
    "source": "comment",
    "pull_request": 7,
    "comment_id": 12,
    "comment_url": "https://github.com/acme/agent/pull/7#issuecomment-12",
    "head_commit": "abcdef0" + "1" * 33,
    "permission": "maintain",
    "self_approved": False,
}


def test_an_approval_of_a_comment_is_shown_with_comment_commit_and_permission():
    approval = an_approval(provenance=ORIGIN)
    assert render_approval(approval).endswith(
        "by ` Ana: outage `, ` comment 12, for abcdef0 only, permission: maintain `; expires in 3 days"
    )
    assert format_approval(approval).endswith("by Ana: outage, comment 12, for abcdef0 only, permission: maintain")


def test_a_self_approved_change_is_marked():
    approval = an_approval(provenance={**ORIGIN, "self_approved": True})
    assert render_approval(approval).endswith(", **self-approved**; expires in 3 days")
    assert format_approval(approval).endswith(", self-approved")


def test_an_approval_of_the_store_is_marked():
    shell = {**dict.fromkeys(ORIGIN), "source": "shell", "self_approved": False}
    assert format_approval(an_approval(provenance=shell)).endswith("by Ana: outage, shell")


def test_an_unknown_status_is_escaped():
    assert render_approval(an_approval("**x**")).startswith("unknown: ")


def test_active_approvals_come_first():
    found = document(an_approval("unused", scenario="old"), an_approval("void"), an_approval("active"))
    lines = [line for line in render_table(found).splitlines() if line.startswith("approval")]
    assert [line.split(":")[0] for line in lines] == ["approval approved", "approval does not count", "approval unused"]


@pytest.mark.parametrize(
    ("approvals", "verdicts", "why"),
    [
        ([], ["HARD_FAIL"], "not in fail_on"),
        ([an_approval()], ["HARD_FAIL"], "covered by an approval"),
        ([an_approval("void")], ["HARD_FAIL"], "not in fail_on"),
        ([an_approval()], ["HARD_FAIL", "FAIL"], "1 approved, the rest not in fail_on"),
        ([an_approval(), an_approval(assertion="b")], ["HARD_FAIL", "FAIL"], "1 approved, the rest not in"),
        ([an_approval(), an_approval(scenario="s2")], ["HARD_FAIL", "FAIL", "PASS"], "covered by approvals"),
        ([an_approval(scenario="s2")], ["HARD_FAIL", "PASS"], "not in fail_on"),
    ],
)
def test_the_heading_explains_why_nothing_is_blocked(approvals, verdicts, why):
    assert f"({why}" in build_heading(document(*approvals, verdicts=verdicts)).text


def test_an_approved_regression_is_marked():
    found = document(an_approval(), verdicts=["PASS"], change=a_change("regressed", flags=["approved"]))
    assert build_heading(found).text == "passed, but 1 scenario regressed (covered by an approval)"


HOSTILE = "::error::x\n| a | <b> `` [x](http://y) \x1b[31m @me"


def test_hostile_text_is_escaped():
    bad = an_approval(reason=HOSTILE, who=HOSTILE, message=HOSTILE, scenario=HOSTILE, assertion=HOSTILE)
    found = document(bad)
    table, comment = render_table(found), render_comment(found, key="k")
    assert "\x1b" not in table
    assert not any(line.startswith("::") for line in table.splitlines())
    [line] = [line for line in comment.splitlines() if line.startswith("- approved")]
    assert "<b>" not in line.replace(line[line.index("`") : line.rindex("`") + 1], "")


def test_many_approvals_are_counted():
    found = document(*(an_approval(scenario=f"x{number}") for number in range(500)))
    assert "... and 490 more approvals" in render_table(found)
    assert "Approvals (500)" in render_comment(found, key="k")


def test_an_explanation_has_the_approvals_of_its_scenario_and_stale_traces():
    trial = a_trial(status="hard_fail")
    trial.trace.stale = "it is 9 days old, at most 7d is allowed"
    suite = a_suite("support", [a_scenario("s1", "HARD_FAIL", trials=[trial])])
    found = results([suite], approvals=[an_approval(), an_approval(scenario="other", who="Ben")])
    text = render_explanation(found, SuiteScenario(suite, suite["scenarios"][0]))
    assert "approved, expires in 3 days, by Ana: outage" in text
    assert "Ben" not in text
    assert "it is 9 days old, at most 7d is allowed" in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"days_left": "3"}, "days_left"),
        ({"days_left": 10**9}, "days_left"),
        ({"limit": {"score": "x"}}, "limit"),
        ({"limit": 3}, "limit"),
        ({"location": {"file": 3}}, "location"),
        ({"who": None}, "who"),
        ({"trace": "x"}, "trace"),
        ({"trace": [3]}, "trace"),
        ({"checks": [None]}, "checks"),
        ({"provenance": {**ORIGIN, "self_approved": "no"}}, "self_approved"),
        ({"provenance": {**ORIGIN, "comment_id": "12"}}, "comment_id"),
        ({"provenance": {**ORIGIN, "source": None}}, "source"),
    ],
)
def test_approvals_of_another_shape_are_refused(change, words):
    from evalgate.errors import SettingError

    assert load_results(dump_results(document(an_approval())))["approvals"] == [an_approval()]
    with pytest.raises(SettingError, match=words):
        load_results(dump_results(document(an_approval(**change))))
