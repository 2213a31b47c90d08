"""Checks that there is enough to judge by: traces, evaluated scenarios, a baseline. Nothing never passes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.gate.common.wording import format_count, format_verdict
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.comparison.decision import NEEDS_BASELINE, Reason
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.models.run.trials import list_statuses
from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalgate.models.comparison.comparison import BaselineInfo
    from evalgate.models.run.run import ScenarioResult, SuiteResult

EVALUATED = frozenset({"passed", "failed", "hard_fail"})
ABSENT = frozenset({"none", "expired"})


def is_evaluated(scenario: ScenarioResult) -> bool:
    """Whether a scenario was evaluated and may decide.

    One whose every trial ended in an error that the suite allows has a verdict, but was not evaluated. One in
    quarantine is no evidence for anything.
    """
    return (
        not scenario.quarantined
        and scenario.verdict not in NOT_EVALUATED
        and not EVALUATED.isdisjoint(list_statuses(scenario.trials))
    )


def no_traces(suite: SuiteResult) -> Reason | None:
    """A reason if a suite has no trace and no scenario, not even an optional one."""
    if suite.traces or suite.scenarios or suite.skipped:
        return None
    hint = "no trace was found and no scenario is named: check the globs in `traces`"
    return Reason("no_traces", f"suite {cut_quote(suite.name)}: {hint}", suite.name)


def nothing_evaluated(suites: Sequence[SuiteResult]) -> Reason | None:
    """A reason if no scenario of the run was evaluated."""
    scenarios = [scenario for suite in suites for scenario in suite.scenarios]
    if any(map(is_evaluated, scenarios)):
        return None
    if not scenarios:
        return Reason("nothing_evaluated", "no scenario had a trace to evaluate")
    kinds = Counter("quarantined" if each.quarantined else format_verdict(each.verdict) for each in scenarios)
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    total = format_count(len(scenarios), "scenario")
    return Reason("nothing_evaluated", f"nothing could be evaluated in {total} ({listed})")


def too_few_evaluated(
    scenarios: Sequence[ScenarioResult], min_share: float, suite: str | None = None
) -> Reason | None:
    """A reason if the share of evaluated scenarios is below `min_evaluated`; none without scenarios.

    Scenarios in quarantine count neither as evaluated nor as scenarios.
    """
    scenarios = [scenario for scenario in scenarios if not scenario.quarantined]
    if not scenarios or min_share <= 0:
        return None
    evaluated_count = sum(map(is_evaluated, scenarios))
    if round(evaluated_count / len(scenarios), DIGITS) >= round(min_share, DIGITS):
        return None
    prefix = "" if suite is None else f"suite {cut_quote(suite)}: "
    found = f"{evaluated_count} of {format_count(len(scenarios), 'scenario')} could be evaluated"
    return Reason(
        "min_evaluated", f"{prefix}{found}, `min_evaluated` asks for a share of {min_share:g}", suite
    )


def check_baseline(baseline: BaselineInfo | None, fail_on: Collection[str]) -> Reason | None:
    """A reason if `fail_on` needs a baseline that does not exist or could not be fetched from GitHub."""
    needed = sorted(NEEDS_BASELINE.intersection(fail_on))
    if baseline is not None and baseline.status == "unreachable" and needed:
        listed = ", ".join(needed)
        message = f"the baseline could not be fetched and `fail_on` needs it ({listed}): run the job again"
        return Reason("unreachable", message)
    if "no_baseline" not in fail_on or (baseline is not None and baseline.status not in ABSENT):
        return None
    state = "has expired" if baseline is not None and baseline.status == "expired" else "was not found"
    message = f"the baseline {state} and `fail_on` has no_baseline: run the gate on the base branch first"
    return Reason("no_baseline", message)
