"""Judges a trial that an outage ended by what the agent did before it: a forbidden call that was made was made.

A check counts if what the agent had done settles its outcome, whatever would have followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from evalgate.evaluators.core.agents import ANY, select_agent
from evalgate.evaluators.core.operators import resolve_alias
from evalgate.evaluators.core.queries import JSON_FIELDS, build_getter
from evalgate.evaluators.core.registry import BUILT_IN_TYPES
from evalgate.evaluators.core.shorthands import GROUPS, expand_shorthand
from evalgate.evaluators.kinds.growth import Settled, find_trend, settle_size
from evalgate.measures.jmespath.query import Query, QueryFailedError
from evalgate.models.trace.trace import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.run.run import AssertionResult
    from evalgate.models.trace.trace import Trace
    from evalgate.suite.models import Scenario

CUT = "an outage ended the run: what would have come after it is not recorded"
_OPPOSITE: dict[Settled, Settled] = {"passed": "failed", "failed": "passed", "skipped": "skipped"}
LOOK_BACK = frozenset({"grounded_arguments", "no_flow", "no_loops"})
"""Types of checks that judge each call by what stands before it: one that failed stays so."""
LIMITS = frozenset({"cost_limit", "token_limit", "turn_limit"})
BY_ENVIRONMENT = frozenset({"max_tool_errors", "tool_latency_limit"})
"""Types of checks of calls that the outage itself may have failed: a tool may need the same provider."""


class BrokenOff(NamedTuple):
    """A run that broke off: as it is recorded, and `cut`, the same with all of its evidence incomplete."""

    recorded: Trace
    cut: Trace

    def select(self, agent: str) -> BrokenOff | None:
        """What one agent did in it; None if that is not known."""
        if agent == ANY:
            return self
        recorded, cut = select_agent(self.recorded, agent), select_agent(self.cut, agent)
        return None if recorded is None or cut is None else BrokenOff(recorded, cut)


def judge_before_outage(trace: Trace, scenario: Scenario) -> tuple[Trace, list[AssertionResult]] | None:
    """The trace with all evidence incomplete, and the rows of its checks, if a required one fails all the same.

    None if what the agent did before the outage fails none: then nothing was measured.
    """
    cut = replace(trace, gaps={**dict.fromkeys(KINDS, CUT), **trace.gaps}, kept_view=None)
    cut.baseline = trace.baseline
    run = BrokenOff(trace, cut)
    failed = [bool(each.required) and find_settled(each, run) == "failed" for each in scenario.assertions]
    if not any(failed):
        return None
    checks = zip(scenario.assertions, failed, strict=True)
    return cut, [_explain(each, run) if has_failed else each.assess(cut) for each, has_failed in checks]


def _explain(assertion: Assertion, run: BrokenOff) -> AssertionResult:
    """The failure of a check that failed for good: by what is sure, else by what is recorded."""
    found = assertion.assess(run.cut)
    return found if found.outcome == "failed" else assertion.assess(run.recorded)


def find_settled(check: Assertion, run: BrokenOff) -> Settled | None:
    """The outcome of a check that nothing which could have followed changes; None if something could."""
    fields = expand_shorthand(check.written).fields
    if fields["type"] not in GROUPS:
        return _settle_check(check, fields, run)
    of_agent = run.select(fields.get("agent", ANY))
    found = None if of_agent is None else _settle_group(check, fields, of_agent)
    return _turn(found, fields)


def _turn(found: Settled | None, fields: Mapping[str, Any]) -> Settled | None:
    return _OPPOSITE[found] if found is not None and fields.get("negate") is True else found


def _settle_group(group: Assertion, fields: Mapping[str, Any], run: BrokenOff) -> Settled | None:
    kind, members = fields["type"], group.members
    if kind == "when":
        condition, *members = members
        holds = _settle_condition(condition, run)
        if holds != "passed":
            return None if holds is None else "skipped"
    found = [find_settled(each, run) for each in members]
    applied = [each for each in found if each != "skipped"]
    if not applied:
        return "skipped"
    if kind == "at_least":
        return _count(applied, fields[kind]["k"])
    deciding: Settled = "passed" if kind == "any_of" else "failed"
    if deciding in applied:
        return deciding
    return None if None in applied else _OPPOSITE[deciding]


def _count(members: Sequence[Settled | None], needed: int) -> Settled | None:
    passed = members.count("passed")
    if passed >= needed:
        return "passed"
    return "failed" if passed + members.count(None) < needed else None


def _settle_condition(condition: Assertion, run: BrokenOff) -> Settled | None:
    """As any check; a condition also holds for good by what was said, and by what the recorder noted of the run."""
    found = find_settled(condition, run)
    fields = expand_shorthand(condition.written).fields
    if found is not None or fields["type"] != "jmespath":
        return found
    return "passed" if _settle_expression(condition, fields, run.recorded, is_given=True) == "passed" else None


def _settle_check(check: Assertion, fields: Mapping[str, Any], run: BrokenOff) -> Settled | None:
    kind = check.type
    if kind == "jmespath":
        return _settle_expression(check, fields, run.recorded)
    is_of_calls = BUILT_IN_TYPES.get(kind, "").startswith(("calls.", "skills.")) and kind not in BY_ENVIRONMENT
    if not is_of_calls and kind not in LIMITS:
        return None
    found = _assess(check, run.cut)
    if found is not None or kind not in LOOK_BACK:
        return found
    stays = _turn("failed", fields)
    return stays if _assess(check, run.recorded) == stays else None


def _assess(check: Assertion, trace: Trace) -> Settled | None:
    outcome = check.assess(trace).outcome
    return outcome if outcome in ("passed", "failed") else None


def _settle_expression(
    check: Assertion, fields: Mapping[str, Any], trace: Trace, *, is_given: bool = False
) -> Settled | None:
    query = Query(fields["expression"], JSON_FIELDS)
    trend = find_trend(query.tree, is_given=is_given)
    own = trace if fields.get("agent", ANY) == ANY else select_agent(trace, fields["agent"])
    if trend is None or own is None:
        return None
    try:
        actual = build_getter(query)(own)
    except QueryFailedError:
        return None
    operator, value = resolve_alias(fields["operator"]), fields.get("value")
    if actual is None:
        return None
    if trend in ("true", "false", "fixed"):
        return _assess(check, trace) if trend == "fixed" or actual is (trend == "true") else None
    if trend == "list" and operator == "contains":
        contained = _turn("passed", fields)
        return contained if _assess(check, trace) == contained else None
    size = len(actual) if isinstance(actual, list) else actual
    return _turn(settle_size(trend, operator, value, size), fields)
