"""Which variant a trace belongs to, and what happens to the others."""

import pytest
from builders import make_trace
from fakes.core import MemoryBaselines, make_tools
from hypothesis import given
from hypothesis import strategies as st
from request_builder import make_request

from evalgate.adapters.progress import SilentProgress
from evalgate.application.evaluation.evaluate import TraceChoice, evaluate
from evalgate.application.judge.judge import judge
from evalgate.errors import OverLimit
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

HEAD = "suite: s\ntraces: [t]\nvariants:\n  a: {match: {tags: [v:a]}}\n  b: {match: {tags: [v:b]}}\n"
CHECK = "assertions: [{contains: yes please}]"
NAMED = HEAD + f"scenarios:\n  - {{id: refund, {CHECK}}}\n"
STAR = HEAD + f"scenarios:\n  - {{id: '*', {CHECK}}}\n"


def trace(variant="a", scenario="refund", response="yes please", **given):
    made = make_trace(scenario_id=scenario, response=response, **given)
    made.tags = [f"v:{each}" for each in variant.split()]
    return made


def damaged(scenario=None, path="traces/x.json"):
    return DamagedTrace(
        "the file is no JSON", TraceLocation(path=path), path.removesuffix(".json"), scenario_id=scenario
    )


def run(suite, *traces, **given):
    return judge(make_request(), make_tools(suite, traces=traces, **given)).results


def verdicts(results):
    return {
        (each["id"], each["variant"]): each["verdict"] for suite in results["suites"] for each in suite["scenarios"]
    }


def test_variants_of_a_scenario__are_each_judged_on_their_traces():
    results = run(NAMED, trace("a"), trace("b", response="no"), trace("b"))
    assert verdicts(results) == {("refund", "a"): "PASS", ("refund", "b"): "PARTIAL"}
    assert [each["n"] for each in results["suites"][0]["scenarios"]] == [1, 2]


def test_variant_without_trace__is_missing_and_fails_the_gate():
    results = run(NAMED, trace("a"))
    assert verdicts(results) == {("refund", "a"): "PASS", ("refund", "b"): "MISSING"}
    assert results["exit_code"] == 1
    assert [(each["scenario"], each["variant"]) for each in results["reasons"]] == [("refund", "b")]


def test_trace_of_no_variant__is_unclaimed_and_goes_to_no_other_scenario():
    suite = HEAD + f"scenarios:\n  - {{id: refund, {CHECK}}}\n  - {{id: 're*', variants: {{}}, {CHECK}}}\n"
    results = run(suite, trace("c"), trace("a"), trace("b"), trace("c", scenario="rest"))
    assert [each["scenario_id"] for each in results["unclaimed"]] == ["refund"]
    assert verdicts(results) == {("refund", "a"): "PASS", ("refund", "b"): "PASS", ("rest", None): "PASS"}


def test_glob__expects_a_matched_id_in_all_variants():
    results = run(STAR, trace("a", "x10"), trace("b", "x2"), trace("a", "x2"), trace("c", "x3"))
    assert list(verdicts(results).items()) == [
        (("x2", "a"), "PASS"),
        (("x2", "b"), "PASS"),
        (("x10", "a"), "PASS"),
        (("x10", "b"), "MISSING"),
    ]
    assert [each["scenario_id"] for each in results["unclaimed"]] == ["x3"]


def test_glob_without_a_match__is_missing_in_all_variants():
    results = run(STAR.replace("'*'", "'re*'"))
    assert verdicts(results) == {("re*", "a"): "MISSING", ("re*", "b"): "MISSING"}


def test_match_of_a_variant__must_hold_in_addition_to_that_of_the_scenario():
    suite = (
        "suite: s\ntraces: [t]\nvariants: {x: {match: {scenario_id: '*.x'}}, y: {match: {path: 'y/*.json'}}}\n"
        f"scenarios:\n  - {{id: refund, match: {{scenario_id: 'refund*'}}, {CHECK}}}\n"
    )
    results = run(
        suite,
        trace(scenario="refund.x"),
        trace(scenario="refund.1", path="y/1.json"),
        trace(scenario="other.x"),
        trace(scenario="refund.z"),
    )
    assert verdicts(results) == {("refund", "x"): "PASS", ("refund", "y"): "PASS"}
    assert [each["scenario_id"] for each in results["unclaimed"]] == ["other.x", "refund.z"]


