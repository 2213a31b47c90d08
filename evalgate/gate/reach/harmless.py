"""Finds suites in which no assertion can fail the check, whatever their traces contain."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from evalgate.errors import Location, Problem
from evalgate.evaluators.core.registry import BUILT_IN_TYPES
from evalgate.evaluators.core.shorthands import GROUPS
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.text.globs import matches_id
from evalgate.models.run.golden import DIMENSION_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.suite.models import Scenario, Suite
    from evalgate.suite.policy import Policy

_GRADED = frozenset({"recorded_score", "trajectory_score", "similarity", DIMENSION_TYPE})
"""Built-in types whose score may be below 1 where they pass."""
_BY_HARD_FAIL = frozenset({"hard_fail", "new_hard_fail", "broken"})
_BY_SCORE = frozenset({"below_threshold", "broken"})
_BY_CHANGE = frozenset({"regression", "model_changed"})
"""Words that a score may trigger by falling: that of any assertion."""


def find_harmless_suites(suites: Sequence[Suite], policies: Mapping[str, Policy], today: date) -> Iterator[Problem]:
    """A warning for each suite in which no assertion can fail the check by the policy in force for it."""
    for suite in suites:
        policy = policies[suite.name]
        able = [each for each in suite.scenarios if _can_fail(each, policy)]
        if all(_is_quarantined(each, suite, today) for each in able):
            reason = "every scenario with one that could is in quarantine" if able else _explain(suite, policy)
            others = " or ".join(["a missing or unreadable trace", *_list_other_causes(suite, policy)])
            advice = "" if able else f": {_suggest_rule(suite)}"
            message = f"no assertion here can fail the check: {reason} (only {others} can){advice}"
            yield Problem(message, Location(suite.path))


def _can_fail(scenario: Scenario, policy: Policy) -> bool:
    words = frozenset(policy.fail_on)
    return (
        not words.isdisjoint(_BY_CHANGE)
        or (not words.isdisjoint(_BY_HARD_FAIL) and _can_hard_fail(scenario))
        or (not words.isdisjoint(_BY_SCORE) and find_lowest_score(scenario) < round(scenario.threshold, DIGITS))
        or ("not_evaluable" in words and all(map(_may_be_left_out, scenario.assertions)))
    )


def _can_hard_fail(scenario: Scenario) -> bool:
    """Whether an assertion is required; a golden has critical issues instead."""
    return scenario.golden is not None or any(each.required for each in scenario.assertions)


def find_lowest_score(scenario: Scenario) -> float:
    """The lowest score that is no hard fail: required assertions pass, except in trials that may fail."""
    total = fsum(each.weight for each in scenario.assertions)
    kept = fsum(each.weight for each in scenario.assertions if _always_scores_one(each, scenario))
    return round(kept / total, DIGITS) if total else 0.0


def _always_scores_one(assertion: Assertion, scenario: Scenario) -> bool:
    if not assertion.required or assertion.type in _GRADED or _is_from_plugin(assertion):
        return False
    return assertion.required == "always" or not scenario.rules.may_fail_trials


def _may_be_left_out(assertion: Assertion) -> bool:
    """Whether it may leave nothing to score: by `on_missing: skip`, or a condition that does not hold."""
    return not assertion.weight or assertion.on_missing_skip or assertion.type in GROUPS or _is_from_plugin(assertion)


def _is_from_plugin(assertion: Assertion) -> bool:
    return assertion.type not in BUILT_IN_TYPES and assertion.type not in (*GROUPS, DIMENSION_TYPE)


def _is_quarantined(scenario: Scenario, suite: Suite, today: date) -> bool:
    """Whether all that the entry judges is in quarantine: for a glob, each id that it may match."""
    variant = None if scenario.variant is None else scenario.variant.name
    return any(
        each.until >= today and each.variant in (None, variant) and matches_id(each.scenario, scenario.id)
        for each in suite.quarantine
    )


def _explain(suite: Suite, policy: Policy) -> str:
    words, lacks = frozenset(policy.fail_on), list[str]()
    if not words.isdisjoint(_BY_HARD_FAIL):
        lacks.append("none is `required`")
    if not words.isdisjoint(_BY_SCORE):
        has_threshold = any(each.threshold for each in suite.scenarios)
        lacks.append(
            "only `required` ones can bring a score below its threshold, which is a hard fail,"
            if has_threshold
            else "every threshold is 0"
        )
    listed = f"fail_on is {', '.join(policy.fail_on)}"
    return f"{', '.join(lacks)} and {listed}" if lacks else listed


def _suggest_rule(suite: Suite) -> str:
    if any(map(_can_hard_fail, suite.scenarios)):
        return "add hard_fail to `fail_on`"
    has_threshold = any(each.threshold for each in suite.scenarios)
    return f"add `required: true`{', or below_threshold to `fail_on`' if has_threshold else ''}"


def _list_other_causes(suite: Suite, policy: Policy) -> Iterator[str]:
    words = frozenset(policy.fail_on)
    if "not_evaluable" in words and any(each.rules.min > 1 for each in suite.scenarios):
        yield "too few trials"
    if "stale_evidence" in words and policy.freshness is not None:
        yield "a stale trace"
    if "weakened" in words or policy.on_weakening == "fail":
        yield "a weaker suite or policy"
    if "no_baseline" in words:
        yield "a missing baseline"
