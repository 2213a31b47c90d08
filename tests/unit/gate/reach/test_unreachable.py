"""Rules that can never fire or never be met with the trials that a suite asks for, and the number that would do."""

from __future__ import annotations

import pytest

from evalgate.application.comparison.policies import policies_of
from evalgate.gate.comparison.significance import flip_p, mcnemar
from evalgate.gate.reach import find_unreachable_rules
from evalgate.models.results.document_names import SUITES_SCHEMA
from evalgate.suite.baseline_suites import parse_baseline_suites

CHECK = {"contains": "refund"}
REQUIRED = {**CHECK, "required": True}
TOGETHER = {"fail_on": ["hard_fail", "broken"]}


def warn(*suites):
    entries = [{"path": f"{each['suite']}.yaml", "suite": {"version": 1, **each}} for each in suites]
    found = parse_baseline_suites({"schema": SUITES_SCHEMA, "project": {}, "suites": entries})
    assert found is not None
    assert not found.unread, found.unread
    policies = policies_of(found.configuration, None)
    return [each.message for each in find_unreachable_rules(found.configuration.suites, policies.suites)]


def suite(*checks, trials=None, count=1, name="s", policy=TOGETHER, **scenario):
    entries = [
        {"id": f"a{number}", "assertions": list(checks or [REQUIRED]), "trials": trials or {}, **scenario}
        for number in range(count)
    ]
    return {"suite": name, "scenarios": entries, "policy": policy}


def with_regression(**rules):
    return {**TOGETHER, "regression": rules}


EVIDENCE = with_regression(require_evidence=True)


def test_two_trials_at_alpha_five_percent__can_never_show_a_change_where_evidence_is_required():
    (message,) = warn(suite(trials={"min": 2}, policy=EVIDENCE))
    assert message == (
        "`trials.min: 2` is too few for `broken`: with 2 trials on each side p is never below 0.12, above alpha 0.05, so a"
        ' scenario that stops passing is never more than "may be chance"; `min: 3` would do'
    )


def test_a_complete_reversal__needs_no_test():
    assert warn(suite(trials={"min": 2})) == []


@pytest.mark.parametrize(
    ("rules", "needed"),
    [
        ({"require_evidence": True}, 3),
        ({"require_evidence": True, "alpha": 0.01}, 4),
        ({"require_evidence": True, "alpha": 0.001}, 6),
        ({"correction": "holm"}, 3),
        ({"pair_by": "trial"}, 6),
        ({"pair_by": "trial", "alpha": 0.01}, 8),
    ],
)
def test_the_number_that_would_do__is_the_smallest_that_a_test_can_decide_at(rules, needed):
    alpha = rules.get("alpha", 0.05)

    def best(trials):
        return mcnemar(trials, 0) if "pair_by" in rules else flip_p(trials, trials, 0, trials)

    assert best(needed) <= alpha < best(needed - 1)
    (message,) = warn(suite(trials={"min": needed - 1}, policy=with_regression(**rules)))
    assert message.endswith(f"; `min: {needed}` would do")
    assert warn(suite(trials={"min": needed}, policy=with_regression(**rules))) == []


@pytest.mark.parametrize("trials", [None, {"min": 1}])
def test_a_single_trial__is_too_few_only_where_evidence_is_required(trials):
    assert warn(suite(trials=trials)) == []
    (message,) = warn(suite(trials=trials, policy=with_regression(require_evidence=True)))
    assert message == (
        "`trials.min: 1` is too few for `broken`: with one trial on a side `require_evidence` reports every change as"
        ' "may be chance"; `min: 3` would do'
    )


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_a_correction__counts_the_scenarios_that_ask_for_trials(correction):
    policy = with_regression(correction=correction)
    assert warn(suite(trials={"min": 4}, policy=policy)) == []
    unless = " unless several change together" if correction == "bh" else ""
    (message,) = warn(suite(trials={"min": 4}, count=50, policy=policy))
    assert message == (
        "`trials.min: 4` is too few for `broken`: with 4 trials on each side p is never below 0.0078, with `"
        f"{correction}` over 50 scenarios 0.39{unless}, above alpha 0.05, so a scenario that stops passing is never"
        ' more than "may be chance"; `min: 6` would do (50 scenarios)'
    )
    assert warn(suite(trials={"min": 6}, count=50, policy=policy)) == []


def test_a_correction__counts_over_the_suites_that_have_it():
    one = suite(trials={"min": 4}, count=6, policy=with_regression(correction="holm"))
    assert warn(one) == []
    other = suite(trials={"min": 4}, count=6, name="t", policy=with_regression(correction="holm"))
    assert len(warn(one, other)) == 2
    single = suite(count=6, name="t", policy=with_regression(correction="holm"))  # has nothing to test
    assert warn(one, single) == []
    without = suite(trials={"min": 5}, count=6, name="t")
    assert warn(one, without) == []


