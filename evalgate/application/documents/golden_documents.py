"""Reads goldens of a finished run back from its results document."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalgate.models.run.golden import Golden, GoldenResult, GoldenTrial, Issue, TurnResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ScenarioDoc, TrialDoc
    from evalgate.models.results.results_golden import GoldenDoc, IssueDoc, TurnDoc
    from evalgate.models.run.golden import IssueCategory, Level, Severity


def golden_result_of(scenario: ScenarioDoc) -> GoldenResult | None:
    """A golden's result over its trials, before any comparison; None for other scenarios."""
    document = scenario.get("golden")
    if document is None:
        return None
    return GoldenResult(
        golden_in(document),
        scenario["dimensions"] or {},
        cast("Level | None", document["level"]),
        issues_in(document["issues"]),
        document["turns"],
    )


def golden_trial_of(trial: TrialDoc, scenario: ScenarioDoc) -> GoldenTrial | None:
    """The result of one trace against its golden; None if there is no golden."""
    document, golden = trial.get("golden"), scenario.get("golden")
    if document is None or golden is None:
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
    return Golden(
        id=document["id"],
        title=document["title"],
        description=document["description"],
        conversation_id=document["conversation_id"],
        intent=document["intent"],
        primary_stance=document["primary_stance"],
        secondary_stances=tuple(document["secondary_stances"]),
        required_memory_recall=tuple(document["required_memory_recall"]),
        required_tool_usage=tuple(document["required_tool_usage"]),
        required_refusal=tuple(document["required_refusal"]),
        user_messages=tuple(document["user_messages"]),
        golden_responses=tuple(document["golden_responses"]),
        tags=tuple(document["tags"]),
        creator=document["creator"],
        version=document["version"],
    )


def issues_in(documents: Sequence[IssueDoc]) -> list[Issue]:
    """Issues as reported."""
    return [
        Issue(
            cast("IssueCategory", each["category"]),
            cast("Severity", each["severity"]),
            each["message"],
            each["evidence"],
            each["turn"],
        )
        for each in documents
    ]


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
