"""Builds the trajectory diff of a change for `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.results.bounded import bounded_name, bounded_text

if TYPE_CHECKING:
    from evalgate.models.comparison.trajectory import Behaviour, CallPlace, CallStep, FirstDivergence, Sides
    from evalgate.models.results.results_trajectory import (
        BehaviourDoc,
        CallPlaceDoc,
        CallStepDoc,
        FirstDepartureDoc,
        SidesDoc,
    )

MOST_TEXT = 20_000
"""Most characters of one part of a final answer."""


def behaviour_doc(found: Behaviour) -> BehaviourDoc:
    """Builds the whole diff; texts are redacted and bounded."""
    document: BehaviourDoc = {
        "trial_before": found.trial_before,
        "trial": found.trial,
        "first": None if found.first is None else _first_doc(found.first),
        "steps": [_step_doc(step) for step in found.steps],
        "steps_left": found.steps_left,
        "said": [
            {"turn": turn, "who": who, "before": bounded_text(before), "now": bounded_text(now)}
            for turn, who, before, now in found.said
        ],
        "response": [
            {"kind": part.kind, "text": bounded_text(part.text, MOST_TEXT)} for part in found.response
        ],
        "figures": [{"name": name, "before": before, "now": now} for name, before, now in found.figures],
    }
    if found.status is not None:
        document["status"] = _sides_doc(found.status)
    if found.error is not None:
        document["error"] = _sides_doc(found.error)
    return document


def _first_doc(first: FirstDivergence) -> FirstDepartureDoc:
    return {"turn": first.turn, "what": first.what, "before": first.before, "now": first.now}


def _step_doc(step: CallStep) -> CallStepDoc:
    document: CallStepDoc = {
        "kind": step.kind,
        "name": bounded_name(step.name),
        "before": _place_doc(step.before),
        "now": _place_doc(step.now),
        "arguments": bounded_text(step.arguments),
        "changes": [
            {"path": bounded_name(path), "before": _text(before), "now": _text(now)}
            for path, before, now in step.changes
        ],
        "changes_left": step.changes_left,
    }
    if step.outcome is not None:
        document["outcome"] = _sides_doc(step.outcome)
    if step.answer is not None:
        document["answer"] = _sides_doc(step.answer)
    return document


def _place_doc(place: CallPlace | None) -> CallPlaceDoc | None:
    return None if place is None else {"turn": place.turn, "call": place.call}


def _sides_doc(sides: Sides) -> SidesDoc:
    return {"before": _text(sides.before), "now": _text(sides.now)}


def _text(text: str | None) -> str | None:
    return None if text is None else bounded_text(text)
