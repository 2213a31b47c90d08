"""Judges a trial that an outage ended by what the agent did before it: a forbidden call that was made was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from evalgate.application.evaluation.named_tools import iter_forbidden
from evalgate.evaluators.core.agents import ANY, select_agent
from evalgate.evaluators.core.always_found import Trend, find_trend
from evalgate.evaluators.core.operators import resolve_alias
from evalgate.evaluators.core.parse import Parser
from evalgate.evaluators.core.queries import JSON_FIELDS, build_getter
from evalgate.evaluators.core.shorthands import GROUPS, expand_shorthand, iter_checks, list_members
from evalgate.measures.jmespath.parse_tree import field_names
from evalgate.measures.jmespath.query import Query, QueryFailedError
from evalgate.models.trace.trace import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

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
LOOK_BACK = frozenset({"grounded_arguments", "no_flow", "no_loops"})
"""Types of checks that judge each call by what stands before it: one that failed stays so."""
CHANGING = frozenset({"status", "error", "result", "result_text", "exit_code", "duration_ms", "is_final"})
"""Fields of a call that may be known later than the call."""
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
    if form["type"] == "all_of" and not form.get("negate") and form.get("agent", ANY) == ANY:
        members = Parser(_locate_nothing).parse_assertions(list_members(form), ())
        return any(_fails_for_good(each, trace) for each in members)
    if form["type"] in GROUPS:
        return False
    return _stays_failed(form, trace, is_negated=form.get("negate") is True)


def _stays_failed(fields: Mapping[str, Any], trace: Trace, *, is_negated: bool) -> bool:
    """Whether a check that fails on the trace fails on each that goes on from it; `fields` are its canonical form."""
    if fields.get("type") in LOOK_BACK:
        return not is_negated
    if fields.get("type") != "jmespath":
        return False
    query = Query(fields["expression"], JSON_FIELDS)
    trend: Trend | None = None if field_names(query.tree) & CHANGING else find_trend(query.tree)
    own = trace if fields.get("agent", ANY) == ANY else select_agent(trace, fields["agent"])
    if trend is None or own is None:
        return False
    try:
        actual = build_getter(query)(own)
    except QueryFailedError:
        return False
    if trend in ("true", "false", "fixed"):
        return actual is not None if trend == "fixed" else actual is (trend == "true")
    return _stays_beyond(trend, resolve_alias(fields["operator"]), fields.get("value"), actual, is_negated=is_negated)


def _stays_beyond(trend: Trend, operator: str, value: Any, actual: Any, *, is_negated: bool) -> bool:
    """Whether what grows fails for good: it is above a limit, or above each value that it could still reach."""
    if trend == "list" and operator == "contains":
        return is_negated
    if trend == "list" and operator in ("eq", "ne"):
        is_other = not isinstance(value, list) or len(actual) > len(value)
        return is_other and is_negated is (operator == "ne")
    if (trend == "list") != (operator == "length"):
        return False
    size, bounds = (len(actual), value) if trend == "list" else (actual, {operator: value})
    if not isinstance(bounds, dict):
        bounds = {"eq": bounds}
    found = [_is_beyond(resolve_alias(name), bound, size) for name, bound in bounds.items()]
    return all(each == "holds" for each in found) if is_negated else "fails" in found


def _is_beyond(operator: str, bound: Any, size: Any) -> Literal["fails", "holds"] | None:
    """What a bound says of a number and of all above it; None if that may change."""
    listed = bound if isinstance(bound, list) else [bound]
    if not all(type(each) in (int, float) for each in (size, *listed)) or not listed:
        return None
    if operator in ("lt", "lte"):
        return "fails" if (size > bound or (operator == "lt" and size == bound)) else None
    if operator in ("gt", "gte"):
        return "holds" if (size > bound or (operator == "gte" and size == bound)) else None
    if size <= max(listed):
        return None
    return "fails" if operator in ("eq", "in") else "holds" if operator in ("ne", "not_in") else None


def _locate_nothing(path: Path) -> None:
    """No place: what becomes of a member is not reported."""
    del path


def _forbids(assertion: Assertion) -> bool:
    """Whether an entry of a suite, or a check in it, can fail by calls that were made."""
    if ALLOWS in assertion.versions or assertion.versions.keys() <= OF_CALLS:
        return True
    checks = iter_checks(assertion.written)
    return any(any(iter_forbidden(fields, is_negated=is_negated)) for fields, is_negated in checks)
