"""Tests whether the trials of both sides support a change, and how many trials it would take to decide."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalgate.gate.common.wording import chance
from evalgate.gate.comparison.corrections import NONE, corrected, level
from evalgate.gate.comparison.paired_tests import (
    mcnemar,
    paired_permutation_p,
    pairs_for_flip,
    pairs_for_scores,
)
from evalgate.gate.comparison.significance import (
    fisher_exact,
    permutation_p,
    trials_for_flip,
    trials_for_scores,
)
from evalgate.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalgate.models.comparison.comparison import Change, ScenarioOutcome
    from evalgate.suite.policy import RegressionPolicy

NOISE = "noise can't be told from change"
SEVERAL = 2
"""Trials a side, or pairs of them, that a test needs."""
PAIRS_LACK = "fewer than two trials have the same number on both sides"


@dataclass(slots=True)
class Tested:
    """A change that was tested and is not decided yet.

    `trials_needed` gives the trials a side that would decide at an alpha, `corrected_p` is the corrected p.
    """

    change: Change
    policy: RegressionPolicy
    test: str
    p: float
    needed: Callable[[float], int | None]
    in_brackets: bool = False
    corrected: float | None = None


def tested_flip(
    change: Change, before: ScenarioOutcome, now: ScenarioOutcome, policy: RegressionPolicy
) -> Change | Tested:
    """Tests a scenario that passes on one side only; decides at once if there are too few trials."""
    old, new = (sum(before.passed), len(before.passed)), (sum(now.passed), len(now.passed))
    if min(old[1], new[1]) < SEVERAL:
        return single(change, policy)
    if policy.pair_by is None:
        needed = partial(trials_for_flip, *old, *new)
        return Tested(change, policy, "Fisher", fisher_exact(*old, *new), needed, in_brackets=True)
    pairs = paired(before.trials, now.trials)
    if len(pairs) < SEVERAL:
        return undecided(change, PAIRS_LACK)
    lost, won = flipped(before, now, pairs)
    needed = partial(pairs_for_flip, lost, won, len(pairs))
    return Tested(change, policy, "McNemar", mcnemar(lost, won), needed, in_brackets=True)


def tested_scores(
    change: Change, before: ScenarioOutcome, now: ScenarioOutcome, policy: RegressionPolicy
) -> Change | Tested:
    """Tests a score that moved without a flip; decides at once if there are too few trials."""
    old = [score for score in before.scores if score is not None]
    new = [score for score in now.scores if score is not None]
    few = min(len(old), len(new))
    if few < SEVERAL:
        return single(change, policy)
    if policy.pair_by is None:
        needed = partial(_if_more, few, trials_for_scores)
        return Tested(change, policy, "permutation", permutation_p(old, new), needed)
    moves = _moves(before, now)
    if len(moves) < SEVERAL:
        return undecided(change, PAIRS_LACK)
    needed = partial(_if_more, len(moves), pairs_for_scores)
    return Tested(change, policy, "paired permutation", paired_permutation_p(moves), needed)


def single(change: Change, policy: RegressionPolicy) -> Change:
    """One trial on a side: the rule decides and notes that, or required evidence is missing."""
    change = replace(change, flags=["single_trial"])
    if policy.require_evidence:
        needed = trials_for_scores if policy.pair_by is None else pairs_for_scores
        return undecided(change, advice(needed(policy.alpha)))
    return replace(change, reason=f"{change.reason}, single trial: {NOISE}")


def undecided(change: Change, why: str) -> Change:
    """The change as inconclusive: there is too little evidence."""
    return replace(change, kind="inconclusive", reason=f"{change.reason}: {why}")


def advice(trials: int | None) -> str:
    """How many trials a side would be enough; None: more would not help."""
    return NOISE if trials is None else f"needs {trials} trials a side to decide"


def correct(found: Iterable[Tested], families: Mapping[str, int]) -> None:
    """Sets `corrected_p` if a policy asks for it: over all scenarios of the run with the same correction.

    `families` counts the tested scenarios of each correction, including those that did not move.
    """
    by_word: dict[str, list[Tested]] = {}
    for each in found:
        by_word.setdefault(each.policy.correction, []).append(each)
    by_word.pop(NONE, None)
    for word, members in by_word.items():
        p_values = corrected([each.p for each in members], families[word], word)
        for each, p in zip(members, p_values, strict=True):
            each.corrected = p


def decided(found: Tested, families: Mapping[str, int]) -> Change:
    """Decides a change by its test and policy; `families` counts the tested scenarios by correction."""
    told = f"{found.test} p {chance(found.p)}"
    if found.corrected is not None:
        told = f"{told}, {chance(found.corrected)} by {found.policy.correction}"
    reason = f"{found.change.reason} ({told})" if found.in_brackets else f"{found.change.reason}, {told}"
    change = replace(found.change, reason=reason, p_value=found.p, p_corrected=found.corrected)
    p = found.p if found.corrected is None else found.corrected
    if p <= found.policy.alpha:
        return change
    return undecided(change, advice(found.needed(level(found.policy, families))))


def can_be_tested(before: ScenarioOutcome, now: ScenarioOutcome, policy: RegressionPolicy) -> bool:
    """Whether both sides have enough trials for a test."""
    if min(len(before.passed), len(now.passed)) < SEVERAL:
        return False
    return policy.pair_by is None or len(paired(before.trials, now.trials)) >= SEVERAL


def paired(before: Sequence[int], now: Sequence[int]) -> list[tuple[int, int]]:
    """Indexes of the trials that have the same number on both sides."""
    places = {number: place for place, number in enumerate(before)}
    return [(places[number], place) for place, number in enumerate(now) if number in places]


def flipped(
    before: ScenarioOutcome, now: ScenarioOutcome, pairs: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """How many pairs passed only in the baseline, and only in this run."""
    lost = sum(before.passed[old] and not now.passed[new] for old, new in pairs)
    won = sum(now.passed[new] and not before.passed[old] for old, new in pairs)
    return lost, won


def _moves(before: ScenarioOutcome, now: ScenarioOutcome) -> list[float]:
    found = [(before.scores[old], now.scores[new]) for old, new in paired(before.trials, now.trials)]
    return [new - old for old, new in found if old is not None and new is not None]


def _if_more(recorded: int, needed: Callable[[float], int], alpha: float) -> int | None:
    """The trials needed if fewer were recorded; else None: more would not help."""
    trials = needed(alpha)
    return trials if recorded < trials else None
