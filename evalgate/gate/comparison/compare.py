"""Compares a run with its baseline, scenario by scenario. A change counts only if the trials support it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.gate.common.wording import format_change, format_share, format_verdict
from evalgate.gate.comparison.lost_figures import COST, LATENCY, TOKENS, find_lost_figures
from evalgate.gate.comparison.significance import choose_flip_test, flip_p, likelihoods, mcnemar, permutation_p
from evalgate.gate.comparison.trial_tests import (
    UndecidedChange,
    apply_corrections,
    can_be_tested,
    corrected_alpha,
    count_flips,
    decide_change,
    pair_trials,
    reports_reversals,
    run_flip_test,
    run_score_test,
)
from evalgate.measures.numeric.boschloo import rejected_tables
from evalgate.measures.numeric.means import DIGITS, mean_amount
from evalgate.models.comparison.comparison import (
    GREAT_GROWTH,
    NOT_MEASURED,
    UNJUDGED_BEFORE,
    Change,
    Comparison,
    GrownFigure,
    RecordingCount,
    ScenarioKey,
    StatisticalPower,
)
from evalgate.models.run.run import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.models.comparison.comparison import ChangeKind, LostFigure, ScenarioOutcome
    from evalgate.models.run.run import Verdict
    from evalgate.suite.policy import IncreaseLimit, RegressionPolicy


class _Pair(NamedTuple):
    """A scenario on both sides, and the policy that it is compared by."""

    key: ScenarioKey
    baseline: ScenarioOutcome
    current: ScenarioOutcome
    policy: RegressionPolicy

    @property
    def is_judged_only_now(self) -> bool:
        """Whether the baseline could not judge it and this run did: nothing is known of what changed."""
        return self.baseline.verdict in NOT_EVALUATED and self.current.verdict not in NOT_EVALUATED


def compare(
    current: Mapping[ScenarioKey, ScenarioOutcome],
    baseline: Mapping[ScenarioKey, ScenarioOutcome],
    policies: Mapping[str, RegressionPolicy],
) -> Comparison:
    """The change of each current scenario, in their order, and the scenarios that only the baseline has.

    `policies` holds the regression policy of each suite; a suite without one has the defaults.
    """
    default = _default_policy()
    baseline_keys = {key: find_baseline_key(key, baseline) for key in current}
    both = [
        _Pair(key, baseline[baseline_keys[key]], outcome, policies.get(key.suite, default))
        for key, outcome in current.items()
        if baseline_keys[key] in baseline
    ]
    pairs = [pair for pair in both if not pair.is_judged_only_now]
    testable = [pair for pair in pairs if _is_testable(pair)]
    families: Counter[str] = Counter(pair.policy.correction for pair in testable)
    found = _find_changes(pairs, families)
    found |= {pair.key: call_unjudged(pair.baseline.verdict) for pair in both if pair.is_judged_only_now}
    changes = {key: found.get(key) or _judge_unpaired(outcome) for key, outcome in current.items()}
    removed = sorted(baseline.keys() - baseline_keys.values(), key=lambda key: (key.suite, key.id, key.variant or ""))
    return Comparison(
        changes,
        [baseline[key] for key in removed],
        {pair.key: pair.baseline for pair in pairs},
        {pair.key: (len(pair.baseline.trials), len(pair.current.trials) + pair.current.unmeasured) for pair in both},
        _measure_evidence(pairs, testable, families),
        current,
        recordings=_count_recordings(current, baseline),
    )


def _count_recordings(
    current: Mapping[ScenarioKey, ScenarioOutcome], baseline: Mapping[ScenarioKey, ScenarioOutcome]
) -> dict[str, RecordingCount]:
    """Counts, by suite, the recordings that the baseline has, of whatever scenario."""
    found: dict[str, RecordingCount] = {}
    old = {digest for outcome in baseline.values() for digest in outcome.digests} - {None}
    if not old:  # a baseline that does not say which recordings it has
        return found
    for key, outcome in current.items():
        count = found.get(key.suite, RecordingCount(0, 0))
        same = sum(digest in old for digest in outcome.digests)
        unknown = outcome.digests.count(None)
        found[key.suite] = RecordingCount(
            count.unchanged + same, count.of + len(outcome.digests), count.unknown + unknown
        )
    return found


def _judge_unpaired(current: ScenarioOutcome) -> Change:
    """The change of a scenario that the baseline lacks, or did not measure."""
    return Change("inconclusive", NOT_MEASURED) if current.is_unmeasured else Change("new", "not in the baseline")


def call_unjudged(verdict: Verdict, why: str = "") -> Change:
    """The change of a scenario that the baseline could not judge: neither fixed nor a known failure."""
    was = f"it was {format_verdict(verdict)}"
    return Change("new", f"{UNJUDGED_BEFORE}: {f'{was}: {why}' if why else was}", previous_verdict=verdict)


def _default_policy() -> RegressionPolicy:
    from evalgate.suite.policy import RegressionPolicy

    return RegressionPolicy.from_defaults()


def _find_changes(pairs: Sequence[_Pair], families: Mapping[str, int]) -> dict[ScenarioKey, Change]:
    """Judges the pairs one by one, corrects their p-values together, then decides."""
    found = {pair.key: _judge_change(pair.baseline, pair.current, pair.policy) for pair in pairs}
    apply_corrections([each for each in found.values() if isinstance(each, UndecidedChange)], families)
    changes = {
        key: decide_change(each, families) if isinstance(each, UndecidedChange) else each for key, each in found.items()
    }
    for pair in pairs:
        _complete_change(changes[pair.key], pair)
    return changes


def _is_testable(pair: _Pair) -> bool:
    """Whether its trials can be tested; scenarios that did not move belong to the family too."""
    return _is_evaluated(pair) and can_be_tested(pair.baseline, pair.current, pair.policy)


def _is_evaluated(pair: _Pair) -> bool:
    return pair.baseline.verdict not in NOT_EVALUATED and pair.current.verdict not in NOT_EVALUATED


def _measure_evidence(
    pairs: Iterable[_Pair], testable: Sequence[_Pair], families: Mapping[str, int]
) -> StatisticalPower:
    evaluated = [pair for pair in pairs if _is_evaluated(pair)]
    alphas = {id(pair.policy): corrected_alpha(pair.policy, families) for pair in testable}
    alarms = [
        estimate_false_alarm(pair.baseline, pair.current, pair.policy, alphas[id(pair.policy)]) for pair in testable
    ]
    single = sum(len(pair.baseline.passed) == 1 or len(pair.current.passed) == 1 for pair in evaluated)
    return StatisticalPower(len(evaluated), len(alarms), single, round(fsum(alarms), DIGITS) if alarms else None)


def _complete_change(change: Change, pair: _Pair) -> None:
    baseline, current = pair.baseline, pair.current
    change.previous_verdict, change.previously_failed = baseline.verdict, baseline.failed_required
    if current.is_unmeasured:
        return
    change.lost = find_lost_figures(baseline, current)
    change.increases = [*find_increases(baseline, current, pair.policy), *_list_lost_limits(change.lost, pair.policy)]
    change.grown = _find_grown(baseline, current)
    if baseline.score is not None and current.score is not None:
        change.score_delta = round(current.score - baseline.score, DIGITS)
    if len(baseline.passed) > 1 and True in baseline.passed and False in baseline.passed:
        change.flags.append("flaky")


def _find_grown(baseline: ScenarioOutcome, current: ScenarioOutcome) -> Sequence[GrownFigure]:
    """The known means of cost and tokens of both sides, if one of them grew much; else none."""
    pairs = ((COST, baseline.costs, current.costs), (TOKENS, baseline.tokens, current.tokens))
    figures = [figure for pair in pairs if (figure := _build_grown(*pair)).before and figure.now]
    return figures if any(each.now >= each.before * (1 + GREAT_GROWTH) for each in figures) else ()


def _build_grown(name: str, before: Sequence[float | None], now: Sequence[float | None]) -> GrownFigure:
    sides = [[each for each in side if each is not None] for side in (before, now)]
    is_sure = min(map(len, sides)) > 1 and min(sides[1]) >= max(sides[0]) * (1 + GREAT_GROWTH)
    return GrownFigure(name, _find_mean(before), _find_mean(now), is_sure)


def _find_mean(amounts: Sequence[float | None]) -> float:
    """The mean; 0 if one is unknown."""
    known = [each for each in amounts if each is not None]
    return round(fsum(known) / len(known), DIGITS) if known and len(known) == len(amounts) else 0.0


def _judge_change(
    baseline: ScenarioOutcome, current: ScenarioOutcome, policy: RegressionPolicy
) -> Change | UndecidedChange:
    """Applies the policy's rule, and a test of the trials if there are enough of them."""
    if current.is_unmeasured:
        return Change("inconclusive", NOT_MEASURED)
    if baseline.verdict == current.verdict and baseline.score == current.score:
        return Change("unchanged", _format_verdicts(baseline, current))
    was_passing, is_passing = baseline.verdict == "PASS", current.verdict == "PASS"
    if was_passing != is_passing:
        return _judge_flip(baseline, current, policy, "fixed" if is_passing else "broken")
    is_unjudged = bool({baseline.verdict, current.verdict} & NOT_EVALUATED)
    if is_unjudged or baseline.score is None or current.score is None:
        return Change("unchanged", _format_verdicts(baseline, current))
    score_text = f"score {format_change(baseline.score, current.score)}"
    delta = round(current.score - baseline.score, DIGITS)
    if abs(delta) <= round(policy.threshold, DIGITS):
        return Change("unchanged", f"{_format_verdicts(baseline, current)}{f', {score_text}' if delta else ''}")
    is_moved = sum(baseline.passed) * len(current.passed) != sum(current.passed) * len(baseline.passed)
    reason = f"{_format_passes(baseline, current)}, {score_text}" if is_moved else score_text
    return run_score_test(Change("improved" if delta > 0 else "regressed", reason), baseline, current, policy)


