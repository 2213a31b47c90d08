"""Finds rules without effect: suites that can't fail the check, and rules that never fire or are never met."""

from __future__ import annotations

from collections import Counter
from math import comb, floor, fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import Location, Problem
from evalgate.evaluators.core.registry import BUILT_IN_TYPES, built_in_class
from evalgate.evaluators.core.shorthands import GROUPS
from evalgate.gate.comparison.significance import flip_p, pairs_for_scores, trials_for_reversal, trials_for_scores
from evalgate.gate.comparison.trial_tests import MIN_TRIALS, NO_CORRECTION, corrected_alpha, reports_reversals
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.text.globs import matches_id
from evalgate.models.comparison.decision import VARIANT_WORDS
from evalgate.models.run.golden import DIMENSION_TYPE
from evalgate.scoring.wording import format_p_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.suite.models import Scenario, Suite
    from evalgate.suite.policy import Policy, RegressionPolicy

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
        or _is_compared(scenario, policy)
        or ("not_evaluable" in words and all(map(_may_be_left_out, scenario.assertions)))
    )


def _is_compared(scenario: Scenario, policy: Policy) -> bool:
    """Whether it belongs to a variant whose comparison with another fails the check."""
    if scenario.variant is None or set(VARIANT_WORDS).isdisjoint(policy.fail_on):
        return False
    return any(scenario.variant.name in each.arms for each in policy.compare_variants)


def _can_hard_fail(scenario: Scenario) -> bool:
    """Whether an assertion is required; a golden has critical issues instead."""
    return scenario.golden is not None or any(each.required for each in scenario.assertions)


def find_lowest_score(scenario: Scenario) -> float:
    """The lowest score that is no hard fail: required assertions pass, except in trials that may fail."""
    total = fsum(each.weight for each in scenario.assertions)
    kept = fsum(each.weight for each in scenario.assertions if _always_scores_one(each, scenario))
    return round(kept / total, DIGITS) if total else 0.0


def _always_scores_one(assertion: Assertion, scenario: Scenario) -> bool:
    if not assertion.required or _may_be_graded(assertion):
        return False
    return assertion.required == "always" or not scenario.rules.may_fail_trials


def _may_be_left_out(assertion: Assertion) -> bool:
    """Whether it may leave nothing to score: by `on_missing: skip`, or a condition that does not hold."""
    return not assertion.weight or assertion.on_missing_skip or assertion.type in GROUPS or _is_from_plugin(assertion)


def _may_be_graded(assertion: Assertion) -> bool:
    """Whether its score may be below 1 where it passes; a group's is not."""
    if assertion.type in GROUPS:
        return False
    found = built_in_class(assertion.type)
    return found is None or found.is_graded


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
    if policy.duplicates == "fail":
        yield "a duplicate trace"
    if "behaviour_changed" in words:
        yield "another behaviour than the baseline's"
    if "weakened" in words or policy.on_weakening == "fail":
        yield "a weaker suite or policy"
    if "no_baseline" in words:
        yield "a missing baseline"


MAX_WARNINGS = 100
TESTED = ("broken", "regression", "model_changed")
"""Words of `fail_on` that a test of the trials decides about; the first only about scenarios that stop passing."""


def find_unreachable_rules(suites: Sequence[Suite], policies: Mapping[str, Policy]) -> Iterator[Problem]:
    """A warning for each such rule of a suite, with the number that would do; equal ones of scenarios once."""
    families = _count_families(suites, policies)
    for suite in suites:
        policy = policies[suite.name]
        if "stale_evidence" in policy.fail_on and not _can_be_stale(policy):
            message = (
                "`stale_evidence` in fail_on can never fail the check: `freshness` says of no trace that it is stale"
            )
            yield Problem(message, Location(suite.path))
        places: dict[str, list[Scenario]] = {}
        for scenario in suite.scenarios:
            for message in _list_messages(scenario, policy, families):
                if message in places or len(places) < MAX_WARNINGS:
                    places.setdefault(message, []).append(scenario)
        for message, (first, *others) in places.items():
            yield Problem(f"{message} ({len(others) + 1:,} scenarios)" if others else message, first.location)


def _can_be_stale(policy: Policy) -> bool:
    rules = policy.freshness
    return rules is not None and (rules.require == "head" or bool(rules.watch) or rules.max_age is not None)


def _count_families(suites: Sequence[Suite], policies: Mapping[str, Policy]) -> Counter[str]:
    """Scenarios that are tested together, by correction: those that ask for trials to test."""
    return Counter(
        rules.correction
        for suite in suites
        for rules in [policies[suite.name].regression]
        for scenario in suite.scenarios
        if _asks_for_test(scenario, rules)
    )


