"""Judges a trial that an outage ended by what the agent did before it: a forbidden call that was made was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.application.evaluation.named_tools import iter_forbidden
from evalgate.evaluators.core.shorthands import iter_checks
from evalgate.models.trace.trace import KINDS

if TYPE_CHECKING:
    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.trace.trace import Trace
    from evalgate.suite.models import Scenario

CUT = "an outage ended the run: what would have come after it is not recorded"
ALLOWS = "allowed_tools"
"""The type of check that forbids calls without naming one."""
OF_CALLS = frozenset(
    {
        *(ALLOWS, "max_tool_calls", "no_loops", "no_run_code", "no_skill", "no_tool", "tool_arguments"),
        *("tool_calls", "tool_sequence"),
    }
)
"""Types of checks that fail on a cut trace only by calls that were made, whatever would have come after them."""


def find_forbidden_call(trace: Trace, scenario: Scenario) -> Trace | None:
    """The trace with all evidence incomplete, if a required check of calls fails on it all the same.

    None if what the agent did before the outage fails none: then nothing was measured.
    """
    cut = replace(trace, gaps={**dict.fromkeys(KINDS, CUT), **trace.gaps}, kept_view=None)
    cut.baseline = trace.baseline
    deciding = [each for each in scenario.assertions if each.required and _forbids(each)]
    return cut if any(each.assess(cut).outcome == "failed" for each in deciding) else None


def _forbids(assertion: Assertion) -> bool:
    """Whether an entry of a suite, or a check in it, can fail by calls that were made."""
    if ALLOWS in assertion.versions or assertion.versions.keys() <= OF_CALLS:
        return True
    checks = iter_checks(assertion.written)
    return any(any(iter_forbidden(fields, is_negated=is_negated)) for fields, is_negated in checks)
