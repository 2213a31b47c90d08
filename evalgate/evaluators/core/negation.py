"""`negate: true`: what must not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.evaluator import Check, Finding

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

_OPPOSITE = {"success": "failure", "failure": "success"}
_FAILURE = {"verdict": "failure"}


def negated(check: Check, label: str | None) -> Check:
    """Swaps passed and failed; what could not be judged stays what it is.

    `label` is the check in words, all that is told of one that does not hold. A group has none: it tells
    which of its members decided.
    """
    held = Finding("passed", _as_demanded(label or ""))
    held_by_verdict = Finding("passed", held.reason, {"verdict": "success"})

    def swapped(trace: Trace) -> Finding:
        found = check(trace)
        if found.outcome == "passed":
            return Finding("failed", f"must not hold: {found.reason}", _swapped(found.evidence))
        if found.outcome != "failed":
            return found
        if label is not None and found.evidence is None:
            return held
        if label is not None and found.evidence == _FAILURE:
            return held_by_verdict
        return Finding("passed", _as_demanded(found.reason), _swapped(found.evidence))

    return swapped


def _as_demanded(reason: str) -> str:
    return f"does not hold, as demanded: {reason}"


def _swapped(evidence: dict[str, Any] | None) -> dict[str, Any] | None:
    """The evidence with its verdict, if that says no more than passed or failed, swapped too."""
    opposite = _OPPOSITE.get((evidence or {}).get("verdict", ""))
    return evidence if evidence is None or opposite is None else {**evidence, "verdict": opposite}
