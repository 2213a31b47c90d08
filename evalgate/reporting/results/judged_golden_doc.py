"""Builds the goldens of `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.measures.numeric.means import DIGITS
from evalgate.reporting.results.bounded import bounded_evidence, bounded_name, bounded_text, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.results.results_golden import GoldenDoc, GoldenTrialDoc, IssueDoc, MoveDoc, TurnDoc
    from evalgate.models.run.evaluation import Issue, TurnResult
    from evalgate.models.run.golden_result import GoldenResult, GoldenTrial

MOST_ISSUES, MOST_TURNS, MOST_VALUES = 50, 200, 50


def golden_doc(found: GoldenResult) -> GoldenDoc:
    """Builds the record of a golden over all its trials."""
    golden = found.golden
    return {
        "id": bounded_name(golden.id),
        "version": golden.version,
        "title": bounded_name(golden.title),
        "description": bounded_text(golden.description),
        "conversation_id": _name(golden.conversation_id),
        "intent": bounded_name(golden.intent),
        "primary_stance": bounded_name(golden.primary_stance),
        "secondary_stances": _names(golden.secondary_stances),
        "required_memory_recall": _names(golden.required_memory_recall),
        "required_tool_usage": _names(golden.required_tool_usage),
        "required_refusal": _names(golden.required_refusal),
        "user_messages": _texts(golden.user_messages),
        "golden_responses": _texts(golden.golden_responses),
        "tags": _names(golden.tags),
        "creator": _name(golden.creator),
        "level": found.level,
        "regression_status": found.regression_status,
        "previous_score": None if found.before is None else found.before.score,
        "moves": list(_moves(found)),
        "turns": {name: list(scores[:MOST_TURNS]) for name, scores in found.turns.items()},
        "issues": _issues(found.issues),
        "critical_issues": found.critical_issues,
    }


def golden_trial_doc(found: GoldenTrial) -> GoldenTrialDoc:
    """Builds the record of one trace compared with its golden."""
    turns = enumerate(zip(found.numbers[:MOST_TURNS], found.turns, strict=False))
    return {
        "dimensions": dict(found.dimensions),
        "turns": [_turn(turn, number, is_missing=at in found.missing) for at, (number, turn) in turns],
        "issues": _issues(found.issues),
    }


def _moves(found: GoldenResult) -> Iterator[MoveDoc]:
    """Yields the dimensions whose score differs from the baseline."""
    if found.before is None or not found.before.dimensions:
        return
    for name, now in found.dimensions.items():
        before = found.before.dimensions.get(name)
        if before == now:
            continue
        delta = None if before is None or now is None else round(now - before, DIGITS)
        yield {
            "dimension": name,
            "before": before,
            "now": now,
            "delta": delta,
            "turn": _moved_most(found.before.turns.get(name, ()), found.turns.get(name, ())),
        }


def _moved_most(before: Sequence[float | None], now: Sequence[float | None]) -> int | None:
    """Finds the turn whose score changed most, among those scored on both sides; the first if equal."""
    moves = [
        (-abs(new - old), at)
        for at, (old, new) in enumerate(zip(before, now, strict=False))
        if old is not None and new is not None and old != new
    ]
    return min(moves)[1] if moves else None


def _turn(turn: TurnResult, number: int | None, *, is_missing: bool) -> TurnDoc:
    return {
        "number": number,
        "is_missing": is_missing,
        "user_message": _text(turn.user_message),
        "actual_response": _text(turn.actual_response),
        "scores": dict(turn.scores),
        "latency_ms": turn.latency_ms,
        "tokens": whole(turn.tokens),
        "cost_usd": turn.cost,
        "retrieved_memories": _values(turn.retrieved_memories),
        "tools_invoked": _names(turn.tools_invoked),
        "tool_results": _values(turn.tool_results),
    }


def _issues(issues: Sequence[Issue]) -> list[IssueDoc]:
    """Builds the issues; only the gravest if there are more than the limit."""
    order = ("critical", "error", "warning", "info")
    kept = issues
    if len(issues) > MOST_ISSUES:
        kept = sorted(issues, key=lambda each: order.index(each.severity))[:MOST_ISSUES]
    return [
        {
            "category": each.category,
            "severity": each.severity,
            "message": bounded_text(each.message),
            "evidence": _text(each.evidence),
            "turn": each.turn,
        }
        for each in kept
    ]


def _values(values: Iterable[Any]) -> list[Any]:
    kept = bounded_evidence({"values": list(values)[:MOST_VALUES]})
    found = kept["values"] if kept else []
    return found if isinstance(found, list) else []


def _names(texts: Sequence[str]) -> list[str]:
    return [bounded_name(each) for each in texts[:MOST_TURNS]]


def _texts(texts: Sequence[str]) -> list[str]:
    return [bounded_text(each) for each in texts[:MOST_TURNS]]


def _name(text: str | None) -> str | None:
    return None if text is None else bounded_name(text)


def _text(text: str | None) -> str | None:
    return None if text is None else bounded_text(text)
