from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import make_run, make_scenario, make_suite, make_trial

from evalgate.gate.decision.decide import apply_late_approvals, decide
from evalgate.models.comparison.comparison import BaselineInfo, Change, Comparison, ScenarioKey
from evalgate.models.comparison.decision import FailOn
from evalgate.models.run.run import Run
from evalgate.suite.policy import Policies, Policy, ValidityPolicy

EXACT = BaselineInfo("exact")


def decide_run(run, words=("hard_fail",), *, changes=None, baseline=None, report_only=False, **policy):
    policies = {suite.name: Policy(fail_on=list(words), **policy) for suite in run.suites}
    comparison = None if changes is None else Comparison(changes, [])
    return decide(run, comparison, baseline, Policies(policies, Policy())).for_report_only(report_only)


def key(scenario_id="s1"):
    return ScenarioKey("support", scenario_id, None)


def codes(decision):
    return [(reason.code, reason.scenario) for reason in decision.reasons]


# --- what fails -----------------------------------------------------------------------------------------------


def test_passing_run_is_a_pass_without_reasons():
    found = decide_run(make_run(make_scenario("PASS")))
    assert (found.verdict, found.exit_code, found.reasons) == ("pass", 0, [])
    assert found.suite_verdicts == {"support": "pass"}


@pytest.mark.parametrize("verdict", ["HARD_FAIL", "ERROR", "MISSING"])
def test_hard_fails_fail_the_gate_by_default(verdict):
    run = make_run(make_scenario("PASS", "a"), make_scenario(verdict, "b", reason="it was so"))
    found = decide_run(run)
    assert (found.verdict, found.exit_code) == ("fail", 1)
    assert codes(found) == [("hard_fail", "b")]
    assert found.reasons[0].message == f"{verdict.replace('_', ' ')}: it was so"
    assert (found.reasons[0].suite, found.suite_verdicts) == ("support", {"support": "fail"})


@pytest.mark.parametrize("verdict", ["FAIL", "PARTIAL", "NOT_EVALUABLE"])
def test_other_verdicts_do_not_fail_the_gate_by_default(verdict):
    found = decide_run(make_run(make_scenario("PASS", "a"), make_scenario(verdict, "b")))
    assert (found.verdict, found.exit_code, found.reasons) == ("pass", 0, [])


@pytest.mark.parametrize("verdict", ["FAIL", "PARTIAL"])
def test_below_threshold_fails_the_gate_if_in_fail_on(verdict):
    run = make_run(make_scenario("HARD_FAIL", "a"), make_scenario(verdict, "b", reason="score 0.50"))
    found = decide_run(run, ["below_threshold"])
    assert codes(found) == [("below_threshold", "b")]
    assert found.reasons[0].message == f"{verdict}: score 0.50"
    assert found.exit_code == 1


def test_not_evaluable_fails_the_gate_if_in_fail_on():
    run = make_run(make_scenario("PASS", "a"), make_scenario("NOT_EVALUABLE", "b"))
    found = decide_run(run, ["not_evaluable"])
    assert (found.exit_code, codes(found)) == (1, [("not_evaluable", "b")])


def test_broken_fails_the_gate_and_reports_the_change():
    run = make_run(make_scenario("PASS", "a"), make_scenario("FAIL", "b"), make_scenario("FAIL", "c"))
    changes = {
        key("a"): Change("regressed", "worse"),
        key("b"): Change("broken", "passed 4 of 4 before, 0 of 4 now", previous_verdict="PASS"),
        key("c"): Change("inconclusive", "who knows"),
    }
    found = decide_run(run, ["broken"], changes=changes, baseline=EXACT)
    assert codes(found) == [("broken", "b")]
    assert found.reasons[0].message == "passed 4 of 4 before, 0 of 4 now"