def _format_verdicts(baseline: ScenarioOutcome, current: ScenarioOutcome) -> str:
    if baseline.verdict == current.verdict:
        return f"{format_verdict(current.verdict)} as before"
    return f"{format_verdict(baseline.verdict)} -> {format_verdict(current.verdict)}"


def _judge_flip(
    baseline: ScenarioOutcome, current: ScenarioOutcome, policy: RegressionPolicy, kind: ChangeKind
) -> Change | UndecidedChange:
    """A scenario that passes on one side only; if this run did not judge it, there is nothing to test."""
    if current.verdict in NOT_EVALUATED:
        return Change(kind, _format_verdicts(baseline, current))
    return run_flip_test(Change(kind, _format_passes(baseline, current)), baseline, current, policy)


def _format_passes(baseline: ScenarioOutcome, current: ScenarioOutcome) -> str:
    before, now = (f"{sum(each.passed)} of {len(each.passed)}" for each in (baseline, current))
    return f"passed {before} before, {now} now"


def estimate_false_alarm(
    baseline: ScenarioOutcome, current: ScenarioOutcome, policy: RegressionPolicy, alpha: float
) -> float:
    """Chance that this scenario is reported as broken or fixed if nothing changed; at most, as verdicts must flip too.

    At the pass rate of both sides together: the probability of the tables that the test rejects at `alpha`, and of a
    complete reversal. For more trials than Boschloo's test is computed for, Fisher's, given how many passed; with pairs
    the probability of McNemar's, given how many pairs changed.
    """
    if policy.pair_by is not None:
        lost, won = count_flips(baseline, current, pair_trials(baseline.trials, current.trials))
        return mcnemar_tail(lost + won, alpha)
    passed, before, now = sum(baseline.passed) + sum(current.passed), len(baseline.passed), len(current.passed)
    if choose_flip_test(before, now) == "Fisher":
        return fisher_tail(passed, before, now, alpha)
    rate = passed / (before + now)
    tail = rejected_tables(before, now, alpha).probability(rate)
    if reports_reversals(policy) and flip_p(before, before, 0, now) > alpha:
        tail += rate**before * (1 - rate) ** now + (1 - rate) ** before * rate**now
    return round(tail, DIGITS)


