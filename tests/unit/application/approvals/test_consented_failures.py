"""What an approving comment approves, and a finished run decided again with it."""

from __future__ import annotations

import json
from datetime import date
from functools import partial

import pytest
from builders import make_trace
from fakes.core import make_tools
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from request_builder import make_request
from results_builder import a_change, a_scenario, a_suite, an_assertion, results

from evalgate.application.approvals.approve_change import resolve_consents
from evalgate.application.documents.report_files import load_report_file
from evalgate.application.documents.untrusted_report import render_report
from evalgate.application.judge.approved_report import approve_report, decide_with_approvals
from evalgate.application.judge.judge import judge
from evalgate.errors import SettingError
from evalgate.models.approvals.approval import Provenance
from evalgate.models.approvals.review import CommentApproval, TriggeringRun
from evalgate.models.run.chunks import join_chunks
from evalgate.ports.outputs import RenderOptions
from evalgate.reporting.results.load_results import load_results
from evalgate.reporting.results.results_json import dump_results

HEAD = "c" * 40
NAMES = ("a", "b", "d")
CHECK = '[{contains: "yes", required: true, name: polite}, {contains: "ok", name: short}]'
LINES = [f"  - {{id: {name}, assertions: {CHECK}}}\n" for name in NAMES]
SUITE = "version: 1\nsuite: s\ntraces: [t]\npolicy: {fail_on: [hard_fail, below_threshold]}\nscenarios:\n" + "".join(
    LINES
)
RUN = TriggeringRun(7, "pull_request", 1, "acme/agent", "x", HEAD, is_same_repository=True)
OPTIONS = RenderOptions("evalgate", 60_000, "https://github.com/acme/agent/actions/runs/7")
RENDER = partial(render_report, options=OPTIONS, asked={}, load=load_report_file)
TODAY = date(2026, 1, 2)


def run_judge(responses, consents=(), **request):
    """Judges a run with the given response of each scenario."""
    traces = [make_trace(scenario_id=name, response=answer) for name, answer in responses.items()]
    judge_request = make_request(make_baseline_zip=False, commit=HEAD, consents=consents, **request)
    return judge(judge_request, make_tools(SUITE, traces=traces))


def consent(scenario, report, *, comment=1, until=date(2026, 1, 5)):
    origin = Provenance("comment", 7, comment, "https://github.com/x", HEAD, "write")
    return CommentApproval(scenario, until, "outage", "bob", origin, report)


def decide_again(judgement, *consents):
    return approve_report(join_chunks(judgement.files["results.json"]), RUN, consents, RENDER, [], TODAY)


def a_report(*scenarios, **given):
    document = results([a_suite("support", list(scenarios), "fail")], **given)
    return dump_results({**document, "commit": HEAD})


def refusal_reason(scenario, report):
    found = resolve_consents([consent(scenario, report)])
    assert found.approvals == ()
    [(_, reason)] = found.refused
    return reason


# --- what it approves -----------------------------------------------------------------------------------------


def test_an_approval_is_limited_to_the_score_and_the_checks_of_the_report():
    before = run_judge({"a": "ok", "b": "yes ok", "d": "yes ok"})
    [approval] = resolve_consents([consent("a", join_chunks(before.files["results.json"]))]).approvals
    assert (approval.scenario, approval.least_score, approval.checks) == ("a", 0.5, {"polite"})
    assert (approval.who, approval.until, approval.provenance.comment_id) == ("bob", date(2026, 1, 5), 1)


def test_all_approves_what_failed_but_no_scenario_of_unknown_result():
    before = run_judge({"a": "ok", "b": "yes ok"})
    assert [
        each.scenario for each in resolve_consents([consent(None, join_chunks(before.files["results.json"]))]).approvals
    ] == ["a"]


def test_all_approves_a_regression_of_a_passing_scenario():
    report = a_report(a_scenario("s1", "PASS", a_change("regressed")), a_scenario("s2", "PASS"))
    assert [each.scenario for each in resolve_consents([consent(None, report)]).approvals] == ["s1"]


@pytest.mark.parametrize("name", ["s1", "support/s1", "support / s1"])
def test_a_scenario_is_named_by_id_or_by_suite_and_id(name):
    [approval] = resolve_consents([consent(name, a_report(a_scenario("s1", "FAIL")))]).approvals
    assert approval.scenario == "s1"


@pytest.mark.parametrize("name", ["s1/fast", "support / s1 / fast"])
def test_a_variant_is_named_with_its_scenario(name):
    report = a_report(a_scenario("s1", "FAIL", variant="fast"), a_scenario("s1", "FAIL", variant="slow"))
    [approval] = resolve_consents([consent(name, report)]).approvals
    assert approval.variant == "fast"
    assert refusal_reason("s1", report) == "scenario s1 has variants: write `s1/fast` or `s1/slow`"


def test_an_id_in_two_suites_must_be_given_with_its_suite():
    suites = [a_suite(name, [a_scenario("s1", "FAIL")], "fail") for name in ("x", "y")]
    report = dump_results({**results(suites), "commit": HEAD})
    assert refusal_reason("s1", report) == "2 suites have a scenario of this name: write `x/s1` or `y/s1`"
    assert [each.suite for each in resolve_consents([consent("y/s1", report)]).approvals] == ["y"]


@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("s2", "FAIL", "the run has no scenario s2 (known: s1)"),
        ("s1", "PASS", "passes: there is nothing to approve"),
        ("s1", "MISSING", "is MISSING: only an evaluated scenario can be approved"),
        ("s1", "ERROR", "is ERROR: only an evaluated scenario can be approved"),
        (None, "PASS", "there is no failure to approve"),
        (None, "MISSING", "there is no failure to approve"),
    ],
)
def test_a_scenario_that_did_not_fail_is_not_approved(name, verdict, words):
    assert words in refusal_reason(name, a_report(a_scenario("s1", verdict)))