def test_regression_is_broken_or_regressed_or_an_increase_over_a_limit():
    names = "abcdef"
    kinds = ["broken", "regressed", "unchanged", "inconclusive", "fixed", "new"]
    changes = {key(name): Change(kind, f"was {kind}") for name, kind in zip(names, kinds, strict=True)}
    changes[key("c")].increases = ["cost +35% (limit +20%)"]
    changes[key("b")].increases = ["tokens +99% (limit +20%)"]
    run = make_run(*[make_scenario("PASS", name) for name in names])
    found = decide_run(run, ["regression"], changes=changes, baseline=EXACT)
    assert codes(found) == [("regression", "a"), ("regression", "b"), ("regression", "c")]
    assert [reason.message for reason in found.reasons] == [
        "was broken",
        "was regressed; tokens +99% (limit +20%)",
        "cost +35% (limit +20%)",
    ]


@pytest.mark.parametrize("verdict", ["HARD_FAIL", "ERROR", "MISSING"])
def test_hard_fail_of_the_baseline_is_not_new(verdict):
    changes = {key(): Change("unchanged", "unchanged", previous_verdict=verdict)}
    run = make_run(make_scenario(verdict), make_scenario("PASS", "b"))
    found = decide_run(run, ["new_hard_fail"], changes=changes, baseline=EXACT)
    assert (found.exit_code, found.reasons) == (0, [])


@pytest.mark.parametrize("before", ["PASS", "FAIL", "NOT_EVALUABLE", "ERROR", "MISSING"])
def test_hard_fail_that_passed_in_the_baseline_is_new(before):
    changes = {key(): Change("inconclusive", "who knows", previous_verdict=before)}
    run = make_run(make_scenario("HARD_FAIL", reason="refunded twice"))
    found = decide_run(run, ["new_hard_fail"], changes=changes, baseline=EXACT)
    assert (found.exit_code, codes(found)) == (1, [("new_hard_fail", "s1")])
    assert found.reasons[0].message == (f"HARD FAIL: refunded twice ({before.replace('_', ' ')} in the baseline)")


@pytest.mark.parametrize("baseline", [None, BaselineInfo("none"), BaselineInfo("expired")])
def test_every_hard_fail_is_new_without_a_baseline(baseline):
    found = decide_run(make_run(make_scenario("HARD_FAIL")), ["new_hard_fail"], baseline=baseline)
    assert codes(found) == [("new_hard_fail", "s1")]
    assert found.reasons[0].message == "HARD FAIL (not in the baseline)"


def test_hard_fail_of_a_scenario_missing_from_the_baseline_is_new():
    changes = {key(): Change("new", "not in the baseline")}
    found = decide_run(make_run(make_scenario("ERROR")), ["new_hard_fail"], changes=changes, baseline=EXACT)
    assert codes(found) == [("new_hard_fail", "s1"), ("nothing_evaluated", None)]


def test_variants_are_judged_separately():
    run = make_run(make_scenario("FAIL", "a", variant="de"), make_scenario("PASS", "a", variant="en"))
    changes = {ScenarioKey("support", "a", "de"): Change("broken", "broke")}
    found = decide_run(run, ["broken"], changes=changes, baseline=EXACT)
    assert [(reason.scenario, reason.variant) for reason in found.reasons] == [("a", "de")]


def test_reasons_come_worst_first_then_in_the_order_of_the_run():
    run = make_run(
        make_scenario("PARTIAL", "a"),
        make_scenario("MISSING", "b"),
        make_scenario("FAIL", "c"),
        make_scenario("HARD_FAIL", "d"),
    )
    changes = {key("c"): Change("broken", "broke")}
    words = ["below_threshold", "broken", "hard_fail", "no_baseline"]
    found = decide_run(run, words, changes=changes, baseline=BaselineInfo("expired"), min_evaluated=1.0)
    assert codes(found) == [
        ("hard_fail", "b"),
        ("hard_fail", "d"),
        ("broken", "c"),
        ("below_threshold", "a"),
        ("below_threshold", "c"),
        ("min_evaluated", None),
        ("no_baseline", None),
    ]
    assert found.exit_code == 1