def test_tests_that_decide_nothing__are_not_reported():
    for words in (["hard_fail"], ["below_threshold"], ["new_hard_fail"]):
        assert warn(suite(trials={"min": 3}, policy={"fail_on": words})) == []
    (message,) = warn(suite(trials={"min": 3}, policy={"fail_on": ["broken", "regression"]}))
    assert "too few for `regression`" in message
    assert "so a score that falls is never more" in message
    (message,) = warn(suite(trials={"min": 3}, policy={"fail_on": ["model_changed"]}))
    assert "too few for `model_changed`" in message


@pytest.mark.parametrize("least", [4, 5, 20])
def test_enough_trials__are_no_warning(least):
    assert warn(suite(trials={"min": least, "min_pass_rate": 0.9, "min_pass_k": {"k": 3, "of": 5}})) == []


def test_more_passes_than_trials__can_never_be_reached():
    assert warn(suite(trials={"min": 4, "min_pass_k": {"k": 5, "of": 8}})) == [
        "`min_pass_k` needs 5 passed trials, and `trials.min: 4` asks for fewer; `min: 8` would do"
    ]
    assert warn(suite(trials={"min": 5, "min_pass_k": {"k": 5, "of": 8}})) == []
    assert warn(suite(trials={"min_pass_k": {"k": 5, "of": 8}})) == []  # `of` says how many to record


@pytest.mark.parametrize(
    ("trials", "name", "most"),
    [
        ({"min": 10, "min_pass_rate": 0.9}, "min_pass_rate", "0.9"),
        ({"min": 6, "min_pass_k": {"k": 5, "of": 6}}, "min_pass_k", "0.83"),
    ],
)
def test_a_rate_beside_a_threshold_of_one__lets_no_trial_fail(trials, name, most):
    scoring = {"fail_on": ["hard_fail", "broken", "below_threshold"]}
    why = "each of them lowers the mean score below `threshold: 1`"
    assert warn(suite(trials=trials, threshold=1, policy=scoring)) == [
        f"`{name}` lets trials fail, but {why}; a threshold of at most {most} would do"
    ]
    assert warn(suite(trials=trials, threshold=float(most), policy=scoring)) == []
    assert warn(suite(trials=trials, threshold=1)) == []  # no score blocks
    assert warn(suite({**REQUIRED, "weight": 0}, CHECK, trials=trials, threshold=1, policy=scoring)) == []


def test_a_pass_rate_of_zero_in_a_baseline_of_before__is_read():
    assert warn(suite(CHECK, trials={"min_pass_rate": 0}, policy={})) == []


@pytest.mark.parametrize(
    ("freshness", "is_reported"),
    [(None, True), ({}, True), ({"require": "head"}, False), ({"max_age": "7d"}, False), ({"watch": "a"}, False)],
)
def test_stale_evidence__needs_a_rule_of_freshness(freshness, is_reported):
    policy = {"fail_on": ["hard_fail", "stale_evidence"], **({} if freshness is None else {"freshness": freshness})}
    message = "`stale_evidence` in fail_on can never fail the check: `freshness` says of no trace that it is stale"
    assert warn(suite(policy=policy)) == ([message] if is_reported else [])


HEAVY = {**REQUIRED, "weight": 4}
SCORES = {"fail_on": ["hard_fail", "below_threshold"]}


def test_a_threshold_that_the_other_assertions_can_not_miss__is_reported():
    (message,) = warn(suite(HEAVY, CHECK, policy=SCORES))
    assert message == (
        "threshold 0.8 can't be missed: while the required assertions pass, the score is at least 0.8; a threshold above"
        " 0.8 would do"
    )
    assert warn(suite(HEAVY, CHECK, policy=SCORES, threshold=0.81)) == []


def test_a_threshold_of_zero__is_reported_unless_required_assertions_decide():
    message = "threshold 0 is always reached; a threshold above 0 would do"
    assert warn(suite(CHECK, policy=SCORES, threshold=0)) == [message]
    assert warn(suite(REQUIRED, CHECK, policy=SCORES, threshold=0)) == []


@pytest.mark.parametrize(
    ("checks", "policy"),
    [
        ([HEAVY, CHECK], TOGETHER),  # the score fails nothing
        ([REQUIRED], SCORES),  # nothing else is there to miss it
        ([REQUIRED, {**CHECK, "weight": 0}], SCORES),
        ([REQUIRED, CHECK], SCORES),
        ([CHECK], SCORES),
        ([{"type": "recorded_score", "name": "reward", "required": True, "min": 0.5}], SCORES),
    ],
)
def test_a_threshold_that_can_be_missed_or_decides_nothing__is_not_reported(checks, policy):
    assert warn(suite(*checks, policy=policy)) == []


def test_one_message__stands_once_for_all_scenarios_of_a_suite():
    few = {"trials": {"min": 2}, "policy": EVIDENCE}
    (message,) = warn(suite(**few, count=3))
    assert message.endswith(" would do (3 scenarios)")
    assert len(warn(suite(**few, count=3), suite(**few, name="t"))) == 2
