"""Evaluations as JSON lines, schema `evalgate.evaluation/1`: an entry for every turn that was judged.

Each line stands for itself: it repeats what is known of the whole conversation. Lines are ASCII, so that no
reader finds a line break where none is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction import redact_value
from evalgate.models.exported import ENTRY_SCHEMA
from evalgate.reporting.exports.moments import moment_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.evaluation import Evaluation, Issue, TurnResult
    from evalgate.models.exported import Exported
    from evalgate.models.feedback import Feedback

_line = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


def evaluation_lines(found: Iterable[Exported]) -> Iterator[bytes]:
    """One line an entry, secrets taken out."""
    for each in found:
        for entry in entries(each):
            yield f"{_line(redact_value(entry))}\n".encode("ascii")


def entries(exported: Exported) -> Iterator[dict[str, Any]]:
    """An entry a turn, counted from 1; one without turn where nothing was said."""
    evaluation, about = exported.evaluation, exported.about
    head = {
        "schema": ENTRY_SCHEMA,
        "evaluation_id": evaluation.id,
        "golden_id": evaluation.golden_id,
        "golden_title": about.title,
        "version": evaluation.golden_version,
        "conversation_id": about.conversation_id,
        "suite": evaluation.suite,
        "run_id": evaluation.run_id,
        "trial": evaluation.trial,
        "trace_id": evaluation.trace_id,
        "trace_sha256": evaluation.trace_sha256,
        "time": moment_text(evaluation.evaluated_at),
        "intent": about.intent,
        "stance": about.stance,
        "turns": len(evaluation.turns),
    }
    tail = {
        "feedback": [_feedback(each) for each in exported.feedback],
        "conversation": _conversation(evaluation),
    }
    if not evaluation.turns:
        yield {**head, "turn": None, **tail}
    for number, turn in enumerate(evaluation.turns, 1):
        yield {**head, "turn": number, **_turn(turn), **tail}


def _turn(turn: TurnResult) -> dict[str, Any]:
    return {
        "user_message": turn.user_message,
        "actual_response": turn.actual_response,
        "golden_response": turn.golden_response,
        "scores": dict(turn.scores),
        "issues": _issues(turn.issues),
        "evidence": list(turn.evidence),
        "latency_ms": turn.latency_ms,
        "tokens": turn.tokens,
        "cost_usd": turn.cost,
        "retrieved_memories": list(turn.retrieved_memories),
        "tools_invoked": list(turn.tools_invoked),
        "tool_results": list(turn.tool_results),
    }


def _conversation(evaluation: Evaluation) -> dict[str, Any]:
    figures = evaluation.statistics
    return {
        "score": evaluation.overall_score,
        "level": evaluation.level,
        "scores": dict(evaluation.dimensions),
        "regression_status": evaluation.regression_status,
        "previous_score": evaluation.previous_score,
        "evaluated_by": evaluation.evaluated_by,
        "issues": _issues(evaluation.issues),
        "statistics": {
            "total_turns": figures.total_turns,
            "avg_latency_ms": figures.avg_latency_ms,
            "total_tokens": figures.total_tokens,
            "total_cost_usd": figures.total_cost,
            "issue_count": figures.issue_count,
            "critical_issue_count": figures.critical_issue_count,
            "pass_rate": figures.pass_rate,
        },
    }


def _issues(issues: Sequence[Issue]) -> list[dict[str, Any]]:
    return [
        {
            "category": issue.category,
            "severity": issue.severity,
            "message": issue.message,
            "evidence": issue.evidence,
            "turn": None if issue.turn is None else issue.turn + 1,
        }
        for issue in issues
    ]


def _feedback(said: Feedback) -> dict[str, Any]:
    return {
        "id": said.id,
        "conversation_id": said.conversation_id,
        "message_id": said.message_id,
        "golden_id": said.golden_id,
        "user_id": said.user_id,
        "rating": said.rating,
        "feedback": said.feedback,
        "comment": said.comment,
        "issues": list(said.issues),
        "time": None if said.created_at is None else moment_text(said.created_at),
    }
