"""Comparisons of variants that can never pass, or never fail, and how many scenarios or trials would do."""

from __future__ import annotations

import pytest

from evalgate.application.comparison.policies import compare_variants, policies_of
from evalgate.errors import SuiteError
from evalgate.gate.comparison.significance import sign_p
from evalgate.gate.variant_reach import find_idle_comparisons, find_impossible_lifts
from evalgate.gate.weakening.detect_weakening import find_relaxations
from evalgate.models.results.document_names import SUITES_SCHEMA
from evalgate.suite.baseline_suites import parse_baseline_suites
from evalgate.suite.policy import Policies, Policy

PAIR = {"control": "old", "treatment": "new"}
GATED = ["variant_regression", "no_lift"]


def load(count, trials=1, fail_on=GATED, regression=None, **rules):
    entries = [
        {"id": f"a{number}", "assertions": [{"contains": "x"}], "trials": {"min": trials}} for number in range(count)
    ]
    policy = {
        "compare_variants": {**PAIR, **rules},
        "fail_on": fail_on,
        **({"regression": regression} if regression else {}),
    }
    suite = {
        "version": 1,
        "suite": "s",
        "variants": {"old": {"match": {"tags": ["old"]}}, "new": {"match": {"tags": ["new"]}}},
        "scenarios": entries,
        "policy": policy,
    }
    document = {"schema": SUITES_SCHEMA, "project": {}, "suites": [{"path": "s.yaml", "suite": suite}]}
    found = parse_baseline_suites(document)
    assert not found.unread, found.unread
    return found.configuration


def impossible(*arguments, **rules):
    configuration = load(*arguments, require="lift", **rules)
    policies = policies_of(configuration, None)
    return [each.message for each in find_impossible_lifts(configuration.suites, policies.suites)]


def idle(*arguments, **rules):
    configuration = load(*arguments, **rules)
    policies = policies_of(configuration, None)
    return [each.message for each in find_idle_comparisons(configuration.suites, policies.suites)]


def test_a_lift_of_five_scenarios__is_refused_with_the_number_that_would_do():
    (message,) = impossible(5)
    assert "takes 6 scenarios" in message
    assert "(2 x 0.5^6 = 0.031), and the suite has 5 in both variants; 1 more scenario would do" in message
    assert impossible(6) == []


@pytest.mark.parametrize(("count", "trials", "needed"), [(1, 5, 6), (2, 2, 3), (3, 1, 2), (4, 1, 2)])
def test_a_lift_over_pairs_of_trials__needs_six_of_them(count, trials, needed):
    (message,) = impossible(count, trials, pair_by="trial")
    assert f"`trials.min: {needed}` would do" in message
    assert impossible(count, needed, pair_by="trial") == []
    assert sign_p(0, count * needed) <= 0.05 < sign_p(0, count * trials)


def test_trials_that_can_call_nothing_a_change__are_refused():
    (message,) = impossible(8, 2, regression={"require_evidence": True})
    assert "0 of 8 ask for enough trials to call a change one; `trials.min: 3` would do" in message
    assert impossible(8, 3, regression={"require_evidence": True}) == []


def test_a_regression_that_could_never_be_evident__is_a_warning():
    (message,) = idle(5, 3)
    assert "can never fail the check: with 5 scenarios the test over all is never at most alpha 0.05" in message
    assert "`trials.min: 4` would do" in message
    assert idle(5, 4) == []
    assert idle(6, 1) == []


def test_what_is_compared_and_not_gated__is_a_warning():
    (message,) = idle(9, fail_on=["hard_fail"])
    assert message.endswith("is shown and can't fail the check: `variant_regression` is not in fail_on")


@pytest.mark.parametrize(
    "rules", [{"control": "olt"}, {"treatment": "old"}, {"alpha": 0}, {"alpha": 1}, {"require": "x"}]
)
def test_a_comparison_that_means_nothing__is_refused(rules):
    entry = {
        "path": "s.yaml",
        "suite": {
            "version": 1,
            "suite": "s",
            "variants": {"old": {}, "new": {}},
            "scenarios": [{"id": "a", "assertions": [{"contains": "x"}]}],
            "policy": {"compare_variants": {**PAIR, **rules}},
        },
    }
    try:
        found = parse_baseline_suites({"schema": SUITES_SCHEMA, "project": {}, "suites": [entry]})
    except SuiteError:
        return
    assert found is None or found.unread


@pytest.mark.parametrize(
    ("before", "now", "weaker"),
    [
        ({}, {}, False),
        ({}, None, True),
        ({}, {"treatment": "newer"}, True),
        ({"require": "lift"}, {}, True),
        ({}, {"require": "lift"}, False),
        ({}, {"alpha": 0.01}, True),
        ({}, {"alpha": 0.1}, False),
        ({"require": "lift"}, {"require": "lift", "alpha": 0.1}, True),
        ({}, {"pair_by": "trial"}, True),
    ],
)
def test_less_that_is_asked_of_variants__is_a_weakening(before, now, weaker):
    policies = [
        Policy.model_validate({"compare_variants": [] if each is None else {**PAIR, **each}}) for each in (before, now)
    ]
    assert bool(list(find_relaxations(*policies))) == weaker


def test_a_suite_without_the_variants__is_not_compared():
    from run_builders import make_run, make_scenario

    policy = Policy.model_validate({"compare_variants": PAIR})
    run = make_run(make_scenario())
    compare_variants(run, Policies({"support": policy}, policy))
    assert run.arms == []
