"""Metrics over several evaluations, schema `evalgate.metrics/1`.

Means are over the known values; a sum with an unknown part is null.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.features.store.reporting.dataset.golden_document import format_time
from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.models.goldens import METRICS_SCHEMA, PASSING_SCORE, SENTIMENTS
from evalgate.models.run.golden import CATEGORIES, DIMENSIONS, SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from evalgate.models.goldens import ExportedEvaluation
    from evalgate.models.run.golden import Golden, GoldenEvaluation, Issue

MAX_ISSUES = 10


class MetricsRequest(NamedTuple):
    """The period and suite that metrics are computed for."""

    since: datetime | None = None
    until: datetime | None = None
    suite: str | None = None


def compute_metrics(
    exported: Sequence[ExportedEvaluation], goldens: Sequence[Golden], request: MetricsRequest
) -> dict[str, Any]:
    """Computes the summary of evaluations, and of the goldens in the store."""
    evaluations = [each.evaluation for each in exported]
    turns = [turn for each in evaluations for turn in each.turns]
    statuses = Counter(each.regression_status for each in evaluations)
    document = {
        "schema": METRICS_SCHEMA,
        "period": _build_period(evaluations, request),
        "suite": request.suite,
        "totals": {
            "evaluations": len(evaluations),
            "goldens": len({each.golden_id for each in evaluations}),
            "turns": sum(each.statistics.total_turns for each in evaluations),
            **_count_outcomes(evaluations),
        },
        "avg_score": _compute_mean(each.overall_score for each in evaluations),
        "pass_rate": _compute_pass_rate(evaluations),
        "dimensions": {name: _compute_mean(each.dimensions.get(name) for each in evaluations) for name in DIMENSIONS},
        "by_intent": _group_by(exported, lambda each: each.golden.intent),
        "by_stance": _group_by(exported, lambda each: each.golden.stance),
        "by_tool": _group_by_tool(exported),
        "issues": _summarize_issues(evaluations),
        "regressions": statuses["degradation"],
        "improvements": statuses["improvement"],
        "avg_latency_ms": _compute_mean(turn.latency_ms for turn in turns),
        "tokens_per_turn": _compute_mean(turn.tokens for turn in turns),
        "cost_usd": _compute_sum(each.statistics.total_cost for each in evaluations),
        "feedback": _summarize_feedback(exported),
        "dataset": compute_dataset_statistics(goldens),
    }
    clean: dict[str, Any] = redact_value(document)
    return clean


def has_passed(evaluation: GoldenEvaluation) -> bool | None:
    """Whether it reached its passing score; None if nothing could be scored.

    A status `pass` or `fail` decides; with any other one the default passing score does.
    """
    if evaluation.overall_score is None:
        return None
    verdict = {"pass": True, "fail": False}.get(evaluation.regression_status or "")
    return evaluation.overall_score >= PASSING_SCORE if verdict is None else verdict


def _build_period(evaluations: Sequence[GoldenEvaluation], request: MetricsRequest) -> dict[str, str | None]:
    times = [each.evaluated_at for each in evaluations]
    bounds = {
        "since": request.since,
        "until": request.until,
        "first": min(times, default=None),
        "last": max(times, default=None),
    }
    return {name: None if moment is None else format_time(moment) for name, moment in bounds.items()}


def _count_outcomes(evaluations: Iterable[GoldenEvaluation]) -> dict[str, int]:
    outcomes = Counter(map(has_passed, evaluations))
    return {"passed": outcomes[True], "failed": outcomes[False], "not_evaluable": outcomes[None]}


def _compute_pass_rate(evaluations: Iterable[GoldenEvaluation]) -> float | None:
    return _compute_mean(ended for ended in map(has_passed, evaluations))


def _group_by(
    exported: Iterable[ExportedEvaluation], get_group: Callable[[ExportedEvaluation], str]
) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[GoldenEvaluation]] = defaultdict(list)
    for each in exported:
        groups[get_group(each)].append(each.evaluation)
    return {
        word: {
            "evaluations": len(group),
            **_count_outcomes(group),
            "avg_score": _compute_mean(each.overall_score for each in group),
            "pass_rate": _compute_pass_rate(group),
        }
        for word, group in sorted(groups.items())
    }


def _group_by_tool(exported: Iterable[ExportedEvaluation]) -> dict[str, dict[str, Any]]:
    """Counts the calls of each tool, and averages the scores of turns that called it."""
    calls: Counter[str] = Counter()
    scores: dict[str, list[float | None]] = defaultdict(list)
    for each in exported:
        for turn in each.evaluation.turns:
            calls.update(turn.tools_invoked)
            for tool in set(turn.tools_invoked):
                scores[tool].append(turn.scores.get("tool_success_rate"))
    return {
        redact(tool): {
            "calls": calls[tool],
            "turns": len(scores[tool]),
            "avg_tool_success_rate": _compute_mean(scores[tool]),
        }
        for tool in sorted(calls)
    }


def _summarize_issues(evaluations: Iterable[GoldenEvaluation]) -> dict[str, Any]:
    found = [issue for each in evaluations for issue in list_issues(each)]
    categories, severities = Counter(i.category for i in found), Counter(i.severity for i in found)
    occurrences = Counter((issue.severity, issue.category, issue.message) for issue in found)
    gravest = sorted(occurrences, key=lambda one: (-SEVERITIES.index(one[0]), -occurrences[one], one[1], one[2]))
    return {
        "by_category": {word: categories[word] for word in CATEGORIES if categories[word]},
        "by_severity": {word: severities[word] for word in SEVERITIES if severities[word]},
        "top": [
            {"severity": one[0], "category": one[1], "message": one[2], "count": occurrences[one]}
            for one in gravest[:MAX_ISSUES]
        ],
    }


def list_issues(evaluation: GoldenEvaluation) -> list[Issue]:
    """Lists the issues of the turns and of the conversation, each once."""
    turn_issues = [
        issue if issue.turn is not None else issue._replace(turn=number)
        for number, turn in enumerate(evaluation.turns)
        for issue in turn.issues
    ]
    return [*turn_issues, *(issue for issue in evaluation.issues if issue not in turn_issues)]


def _summarize_feedback(exported: Iterable[ExportedEvaluation]) -> dict[str, Any]:
    entries = {one.id: one for each in exported for one in each.feedback}.values()
    sentiments = Counter(one.feedback for one in entries)
    return {
        "count": len(entries),
        "avg_rating": _compute_mean(one.rating for one in entries),
        **{word: sentiments[word] for word in SENTIMENTS},
    }


def _compute_mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 6) if known else None


def _compute_sum(values: Iterable[float | None]) -> float | None:
    amounts = list(values)
    known = [value for value in amounts if value is not None]
    return round(sum(known), 6) if known and len(known) == len(amounts) else None


def compute_dataset_statistics(goldens: Sequence[Golden]) -> dict[str, Any]:
    """Counts goldens by attribute, most frequent first; once under each of their tags and requirements."""
    turns = [len(golden.user_messages) for golden in goldens]
    return {
        "goldens": len(goldens),
        "turns": sum(turns),
        "turns_per_golden": round(sum(turns) / len(turns), 3) if turns else None,
        "longest": max(turns, default=None),
        "by_intent": _count_words(golden.intent for golden in goldens),
        "by_stance": _count_words(golden.primary_stance for golden in goldens),
        "by_creator": _count_words(golden.creator for golden in goldens if golden.creator),
        "by_tag": _count_words(tag for golden in goldens for tag in golden.tags),
        "by_memory_recall": _count_words(word for golden in goldens for word in golden.required_memory_recall),
        "by_tool_usage": _count_words(word for golden in goldens for word in golden.required_tool_usage),
        "by_refusal": _count_words(word for golden in goldens for word in golden.required_refusal),
    }


def _count_words(words: Iterable[str]) -> dict[str, int]:
    counts = Counter(words)
    return {word: counts[word] for word in sorted(counts, key=lambda word: (-counts[word], word))}