def test_each_suite_is_judged_by_its_own_policy():
    run = Run([make_suite(make_scenario("FAIL"), name="strict"), make_suite(make_scenario("FAIL"), name="lax")])
    policies = {"strict": Policy(fail_on=["below_threshold"]), "lax": Policy()}
    found = decide(run, None, None, Policies(policies, Policy()))
    assert [(reason.suite, reason.code) for reason in found.reasons] == [("strict", "below_threshold")]
    assert found.suite_verdicts == {"strict": "fail", "lax": "pass"}


def test_policy_of_the_run_is_used_for_a_suite_without_one():
    run = make_run(make_scenario("FAIL"))
    strict = Policy(fail_on=["below_threshold"])
    assert decide(run, None, None, Policies({}, strict)).exit_code == 1


# --- what can't be judged -------------------------------------------------------------------------------------


def test_run_without_suites_is_not_green():
    found = decide_run(Run([]))
    assert (found.verdict, found.exit_code, codes(found)) == (
        "cannot_judge",
        3,
        [("nothing_evaluated", None)],
    )


def test_suite_without_traces_and_scenarios_can_not_be_judged():
    run = Run([make_suite(make_scenario("PASS"), name="full"), make_suite(name="empty")])
    found = decide_run(run)
    assert (found.verdict, found.exit_code) == ("cannot_judge", 3)
    assert [(reason.code, reason.suite) for reason in found.reasons] == [("no_traces", "empty")]
    assert found.reasons[0].message.startswith("suite empty: no traces found: no file matches `traces`. See the log")
    assert found.suite_verdicts == {"full": "pass", "empty": "cannot_judge"}


def test_suite_of_skipped_scenarios_next_to_an_evaluated_one_lets_the_run_pass_but_does_not_pass():
    run = Run([make_suite(make_scenario("PASS"), name="full"), make_suite(name="empty", skipped=2)])
    found = decide_run(run)
    assert (found.exit_code, found.reasons) == (0, [])
    assert found.suite_verdicts == {"full": "pass", "empty": "cannot_judge"}


def test_traces_that_no_scenario_claims_are_not_an_evaluation():
    found = decide_run(Run([make_suite(traces=5)]))
    assert (found.exit_code, codes(found)) == (3, [("nothing_evaluated", None)])


def test_unevaluated_scenarios_are_counted_by_verdict():
    run = make_run(make_scenario("NOT_EVALUABLE", "a"), make_scenario("MISSING", "b"), make_scenario("MISSING", "c"))
    found = decide_run(run, ["below_threshold"])
    assert (found.verdict, found.exit_code, codes(found)) == (
        "cannot_judge",
        3,
        [("nothing_evaluated", None)],
    )
    assert found.reasons[0].message == ("no scenario could be evaluated (2 MISSING, 1 NOT EVALUABLE)")


def test_suite_without_traces_is_no_failure_of_its_scenarios_whatever_fails_the_gate():
    run = make_run(make_scenario("MISSING", "a"), make_scenario("MISSING", "b"))
    run.suites[0].unmatched = "traces/*.json below evals"
    changes = {key(id_): Change("broken", "PASS before", previous_verdict="PASS") for id_ in ("a", "b")}
    found = decide_run(run, get_args(FailOn), changes=changes, baseline=EXACT, min_evaluated=1.0)
    assert (found.verdict, found.exit_code, codes(found)) == ("cannot_judge", 3, [("no_traces", None)])
    assert found.reasons[0].message.startswith(
        "suite support: no traces found: nothing matches traces/*.json below evals; none of the 2 scenarios was evaluated. "
    )


def test_suite_without_traces_hides_no_failure_of_another():
    missing = make_suite(make_scenario("MISSING", "a"), name="empty")
    found = decide_run(Run([missing, make_suite(make_scenario("HARD_FAIL", "b"))]))
    assert (found.exit_code, codes(found)) == (1, [("hard_fail", "b"), ("no_traces", None)])
    assert found.suite_verdicts == {"empty": "cannot_judge", "support": "fail"}


def test_suite_of_which_only_unclaimed_traces_were_found_fails():
    found = decide_run(Run([make_suite(make_scenario("MISSING"), traces=1)]))
    assert (found.exit_code, codes(found)) == (1, [("hard_fail", "s1"), ("nothing_evaluated", None)])


