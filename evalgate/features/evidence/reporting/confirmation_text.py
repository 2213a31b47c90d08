"""What `confirm` prints: the plan, then what all trials show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from evalgate.models.comparison.decision import exit_code_of
from evalgate.reporting.text.arm_lines import (
    MEANINGS,
    describe_few_trials,
    describe_finding,
    find_differences,
    format_cost,
)
from evalgate.reporting.text.escaping import escape_terminal
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.reporting.text.wording import pluralize, scenario_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.errors import Problem
    from evalgate.features.evidence.models import ConfirmedRun
    from evalgate.models.run.arms import ConfirmedScenario, TrialPlan


def render_plan(plan: TrialPlan, unjudged: Sequence[Problem]) -> Iterator[str]:
    """The scenarios to record again, and what that costs, after what the base could not judge."""
    yield from (_shorten(each.message) for each in unjudged)
    if not plan.scenarios:
        rest = "nothing else got worse" if unjudged else "nothing got worse"
        yield f"{rest}: there is nothing to record again"
        return
    for each in plan.scenarios:
        name = escape_terminal(scenario_name(each.id, each.variant))
        yield f"{name}: {pluralize(len(each.trials), 'more trial')} on this commit and on the base"
    yield f"{pluralize(plan.recordings, 'recording')}, {format_cost(plan.usd)}, by the mean so far"


def render_confirmation(run: ConfirmedRun) -> Iterator[str]:
    """A finding a scenario, the cost, and the verdict."""
    found = run.confirmation
    for each in found.scenarios:
        name = escape_terminal(scenario_name(each.id, each.variant))
        yield f"{each.finding}: {name}: {describe_finding(each)}"
        yield f"  passed on the base {each.base.describe()}; on this commit {each.head.describe()}"
        acts = find_differences(run.document, each)
        yield from (f"  {escape_terminal(unmark_parts(act))}" for act in acts)
    yield from (f"warning: {_shorten(each.message)}" for each in run.warnings)
    if few := describe_few_trials(found):
        yield few
    yield f"{pluralize(found.recordings, 'added recording')}, {format_cost(found.usd)}"
    yield from (
        f"{each.code}: {escape_terminal(each.scenario or '')}: {_shorten(each.message)}" for each in run.reasons
    )
    yield describe_verdict(run)


def _shorten(message: str) -> str:
    return escape_terminal(message, 300)


def describe_verdict(run: ConfirmedRun) -> str:
    """The verdict in one line; a pass after a failure says so."""
    code, found = exit_code_of(each.code for each in run.reasons), run.confirmation
    if code:
        return "EvalGate failed: see above" if code == 1 else "EvalGate can't judge: see above"
    if not found.scenarios:
        return f"EvalGate passed: nothing {'else ' if run.warnings else ''}got worse"
    count = pluralize(len(found.scenarios), "scenario")
    return f"EvalGate passed, but {count} failed at first: {_count_findings(found.scenarios)}"


def _count_findings(scenarios: Sequence[ConfirmedScenario]) -> str:
    names = [each.finding for each in scenarios]
    return ", ".join(f"{names.count(name)} {name}" for name in MEANINGS if name in names)


def build_confirmation_document(run: ConfirmedRun) -> dict[str, Any]:
    """Builds the confirmation as JSON."""
    found = to_builtins(run.confirmation)
    return {
        "schema": "evalgate.confirmation/1",
        "exit_code": exit_code_of(each.code for each in run.reasons),
        **found,
        "reasons": [
            {name: getattr(each, name) for name in ("code", "message", "suite", "scenario", "variant")}
            for each in run.reasons
        ],
    }
