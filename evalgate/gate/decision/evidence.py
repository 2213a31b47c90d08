"""Checks that there is enough to judge by: traces, evaluated scenarios, a baseline. Nothing never passes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.gate.common.wording import counted, spoken
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.comparison.decision import NEEDS_BASELINE, Reason
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.models.run.trials import statuses
from evalgate.scoring.wording import shorten

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalgate.models.comparison.comparison import BaselineInfo
    from evalgate.models.run.run import ScenarioResult, SuiteResult

EVALUATED = frozenset({"passed", "failed", "hard_fail"})
ABSENT = frozenset({"none", "expired"})


def evaluated(scenario: ScenarioResult) -> bool:
    """Whether a scenario was evaluated and may decide.

    One whose every trial ended in an error that the suite allows has a verdict, but was not evaluated. One in
    quarantine is no evidence for anything.
    """
    return (
        not scenario.quarantined
        and scenario.verdict not in NOT_EVALUATED
        and not EVALUATED.isdisjoint(statuses(scenario.trials))
    )


def no_traces(suite: SuiteResult) -> Reason | None:
    """A reason if a suite has no trace and no scenario, not even an optional one."""
    if suite.traces or suite.scenarios or suite.skipped:
        return None
    lacking = "no trace was found and no scenario is named: check the globs in `traces`"
    return Reason("no_traces", f"suite {shorten(suite.name)}: {lacking}", suite.name)


def nothing_evaluated(suites: Sequence[SuiteResult]) -> Reason | None:
    """A reason if no scenario of the run was evaluated."""
    scenarios = [scenario for suite in suites for scenario in suite.scenarios]
    if any(map(evaluated, scenarios)):
        return None
    if not scenarios:
        return Reason("nothing_evaluated", "no scenario had a trace to evaluate")
    kinds = Counter("quarantined" if each.quarantined else spoken(each.verdict) for each in scenarios)
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    total = counted(len(scenarios), "scenario")
    return Reason("nothing_evaluated", f"nothing could be evaluated in {total} ({listed})")


def too_few_evaluated(
    scenarios: Sequence[ScenarioResult], least: float, suite: str | None = None
) -> Reason | None:
    """A reason if the share of evaluated scenarios is below `min_evaluated`; none without scenarios.

    Scenarios in quarantine count neither as evaluated nor as scenarios.
    """
    scenarios = [scenario for scenario in scenarios if not scenario.quarantined]
    if not scenarios or least <= 0:
        return None
    known = sum(map(evaluated, scenarios))
    if round(known / len(scenarios), DIGITS) >= round(least, DIGITS):
        return None
    place = "" if suite is None else f"suite {shorten(suite)}: "
    found = f"{known} of {counted(len(scenarios), 'scenario')} could be evaluated"
    return Reason("min_evaluated", f"{place}{found}, `min_evaluated` asks for a share of {least:g}", suite)


def missing_baseline(baseline: BaselineInfo | None, words: Collection[str]) -> Reason | None:
    """A reason if `fail_on` needs a baseline that does not exist or could not be fetched from GitHub."""
    needed = sorted(NEEDS_BASELINE.intersection(words))
    if baseline is not None and baseline.status == "unreachable" and needed:
        listed = ", ".join(needed)
        message = f"the baseline could not be fetched and `fail_on` needs it ({listed}): run the job again"
        return Reason("unreachable", message)
    if "no_baseline" not in words or (baseline is not None and baseline.status not in ABSENT):
        return None
    state = "has expired" if baseline is not None and baseline.status == "expired" else "was not found"
    message = f"the baseline {state} and `fail_on` has no_baseline: run the gate on the base branch first"
    return Reason("no_baseline", message)
