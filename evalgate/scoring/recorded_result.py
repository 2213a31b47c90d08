"""What a trace itself records of its success: a score such as `reward`, written by whoever ran the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.scoring.outage import find_outage

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

RESULTS = ("reward", "success", "passed", "resolved", "correct")
"""Names of scores that record whether a run succeeded, 1 if it did."""
SCORED_FORMATS = frozenset({"inspect", "inspect-ai"})
"""Formats in which every score is such a result."""


class RecordedResult(NamedTuple):
    """The score that decides, and whether the run passed by it: the first that is not 1, else the first."""

    name: str
    value: float
    passed: bool

    def describe(self) -> str:
        """The score as text, as in `reward 0.5`."""
        return f"{self.name} {self.value:g}"


def find_recorded_result(trace: Trace) -> RecordedResult | None:
    """The recorded result of a run, None if it records none."""
    scores = trace.scores
    names = scores if trace.source.format in SCORED_FORMATS else [name for name in RESULTS if name in scores]
    found = [RecordedResult(name, value, value == 1) for name in names if (value := scores[name]) is not None]
    return min(found, key=lambda each: each.passed, default=None)


def is_passing(trace: Trace) -> bool:
    """Whether a run passed: its recorded result is 1 or, without one, it ended without an error."""
    if trace.status != "ok" or find_outage(trace) is not None:
        return False
    result = find_recorded_result(trace)
    return result is None or result.passed
