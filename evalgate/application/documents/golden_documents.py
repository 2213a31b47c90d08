"""Reads goldens of a finished run back from its results document."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalgate.models.run.evaluation import Issue, TurnResult
from evalgate.models.run.golden import Golden
from evalgate.models.run.golden_result import GoldenResult, GoldenTrial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ScenarioDoc, TrialDoc
    from evalgate.models.results.results_golden import GoldenDoc, IssueDoc, TurnDoc
    from evalgate.models.run.evaluation import IssueCategory, Level, Severity


def golden_result_of(scenario: ScenarioDoc) -> GoldenResult | None:
    """A golden's result over its trials, before any comparison; None for other scenarios."""
    said = scenario.get("golden")
    if said is None:
        return None
    return GoldenResult(
        golden_in(said),
        scenario["dimensions"] or {},
        cast("Level | None", said["level"]),
        issues_in(said["issues"]),
        said["turns"],
    )


def golden_trial_of(trial: TrialDoc, scenario: ScenarioDoc) -> GoldenTrial | None:
    """The result of one trace against its golden; None if there is no golden."""
    said, golden = trial.get("golden"), scenario.get("golden")
    if said is None or golden is None:
        return None
    issues = issues_in(said["issues"])
    return GoldenTrial(
        said["dimensions"],
        [_turn(each, at, golden, issues) for at, each in enumerate(said["turns"])],
        issues,
        [each["number"] for each in said["turns"]],
        [at for at, each in enumerate(said["turns"]) if each["is_missing"]],
    )


def golden_in(said: GoldenDoc) -> Golden:
    """The golden, as far as the document keeps it."""
    return Golden(
        id=said["id"],
        title=said["title"],
        description=said["description"],
        conversation_id=said["conversation_id"],
        intent=said["intent"],
        primary_stance=said["primary_stance"],
        secondary_stances=tuple(said["secondary_stances"]),
        required_memory_recall=tuple(said["required_memory_recall"]),
        required_tool_usage=tuple(said["required_tool_usage"]),
        required_refusal=tuple(said["required_refusal"]),
        user_messages=tuple(said["user_messages"]),
        golden_responses=tuple(said["golden_responses"]),
        tags=tuple(said["tags"]),
        creator=said["creator"],
        version=said["version"],
    )


def issues_in(said: Sequence[IssueDoc]) -> list[Issue]:
    """Issues as reported."""
    return [
        Issue(
            cast("IssueCategory", each["category"]),
            cast("Severity", each["severity"]),
            each["message"],
            each["evidence"],
            each["turn"],
        )
        for each in said
    ]


def _turn(said: TurnDoc, at: int, golden: GoldenDoc, issues: Sequence[Issue]) -> TurnResult:
    number, own = said["number"], tuple(issue for issue in issues if issue.turn == at)
    responses = golden["golden_responses"]
    return TurnResult(
        said["user_message"],
        said["actual_response"],
        responses[number] if number is not None and number < len(responses) else None,
        said["scores"],
        latency_ms=said["latency_ms"],
        tokens=said["tokens"],
        cost=said["cost_usd"],
        retrieved_memories=tuple(said["retrieved_memories"]),
        tools_invoked=tuple(said["tools_invoked"]),
        tool_results=tuple(said["tool_results"]),
        issues=own,
        evidence=tuple(issue.evidence for issue in own if issue.evidence),
    )
