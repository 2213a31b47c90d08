"""Reads goldens of a finished run back from its results, and makes an evaluation of each judged trace.

Texts of the document are redacted and bounded, so those of the evaluations are too.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evalgate.gate.comparison.golden_changes import regression_status
from evalgate.measures.numeric.means import mean_amount
from evalgate.models.run.golden import (
    EvaluationStatistics,
    Golden,
    GoldenEvaluation,
    GoldenResult,
    GoldenTrial,
    Issue,
    TurnResult,
)
from evalgate.scoring.golden.rules import level, mean_over_turns, reaches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.results.results_statistics import GoldenDoc
    from evalgate.models.run.golden import RegressionStatus
    from evalgate.models.run.trial_doc import IssueDoc, TrialDoc, TurnDoc


def golden_result_of(scenario: ScenarioDoc) -> GoldenResult | None:
    """A golden's result over its trials, before any comparison; None for other scenarios."""
    document = scenario.get("golden")
    if document is None:
        return None
    return GoldenResult(
        golden_in(document),
        scenario["dimensions"] or {},
        document["level"],
        issues_in(document["issues"]),
        document["turns"],
    )


def golden_trial_of(trial: TrialDoc, scenario: ScenarioDoc) -> GoldenTrial | None:
    """The result of one trace against its golden; None if there is no golden."""
    document, golden = trial.golden, scenario.get("golden")
    if not document or golden is None:
        return None
    issues = issues_in(document["issues"])
    return GoldenTrial(
        document["dimensions"],
        [_turn(each, at, golden, issues) for at, each in enumerate(document["turns"])],
        issues,
        [each["number"] for each in document["turns"]],
        [at for at, each in enumerate(document["turns"]) if each["is_missing"]],
        document["conversation_id"],
    )


def golden_in(document: GoldenDoc) -> Golden:
    """The golden, as far as the document holds it."""
    fields: dict[str, Any] = {name: value for name, value in document.items() if name in Golden.__match_args__}
    fields |= {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Golden(**fields)


def issues_in(documents: Sequence[IssueDoc]) -> list[Issue]:
    """Issues as reported."""
    return [Issue(**each) for each in documents]


def _turn(document: TurnDoc, at: int, golden: GoldenDoc, issues: Sequence[Issue]) -> TurnResult:
    number, own = document["number"], tuple(issue for issue in issues if issue.turn == at)
    responses = golden["golden_responses"]
    return TurnResult(
        document["user_message"],
        document["actual_response"],
        responses[number] if number is not None and number < len(responses) else None,
        document["scores"],
        latency_ms=document["latency_ms"],
        tokens=document["tokens"],
        cost=document["cost_usd"],
        retrieved_memories=tuple(document["retrieved_memories"]),
        tools_invoked=tuple(document["tools_invoked"]),
        tool_results=tuple(document["tool_results"]),
        issues=own,
        evidence=tuple(issue.evidence for issue in own if issue.evidence),
    )


JUDGE = "evalgate"


def evaluations_of(document: ResultsDoc, run_id: str | None = None) -> list[GoldenEvaluation]:
    """One evaluation for each trial of each golden, in document order."""
    return [
        replace(_evaluation(document, suite["suite"], scenario, trial, found), run_id=run_id)
        for suite in document["suites"]
        for scenario in suite["scenarios"]
        for trial in scenario["trials"]
        if (found := golden_trial_of(trial, scenario)) is not None
    ]


def goldens_of(document: ResultsDoc) -> list[Golden]:
    """The judged goldens, each once, as far as the document holds them."""
    found: dict[str, Golden] = {}
    for suite in document["suites"]:
        for scenario in suite["scenarios"]:
            golden = scenario.get("golden")
            if golden is not None:
                found.setdefault(golden["id"], golden_in(golden))
    return list(found.values())


def _evaluation(
    document: ResultsDoc, suite: str, scenario: ScenarioDoc, trial: TrialDoc, found: GoldenTrial
) -> GoldenEvaluation:
    golden = scenario["golden"]
    score = trial.score if trial.status not in ("error", "not_evaluable") else None
    return GoldenEvaluation(
        id="",
        golden_id=golden["id"],
        golden_version=golden["version"],
        suite=suite,
        overall_score=score,
        level=None if score is None else level(score),
        dimensions=found.dimensions,
        statistics=statistics_of(trial, found, scenario["threshold"]),
        evaluated_by=f"{JUDGE} {document['evalgate_version']}",
        evaluated_at=datetime.fromisoformat(document["created_at"]),
        trial=trial.trial,
        trace_id=trial.trace.id,
        trace_sha256=trial.trace.sha256,
        turns=tuple(found.turns),
        issues=tuple(found.issues),
        regression_status=_status(scenario, score),
        previous_score=golden["previous_score"],
        conversation_id=found.conversation_id,
    )


def _status(scenario: ScenarioDoc, score: float | None) -> RegressionStatus | None:
    """A single trial has the status of its scenario; one of several is rated by its own score."""
    if score is None:
        return None
    if scenario["n"] == 1:
        return scenario["golden"]["regression_status"]
    return regression_status(score, None, scenario["threshold"])


def statistics_of(trial: TrialDoc, found: GoldenTrial, passing_score: float) -> EvaluationStatistics:
    """The statistics of one conversation."""
    turns = len(found.turns)
    latencies = [each.latency_ms for each in _actual_turns(found)]
    whole = trial.latency_seconds
    mean = mean_amount(latencies)
    if mean is None and whole is not None and _actual_turns(found):
        mean = whole * 1000 / len(_actual_turns(found))
    return EvaluationStatistics(
        total_turns=turns,
        avg_latency_ms=mean,
        total_tokens=trial.total_tokens,
        total_cost=trial.cost_usd,
        issue_count=len(found.issues),
        critical_issue_count=sum(issue.severity == "critical" for issue in found.issues),
        pass_rate=_pass_rate([each.scores for each in found.turns], passing_score),
    )


def _actual_turns(found: GoldenTrial) -> list[TurnResult]:
    return [turn for at, turn in enumerate(found.turns) if at not in found.missing]


def _pass_rate(turns: Sequence[Mapping[str, float | None]], passing_score: float) -> float | None:
    """The share of scored turns whose mean reaches the passing score."""
    means = list(_mean_scores(turns))
    return sum(reaches(score, passing_score) for score in means) / len(means) if means else None


def _mean_scores(turns: Sequence[Mapping[str, float | None]]) -> Iterator[float]:
    for scores in turns:
        mean = mean_over_turns(list(scores.values()))
        if mean is not None:
            yield mean
