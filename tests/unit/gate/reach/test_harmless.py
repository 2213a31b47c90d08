"""The warning of a suite in which no assertion can fail the check: right for every word of `fail_on`, else absent."""

from __future__ import annotations

from datetime import date
from typing import get_args

import pytest

from evalgate.application.comparison.policies import policies_of
from evalgate.gate.reach import find_harmless_suites
from evalgate.models.comparison.decision import FailOn
from evalgate.models.results.document_names import SUITES_SCHEMA
from evalgate.suite.baseline_suites import parse_baseline_suites

TODAY = date(2026, 3, 1)
CHECK = {"contains": "refund"}
REQUIRED = {**CHECK, "required": True}
ALWAYS = {**CHECK, "required": "always"}
SKIPPABLE = {"path": "metadata.cost_usd", "lt": 1, "on_missing": "skip"}
GOLDEN = {"id": "g", "user_messages": ["hi"], "golden_responses": ["hello"]}
QUARANTINE = {"scenario": "a", "reason": "flaky", "until": "2026-03-02"}
WORDS = set(get_args(FailOn))


def list_problems(*suites, fail_on=None, **project):
    entries = [{"path": f"{each['suite']}.yaml", "suite": {"version": 1, **each}} for each in suites]
    if project:
        project = {"version": 1, "suites": ["*.yaml"], **project}
    found = parse_baseline_suites({"schema": SUITES_SCHEMA, "project": project, "suites": entries})
    assert found is not None
    assert not found.unread, found.unread
    policies = policies_of(found.configuration, fail_on)
    return list(find_harmless_suites(found.configuration.suites, policies.suites, TODAY))


def warn(*suites, **options):
    """Location and message of each warning, without its advice."""
    found = list_problems(*suites, **options)
    return [(str(each.location), each.message.partition("): ")[0].rstrip(")")) for each in found]


@pytest.mark.parametrize(
    ("checks", "more", "advice"),
    [
        ([CHECK], {}, "add `required: true`, or below_threshold to `fail_on`"),
        ([CHECK], {"threshold": 0}, "add `required: true`"),
        ([REQUIRED], {"words": ["below_threshold"]}, "add hard_fail to `fail_on`"),
        ([REQUIRED], {"quarantine": [QUARANTINE]}, ""),
    ],
)
def test_the_advice__would_help(checks, more, advice):
    (problem,) = list_problems(suite(*checks, **more))
    assert problem.message.partition("): ")[2] == advice


def suite(*checks, name="s", words=None, scenario=None, **more):
    entry = {"id": "a", "assertions": list(checks or [CHECK]), **(scenario or {})}
    policy = {"policy": {"fail_on": words}} if words else {}
    return {"suite": name, "scenarios": [entry], **policy, **more}


def test_the_default_with_nothing_required__is_named_as_in_the_docs():
    message = (
        "no assertion here can fail the check: none is `required` and fail_on is hard_fail (only a missing or"
        " unreadable trace can"
    )
    assert warn(suite()) == [("s.yaml", message)]


@pytest.mark.parametrize("required", [True, "always"])
def test_one_required_assertion_of_one_scenario__is_enough(required):
    first = {"id": "b", "assertions": [CHECK]}
    entry = {"id": "a", "assertions": [CHECK, {**CHECK, "required": required}]}
    assert warn({"suite": "s", "scenarios": [first, entry]}) == []


def test_a_required_group__is_enough():
    assert warn(suite({"all_of": [CHECK], "required": True})) == []


def test_a_required_assertion_of_the_defaults__is_enough():
    assert warn(suite(defaults={"assertions": [REQUIRED]})) == []
    assert warn(suite(), defaults={"assertions": [REQUIRED]}) == []


@pytest.mark.parametrize("word", sorted(WORDS))
def test_each_word__with_and_without_a_required_assertion(word):
    fails_by_score = {"below_threshold", "broken", "regression", "model_changed"}
    fails_by_required = {"hard_fail", "new_hard_fail", "broken", "regression", "model_changed"}
    by_no_assertion = {"stale_evidence", "weakened", "no_baseline", "not_evaluable"}
    by_no_assertion |= {"behaviour_changed", "nothing_recorded", "variant_regression", "no_lift"}
    assert fails_by_score | fails_by_required | by_no_assertion == WORDS  # a new word belongs to one of them
    assert bool(warn(suite(words=[word]))) == (word not in fails_by_score)
    assert bool(warn(suite(REQUIRED, words=[word]))) == (word not in fails_by_required)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["below_threshold"], "every threshold is 0 and fail_on is below_threshold"),
        (["hard_fail", "broken"], "none is `required`, every threshold is 0 and fail_on is hard_fail, broken"),
    ],
)
def test_a_threshold_of_zero__is_never_missed(words, reason):
    ((_, message),) = warn(suite(words=words, threshold=0))
    assert message == f"no assertion here can fail the check: {reason} (only a missing or unreadable trace can"
    assert warn(suite(words=words, threshold=0, scenario={"threshold": 0.1})) == []


GRADED = {"type": "recorded_score", "name": "reward", "min": 0.5, "required": True}


