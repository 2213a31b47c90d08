"""Judges a trial that an outage ended by what the agent did before it: a forbidden call that was made was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.application.evaluation.named_tools import iter_forbidden
from evalgate.evaluators.core.more_calls import LOOK_BACK, stays_failed
from evalgate.evaluators.core.parse import Parser
from evalgate.evaluators.core.shorthands import GROUPS, expand_shorthand, iter_checks, list_members
from evalgate.models.trace.trace import KINDS

if TYPE_CHECKING:
    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.evaluators.core.field_problems import Path
    from evalgate.models.run.run import AssertionResult
    from evalgate.models.trace.trace import Trace
    from evalgate.suite.models import Scenario

CUT = "an outage ended the run: what would have come after it is not recorded"
ALLOWS = "allowed_tools"
"""The type of check that forbids calls without naming one."""
OF_CALLS = frozenset(
    {
        *(ALLOWS, "max_tool_calls", "no_run_code", "no_skill", "no_tool", "tool_arguments"),
        *("tool_calls", "tool_sequence", "is_recurring", "skill_used"),
    }
)
DECIDABLE = LOOK_BACK | {"jmespath"}
"""Types of checks that fail on a cut trace only by calls that were made, whatever would have come after them."""


def judge_before_outage(trace: Trace, scenario: Scenario) -> tuple[Trace, list[AssertionResult]] | None:
    """The trace with all evidence incomplete, and the rows of its checks, if a required one fails all the same.

    None if what the agent did before the outage fails none: then nothing was measured.
    """
    cut = replace(trace, gaps={**dict.fromkeys(KINDS, CUT), **trace.gaps}, kept_view=None)
    cut.baseline = trace.baseline
    decided = [each.required and _is_decided(each, trace, cut) for each in scenario.assertions]
    if not any(decided):
        return None
    checks = zip(scenario.assertions, decided, strict=True)
    return cut, [_assess(each, trace, cut) if is_decided else each.assess(cut) for each, is_decided in checks]


def _is_decided(assertion: Assertion, trace: Trace, cut: Trace) -> bool:
    """Whether a check fails by what was called, whatever would have come after it."""
    return (_forbids(assertion) and assertion.assess(cut).outcome == "failed") or _fails_for_good(assertion, trace)


def _assess(assertion: Assertion, trace: Trace, cut: Trace) -> AssertionResult:
    found = assertion.assess(cut)
    return found if found.outcome == "failed" else assertion.assess(trace)


def _fails_for_good(assertion: Assertion, trace: Trace) -> bool:
    """Whether a check, or one of which all must pass, fails on what is recorded, and more calls can't undo that."""
    if not DECIDABLE.intersection(assertion.versions) or assertion.assess(trace).outcome != "failed":
        return False
    form = expand_shorthand(assertion.written).fields
    if form["type"] == "all_of" and not form.get("negate"):
        members = Parser(_locate_nothing).parse_assertions(list_members(form), ())
        return any(_fails_for_good(each, trace) for each in members)
    if form["type"] in GROUPS:
        return False
    return stays_failed(form, trace, is_negated=form.get("negate") is True)


def _locate_nothing(path: Path) -> None:
    """No place: what becomes of a member is not reported."""
    del path


def _forbids(assertion: Assertion) -> bool:
    """Whether an entry of a suite, or a check in it, can fail by calls that were made."""
    if ALLOWS in assertion.versions or assertion.versions.keys() <= OF_CALLS:
        return True
    checks = iter_checks(assertion.written)
    return any(any(iter_forbidden(fields, is_negated=is_negated)) for fields, is_negated in checks)
