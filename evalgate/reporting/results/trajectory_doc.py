"""Builds the trajectory diff of a change for `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.results.clean_values import clean_name, clean_text

if TYPE_CHECKING:
    from evalgate.models.comparison.trajectory import CallPosition, CallStep, FirstDivergence, TextPair, TrajectoryDiff
    from evalgate.models.results.results_sections import (
        CallPositionDoc,
        CallStepDoc,
        FirstDivergenceDoc,
        TextPairDoc,
        TrajectoryDiffDoc,
    )

MAX_PART_TEXT = 20_000
"""Most characters of one part of a final answer."""


def build_trajectory_diff_doc(diff: TrajectoryDiff) -> TrajectoryDiffDoc:
    """Builds the whole diff; texts are redacted and bounded."""
    document: TrajectoryDiffDoc = {
        "trial_before": diff.trial_before,
        "trial": diff.trial,
        "first": None if diff.first is None else _build_divergence_doc(diff.first),
        "steps": [_build_step_doc(step) for step in diff.steps],
        "steps_left": diff.steps_left,
        "said": [
            {"turn": turn, "who": who, "before": clean_text(baseline), "now": clean_text(current)}
            for turn, who, baseline, current in diff.utterances
        ],
        "response": [{"kind": part.kind, "text": clean_text(part.text, MAX_PART_TEXT)} for part in diff.response],
        "figures": [{"name": name, "before": baseline, "now": current} for name, baseline, current in diff.figures],
    }
    if diff.status is not None:
        document["status"] = _build_text_pair_doc(diff.status)
    if diff.error is not None:
        document["error"] = _build_text_pair_doc(diff.error)
    return document


def _build_divergence_doc(divergence: FirstDivergence) -> FirstDivergenceDoc:
    return {"turn": divergence.turn, "what": divergence.kind, "before": divergence.baseline, "now": divergence.current}


def _build_step_doc(step: CallStep) -> CallStepDoc:
    document: CallStepDoc = {
        "kind": step.kind,
        "name": clean_name(step.name),
        "before": _build_position_doc(step.baseline),
        "now": _build_position_doc(step.current),
        "arguments": clean_text(step.arguments),
        "changes": [
            {"path": clean_name(path), "before": _clean_optional_text(baseline), "now": _clean_optional_text(current)}
            for path, baseline, current in step.changes
        ],
        "changes_left": step.changes_left,
    }
    if step.outcome is not None:
        document["outcome"] = _build_text_pair_doc(step.outcome)
    if step.answer is not None:
        document["answer"] = _build_text_pair_doc(step.answer)
    return document


def _build_position_doc(position: CallPosition | None) -> CallPositionDoc | None:
    return None if position is None else {"turn": position.turn, "call": position.call}


def _build_text_pair_doc(pair: TextPair) -> TextPairDoc:
    return {"before": _clean_optional_text(pair.baseline), "now": _clean_optional_text(pair.current)}


def _clean_optional_text(text: str | None) -> str | None:
    return None if text is None else clean_text(text)
