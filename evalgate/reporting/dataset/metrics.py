"""Metrics over several evaluations, schema `evalgate.metrics/1`.

Means are over the known values; a sum with an unknown part is null.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.models.goldens.exported_evaluation import METRICS_SCHEMA
from evalgate.models.goldens.feedback import SENTIMENTS
from evalgate.models.goldens.regression_suite import PASSING_SCORE
from evalgate.models.run.evaluation import CATEGORIES, DIMENSIONS, SEVERITIES
from evalgate.reporting.dataset.dataset_statistics import dataset_statistics
from evalgate.reporting.dataset.export_times import moment_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from evalgate.models.goldens.exported_evaluation import Exported
    from evalgate.models.run.evaluation import GoldenEvaluation, Issue
    from evalgate.models.run.golden import Golden

MOST_ISSUES = 10


class MetricsRequest(NamedTuple):
    """The period and suite that metrics are computed for."""

    since: datetime | None = None
    until: datetime | None = None
    suite: str | None = None


def metrics(found: Sequence[Exported], goldens: Sequence[Golden], asked: MetricsRequest) -> dict[str, Any]:
    """Computes the summary of evaluations, and of the goldens in the store."""
    evaluations = [each.evaluation for each in found]
    turns = [turn for each in evaluations for turn in each.turns]
    statuses = Counter(each.regression_status for each in evaluations)
    document = {
        "schema": METRICS_SCHEMA,
        "period": _period(evaluations, asked),
        "suite": asked.suite,
        "totals": {
            "evaluations": len(evaluations),
            "goldens": len({each.golden_id for each in evaluations}),
            "turns": sum(each.statistics.total_turns for each in evaluations),
            **_counts(evaluations),
        },
        "avg_score": _mean(each.overall_score for each in evaluations),
        "pass_rate": _pass_rate(evaluations),
        "dimensions": {name: _mean(each.dimensions.get(name) for each in evaluations) for name in DIMENSIONS},
        "by_intent": _by(found, lambda each: each.about.intent),
        "by_stance": _by(found, lambda each: each.about.stance),
        "by_tool": _by_tool(found),
        "issues": _issues(evaluations),
        "regressions": statuses["degradation"],
        "improvements": statuses["improvement"],
        "avg_latency_ms": _mean(turn.latency_ms for turn in turns),
        "tokens_per_turn": _mean(turn.tokens for turn in turns),
        "cost_usd": _sum(each.statistics.total_cost for each in evaluations),
        "feedback": _feedback(found),
        "dataset": dataset_statistics(goldens),
    }
    clean: dict[str, Any] = redact_value(document)
    return clean


def passed(evaluation: GoldenEvaluation) -> bool | None:
    """Whether it reached its passing score; None if nothing could be scored.

    A status `pass` or `fail` decides; with any other one the default passing score does.
    """
    if evaluation.overall_score is None:
        return None
    known = {"pass": True, "fail": False}.get(evaluation.regression_status or "")
    return evaluation.overall_score >= PASSING_SCORE if known is None else known


def _period(evaluations: Sequence[GoldenEvaluation], asked: MetricsRequest) -> dict[str, str | None]:
    times = [each.evaluated_at for each in evaluations]
    bounds = {
        "since": asked.since,
        "until": asked.until,
        "first": min(times, default=None),
        "last": max(times, default=None),
    }
    return {name: None if moment is None else moment_text(moment) for name, moment in bounds.items()}


def _counts(evaluations: Iterable[GoldenEvaluation]) -> dict[str, int]:
    ends = Counter(map(passed, evaluations))
    return {"passed": ends[True], "failed": ends[False], "not_evaluable": ends[None]}


def _pass_rate(evaluations: Iterable[GoldenEvaluation]) -> float | None:
    return _mean(ended for ended in map(passed, evaluations))


def _by(found: Iterable[Exported], name: Callable[[Exported], str]) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[GoldenEvaluation]] = defaultdict(list)
    for each in found:
        groups[name(each)].append(each.evaluation)
    return {
        word: {
            "evaluations": len(group),
            **_counts(group),
            "avg_score": _mean(each.overall_score for each in group),
            "pass_rate": _pass_rate(group),
        }
        for word, group in sorted(groups.items())
    }


def _by_tool(found: Iterable[Exported]) -> dict[str, dict[str, Any]]:
    """Counts the calls of each tool, and averages the scores of turns that called it."""
    calls: Counter[str] = Counter()
    scores: dict[str, list[float | None]] = defaultdict(list)
    for each in found:
        for turn in each.evaluation.turns:
            calls.update(turn.tools_invoked)
            for tool in set(turn.tools_invoked):
                scores[tool].append(turn.scores.get("tool_success_rate"))
    return {
        redact(tool): {
            "calls": calls[tool],
            "turns": len(scores[tool]),
            "avg_tool_success_rate": _mean(scores[tool]),
        }
        for tool in sorted(calls)
    }


def _issues(evaluations: Iterable[GoldenEvaluation]) -> dict[str, Any]:
    found = [issue for each in evaluations for issue in all_issues(each)]
    categories, severities = Counter(i.category for i in found), Counter(i.severity for i in found)
    same = Counter((issue.severity, issue.category, issue.message) for issue in found)
    gravest = sorted(same, key=lambda one: (-SEVERITIES.index(one[0]), -same[one], one[1], one[2]))
    return {
        "by_category": {word: categories[word] for word in CATEGORIES if categories[word]},
        "by_severity": {word: severities[word] for word in SEVERITIES if severities[word]},
        "top": [
            {"severity": one[0], "category": one[1], "message": one[2], "count": same[one]}
            for one in gravest[:MOST_ISSUES]
        ],
    }


def all_issues(evaluation: GoldenEvaluation) -> list[Issue]:
    """Lists the issues of the turns and of the conversation, each once."""
    placed = [
        issue if issue.turn is not None else issue._replace(turn=number)
        for number, turn in enumerate(evaluation.turns)
        for issue in turn.issues
    ]
    return [*placed, *(issue for issue in evaluation.issues if issue not in placed)]


def _feedback(found: Iterable[Exported]) -> dict[str, Any]:
    said = {one.id: one for each in found for one in each.feedback}.values()
    words = Counter(one.feedback for one in said)
    return {
        "count": len(said),
        "avg_rating": _mean(one.rating for one in said),
        **{word: words[word] for word in SENTIMENTS},
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 6) if known else None


def _sum(values: Iterable[float | None]) -> float | None:
    amounts = list(values)
    known = [value for value in amounts if value is not None]
    return round(sum(known), 6) if known and len(known) == len(amounts) else None
