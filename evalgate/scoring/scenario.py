"""Scores one trace by its assertions, and judges a scenario over its trials by the first rule that applies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from evalgate.measures.numeric.estimates import wilson_interval
from evalgate.measures.numeric.means import DIGITS, mean_score, weighted_mean
from evalgate.models.run.golden import is_unjudged_dimension
from evalgate.models.run.run import RunStatus  # noqa: TC001  (a field of a struct)
from evalgate.models.run.trials import list_measured, summarize
from evalgate.scoring.wording import (
    below_threshold,
    cut_quote,
    explain_always_failed,
    explain_errors,
    explain_hard_fail,
    explain_not_measured,
    of_trials,
    too_few_passed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.run.run import AssertionResult, Trial, TrialStatus, Verdict

SCORED = frozenset({"passed", "failed"})
"""Outcomes whose score enters the mean; an assertion that could not be checked enters it as 0."""
ACCEPTED = frozenset({"passed", "skipped"})
"""Outcomes that a required assertion may have."""


def score_trial(assertions: Sequence[AssertionResult], threshold: float) -> tuple[TrialStatus, float | None]:
    """Status and score in [0, 1] of one trace; the score is None if nothing is left to score.

    `skipped` is left out, and so is `not_evaluable` if its suite excludes it (`counts` is False). A trial
    that ended in an error scores 0, whatever else it got right.
    """
    scores, weights, failed_required = [], [], []
    is_perfect = True
    for found in assertions:
        outcome, score = found.outcome, found.score
        if outcome != "passed":
            if found.required and outcome not in ACCEPTED:
                failed_required.append(outcome)
            if outcome == "skipped" or not found.counts:
                continue
            if outcome not in SCORED:
                score = 0.0
        if score != 1:
            is_perfect = False
        scores.append(score)
        weights.append(found.weight)
    mean = 1.0 if is_perfect and any(weights) else weighted_mean(scores, weights)
    if "error" in failed_required:
        return "error", 0.0
    if failed_required:
        return "hard_fail", mean
    if mean is None:
        return "not_evaluable", None
    return ("passed" if mean >= round(threshold, DIGITS) else "failed"), mean


NO_TRACE = "no trace was recorded for it"
NO_DIMENSION = "the trace has no evidence for any dimension of the golden"


class TrialRules(Struct, frozen=True):
    """What a scenario demands of its trials.

    `min` trials at least; `min_pass_rate` a share in [0, 1]; `min_pass_k` (k, of): k passes in `of` trials,
    in proportion if more were recorded. `allow_errors` lets unreadable trials count as 0 instead of ending
    in ERROR; `optional` lets the scenario have no trace. `run_status` says how a run must end: `ok` fails a trial
    whose run ended in an error. `opaque` are names of agents of which nothing needs to be recorded.
    """

    min: int = 1
    min_pass_rate: float | None = None
    min_pass_k: tuple[int, int] | None = None
    allow_errors: bool = False
    optional: bool = False
    run_status: RunStatus = "ok"
    opaque: tuple[str, ...] = ()

    @property
    def has_pass_rate(self) -> bool:
        """Whether a pass rate decides how many trials may fail, also by required assertions."""
        return self.min_pass_rate is not None or self.min_pass_k is not None

    @property
    def may_fail_trials(self) -> bool:
        """Whether some trials may fail at that pass rate."""
        k, of = self.min_pass_k or (0, 1)
        return self.has_pass_rate and max(self.min_pass_rate or 0.0, k / of) < 1

    def count_needed(self, total: int) -> int:
        """How many of so many measured trials must pass, by the pass rate."""
        rate = round(self.min_pass_rate or 0.0, DIGITS)
        by_rate = next(passed for passed in range(total + 1) if round(passed / total, DIGITS) >= rate)
        return max(by_rate, _required_passes(self.min_pass_k, total) if self.min_pass_k else 0)


NO_DEMANDS = TrialRules()


class ScenarioJudgement(NamedTuple):
    """A scenario's verdict with its numbers; `reason` is None for a PASS.

    `passes_needed` is how many trials must pass, where some did and some did not, and a pass rate decides; else 0.
    """

    verdict: Verdict
    score: float | None
    pass_rate: float | None
    interval: tuple[float, float] | None
    reason: str | None
    passes_needed: int = 0


def judge_scenario(
    trials: Sequence[Trial], threshold: float, rules: TrialRules = NO_DEMANDS
) -> ScenarioJudgement | None:
    """The verdict over all measured trials; None if the scenario is optional and has none (it is skipped)."""
    if not trials:
        return None if rules.optional else ScenarioJudgement("MISSING", None, None, None, NO_TRACE)
    recorded, trials = trials, list_measured(trials)
    if not trials:
        return ScenarioJudgement("NOT_EVALUABLE", None, None, None, explain_not_measured(recorded))
    found, unmeasured = [trial.status for trial in trials], len(recorded) - len(trials)
    passed, total = found.count("passed"), len(trials)
    score = mean_score([trial.score for trial in trials if trial.score is not None])
    verdict: Verdict
    if "error" in found and not rules.allow_errors:
        verdict, reason = "ERROR", explain_errors(trials)
    elif failed := _find_hard_fail(trials, found, rules, unmeasured):
        verdict, reason = "HARD_FAIL", failed
    elif unmet := _find_unmet_demand(score, threshold, passed, total, rules, unmeasured):
        verdict, reason = ("PARTIAL" if passed else "FAIL"), unmet
    elif lacking := _find_missing_evidence(trials, found, rules, unmeasured):
        verdict, reason = "NOT_EVALUABLE", lacking
    else:
        verdict, reason = "PASS", None
    needed = rules.count_needed(total) if rules.has_pass_rate and 0 < passed < total else 0
    interval = wilson_interval(passed, total)
    return ScenarioJudgement(verdict, score, round(passed / total, DIGITS), interval, reason, needed)


def _find_hard_fail(trials: Sequence[Trial], found: Sequence[str], rules: TrialRules, unmeasured: int) -> str | None:
    """Why required assertions fail the scenario: one that always must pass, or in more trials than may fail.

    At a pass rate of 0 all but one may fail.
    """
    if "hard_fail" not in found and "error" not in found:
        return None
    if always := _list_always_failed(trials):
        return explain_always_failed(trials, always)
    if "hard_fail" not in found:
        return None
    if not rules.has_pass_rate:
        return explain_hard_fail(trials)
    passed, total = found.count("passed"), len(trials)
    unmet = _find_unmet_rate(passed, total, rules, unmeasured)
    if unmet is None and not passed and not unmeasured:
        unmet = too_few_passed(passed, total, "at least one")
    return f"{explain_hard_fail(trials)}, {unmet}" if unmet else None


def _list_always_failed(trials: Sequence[Trial]) -> list[tuple[int, int]]:
    """Trials in which a check that is always required did not pass: each index, and the check's among the failed."""
    return [
        (index, places[0])
        for index, trial in enumerate(trials)
        if (
            places := [
                at
                for at, each in enumerate(summarize(trial).failed)
                if each.required == "always" and each.outcome != "error"
            ]
        )
    ]