def test_trace_of_two_variants__counts_for_the_first_and_is_reported_once():
    results = run(NAMED, trace("a b"), trace("b a", response="no"), trace("b"))
    assert verdicts(results) == {("refund", "a"): "PARTIAL", ("refund", "b"): "PASS"}
    messages = [each["message"] for each in results["warnings"] if each["code"] == "two_variants"]
    assert messages == [
        "suite s: a trace of `refund` matches variants `a` and `b`; it counts for `a`, which comes first"
    ]


def test_damaged_record__belongs_to_a_variant_only_if_id_and_path_decide():
    suite = NAMED.replace("{tags: [v:a]}", "{path: 'a/*.json'}")
    results = run(suite, trace("b"), damaged("refund", "a/1.json"))
    assert verdicts(results) == {("refund", "a"): "ERROR", ("refund", "b"): "PASS"}
    results = run(NAMED, trace("a"), trace("b"), damaged("refund", "refund.json"))
    assert verdicts(results) == {
        ("refund", "a"): "PASS",
        ("refund", "b"): "PASS",
        ("refund", None): "ERROR",
    }
    assert results["exit_code"] == 1


def test_baseline__is_compared_within_each_variant():
    before = run(NAMED, trace("a"), trace("b", response="no"))
    baselines = MemoryBaselines(b=before)
    request = make_request(baseline=BaselineInfo("given", path="b"))
    swapped = make_tools(NAMED, traces=[trace("a", response="no"), trace("b")], baselines=baselines)
    scenarios = judge(request, swapped).results["suites"][0]["scenarios"]
    assert [(each["variant"], each["change"]["kind"]) for each in scenarios] == [
        ("a", "broken"),
        ("b", "fixed"),
    ]


def test_variant_missing_from_the_baseline__is_new_and_a_deleted_one_is_removed():
    before = run(NAMED.replace("  b:", "  old:"), trace("a"), trace("b"))
    baselines = MemoryBaselines(b=before)
    request = make_request(baseline=BaselineInfo("given", path="b"))
    results = judge(request, make_tools(NAMED, traces=[trace("a"), trace("b")], baselines=baselines)).results
    scenarios = results["suites"][0]["scenarios"]
    assert [each["change"]["kind"] for each in scenarios] == ["unchanged", "new"]
    assert [(each["id"], each["variant"]) for each in results["removed"]] == [("refund", "old")]


def test_baseline_value__is_that_of_the_same_variant():
    check = "assertions: [{name: cost, type: convergence, source: {path: metadata.cost_usd}, target: 0, direction: minimize}]"
    suite = NAMED.replace(CHECK, check)
    before = run(suite, trace("a", cost_usd=5.0), trace("b", cost_usd=1.0))
    baselines = MemoryBaselines(b=before)
    request = make_request(baseline=BaselineInfo("given", path="b"))
    now = [trace("a", cost_usd=3.0), trace("b", cost_usd=3.0)]
    results = judge(request, make_tools(suite, traces=now, baselines=baselines)).results
    assert verdicts(results) == {("refund", "a"): "PASS", ("refund", "b"): "FAIL"}


@pytest.mark.parametrize("most", [3, 4])
def test_scenarios_matched_by_a_glob__are_counted_with_their_variants(most):
    tools = make_tools(STAR, traces=[trace("a", "x"), trace("a", "y")])
    configuration = tools.suites.load([])
    if most == 4:
        found = evaluate(configuration, tools.traces, TraceChoice(), SilentProgress(), lambda _: None, most)
        assert len(found.suites[0].scenarios) == 4
    else:
        with pytest.raises(OverLimit, match="4 scenarios were found, a run may have at most 3"):
            evaluate(configuration, tools.traces, TraceChoice(), SilentProgress(), lambda _: None, most)


@given(st.permutations([("a", "x1"), ("b", "x1"), ("a", "x2"), ("b", "x2"), ("c", "x2")]))
def test_variants__do_not_depend_on_the_order_of_traces(given_traces):
    results = run(STAR, *(trace(variant, scenario) for variant, scenario in given_traces))
    assert list(verdicts(results)) == [("x1", "a"), ("x1", "b"), ("x2", "a"), ("x2", "b")]
    assert set(verdicts(results).values()) == {"PASS"}
    assert len(results["unclaimed"]) == 1
