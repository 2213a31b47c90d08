"""Evaluations as JSON lines, schema `evalgate.evaluation/1`: an entry for every judged turn.

Each line is complete: it repeats the facts of the whole conversation. Lines are ASCII, so that no text in
them holds a raw line break.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.errors import Location, Problem
from evalgate.features.store.reporting.dataset.golden_document import build_feedback_document, encode_json, format_time
from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.models.goldens import ENTRY_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic import ValidationError

    from evalgate.features.store.reporting.dataset.evaluation_entry import EvaluationEntry
    from evalgate.models.goldens import ExportedEvaluation
    from evalgate.models.run.golden import GoldenEvaluation, Issue, TurnResult


def encode_evaluations(evaluations: Iterable[ExportedEvaluation]) -> Iterator[bytes]:
    """Yields a redacted line per turn, counted from 1; one without a turn if the conversation is empty."""
    for each in evaluations:
        head, tail = (
            _encode_fields(_build_head(each)),
            _encode_fields(_build_tail(each)),
        )  # shared by all lines, so encoded once
        turns = each.evaluation.turns
        middles = [f'"turn":{number},{_encode_fields(_build_turn(turn))}' for number, turn in enumerate(turns, 1)]
        for middle in middles or ['"turn":null']:
            yield f"{{{head},{middle},{tail}}}\n".encode("ascii")


def _encode_fields(value: dict[str, Any]) -> str:
    return encode_json(value)[1:-1]


def _build_head(exported: ExportedEvaluation) -> dict[str, Any]:
    evaluation, golden = exported.evaluation, exported.golden
    return {
        "schema": ENTRY_SCHEMA,
        "evaluation_id": _redact_text(evaluation.id),
        "golden_id": _redact_text(evaluation.golden_id),
        "golden_title": _redact_text(golden.title),
        "version": evaluation.golden_version,
        "conversation_id": _redact_text(golden.conversation_id),
        "suite": _redact_text(evaluation.suite),
        "run_id": _redact_text(evaluation.run_id),
        "trial": evaluation.trial,
        "trace_id": _redact_text(evaluation.trace_id),
        "trace_sha256": _redact_text(evaluation.trace_sha256),
        "time": format_time(evaluation.evaluated_at),
        "intent": _redact_text(golden.intent),
        "stance": _redact_text(golden.stance),
        "turns": len(evaluation.turns),
    }


def _build_tail(exported: ExportedEvaluation) -> dict[str, Any]:
    feedback = [build_feedback_document(each) for each in exported.feedback]
    return {"feedback": feedback, "conversation": _build_conversation(exported.evaluation)}


def _build_turn(turn: TurnResult) -> dict[str, Any]:
    return {
        "user_message": _redact_text(turn.user_message),
        "actual_response": _redact_text(turn.actual_response),
        "golden_response": _redact_text(turn.golden_response),
        "scores": dict(turn.scores),
        "issues": _build_issues(turn.issues),
        "evidence": _redact_texts(turn.evidence),
        "latency_ms": turn.latency_ms,
        "tokens": turn.tokens,
        "cost_usd": turn.cost,
        "retrieved_memories": redact_value(list(turn.retrieved_memories)),
        "tools_invoked": _redact_texts(turn.tools_invoked),
        "tool_results": redact_value(list(turn.tool_results)),
    }


def _build_conversation(evaluation: GoldenEvaluation) -> dict[str, Any]:
    statistics = evaluation.statistics
    return {
        "id": _redact_text(evaluation.conversation_id),
        "score": evaluation.overall_score,
        "level": evaluation.level,
        "scores": dict(evaluation.dimensions),
        "regression_status": evaluation.regression_status,
        "previous_score": evaluation.previous_score,
        "evaluated_by": _redact_text(evaluation.evaluated_by),
        "issues": _build_issues(evaluation.issues),
        "statistics": {
            "total_turns": statistics.total_turns,
            "avg_latency_ms": statistics.avg_latency_ms,
            "total_tokens": statistics.total_tokens,
            "total_cost_usd": statistics.total_cost,
            "issue_count": statistics.issue_count,
            "critical_issue_count": statistics.critical_issue_count,
            "pass_rate": statistics.pass_rate,
        },
    }


def _build_issues(issues: Sequence[Issue]) -> list[dict[str, Any]]:
    return [
        {
            "category": issue.category,
            "severity": issue.severity,
            "message": _redact_text(issue.message),
            "evidence": _redact_text(issue.evidence),
            "turn": None if issue.turn is None else issue.turn + 1,
        }
        for issue in issues
    ]


def _redact_text(text: str | None) -> str | None:
    return redact(text) if text else text


def _redact_texts(texts: Iterable[str]) -> list[str]:
    return [redact(text) for text in texts]


class ReadEvaluations(NamedTuple):
    """The evaluations of a file, and the problems of its invalid parts."""

    found: Sequence[ExportedEvaluation]
    problems: Sequence[Problem]


def read_evaluation_lines(lines: Iterable[bytes], path: str) -> ReadEvaluations:
    """Reads evaluations in the order they begin; an invalid line or incomplete evaluation is a problem."""
    from pydantic import ValidationError

    from evalgate.features.store.reporting.dataset.evaluation_entry import EvaluationEntry

    entries_by_id: dict[str, list[EvaluationEntry]] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = EvaluationEntry.model_validate_json(line)
        except ValidationError as error:
            problems.append(Problem(_describe_error(error), Location(path, number)))
            continue
        entries_by_id.setdefault(entry.evaluation_id, []).append(entry)
    found: list[ExportedEvaluation] = []
    for evaluation_id, entries in entries_by_id.items():
        evaluation = _join_turns(entries)
        if evaluation is None:
            message = f"evaluation `{evaluation_id}` does not have each of its turns exactly once"
            problems.append(Problem(message, Location(path), "it was skipped; export it again"))
        else:
            found.append(evaluation)
    return ReadEvaluations(found, problems)


def _join_turns(entries: Sequence[EvaluationEntry]) -> ExportedEvaluation | None:
    first = entries[0]
    if first.turn is None:
        return first.to_evaluation(()) if len(entries) == 1 and first.turns == 0 else None
    ordered = sorted(entries, key=lambda entry: entry.turn or 0)
    if [entry.turn for entry in ordered] != list(range(1, len(ordered) + 1)) or len(ordered) != first.turns:
        return None
    return first.to_evaluation(tuple(entry.to_turn_result() for entry in ordered))


def _describe_error(error: ValidationError) -> str:
    """Describes the first error of a line, without quoting the library."""
    from evalgate.evaluators.core.field_problems import problems_from_error
    from evalgate.features.store.reporting.dataset.evaluation_entry import EvaluationEntry

    kind = error.errors(include_url=False)[0]["type"]
    if kind in {"json_invalid", "model_type"}:
        return "this line is not valid JSON" if kind == "json_invalid" else "this line is not a JSON object"
    return problems_from_error(error, EvaluationEntry)[0].message
