"""Evaluations as JSON lines, schema `evalgate.evaluation/1`: an entry for every judged turn.

Each line is complete: it repeats the facts of the whole conversation. Lines are ASCII, so that no text in
them holds a raw line break.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.models.goldens.exported_evaluation import ENTRY_SCHEMA
from evalgate.reporting.dataset.ascii_json import encoded
from evalgate.reporting.dataset.export_times import moment_text
from evalgate.reporting.dataset.golden_document import feedback_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.goldens.exported_evaluation import Exported
    from evalgate.models.run.evaluation import GoldenEvaluation, Issue, TurnResult


def evaluation_lines(found: Iterable[Exported]) -> Iterator[bytes]:
    """Yields a redacted line per turn, counted from 1; one without a turn if the conversation is empty."""
    for each in found:
        head, tail = _inside(_head(each)), _inside(_tail(each))  # shared by all lines, so encoded once
        turns = each.evaluation.turns
        middles = [f'"turn":{number},{_inside(_turn(turn))}' for number, turn in enumerate(turns, 1)]
        for middle in middles or ['"turn":null']:
            yield f"{{{head},{middle},{tail}}}\n".encode("ascii")


def _inside(value: dict[str, Any]) -> str:
    return encoded(value)[1:-1]


def _head(exported: Exported) -> dict[str, Any]:
    evaluation, about = exported.evaluation, exported.about
    return {
        "schema": ENTRY_SCHEMA,
        "evaluation_id": _text(evaluation.id),
        "golden_id": _text(evaluation.golden_id),
        "golden_title": _text(about.title),
        "version": evaluation.golden_version,
        "conversation_id": _text(about.conversation_id),
        "suite": _text(evaluation.suite),
        "run_id": _text(evaluation.run_id),
        "trial": evaluation.trial,
        "trace_id": _text(evaluation.trace_id),
        "trace_sha256": _text(evaluation.trace_sha256),
        "time": moment_text(evaluation.evaluated_at),
        "intent": _text(about.intent),
        "stance": _text(about.stance),
        "turns": len(evaluation.turns),
    }


def _tail(exported: Exported) -> dict[str, Any]:
    said = [feedback_document(each) for each in exported.feedback]
    return {"feedback": said, "conversation": _conversation(exported.evaluation)}


def _turn(turn: TurnResult) -> dict[str, Any]:
    return {
        "user_message": _text(turn.user_message),
        "actual_response": _text(turn.actual_response),
        "golden_response": _text(turn.golden_response),
        "scores": dict(turn.scores),
        "issues": _issues(turn.issues),
        "evidence": _texts(turn.evidence),
        "latency_ms": turn.latency_ms,
        "tokens": turn.tokens,
        "cost_usd": turn.cost,
        "retrieved_memories": redact_value(list(turn.retrieved_memories)),
        "tools_invoked": _texts(turn.tools_invoked),
        "tool_results": redact_value(list(turn.tool_results)),
    }


def _conversation(evaluation: GoldenEvaluation) -> dict[str, Any]:
    figures = evaluation.statistics
    return {
        "score": evaluation.overall_score,
        "level": evaluation.level,
        "scores": dict(evaluation.dimensions),
        "regression_status": evaluation.regression_status,
        "previous_score": evaluation.previous_score,
        "evaluated_by": _text(evaluation.evaluated_by),
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
            "message": _text(issue.message),
            "evidence": _text(issue.evidence),
            "turn": None if issue.turn is None else issue.turn + 1,
        }
        for issue in issues
    ]


def _text(text: str | None) -> str | None:
    return redact(text) if text else text


def _texts(texts: Iterable[str]) -> list[str]:
    return [redact(text) for text in texts]
