"""Builds the goldens of `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from evalgate.measures.numeric.means import DIGITS
from evalgate.reporting.results.clean_values import (
    clamp_count,
    clean_evidence,
    clean_name,
    clean_optional_name,
    clean_optional_text,
    clean_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.results.results_statistics import GoldenDoc, MoveDoc
    from evalgate.models.run.golden import GoldenResult, GoldenTrial, Issue, TurnResult
    from evalgate.models.run.trial_doc import GoldenTrialDoc, IssueDoc, TurnDoc

MAX_ISSUES, MAX_TURNS, MAX_VALUES = 50, 200, 50
TEXTS = frozenset({"description", "user_messages", "golden_responses"})
"""Fields of a golden that hold texts, which may be longer than names."""
TIMES = frozenset({"created_at", "updated_at"})


def build_golden_doc(result: GoldenResult) -> GoldenDoc:
    """Builds the record of a golden over all its trials."""
    golden = result.golden
    fields = {name: _clean_field(name, getattr(golden, name)) for name in golden.__struct_fields__}
    document = {
        "id": golden.id,
        "version": golden.version,
        **{name: value for name, value in fields.items() if name not in TIMES},
        "level": result.level,
        "regression_status": result.regression_status,
        "previous_score": None if result.baseline is None else result.baseline.score,
        "moves": list(_iter_moves(result)),
        "turns": {name: list(scores[:MAX_TURNS]) for name, scores in result.turns.items()},
        "issues": _build_issues(result.issues),
        "critical_issues": result.critical_issues,
    }
    return cast("GoldenDoc", document)


def _clean_field(name: str, value: Any) -> Any:
    clean = clean_text if name in TEXTS else clean_name
    if isinstance(value, tuple):
        return [clean(each) for each in value[:MAX_TURNS]]
    return clean(value) if isinstance(value, str) else value


def build_golden_trial_doc(trial: GoldenTrial) -> GoldenTrialDoc:
    """Builds the record of one trace compared with its golden."""
    turns = enumerate(zip(trial.numbers[:MAX_TURNS], trial.turns, strict=False))
    return {
        "dimensions": dict(trial.dimensions),
        "turns": [_build_turn(turn, number, is_missing=at in trial.missing) for at, (number, turn) in turns],
        "issues": _build_issues(trial.issues),
        "conversation_id": clean_optional_name(trial.conversation_id),
    }


def _iter_moves(result: GoldenResult) -> Iterator[MoveDoc]:
    """Yields the dimensions whose score differs from the baseline."""
    if result.baseline is None or not result.baseline.dimensions:
        return
    for name, current in result.dimensions.items():
        baseline = result.baseline.dimensions.get(name)
        if baseline == current:
            continue
        delta = None if baseline is None or current is None else round(current - baseline, DIGITS)
        yield {
            "dimension": name,
            "before": baseline,
            "now": current,
            "delta": delta,
            "turn": _find_largest_move(result.baseline.turns.get(name, ()), result.turns.get(name, ())),
        }


def _find_largest_move(baseline: Sequence[float | None], current: Sequence[float | None]) -> int | None:
    """Finds the turn whose score changed most, among those scored on both sides; the first if equal."""
    moves = [
        (-abs(score - baseline_score), at)
        for at, (baseline_score, score) in enumerate(zip(baseline, current, strict=False))
        if baseline_score is not None and score is not None and baseline_score != score
    ]
    return min(moves)[1] if moves else None


def _build_turn(turn: TurnResult, number: int | None, *, is_missing: bool) -> TurnDoc:
    return {
        "number": number,
        "is_missing": is_missing,
        "user_message": clean_optional_text(turn.user_message),
        "actual_response": clean_optional_text(turn.actual_response),
        "scores": dict(turn.scores),
        "latency_ms": turn.latency_ms,
        "tokens": clamp_count(turn.tokens),
        "cost_usd": turn.cost,
        "retrieved_memories": _clean_values(turn.retrieved_memories),
        "tools_invoked": _clean_names(turn.tools_invoked),
        "tool_results": _clean_values(turn.tool_results),
    }


def _build_issues(issues: Sequence[Issue]) -> list[IssueDoc]:
    """Builds the issues; only the gravest if there are more than the limit."""
    order = ("critical", "error", "warning", "info")
    kept = issues
    if len(issues) > MAX_ISSUES:
        kept = sorted(issues, key=lambda each: order.index(each.severity))[:MAX_ISSUES]
    return [
        {
            "category": each.category,
            "severity": each.severity,
            "message": clean_text(each.message),
            "evidence": clean_optional_text(each.evidence),
            "turn": each.turn,
        }
        for each in kept
    ]


def _clean_values(values: Iterable[Any]) -> list[Any]:
    kept = clean_evidence({"values": list(values)[:MAX_VALUES]})
    found = next(iter(kept.values()), None) if kept else None  # the key may be redacted too
    return found if isinstance(found, list) else []


def _clean_names(texts: Sequence[str]) -> list[str]:
    return [clean_name(each) for each in texts[:MAX_TURNS]]
