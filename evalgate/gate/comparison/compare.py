"""Compares a run with its baseline, scenario by scenario. A change counts only if the trials support it."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.gate.common.stored_key import stored_key
from evalgate.gate.common.wording import moved, spoken
from evalgate.gate.comparison.corrections import level
from evalgate.gate.comparison.false_alarms import false_alarm
from evalgate.gate.comparison.increases import increases
from evalgate.gate.comparison.trial_tests import (
    Tested,
    can_be_tested,
    correct,
    decided,
    tested_flip,
    tested_scores,
)
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.comparison.comparison import Change, Comparison, Evidence, ScenarioKey
from evalgate.models.run.run import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.models.comparison.comparison import ChangeKind, ScenarioOutcome
    from evalgate.suite.policy import RegressionPolicy


class _Pair(NamedTuple):
    """A scenario on both sides, and the policy that it is compared by."""

    key: ScenarioKey
    before: ScenarioOutcome
    now: ScenarioOutcome
    policy: RegressionPolicy


def compare(
    current: Mapping[ScenarioKey, ScenarioOutcome],
    baseline: Mapping[ScenarioKey, ScenarioOutcome],
    policies: Mapping[str, RegressionPolicy],
) -> Comparison:
    """The change of each current scenario, in their order, and the scenarios that only the baseline has.

    `policies` holds the regression policy of each suite; a suite without one has the defaults.
    """
    default = _default_policy()
    stored = {key: stored_key(key, baseline) for key in current}
    pairs = [
        _Pair(key, baseline[stored[key]], now, policies.get(key.suite, default))
        for key, now in current.items()
        if stored[key] in baseline
    ]
    testable = [pair for pair in pairs if _is_testable(pair)]
    families: Counter[str] = Counter(pair.policy.correction for pair in testable)
    found = _changes(pairs, families)
    changes = {key: found.get(key) or Change("new", "not in the baseline") for key in current}
    gone = sorted(baseline.keys() - stored.values(), key=lambda key: (key.suite, key.id, key.variant or ""))
    before = {pair.key: pair.before for pair in pairs}
    trials = {pair.key: (len(pair.before.trials), len(pair.now.trials)) for pair in pairs}
    removed = [baseline[key] for key in gone]
    return Comparison(changes, removed, before, trials, _evidence(pairs, testable, families), current)


def _default_policy() -> RegressionPolicy:
    from evalgate.suite.policy import RegressionPolicy

    return RegressionPolicy.unsaid()


def _changes(pairs: Sequence[_Pair], families: Mapping[str, int]) -> dict[ScenarioKey, Change]:
    """Judges the pairs one by one, corrects their p-values together, then decides."""
    found = {pair.key: _judge(pair.before, pair.now, pair.policy) for pair in pairs}
    correct([each for each in found.values() if isinstance(each, Tested)], families)
    changes = {
        key: decided(each, families) if isinstance(each, Tested) else each for key, each in found.items()
    }
    for pair in pairs:
        _complete(changes[pair.key], pair)
    return changes


def _is_testable(pair: _Pair) -> bool:
    """Whether its trials can be tested; scenarios that did not move belong to the family too."""
    return _is_evaluated(pair) and can_be_tested(pair.before, pair.now, pair.policy)


def _is_evaluated(pair: _Pair) -> bool:
    return pair.before.verdict not in NOT_EVALUATED and pair.now.verdict not in NOT_EVALUATED


def _evidence(pairs: Iterable[_Pair], testable: Sequence[_Pair], families: Mapping[str, int]) -> Evidence:
    evaluated = [pair for pair in pairs if _is_evaluated(pair)]
    levels = {id(pair.policy): level(pair.policy, families) for pair in testable}
    alarms = [false_alarm(pair.before, pair.now, pair.policy, levels[id(pair.policy)]) for pair in testable]
    single = sum(len(pair.before.passed) == 1 or len(pair.now.passed) == 1 for pair in evaluated)
    return Evidence(len(evaluated), len(alarms), single, round(fsum(alarms), DIGITS) if alarms else None)


def _complete(change: Change, pair: _Pair) -> None:
    """Fills in what every change has, whatever its kind."""
    before, now = pair.before, pair.now
    change.increases = increases(before, now, pair.policy)
    change.previous_verdict = before.verdict
    if before.score is not None and now.score is not None:
        change.score_delta = round(now.score - before.score, DIGITS)
    if len(before.passed) > 1 and True in before.passed and False in before.passed:
        change.flags.append("flaky")


def _judge(before: ScenarioOutcome, now: ScenarioOutcome, policy: RegressionPolicy) -> Change | Tested:
    """Applies the policy's rule, and a test of the trials if there are enough of them."""
    if before.verdict == now.verdict and before.score == now.score:
        return Change("unchanged", _verdicts(before, now))
    was_passing, is_passing = before.verdict == "PASS", now.verdict == "PASS"
    if was_passing != is_passing:
        return _flip(before, now, policy, "fixed" if is_passing else "broken")
    unjudged = bool({before.verdict, now.verdict} & NOT_EVALUATED)
    if unjudged or before.score is None or now.score is None:
        return Change("unchanged", _verdicts(before, now))
    words, delta = f"score {moved(before.score, now.score)}", round(now.score - before.score, DIGITS)
    if abs(delta) <= round(policy.threshold, DIGITS):
        return Change("unchanged", f"{_verdicts(before, now)}{f', {words}' if delta else ''}")
    return tested_scores(Change("improved" if delta > 0 else "regressed", words), before, now, policy)


def _verdicts(before: ScenarioOutcome, now: ScenarioOutcome) -> str:
    if before.verdict == now.verdict:
        return f"{spoken(now.verdict)} as before"
    return f"{spoken(before.verdict)} -> {spoken(now.verdict)}"


def _flip(
    before: ScenarioOutcome, now: ScenarioOutcome, policy: RegressionPolicy, kind: ChangeKind
) -> Change | Tested:
    """A scenario that passes on one side only; if a side was not evaluated, there is nothing to test."""
    if {before.verdict, now.verdict} & NOT_EVALUATED:
        return Change(kind, _verdicts(before, now))
    old, new = f"{sum(before.passed)}/{len(before.passed)}", f"{sum(now.passed)}/{len(now.passed)}"
    return tested_flip(Change(kind, f"passed {old} before, {new} now"), before, now, policy)
