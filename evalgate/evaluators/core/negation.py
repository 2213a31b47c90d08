"""`negate: true`: the condition of the assertion must not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.evaluators.core.evaluator import Check, Finding
from evalgate.evaluators.core.evidence import EvidenceCheck, Undecided

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.trace.trace import Trace

_OPPOSITE = {"success": "failure", "failure": "success"}
_FAILURE = {"verdict": "failure"}


def negate_check(check: Check, label: str | None, describe: Callable[[Trace], str] | None = None) -> Check:
    """Swaps passed and failed; other outcomes stay as they are.

    `label` is the check in words, used as the reason if the condition does not hold. A group has no label:
    its reason is kept, which lists the members that decided. `describe` builds the reason of a failure.
    """
    if isinstance(check, EvidenceCheck):
        plain, careful = (negate_check(each, label, describe) for each in (check.plain, check.careful))
        return EvidenceCheck(plain, careful)
    passed = Finding("passed", _describe_negated(label or ""))
    passed_with_verdict = Finding("passed", passed.reason, {"verdict": "success"})

    def negated_check(trace: Trace) -> Finding:
        found = check(trace)
        if found.outcome == "passed":
            reason = f"expected the opposite: {found.reason}" if describe is None else describe(trace)
            return Finding("failed", reason, _negate_evidence(found.evidence))
        if found.outcome != "failed":
            return found.negate() if isinstance(found, Undecided) else found
        if label is not None and found.evidence is None:
            return passed
        if label is not None and found.evidence == _FAILURE:
            return passed_with_verdict
        return Finding("passed", _describe_negated(found.reason), _negate_evidence(found.evidence))

    return negated_check


def _describe_negated(reason: str) -> str:
    return f"does not hold, as expected: {reason}"


def _negate_evidence(evidence: dict[str, Any] | None) -> dict[str, Any] | None:
    """Returns the evidence with its verdict swapped too, if that is `success` or `failure`."""
    opposite = _OPPOSITE.get((evidence or {}).get("verdict", ""))
    return evidence if evidence is None or opposite is None else {**evidence, "verdict": opposite}
