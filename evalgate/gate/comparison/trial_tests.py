"""Tests whether the trials of both sides support a change, and how many trials it would take to decide."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from evalgate.gate.comparison.significance import (
    choose_flip_test,
    flip_p,
    mcnemar,
    paired_permutation_p,
    pairs_for_scores,
    permutation_p,
    trials_for_scores,
)
from evalgate.gate.comparison.trials_that_decide import pairs_for_flip, trials_for_flip
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.comparison.comparison import MORE_TRIALS, SINGLE_TRIAL_CAVEAT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalgate.models.comparison.comparison import Change, ScenarioOutcome
    from evalgate.suite.policy import RegressionPolicy

MIN_TRIALS = 2
"""Trials a side, or pairs of them, that a test needs."""
TOO_FEW_PAIRS = "fewer than two trials have the same number on both sides"


class UndecidedChange(Struct):
    """A change that was tested and is not decided yet.

    `trials_needed` gives the trials a side that would decide at an alpha, `corrected_p` is the corrected p.
    `is_reversal`: all trials of one side passed, and none of the other.
    """

    change: Change
    policy: RegressionPolicy
    test: str
    p: float
    trials_needed: Callable[[float], int | None]
    is_reversal: bool = False
    corrected_p: float | None = None


def run_flip_test(
    change: Change, baseline: ScenarioOutcome, current: ScenarioOutcome, policy: RegressionPolicy
) -> Change | UndecidedChange:
    """Tests a scenario that passes on one side only; decides at once if there are too few trials."""
    if min(len(baseline.passed), len(current.passed)) < MIN_TRIALS:
        return judge_single_trial(change, policy)
    if policy.pair_by is None:
        passes = _count_passes(baseline, current)
        needed = partial(trials_for_flip, *passes)
        is_reversal = {sum(side.passed) / len(side.passed) for side in (baseline, current)} == {0.0, 1.0}
        return UndecidedChange(
            change, policy, choose_flip_test(passes[1], passes[3]), flip_p(*passes), needed, is_reversal
        )
    pairs = pair_trials(baseline.trials, current.trials)
    if len(pairs) < MIN_TRIALS:
        return mark_inconclusive(change, TOO_FEW_PAIRS)
    lost, won = count_flips(baseline, current, pairs)
    needed = partial(pairs_for_flip, lost, won, len(pairs))
    return UndecidedChange(change, policy, "McNemar", mcnemar(lost, won), needed)


def run_score_test(
    change: Change, baseline: ScenarioOutcome, current: ScenarioOutcome, policy: RegressionPolicy
) -> Change | UndecidedChange:
    """Tests a score that moved without a flip; decides at once if there are too few trials."""
    baseline_scores = [score for score in baseline.scores if score is not None]
    current_scores = [score for score in current.scores if score is not None]
    few = min(len(baseline_scores), len(current_scores))
    if few < MIN_TRIALS:
        return judge_single_trial(change, policy)
    if policy.pair_by is None:
        passes = _count_passes(baseline, current)
        have_equal_rates = passes[0] * passes[3] == passes[2] * passes[1]
        by_scores = partial(_if_more_needed, few, trials_for_scores)
        needed = by_scores if have_equal_rates else partial(trials_for_flip, *passes)
        return UndecidedChange(change, policy, "permutation", permutation_p(baseline_scores, current_scores), needed)
    differences = _score_differences(baseline, current)
    if len(differences) < MIN_TRIALS:
        return mark_inconclusive(change, TOO_FEW_PAIRS)
    needed = partial(_if_more_needed, len(differences), pairs_for_scores)
    return UndecidedChange(change, policy, "paired permutation", paired_permutation_p(differences), needed)


def _count_passes(baseline: ScenarioOutcome, current: ScenarioOutcome) -> tuple[int, int, int, int]:
    """The trials that passed on each side, each with how many there are."""
    return sum(baseline.passed), len(baseline.passed), sum(current.passed), len(current.passed)


def judge_single_trial(change: Change, policy: RegressionPolicy) -> Change:
    """One trial on a side: the rule decides and notes that, or required evidence is missing."""
    change = replace(change, flags=["single_trial"])
    if policy.require_evidence:
        needed = trials_for_scores if policy.pair_by is None else pairs_for_scores
        return ask_for_trials(change, needed(policy.alpha))
    return replace(change, reason=f"{change.reason}{SINGLE_TRIAL_CAVEAT}")


def mark_inconclusive(change: Change, explanation: str) -> Change:
    """The change as inconclusive: there is too little evidence."""
    reason = f"{change.reason}: {explanation}" if explanation else change.reason
    return replace(change, kind="inconclusive", reason=reason)


def ask_for_trials(change: Change, trials: int | None) -> Change:
    """The change as inconclusive, with the number of trials a side that would decide."""
    return replace(mark_inconclusive(change, format_advice(trials)), trials_needed=trials)


def format_advice(trials: int | None) -> str:
    """How many trials a side would be enough; nothing where more would hardly help (None)."""
    return "" if trials is None else f"{MORE_TRIALS}{trials} trials on each side (`--trials {trials}`) to be sure"


def apply_corrections(found: Iterable[UndecidedChange], families: Mapping[str, int]) -> None:
    """Sets `corrected_p` if a policy asks for it: over all scenarios of the run with the same correction.

    `families` counts the tested scenarios of each correction, including those that did not move.
    """
    by_word: dict[str, list[UndecidedChange]] = {}
    for each in found:
        by_word.setdefault(each.policy.correction, []).append(each)
    by_word.pop(NO_CORRECTION, None)
    for word, members in by_word.items():
        p_values = correct_p_values([each.p for each in members], families[word], word)
        for each, p in zip(members, p_values, strict=True):
            each.corrected_p = p


def decide_change(found: UndecidedChange, families: Mapping[str, int]) -> Change:
    """Decides a change by its test and policy; `families` counts the tested scenarios by correction."""
    p = found.p if found.corrected_p is None else found.corrected_p
    change = replace(found.change, test=found.test, p_value=found.p, p_corrected=found.corrected_p)
    if p <= found.policy.alpha:
        return change
    if found.is_reversal and reports_reversals(found.policy):
        return replace(change, flags=["few_trials"])
    return ask_for_trials(change, found.trials_needed(corrected_alpha(found.policy, families)))


def reports_reversals(policy: RegressionPolicy) -> bool:
    """Whether all against none is a change however few the trials, as it is with one trial.

    Not where the policy asks for evidence, corrects for many scenarios, or pairs the trials.
    """
    return not policy.require_evidence and policy.correction == NO_CORRECTION and policy.pair_by is None


def can_be_tested(baseline: ScenarioOutcome, current: ScenarioOutcome, policy: RegressionPolicy) -> bool:
    """Whether both sides have enough trials for a test."""
    if min(len(baseline.passed), len(current.passed)) < MIN_TRIALS:
        return False
    return policy.pair_by is None or len(pair_trials(baseline.trials, current.trials)) >= MIN_TRIALS


def pair_trials(baseline: Sequence[int], current: Sequence[int]) -> list[tuple[int, int]]:
    """Indexes of the trials that have the same number on both sides."""
    baseline_indexes = {number: index for index, number in enumerate(baseline)}
    return [(baseline_indexes[number], index) for index, number in enumerate(current) if number in baseline_indexes]


def count_flips(
    baseline: ScenarioOutcome, current: ScenarioOutcome, pairs: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """How many pairs passed only in the baseline, and only in this run."""
    found = [(baseline.passed[old], current.passed[new]) for old, new in pairs]
    return found.count((True, False)), found.count((False, True))


def _score_differences(baseline: ScenarioOutcome, current: ScenarioOutcome) -> list[float]:
    pairs = pair_trials(baseline.trials, current.trials)
    found = [(baseline.scores[old], current.scores[new]) for old, new in pairs]
    return [now - before for before, now in found if before is not None and now is not None]


def _if_more_needed(recorded: int, needed: Callable[[float], int], alpha: float) -> int | None:
    """The trials needed if fewer were recorded; else None: more would not help."""
    trials = needed(alpha)
    return trials if recorded < trials else None


NO_CORRECTION = "none"


def corrected_alpha(policy: RegressionPolicy, families: Mapping[str, int]) -> float:
    """The p-value that is always enough: alpha, divided by the family's size if there is a correction."""
    if policy.correction == NO_CORRECTION:
        return policy.alpha
    return policy.alpha / max(families.get(policy.correction, 1), 1)


def correct_p_values(p_values: Sequence[float], family: int, correction: str) -> list[float]:
    """Adjusts each p-value: to the smallest alpha at which it is significant among so many.

    `family` counts all tested scenarios; those whose p-value is not given count as 1, which errs on the side
    of caution. `holm`: S. Holm, "A simple sequentially rejective multiple test procedure" (1979); the chance
    of any false alarm in the run stays below alpha. `bh`: Y. Benjamini and Y. Hochberg, "Controlling the
    false discovery rate" (1995); the share of false ones among the alarms stays below alpha.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    if correction == "holm":
        worst = 0.0
        for rank, index in enumerate(order):
            worst = max(worst, p_values[index] * (family - rank))
            adjusted[index] = worst
    else:
        best = 1.0
        for rank, index in reversed(list(enumerate(order, 1))):
            best = min(best, p_values[index] * family / rank)
            adjusted[index] = best
    return [round(min(p, 1.0), DIGITS) for p in adjusted]