@lru_cache(maxsize=4096)
def fisher_tail(passed: int, a_total: int, b_total: int, alpha: float) -> float:
    """Chance of a split with Fisher's p <= `alpha`, if both sides pass equally often and `passed` in all."""
    weights = sorted(likelihoods(passed, a_total, b_total).values())
    total, reached, tail = fsum(weights), 0.0, 0.0
    for position, weight in enumerate(weights, 1):
        reached += weight
        if position < len(weights) and weights[position] <= weight * (1 + 1e-9):
            continue  # tables as likely as this one share its p-value
        if round(reached / total, DIGITS) > alpha:
            break
        tail = reached / total
    return tail


def mcnemar_tail(changed: int, alpha: float) -> float:
    """Chance of McNemar's p <= `alpha`, if each of `changed` pairs went either way with equal chance."""
    extreme = bisect_right(range(changed // 2 + 1), alpha, key=lambda one_way: mcnemar(one_way, changed - one_way))
    return mcnemar(extreme - 1, changed - extreme + 1) if extreme else 0.0


def _list_lost_limits(lost: Sequence[LostFigure], policy: RegressionPolicy) -> Iterator[str]:
    """A limit on what no trial records any more counts as exceeded."""
    limits = {COST: policy.cost, LATENCY: policy.latency, TOKENS: policy.tokens}
    for each in lost:
        limit = limits.get(each.name)
        if limit is not None and each.is_gone:
            yield f"{each.name} no longer recorded (limit {format_share(limit.max_increase)})"


def find_increases(baseline: ScenarioOutcome, current: ScenarioOutcome, policy: RegressionPolicy) -> list[str]:
    """One entry for each amount over its limit, like `cost +35% (limit +20%)`.

    Compared only if the policy sets a limit, over the trials that record the amount: unknown is not 0.
    If the policy requires evidence, the trials of both sides must differ significantly (p <= alpha).
    """
    if policy.cost is policy.latency is policy.tokens is None:
        return []
    amounts = (
        *(("cost", policy.cost, before, now) for before, now in _list_costs(baseline, current)),
        ("latency", policy.latency, baseline.latencies, current.latencies),
        ("tokens", policy.tokens, baseline.tokens, current.tokens),
    )
    entries = (
        _explain_increase(name, limit, before, now)
        for name, limit, before, now in amounts
        if limit is not None and (not policy.require_evidence or _is_evident(before, now, policy.alpha))
    )
    return [entry for entry in entries if entry is not None]


def _list_costs(
    baseline: ScenarioOutcome, current: ScenarioOutcome
) -> list[tuple[Sequence[float | None], Sequence[float | None]]]:
    """The costs of both sides; where they were obtained in several ways, those of each way that both sides have."""
    before, now = baseline.cost_origins, current.cost_origins
    if before is None or now is None:
        return [(baseline.costs, current.costs)]
    return [
        (_select_costs(baseline.costs, before, origin), _select_costs(current.costs, now, origin))
        for origin in dict.fromkeys(before)
        if origin is not None and origin in now
    ]


def _select_costs(costs: Sequence[float | None], origins: Sequence[str | None], wanted: str) -> Sequence[float | None]:
    return [cost for cost, origin in zip(costs, origins, strict=True) if origin == wanted]


def _is_evident(baseline: Sequence[float | None], current: Sequence[float | None], alpha: float) -> bool:
    before, now = ([value for value in side if value is not None] for side in (baseline, current))
    return min(len(before), len(now)) > 1 and permutation_p(before, now) <= alpha


def _explain_increase(
    name: str, limit: IncreaseLimit, baseline: Sequence[float | None], current: Sequence[float | None]
) -> str | None:
    baseline_mean, current_mean = (
        mean_amount([amount for amount in side if amount is not None]) for side in (baseline, current)
    )
    if baseline_mean is None or current_mean is None or current_mean <= baseline_mean:
        return None
    allowed = format_share(limit.max_increase)
    if baseline_mean <= 0:
        return f"{name} {baseline_mean:g} -> {current_mean:g} (limit {allowed})"
    growth = round(current_mean / baseline_mean - 1, DIGITS)
    if growth <= round(limit.max_increase, DIGITS):
        return None
    shown = format_share(growth)
    return f"{name} {format_share(growth, digits=9) if shown == allowed else shown} (limit {allowed})"
