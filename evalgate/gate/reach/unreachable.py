"""Finds rules that can never fire, or never be met, with the trials that a suite asks for."""

from __future__ import annotations

from collections import Counter
from math import comb, floor
from typing import TYPE_CHECKING

from evalgate.errors import Location, Problem
from evalgate.gate.common.wording import format_p_value
from evalgate.gate.comparison.significance import pairs_for_scores, trials_for_scores
from evalgate.gate.comparison.trial_tests import MIN_TRIALS, NO_CORRECTION, corrected_alpha
from evalgate.gate.reach.harmless import find_lowest_score
from evalgate.measures.numeric.means import DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.suite.models import Scenario, Suite
    from evalgate.suite.policy import Policy, RegressionPolicy

MAX_WARNINGS = 100
TESTED = ("broken", "regression", "model_changed")
"""Words of `fail_on` that a test of the trials decides about."""


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
    words = [f"`{word}`" for word in TESTED if word in policy.fail_on]
    if words and _asks_for_test(scenario, policy.regression):
        yield from _explain_test(scenario.rules.min, policy.regression, families, " and ".join(words))
    yield from _explain_pass_rates(scenario)
    if "below_threshold" in policy.fail_on:
        yield from _explain_threshold(scenario)
        yield from _explain_lenient_rate(scenario)


def _explain_test(least: int, rules: RegressionPolicy, families: Mapping[str, int], words: str) -> Iterator[str]:
    """A test of the trials that can't give a p-value of at most alpha, however much they differ."""
    is_paired = rules.pair_by is not None
    needed = (pairs_for_scores if is_paired else trials_for_scores)(corrected_alpha(rules, families))
    if least >= needed:
        return
    if least < MIN_TRIALS:
        why = "with one trial on a side `require_evidence` leaves every change inconclusive"
    else:
        p = 2 * 0.5**least if is_paired else 2 / comb(2 * least, least)
        why = f"with {least} trials on each side p is never below {format_p_value(p)}"
        if rules.correction != NO_CORRECTION:
            family = families[rules.correction]
            why += f", with `{rules.correction}` over {family:,} scenarios {format_p_value(min(p * family, 1.0))}"
            why += " unless several change together" if rules.correction == "bh" else ""
        why += f", above alpha {rules.alpha:g}, so a scenario that stops passing stays inconclusive"
    yield f"`trials.min: {least}` is too few for {words}: {why}; `min: {needed}` would do"


def _explain_pass_rates(scenario: Scenario) -> Iterator[str]:
    rules = scenario.rules
    if rules.min_pass_k is not None:
        k, of = rules.min_pass_k
        if 1 < rules.min < k:
            lack = f"`min_pass_k` needs {k} passed trials, and `trials.min: {rules.min}` asks for fewer"
            yield f"{lack}; `min: {of}` would do"
    elif rules.min_pass_rate == 0:
        has_required = any(each.required is True for each in scenario.assertions)
        effect = ": required assertions may fail in every trial" if has_required else ""
        yield f"`min_pass_rate: 0` is always met{effect}; any rate above 0 would do"


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
    """A threshold that every score reaches; not if required assertions are the only ones with a weight."""
    lowest = find_lowest_score(scenario)
    if scenario.threshold == 0:
        yield "threshold 0 is always reached; a threshold above 0 would do"
    elif round(scenario.threshold, DIGITS) <= lowest < 1:
        why = f"while the required assertions pass, the score is at least {lowest:g}"
        yield f"threshold {scenario.threshold:g} can't be missed: {why}; a threshold above {lowest:g} would do"
