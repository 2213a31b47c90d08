"""Finds comparisons of variants that can never pass, or never fail, with the scenarios and trials a suite asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import Location, Problem
from evalgate.gate.common.wording import format_count
from evalgate.gate.comparison.significance import pairs_for_scores
from evalgate.gate.comparison.trial_tests import MIN_TRIALS, reports_reversals
from evalgate.gate.comparison.trials_that_decide import trials_for_flip
from evalgate.models.comparison.decision import VARIANT_WORDS
from evalgate.scoring.wording import cut_quote, format_p_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.suite.models import Scenario, Suite
    from evalgate.suite.policy import Policy, RegressionPolicy, VariantComparison


class _Asked(NamedTuple):
    """A comparison of a suite: the trials that each scenario in both arms asks for, by id, and how many compare.

    `is_open`: a glob of ids may find any number of scenarios.
    """

    suite: Suite
    rules: VariantComparison
    trials: Sequence[int]
    comparisons: int
    is_open: bool

    @property
    def fewest(self) -> int:
        """The discordant scenarios, or pairs of trials, that evidence takes: 2 x 0.5^n at most alpha."""
        return pairs_for_scores(self.rules.alpha / self.comparisons)

    @property
    def name(self) -> str:
        """Control and treatment."""
        return f"{cut_quote(self.rules.control)} -> {cut_quote(self.rules.treatment)}"


def find_impossible_lifts(suites: Sequence[Suite], policies: Mapping[str, Policy]) -> Iterator[Problem]:
    """A problem for each `require: lift` that the trials asked for can never meet, with what would do."""
    for each in _list_asked(suites, policies):
        if each.rules.require == "lift" and not each.is_open:
            lack = _explain_lack(each, policies[each.suite.name].regression)
            if lack:
                message = f"`require: lift` of {each.name} can never be met: {lack}"
                yield Problem(message, Location(each.suite.path))


def find_idle_comparisons(suites: Sequence[Suite], policies: Mapping[str, Policy]) -> Iterator[Problem]:
    """A warning for each comparison, or word of `fail_on` about one, that can never fail the check."""
    compared = {each.suite.name for each in _list_asked(suites, policies)}
    for suite in suites:
        policy = policies[suite.name]
        words = [word for word in VARIANT_WORDS if word in policy.fail_on]
        if words and suite.name not in compared:
            lack = "`compare_variants` names no variant of the suite"
            message = f"`{words[0]}` in fail_on can never fail the check: {lack}"
            yield Problem(message, Location(suite.path))
    for each in _list_asked(suites, policies):
        policy = policies[each.suite.name]
        word = "no_lift" if each.rules.require == "lift" else "variant_regression"
        if word not in policy.fail_on:
            message = f"`compare_variants` of {each.name} is shown and can't fail the check: `{word}` is not in fail_on"
            yield Problem(message, Location(each.suite.path))
        elif word == "variant_regression" and not each.is_open:
            yield from _explain_blindness(each)


def _list_asked(suites: Sequence[Suite], policies: Mapping[str, Policy]) -> Iterator[_Asked]:
    for suite in suites:
        arms: dict[str, dict[str, Scenario]] = {}
        for scenario in suite.scenarios:
            if scenario.variant is not None:
                arms.setdefault(scenario.variant.name, {})[scenario.id] = scenario
        asked = [each for each in policies[suite.name].compare_variants if not arms.keys().isdisjoint(each.arms)]
        for rules in asked:
            control, treatment = (arms.get(name, {}) for name in rules.arms)
            both = [(control[id_], treatment[id_]) for id_ in control if id_ in treatment]
            trials = [min(one.rules.min, other.rules.min) for one, other in both]
            yield _Asked(suite, rules, trials, len(asked), any(one.is_glob for one, _ in both))


def _explain_lack(asked: _Asked, policy: RegressionPolicy) -> str:
    """What a lift lacks, and what would do; empty if it can be met."""
    evidence = f"{asked.fewest} that change, and none the other way (2 x 0.5^{asked.fewest} = "
    evidence += f"{format_p_value(2 * 0.5**asked.fewest)})"
    count = len(asked.trials)
    if asked.rules.pair_by == "trial":
        pairs = sum(asked.trials)
        if pairs >= asked.fewest:
            return ""
        needed = -(-asked.fewest // count) if count else 0
        would = f"; `trials.min: {needed}` would do" if count else ""
        return f"it takes {asked.fewest} pairs of trials, {evidence}, and `trials.min` asks for {pairs}{would}"
    if count < asked.fewest:
        more = asked.fewest - count
        return (
            f"it takes {asked.fewest} scenarios, {evidence}, and the suite has {count} in both variants;"
            f" {format_count(more, 'more scenario')} would do, or `pair_by: trial`"
        )
    needed = _trials_to_decide(policy, policy.alpha)
    able = sum(trials >= needed for trials in asked.trials)
    if able >= asked.fewest:
        return ""
    return (
        f"it takes {asked.fewest} scenarios, {evidence}, and {able} of {count} ask for enough trials to call a change"
        f" one; `trials.min: {needed}` would do"
    )


def _explain_blindness(asked: _Asked) -> Iterator[Problem]:
    """A warning if no regression could be evident: too few scenarios for the test over all, and trials for one."""
    count = sum(asked.trials) if asked.rules.pair_by == "trial" else len(asked.trials)
    family = max(1, len(asked.trials) * asked.comparisons)
    needed = trials_for_flip(1, 1, 0, 1, asked.rules.alpha / family)
    if count >= asked.fewest or not asked.trials or (needed is not None and max(asked.trials) >= needed):
        return
    what = "pairs of trials" if asked.rules.pair_by == "trial" else "scenarios"
    would = "" if needed is None else f"; `trials.min: {needed}` would do"
    message = (
        f"`variant_regression` of {asked.name} can never fail the check: with {count} {what} the test over all is never"
        f" at most alpha {asked.rules.alpha:g}, which takes {asked.fewest}, nor is that of one scenario with"
        f" {format_count(max(asked.trials), 'trial')}{would}"
    )
    yield Problem(message, Location(asked.suite.path))


def _trials_to_decide(policy: RegressionPolicy, alpha: float) -> int:
    """The trials in each arm with which a complete change of a scenario is called one."""
    if policy.pair_by is not None:
        return pairs_for_scores(alpha)
    if reports_reversals(policy):
        return 1
    return trials_for_flip(1, 1, 0, 1, alpha) or MIN_TRIALS