def _asks_for_test(scenario: Scenario, rules: RegressionPolicy) -> bool:
    return scenario.rules.min >= MIN_TRIALS or rules.require_evidence


def _list_messages(scenario: Scenario, policy: Policy, families: Mapping[str, int]) -> Iterator[str]:
    tested = TESTED[1:] if reports_reversals(policy.regression) else TESTED
    words = [f"`{word}`" for word in tested if word in policy.fail_on]
    if words and _asks_for_test(scenario, policy.regression):
        yield from _explain_test(scenario.rules.min, policy.regression, families, " and ".join(words))
    yield from _explain_pass_rates(scenario)
    if "below_threshold" in policy.fail_on:
        yield from _explain_threshold(scenario)
        yield from _explain_lenient_rate(scenario)


def _explain_test(least: int, rules: RegressionPolicy, families: Mapping[str, int], words: str) -> Iterator[str]:
    """A test of the trials that can't give a p-value of at most alpha, however much they differ."""
    alpha = corrected_alpha(rules, families)
    tested = _find_tested(rules)
    needed = tested.needed(alpha)
    if least >= needed:
        return
    if least < MIN_TRIALS:
        why = 'with one trial on a side `require_evidence` reports every change as "may be chance"'
    else:
        p = tested.least_p(least)
        why = f"with {least} trials on each side p is never below {format_p_value(p)}"
        if rules.correction != NO_CORRECTION:
            family = families[rules.correction]
            why += f", with `{rules.correction}` over {family:,} scenarios {format_p_value(min(p * family, 1.0))}"
            why += " unless several change together" if rules.correction == "bh" else ""
        why += f', above alpha {rules.alpha:g}, so {tested.what} is never more than "may be chance"'
    yield f"`trials.min: {least}` is too few for {words}: {why}; `min: {needed}` would do"


class _Tested(NamedTuple):
    """What a test decides, the trials that it needs for an alpha, and its smallest p for a number of trials."""

    what: str
    needed: Callable[[float], int]
    least_p: Callable[[int], float]


_PAIRS = _Tested("a scenario that stops passing", pairs_for_scores, lambda trials: 2 * 0.5**trials)
_FLIPS = _Tested("a scenario that stops passing", trials_for_reversal, lambda trials: flip_p(trials, trials, 0, trials))
_SCORES = _Tested("a score that falls", trials_for_scores, lambda trials: 2 / comb(2 * trials, trials))


def _find_tested(rules: RegressionPolicy) -> _Tested:
    """What the trials must be able to show: where a reversal is reported anyhow, a score that falls."""
    if rules.pair_by is not None:
        return _PAIRS
    return _SCORES if reports_reversals(rules) else _FLIPS


def _explain_pass_rates(scenario: Scenario) -> Iterator[str]:
    rules = scenario.rules
    if rules.min_pass_k is not None:
        k, of = rules.min_pass_k
        if 1 < rules.min < k:
            lack = f"`min_pass_k` needs {k} passed trials, and `trials.min: {rules.min}` asks for fewer"
            yield f"{lack}; `min: {of}` would do"
    elif rules.min_pass_rate == 0:
        has_required = any(each.required is True for each in scenario.assertions)
        effect = ": required assertions may fail in all the others" if has_required else ""
        yield f"`min_pass_rate: 0` is met by one passing trial{effect}; any rate above 0 would do"


def _explain_lenient_rate(scenario: Scenario) -> Iterator[str]:
    """A rate that lets trials fail beside a threshold of 1, which the mean score of no failed trial reaches."""
    rules = scenario.rules
    k, of = rules.min_pass_k or (1, 1)
    name, rate = ("min_pass_k", k / of) if rules.min_pass_k else ("min_pass_rate", rules.min_pass_rate)
    has_unweighted = any(each.required and not each.weight for each in scenario.assertions)
    if rate and rate < 1 and scenario.threshold == 1 and not has_unweighted:
        why = "each of them lowers the mean score below `threshold: 1`"
        yield f"`{name}` lets trials fail, but {why}; a threshold of at most {floor(rate * 100) / 100:g} would do"


def _explain_threshold(scenario: Scenario) -> Iterator[str]:
    """A threshold that every score reaches.

    Not if required assertions are the only ones with a weight, and not 0 beside required ones, which then decide alone.
    """
    lowest = find_lowest_score(scenario)
    if scenario.threshold == 0:
        if not any(each.required for each in scenario.assertions):
            yield "threshold 0 is always reached; a threshold above 0 would do"
    elif round(scenario.threshold, DIGITS) <= lowest < 1:
        why = f"while the required assertions pass, the score is at least {lowest:g}"
        yield f"threshold {scenario.threshold:g} can't be missed: {why}; a threshold above {lowest:g} would do"