def test_suite_without_traces_that_is_all_in_quarantine_does_not_block():
    scenario = make_scenario("MISSING", "a")
    scenario.quarantined = True
    found = decide_run(Run([make_suite(scenario, name="empty"), make_suite(make_scenario("PASS"))]))
    assert (found.exit_code, found.reasons) == (0, [])


def test_scenario_of_allowed_errors_only_was_not_evaluated():
    run = make_run(make_scenario("FAIL", trials=[make_trial("error"), make_trial("error")]))
    assert decide_run(run).exit_code == 3


def test_scenario_with_one_evaluable_trial_was_evaluated():
    run = make_run(make_scenario("PASS", trials=[make_trial("passed"), make_trial("not_evaluable")]))
    assert decide_run(run, min_evaluated=1.0).exit_code == 0


def test_run_with_less_than_min_evaluated_can_not_be_judged():
    run = make_run(make_scenario("PASS", "a"), make_scenario("FAIL", "b"), make_scenario("NOT_EVALUABLE", "c"))
    assert decide_run(run, min_evaluated=0.66).exit_code == 0
    assert decide_run(run, min_evaluated=2 / 3).exit_code == 0
    found = decide_run(run, min_evaluated=0.67)
    assert (found.exit_code, codes(found)) == (3, [("min_evaluated", None)])
    assert found.reasons[0].suite == "support"
    assert (
        found.reasons[0].message
        == "suite support: 2 of 3 scenarios could be evaluated, `min_evaluated` requires a share of 0.67"
    )


def test_share_and_min_evaluated_are_both_rounded():
    run = make_run(make_scenario("PASS", "a"), *[make_scenario("NOT_EVALUABLE", name) for name in "bc"])
    assert decide_run(run, min_evaluated=1 / 3).exit_code == 0


def test_min_evaluated_of_the_project_counts_over_all_suites():
    run = Run(
        [
            make_suite(make_scenario("PASS", "a"), make_scenario("PASS", "b"), name="one"),
            make_suite(make_scenario("NOT_EVALUABLE", "a"), name="two"),
        ]
    )
    project = Policy(min_evaluated=0.7)
    found = decide(run, None, None, Policies({"one": Policy(), "two": Policy()}, project))
    assert [(reason.code, reason.suite) for reason in found.reasons] == [("min_evaluated", None)]
    assert found.exit_code == 3


@pytest.mark.parametrize(
    ("baseline", "state"),
    [
        (None, "was not found"),
        (BaselineInfo("none"), "was not found"),
        (BaselineInfo("expired"), "has expired"),
        (BaselineInfo("off", off_by="baseline: none"), "is off: baseline: none was set"),
    ],
)
def test_run_without_a_required_baseline_can_not_be_judged(baseline, state):
    found = decide_run(make_run(make_scenario("PASS")), ["hard_fail", "no_baseline"], baseline=baseline)
    assert (found.verdict, found.exit_code, codes(found)) == ("cannot_judge", 3, [("no_baseline", None)])
    assert state in found.reasons[0].message
    assert found.suite_verdicts == {"support": "cannot_judge"}


@pytest.mark.parametrize("status", ["exact", "ancestor", "latest", "drifted", "given"])
def test_a_baseline_of_any_status_is_a_baseline(status):
    found = decide_run(make_run(make_scenario("PASS")), ["no_baseline"], changes={}, baseline=BaselineInfo(status))
    assert found.exit_code == 0


@pytest.mark.parametrize("status", ["none", "expired", "unreachable", "off"])
def test_absent_baseline_does_not_fail_the_gate_by_default(status):
    assert decide_run(make_run(make_scenario("PASS")), baseline=BaselineInfo(status)).exit_code == 0