@pytest.mark.parametrize(
    ("checks", "scenario", "is_harmless"),
    [
        ([REQUIRED], {}, True),  # what fails it is a hard fail
        ([REQUIRED, CHECK], {}, False),
        ([{**REQUIRED, "weight": 4}, CHECK], {}, True),  # 0.8 without it
        ([{**REQUIRED, "weight": 4}, CHECK], {"threshold": 0.9}, False),
        ([GRADED], {}, False),  # passes with 0.6
        ([GRADED], {"threshold": 0}, True),
        ([REQUIRED], {"trials": {"min_pass_rate": 0.5}}, False),  # half of the trials may fail
        ([REQUIRED], {"trials": {"min_pass_rate": 1}}, True),
        ([ALWAYS], {"trials": {"min_pass_rate": 0.5}}, True),
        ([ALWAYS], {}, True),
    ],
)
def test_a_threshold__can_be_missed_only_where_no_required_assertion_fails(checks, scenario, is_harmless):
    found = warn(suite(*checks, scenario=scenario, words=["below_threshold"]))
    assert bool(found) == is_harmless


def test_a_required_assertion_whose_failure_fail_on_leaves_out__is_named():
    message = (
        "no assertion here can fail the check: only `required` ones can bring a score below its threshold, which is"
        " a hard fail, and fail_on is below_threshold (only a missing or unreadable trace can"
    )
    assert warn(suite(REQUIRED, words=["below_threshold"])) == [("s.yaml", message)]


def test_a_score_that_falls__is_a_regression_also_at_threshold_zero():
    assert warn(suite(words=["regression"], threshold=0)) == []


@pytest.mark.parametrize(
    ("checks", "is_harmless"),
    [
        ([CHECK], True),
        ([SKIPPABLE], False),
        ([SKIPPABLE, CHECK], True),
        ([SKIPPABLE, {**CHECK, "weight": 0}], False),
        ([{"when": CHECK, "then": [CHECK]}], False),
    ],
)
def test_not_evaluable__depends_on_whether_every_assertion_can_be_left_out(checks, is_harmless):
    assert bool(warn(suite(*checks, words=["not_evaluable"]))) == is_harmless


@pytest.mark.parametrize(
    ("policy", "scenario", "others"),
    [
        ({"fail_on": ["stale_evidence"], "freshness": {"max_age": "7d"}}, {}, "a stale trace"),
        ({"fail_on": ["hard_fail", "weakened"]}, {}, "a weaker suite or policy"),
        ({"on_weakening": "fail"}, {}, "a weaker suite or policy"),
        ({"duplicates": "fail"}, {}, "a duplicate trace"),
        ({"fail_on": ["no_baseline"]}, {}, "a missing baseline"),
        ({"fail_on": ["not_evaluable"]}, {"trials": {"min": 2}}, "too few trials"),
    ],
)
def test_what_else_can_fail_the_check__is_named(policy, scenario, others):
    ((_, message),) = warn(suite(scenario=scenario, policy=policy))
    assert message.endswith(f"(only a missing or unreadable trace or {others} can")


def test_a_word_without_effect__is_not_named():
    ((_, message),) = warn(suite(words=["stale_evidence"]))
    assert message.endswith("fail_on is stale_evidence (only a missing or unreadable trace can")


@pytest.mark.parametrize("word", ["hard_fail", "new_hard_fail", "below_threshold", "broken", "not_evaluable"])
def test_goldens__fail_by_critical_issues_and_scores(word):
    assert warn({"suite": "s", "goldens": [GOLDEN], "policy": {"fail_on": [word]}}) == []


@pytest.mark.parametrize(
    ("quarantine", "is_harmless"),
    [
        (QUARANTINE, True),
        ({**QUARANTINE, "scenario": "*"}, True),
        ({**QUARANTINE, "scenario": "b"}, False),
        ({**QUARANTINE, "until": "2026-02-28"}, False),
    ],
)
def test_quarantine_of_every_scenario_that_could_fail__until_its_last_day(quarantine, is_harmless):
    scenarios = [{"id": "a", "assertions": [REQUIRED]}, {"id": "c", "assertions": [CHECK]}]
    found = warn({"suite": "s", "scenarios": scenarios, "quarantine": [quarantine]})
    reason = "every scenario with one that could is in quarantine"
    expected = f"no assertion here can fail the check: {reason} (only a missing or unreadable trace can"
    assert found == ([("s.yaml", expected)] if is_harmless else [])


def test_quarantine_of_one_variant_or_of_some_ids_of_a_glob__leaves_the_others():
    variants = {"x": {"match": {"tags": ["x"]}}, "y": {"match": {"tags": ["y"]}}}
    one = {**QUARANTINE, "variant": "x"}
    assert warn(suite(REQUIRED, variants=variants, quarantine=[one])) == []
    assert warn(suite(REQUIRED, variants=variants, quarantine=[one, {**one, "variant": "y"}])) != []
    some = {**QUARANTINE, "scenario": "refund-*"}
    assert warn(suite(REQUIRED, scenario={"id": "*"}, quarantine=[some])) == []
    assert warn(suite(REQUIRED, scenario={"id": "refund-1*"}, quarantine=[some])) != []


def test_several_suites__are_judged_by_the_policy_in_force_for_each():
    strict = suite(name="a", words=["below_threshold"])
    assert [place for place, _ in warn(strict, suite(name="b"))] == ["b.yaml"]
    assert warn(strict, suite(name="b"), policy={"fail_on": ["broken"]}) == []
    assert len(warn(strict, suite(name="b"), policy={"fail_on": ["hard_fail"]})) == 2
    assert warn(strict, suite(name="b"), fail_on=["below_threshold"]) == []
    assert len(warn(strict, suite(name="b"), fail_on=["hard_fail"])) == 2
