"""Which traces a suite may be learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.scoring.outage import find_outage

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

OUTCOMES = ("reward", "success", "passed", "resolved", "correct")
"""Names of scores that record whether a run succeeded, 1 if it did."""
SCORED_FORMATS = frozenset({"inspect", "inspect-ai"})
"""Formats in which every score is such an outcome."""


def is_passing(trace: Trace) -> bool:
    """Whether a run passed: its recorded outcome is 1 or, without one, it ended without an error."""
    if trace.status != "ok" or find_outage(trace) is not None:
        return False
    scores = trace.scores
    names = scores if trace.source.format in SCORED_FORMATS else [name for name in OUTCOMES if name in scores]
    return all(scores[name] is None or scores[name] == 1 for name in names)