@pytest.mark.parametrize("word", ["regression", "broken", "new_hard_fail", "no_baseline"])
def test_unreachable_baseline_matters_if_the_decision_needs_it(word):
    found = decide_run(make_run(make_scenario("PASS")), [word], baseline=BaselineInfo("unreachable"))
    assert (found.verdict, found.exit_code, codes(found)) == ("cannot_judge", 4, [("unreachable", None)])
    assert word in found.reasons[0].message
    assert found.suite_verdicts == {"support": "cannot_judge"}


@pytest.mark.parametrize("word", ["hard_fail", "below_threshold", "not_evaluable"])
def test_unreachable_baseline_does_not_matter_if_the_decision_does_not_need_it(word):
    assert decide_run(make_run(make_scenario("PASS")), [word], baseline=BaselineInfo("unreachable")).exit_code == 0


def test_hard_fail_is_not_called_new_while_the_baseline_is_unreachable():
    run = make_run(make_scenario("HARD_FAIL"))
    found = decide_run(run, ["new_hard_fail"], baseline=BaselineInfo("unreachable"))
    assert (found.exit_code, codes(found)) == (4, [("unreachable", None)])


def test_failed_gate_has_priority_over_an_unreachable_baseline():
    run = make_run(make_scenario("HARD_FAIL"))
    found = decide_run(run, ["hard_fail", "regression"], baseline=BaselineInfo("unreachable"))
    assert (found.exit_code, codes(found)) == (1, [("hard_fail", "s1"), ("unreachable", None)])


def test_missing_evidence_has_priority_over_an_unreachable_baseline():
    run = make_run(make_scenario("NOT_EVALUABLE"))
    found = decide_run(run, ["broken"], baseline=BaselineInfo("unreachable"))
    assert (found.exit_code, codes(found)) == (3, [("nothing_evaluated", None), ("unreachable", None)])


# --- report only ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "baseline", "verdict"),
    [
        (make_run(make_scenario("HARD_FAIL")), None, "fail"),
        (Run([make_suite()]), None, "cannot_judge"),
        (make_run(make_scenario("PASS")), BaselineInfo("unreachable"), "cannot_judge"),
    ],
)
def test_report_only_keeps_verdict_and_reasons_and_exits_zero(run, baseline, verdict):
    words = ["hard_fail", "broken"]
    loud = decide_run(run, words, baseline=baseline)
    quiet = decide_run(run, words, baseline=baseline, report_only=True)
    assert (quiet.verdict, quiet.exit_code, quiet.report_only) == (verdict, 0, True)
    assert (loud.verdict, loud.reasons) == (quiet.verdict, quiet.reasons)
    assert loud.exit_code != 0


# --- for every run --------------------------------------------------------------------------------------------

NAMES = st.sampled_from("abcd")
VERDICTS = st.sampled_from(["PASS", "PARTIAL", "FAIL", "HARD_FAIL", "ERROR", "MISSING", "NOT_EVALUABLE"])
SCENARIOS = st.dictionaries(NAMES, VERDICTS, max_size=4)
WORDS = st.lists(
    st.sampled_from(
        [
            "hard_fail",
            "new_hard_fail",
            "below_threshold",
            "broken",
            "regression",
            "not_evaluable",
            "no_baseline",
        ]
    ),
    min_size=1,
    unique=True,
)
BASELINES = st.none() | st.sampled_from(["exact", "given", "expired", "unreachable", "none"]).map(BaselineInfo)
CHANGES = st.dictionaries(
    NAMES.map(key),
    st.sampled_from(["unchanged", "broken", "regressed", "fixed", "new"]).map(lambda kind: Change(kind, "it changed")),
)


@given(SCENARIOS, WORDS, BASELINES, CHANGES, st.booleans(), st.floats(0, 1))
def test_exit_code_verdict_and_reasons_never_disagree(verdicts, words, baseline, changes, report_only, share):
    run = make_run(*[make_scenario(verdict, name) for name, verdict in verdicts.items()])
    found = decide_run(run, words, changes=changes, baseline=baseline, report_only=report_only, min_evaluated=share)
    assert (found.verdict == "pass") == (not found.reasons)
    assert (found.exit_code == 0) == (found.verdict == "pass" or report_only)
    assert report_only or {"pass": {0}, "fail": {1}, "cannot_judge": {3, 4}}[found.verdict] >= {found.exit_code}
    if not set(verdicts.values()) & {"PASS", "PARTIAL", "FAIL", "HARD_FAIL"}:
        assert found.verdict != "pass"
        assert found.suite_verdicts["support"] != "pass"
    assert len(set(codes(found))) == len(found.reasons)
    assert all(reason.message for reason in found.reasons)