def _find_unmet_demand(
    score: float | None, threshold: float, passed: int, total: int, rules: TrialRules, unmeasured: int
) -> str | None:
    if score is not None and score < round(threshold, DIGITS):
        return below_threshold(score, threshold, passed, total)
    return _find_unmet_rate(passed, total, rules, unmeasured)


def _find_unmet_rate(passed: int, total: int, rules: TrialRules, unmeasured: int) -> str | None:
    """The rate that too few trials reach, even if those that an outage left unmeasured had passed."""
    if rules.min_pass_rate is not None and round(passed / total, DIGITS) < round(rules.min_pass_rate, DIGITS):
        return too_few_passed(passed, total, f"a pass rate of at least {rules.min_pass_rate:g}")
    if rules.min_pass_k is not None:
        k, of = rules.min_pass_k
        could_pass = min(unmeasured, max(0, of - total))
        if passed + could_pass < _required_passes(rules.min_pass_k, total):
            return too_few_passed(passed, total, f"at least {k} of {of}")
    return None


def _find_missing_evidence(
    trials: Sequence[Trial], found: Sequence[str], rules: TrialRules, unmeasured: int
) -> str | None:
    if "passed" not in found and "failed" not in found:
        return f"nothing could be evaluated{_first_reason(trials)}"
    also = f" (and {unmeasured} not measured)" if unmeasured else ""
    if len(trials) < rules.min:
        return f"expected at least {of_trials(rules.min)}, got {len(trials)}{also}"
    unmet = _find_unmet_rate(found.count("passed"), len(trials), rules, unmeasured=0)
    return unmet and f"{unmet}{also}"


def _required_passes(demand: tuple[int, int], total: int) -> int:
    """Passes that (k, of) demands of `total` trials: k up to `of` trials, then that share, rounded up."""
    k, of = demand
    return k if total <= of else -(-k * total // of)


def _first_reason(trials: Sequence[Trial]) -> str:
    unjudged = False
    for trial in trials:
        for found in trial.assertions:
            if is_unjudged_dimension(found.type, found.outcome):
                unjudged = True  # each dimension has a different reason
            elif found.outcome == "not_evaluable":
                return f": {cut_quote(found.reason)}"
    return f": {NO_DIMENSION}" if unjudged else ""
