"""More critical issues in the goldens of a suite than its policy allows are a hard fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.common.wording import format_count
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.comparison.decision import Reason
from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator

    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.run.run import ScenarioResult, SuiteResult


def find_excess_critical_issues(
    suite: SuiteResult,
    comparison: Comparison | None,
    most: int,
    fail_on: Collection[str],
    approved: Container[ScenarioKey] = (),
) -> Iterator[Reason]:
    """A reason for each word of `fail_on` about hard fails; not a new one if the baseline had too many too.

    Goldens that are approved or in quarantine are not counted.
    """
    goldens = [each for each in suite.scenarios if each.golden is not None]
    if not goldens:
        return
    kept = [
        each
        for each in goldens
        if not each.quarantined and ScenarioKey(suite.name, each.id, each.variant) not in approved
    ]
    found = sum(each.golden.critical_issues for each in kept if each.golden is not None)
    if found <= most:
        return
    message = (
        f"{format_count(found, 'critical issue')}, `critical_issue_threshold` allows {most}: {_first(kept)}"
    )
    if "hard_fail" in fail_on:
        yield Reason("hard_fail", message, suite.name)
    baseline_count = 0 if comparison is None else comparison.baseline_critical_issues.get(suite.name, 0)
    if "new_hard_fail" in fail_on and baseline_count <= most:
        yield Reason("new_hard_fail", message, suite.name)


def _first(scenarios: Collection[ScenarioResult]) -> str:
    for scenario in scenarios:
        for issue in scenario.golden.issues if scenario.golden is not None else ():
            if issue.severity == "critical":
                turn = "" if issue.turn is None else f", turn {issue.turn + 1}"
                return f"{cut_quote(scenario.id)}{turn}: {cut_quote(issue.message)}"
    return ""