# --- approved afterwards --------------------------------------------------------------------------------------


@given(
    verdicts=st.lists(st.sampled_from(["PASS", "FAIL", "HARD_FAIL", "MISSING", "NOT_EVALUABLE"]), min_size=1),
    words=st.sets(st.sampled_from(["hard_fail", "below_threshold", "not_evaluable"]), min_size=1),
    approved=st.sets(st.integers(0, 5)),
    report_only=st.booleans(),
)
def test_approvals_applied_later_give_the_same_decision_as_approvals_known_before(
    verdicts, words, approved, report_only
):
    run = make_run(*(make_scenario(verdict, f"s{number}") for number, verdict in enumerate(verdicts)))
    policies = {"support": Policy(fail_on=sorted(words))}
    keys = {key(f"s{number}") for number in approved}
    knew, before = (
        decide(run, None, None, Policies(policies, Policy()), approved=known).for_report_only(report_only)
        for known in (keys, set())
    )
    assert apply_late_approvals(run, before, keys) == knew


# --- outages --------------------------------------------------------------------------------------------------


def make_partly_measured(passed, unmeasured, verdict="PASS"):
    outage = make_trial("not_measured", reason="the last model call failed: 429")
    status = {"PASS": "passed", "HARD_FAIL": "hard_fail"}[verdict]
    return make_scenario(verdict, trials=[make_trial(status)] * passed + [outage] * unmeasured)


def test_up_to_three_tenths_of_the_trials_may_be_unmeasured():
    found = decide_run(make_run(make_partly_measured(7, 3)))
    assert (found.verdict, found.exit_code, found.reasons) == ("pass", 0, [])


def test_run_of_more_outages_cannot_be_judged():
    found = decide_run(make_run(make_partly_measured(2, 1)))
    assert (found.verdict, found.exit_code, codes(found)) == ("cannot_judge", 3, [("not_measured", None)])
    assert found.reasons[0].message == (
        "1 of 3 trials was not measured, `max_not_measured` allows a share of 0.3: the last model call failed: 429; "
        "run the agent again once its model provider answers"
    )


def test_failure_of_what_was_measured_goes_before_outages():
    found = decide_run(make_run(make_partly_measured(1, 3, "HARD_FAIL")))
    assert (found.exit_code, codes(found)) == (1, [("hard_fail", "s1"), ("not_measured", None)])


def test_run_of_nothing_but_outages_says_so_once():
    outage = make_trial("not_measured", reason="the last model call failed: 429")
    found = decide_run(make_run(make_scenario("NOT_EVALUABLE", trials=[outage])))
    assert (found.exit_code, codes(found)) == (3, [("not_measured", None)])


def test_share_of_outages_is_over_the_whole_run_and_the_lowest_limit_counts():
    suites = [
        make_suite(make_partly_measured(1, 1), name="one"),
        make_suite(make_partly_measured(2, 0), name="two"),
    ]
    for limits, expected in (((0.3, 0.3), 0), ((0.2, 0.5), 3), ((0.5, 0.2), 3), ((1.0, 0.25), 0)):
        policies = {
            name: Policy(validity=ValidityPolicy(max_not_measured=most))
            for name, most in zip(("one", "two"), limits, strict=True)
        }
        found = decide(Run(suites), None, None, Policies(policies, Policy()))
        assert found.exit_code == expected


def test_report_only_keeps_the_reason_of_outages():
    found = decide_run(make_run(make_partly_measured(1, 1)), report_only=True)
    assert (found.verdict, found.exit_code, codes(found)) == ("cannot_judge", 0, [("not_measured", None)])