@pytest.mark.parametrize("report", [b"", b"{}", b"[" * 5_000, b'{"schema": "evalgate.results/1"}'])
def test_an_invalid_report_approves_nothing(report):
    assert "the report it refers to can't be used" in refusal_reason("s1", report)


def test_the_report_of_another_commit_approves_nothing():
    report = dump_results({**json.loads(a_report(a_scenario("s1", "FAIL"))), "commit": "d" * 40})
    assert "is for another commit than its run" in refusal_reason("s1", report)


# --- decided again --------------------------------------------------------------------------------------------


def test_a_run_decided_again_is_as_if_judged_with_the_approval():
    before = run_judge({"a": "ok", "b": "yes ok", "d": "yes ok"})
    report = decide_again(before, consent("a", join_chunks(before.files["results.json"])))
    after = report.rendered.results
    assert (before.exit_code, after["exit_code"], after["verdict"]) == (1, 0, "pass")
    assert [each["verdict"] for each in after["suites"]] == ["pass"]
    assert report.heading == "passed, but 1 scenario hard-failed (covered by an approval)"
    assert "by ` bob: outage `, ` comment 1, for ccccccc only, permission: write `" in report.rendered.comment
    assert after["command"] is None
    assert load_results(dump_results(after)) == after


def test_a_worse_failure_than_approved_still_blocks():
    seen = run_judge({"a": "ok", "b": "yes ok", "d": "yes ok"})
    worse = run_judge({"a": "-", "b": "yes ok", "d": "yes ok"}, [consent("a", join_chunks(seen.files["results.json"]))])
    [approval] = worse.results["approvals"]
    assert (worse.exit_code, approval["status"]) == (1, "void")
    assert approval["message"].startswith("worse than approved")


def test_a_failure_of_another_check_is_not_approved():
    report = a_report(a_scenario("s1", "FAIL", score=0.5, trials=[_trial("x"), _trial("x")]))
    now = load_results(a_report(a_scenario("s1", "FAIL", score=0.5, trials=[_trial("x"), _trial("y")])))
    rulings = decide_with_approvals(now, resolve_consents([consent("s1", report)]).approvals, TODAY)
    assert [(each.status, each.message) for each in rulings] == [("void", "more failures than approved: y")]


def _trial(name):
    from results_builder import a_trial

    return a_trial(status="failed", assertions=[an_assertion(name, "failed")])


def test_approvals_of_comments_are_resolved_again_and_those_of_files_are_kept():
    before = run_judge({"a": "ok", "b": "ok", "d": "yes ok"})
    content = join_chunks(before.files["results.json"])
    once = decide_again(before, consent("a", content)).rendered.results
    once["approvals"].append({**once["approvals"][0], "scenario": "b", "provenance": None})
    rulings = decide_with_approvals(once, resolve_consents([consent("b", content, comment=2)]).approvals, TODAY)
    assert [each.approval.scenario for each in rulings] == ["b"]
    assert [each["scenario"] for each in once["approvals"]] == ["b", "b"]


def test_an_approved_change_is_flagged():
    document = load_results(a_report(a_scenario("s1", "FAIL", a_change("broken"))))
    decide_with_approvals(document, resolve_consents([consent("s1", dump_results(document))]).approvals, TODAY)
    assert document["suites"][0]["scenarios"][0]["change"]["flags"] == ["approved"]


@pytest.mark.parametrize("code", ["no_baseline", "weakened", "stale_evidence", "min_evaluated"])
def test_what_no_approval_covers_still_blocks(code):
    reasons = [{"code": code, "message": "m", "suite": "support", "scenario": "s1", "variant": None}]
    document = load_results(a_report(a_scenario("s1", "FAIL"), reasons=reasons, verdict="fail", exit_code=1))
    decide_with_approvals(document, resolve_consents([consent("s1", dump_results(document))]).approvals, TODAY)
    assert (document["verdict"] != "pass", document["reasons"][0]["code"]) == (True, code)


def test_a_report_only_run_keeps_its_exit_code():
    before = run_judge({"a": "ok", "b": "ok", "d": "yes ok"}, report_only=True)
    after = decide_again(before, consent("a", join_chunks(before.files["results.json"]))).rendered.results
    assert (after["verdict"], after["exit_code"], after["report_only"]) == ("fail", 0, True)


def test_a_report_of_another_commit_is_refused():
    before = run_judge({"a": "ok", "b": "ok", "d": "ok"})
    with pytest.raises(SettingError, match="another commit"):
        approve_report(
            join_chunks(before.files["results.json"]),
            TriggeringRun(7, "pull_request", 1, "a/b", "x", "d" * 40, is_same_repository=True),
            [],
            RENDER,
            [],
            TODAY,
        )


ANSWERS = st.sampled_from(["yes ok", "ok", "yes", "no"])


@given(
    responses=st.fixed_dictionaries(dict.fromkeys(NAMES, ANSWERS)),
    wanted=st.lists(st.sampled_from([None, *NAMES]), max_size=3),
)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_judging_with_approvals_and_deciding_again_give_the_same_result(responses, wanted):
    before = run_judge(responses)
    content = join_chunks(before.files["results.json"])
    consents = [consent(name, content, comment=number) for number, name in enumerate(wanted, 1)]
    judged_again = run_judge(responses, consents).results
    decided = decide_again(before, *consents).rendered.results
    for field in ("verdict", "exit_code", "reasons", "approvals"):
        assert dict(decided)[field] == dict(judged_again)[field]
    assert [each["verdict"] for each in decided["suites"]] == [each["verdict"] for each in judged_again["suites"]]
