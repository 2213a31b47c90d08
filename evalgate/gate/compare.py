"""A run against its baseline, scenario by scenario. A change is called only where the trials bear it out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalgate.gate.increases import increases
from evalgate.gate.statistics import fisher_exact, permutation_p, trials_for_flip, trials_for_scores
from evalgate.gate.wording import chance, moved, spoken
from evalgate.measures.means import DIGITS
from evalgate.measures.redaction import redact
from evalgate.models.comparison import Change, Comparison, ScenarioKey
from evalgate.models.run import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.comparison import ChangeKind, Standing
    from evalgate.suite.policy import RegressionPolicy

NOISE = "noise can't be told from change"
SEVERAL = 2
"""Trials a side from which a test can speak."""


def compare(
    current: Mapping[ScenarioKey, Standing],
    baseline: Mapping[ScenarioKey, Standing],
    policies: Mapping[str, RegressionPolicy],
) -> Comparison:
    """Changes of the current scenarios by key, in their order, and what only the baseline has, by key.

    `policies` holds the regression policy of each suite; a suite without one has the defaults.
    """
    default = _default_policy()
    stored = {key: _stored(key, baseline) for key in current}
    changes = {
        key: _change(baseline.get(stored[key]), now, policies.get(key.suite, default))
        for key, now in current.items()
    }
    gone = sorted(baseline.keys() - stored.values(), key=lambda key: (key.suite, key.id, key.variant or ""))
    return Comparison(changes, [baseline[key] for key in gone])


def _stored(key: ScenarioKey, baseline: Mapping[ScenarioKey, Standing]) -> ScenarioKey:
    """The key that a document has for a scenario: an id that reads like a secret stands redacted there."""
    if key in baseline:
        return key
    return ScenarioKey(redact(key.suite), redact(key.id), key.variant and redact(key.variant))


def _default_policy() -> RegressionPolicy:
    from evalgate.suite.policy import RegressionPolicy

    return RegressionPolicy()


def _change(before: Standing | None, now: Standing, policy: RegressionPolicy) -> Change:
    if before is None:
        return Change("new", "not in the baseline")
    change = _judge(before, now, policy)
    change.increases = increases(before, now, policy)
    change.previous_verdict = before.verdict
    if before.score is not None and now.score is not None:
        change.score_delta = round(now.score - before.score, DIGITS)
    if len(before.passed) > 1 and True in before.passed and False in before.passed:
        change.flags.append("flaky")
    return change


def _judge(before: Standing, now: Standing, policy: RegressionPolicy) -> Change:
    """Kind, reason, p-value and the flag `single_trial`."""
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
    return _move(before, now, policy, Change("improved" if delta > 0 else "regressed", words))


def _verdicts(before: Standing, now: Standing) -> str:
    if before.verdict == now.verdict:
        return f"{spoken(now.verdict)} as before"
    return f"{spoken(before.verdict)} -> {spoken(now.verdict)}"


def _flip(before: Standing, now: Standing, policy: RegressionPolicy, kind: ChangeKind) -> Change:
    """Passing on one side only: with several trials on both, Fisher's test has to agree."""
    if {before.verdict, now.verdict} & NOT_EVALUATED:
        return Change(kind, _verdicts(before, now))
    old, new = (sum(before.passed), len(before.passed)), (sum(now.passed), len(now.passed))
    change = Change(kind, f"passed {old[0]}/{old[1]} before, {new[0]}/{new[1]} now")
    if min(old[1], new[1]) < SEVERAL:
        return _single(change, policy)
    p = fisher_exact(*old, *new)
    change = replace(change, reason=f"{change.reason} (Fisher p {chance(p)})", p_value=p)
    return change if p <= policy.alpha else _undecided(change, trials_for_flip(*old, *new, policy.alpha))


def _move(before: Standing, now: Standing, policy: RegressionPolicy, change: Change) -> Change:
    """A score moved without a flip: with several trials on both sides, the permutation test must agree."""
    old = [score for score in before.scores if score is not None]
    new = [score for score in now.scores if score is not None]
    few, needed = min(len(old), len(new)), trials_for_scores(policy.alpha)
    if few < SEVERAL:
        return _single(change, policy)
    p = permutation_p(old, new)
    change = replace(change, reason=f"{change.reason}, permutation p {chance(p)}", p_value=p)
    return change if p <= policy.alpha else _undecided(change, needed if few < needed else None)


def _single(change: Change, policy: RegressionPolicy) -> Change:
    """One trial on a side: the rule decides and says so, or evidence is demanded and there is none."""
    change = replace(change, flags=["single_trial"])
    if policy.require_evidence:
        return _undecided(change, trials_for_scores(policy.alpha))
    return replace(change, reason=f"{change.reason}, single trial: {NOISE}")


def _undecided(change: Change, trials: int | None) -> Change:
    """Too little evidence; `trials` a side would be enough, None where more of them promise nothing."""
    advice = NOISE if trials is None else f"needs {trials} trials a side to decide"
    return replace(change, kind="inconclusive", reason=f"{change.reason}: {advice}")
