"""Small builders for tests of scoring and gate: a run in one line, everything else at its default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.files.disk_spool import DiskSpool
from evalgate.application.documents.trial_store import TrialStore
from evalgate.models.comparison.comparison import ScenarioKey, ScenarioOutcome
from evalgate.models.run.run import AssertionResult, Run, ScenarioResult, SuiteResult, TraceRef, TrialResult
from evalgate.models.run.trial_doc import Recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.run.run import Outcome, Required, StoredTrial, TrialStatus, Verdict

SCORES: dict[str, float | None] = {
    "passed": 1.0,
    "failed": 0.0,
    "hard_fail": 0.0,
    "error": 0.0,
    "not_evaluable": None,
    "not_measured": None,
}
STATUSES: dict[str, TrialStatus] = {
    "PASS": "passed",
    "PARTIAL": "failed",
    "FAIL": "failed",
    "HARD_FAIL": "hard_fail",
    "ERROR": "error",
    "NOT_EVALUABLE": "not_evaluable",
}


def make_assertion(
    outcome: Outcome = "passed",
    score: float | None = None,
    *,
    weight: float = 1.0,
    required: Required = False,
    counts: bool = True,
    name: str = "check",
    reason: str = "as it is",
    check_type: str = "jmespath",
) -> AssertionResult:
    """One assertion; its score is 1 where it passed and 0 elsewhere unless given."""
    shown = float(outcome == "passed") if score is None else score
    return AssertionResult(name, check_type, outcome, shown, weight, required, reason, counts=counts)


def make_trial(
    status: TrialStatus = "passed",
    score: float | None = None,
    *,
    number: int = 0,
    assertions: Sequence[AssertionResult] = (),
    cost_usd: float | None = None,
    latency_seconds: float | None = None,
    total_tokens: int | None = None,
    reason: str | None = None,
) -> TrialResult:
    """One trial; its score follows from the status unless given."""
    return TrialResult(
        number,
        TraceRef(f"t{number}", f"traces/t{number}.json", "native", None),
        status,
        SCORES[status] if score is None else score,
        list(assertions),
        cost_usd=cost_usd,
        latency_seconds=latency_seconds,
        total_tokens=total_tokens,
        reason=reason,
    )


def make_scenario(
    verdict: Verdict = "PASS",
    scenario_id: str = "s1",
    *,
    trials: Sequence[TrialResult] | None = None,
    variant: str | None = None,
    reason: str | None = None,
) -> ScenarioResult:
    """One scenario; one trial that fits the verdict unless trials are given."""
    if trials is None:
        trials = [] if verdict == "MISSING" else [make_trial(STATUSES[verdict])]
    known = [trial.score for trial in trials if trial.score is not None]
    score = sum(known) / len(known) if known else None
    return ScenarioResult(scenario_id, verdict, score, 0.8, list(trials), variant=variant, reason=reason)


def make_suite(
    *scenarios: ScenarioResult, name: str = "support", skipped: int = 0, traces: int | None = None
) -> SuiteResult:
    """One suite of the given scenarios."""
    count = sum(len(scenario.trials) for scenario in scenarios) if traces is None else traces
    return SuiteResult(name, f"evals/{name}.yaml", list(scenarios), skipped=skipped, traces=count)


def make_run(*scenarios: ScenarioResult) -> Run:
    """A run of one suite."""
    return Run([make_suite(*scenarios)])


def make_scenario_outcome(
    verdict: Verdict = "PASS",
    scores: Sequence[float | None] = (1.0,),
    *,
    passed: Sequence[bool] | None = None,
    scenario_id: str = "s1",
    costs: Sequence[float | None] = (),
    latencies: Sequence[float | None] = (),
    tokens: Sequence[int | None] = (),
    first_trial: int = 0,
    unmeasured: int = 0,
) -> ScenarioOutcome:
    """One scenario as a comparison sees it; trials of score 0.8 and more passed unless `passed` is given."""
    known = [score for score in scores if score is not None]
    count = max(map(len, (scores, costs, latencies, tokens)))
    figures = [[*each, *[None] * (count - len(each))] for each in (costs, latencies, tokens)]
    return ScenarioOutcome(
        ScenarioKey("support", scenario_id, None),
        verdict,
        sum(known) / len(known) if known else None,
        [score is not None and score >= 0.8 for score in scores] if passed is None else list(passed),
        list(scores),
        *figures,
        list(range(first_trial, first_trial + len(scores))),
        unmeasured,
        [Recorded()] * count,
    )


def store_trials(trials: Sequence[TrialResult]) -> list[StoredTrial]:
    """Stores the trials as a run does."""
    return [*map(TrialStore(DiskSpool()).keep, trials)]
