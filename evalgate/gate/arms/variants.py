"""Compares the variants that policies name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.arms.compare_arms import Arms, compare_arms
from evalgate.models.comparison.comparison import ScenarioKey, list_scenarios

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from evalgate.models.run.arms import ArmComparison
    from evalgate.models.run.run import Run, ScenarioResult, SuiteResult
    from evalgate.suite.policy import Policy


def compare_in_suites(
    run: Run, policies: Mapping[str, Policy], approved: Container[ScenarioKey] = ()
) -> list[ArmComparison]:
    """The comparisons that the policies of the suites ask for, of suites that have one of the variants.

    Scenarios that are approved or in quarantine in an arm are left out of both.
    """
    return [each for suite in run.suites for each in _compare_in_suite(suite, policies.get(suite.name), approved)]


def _compare_in_suite(
    suite: SuiteResult, policy: Policy | None, approved: Container[ScenarioKey]
) -> list[ArmComparison]:
    if policy is None or not policy.compare_variants:
        return []
    arms = _group_by_variant(suite, approved)
    asked = [each for each in policy.compare_variants if not arms.keys().isdisjoint(each.arms)]
    return compare_arms(
        [
            Arms(suite.name, arms.get(each.control, {}), arms.get(each.treatment, {}), each, policy.regression)
            for each in asked
        ]
    )


def _group_by_variant(
    suite: SuiteResult, approved: Container[ScenarioKey]
) -> Mapping[str, Mapping[tuple[str, str | None], ScenarioResult]]:
    excused = {
        each.id
        for key, each in list_scenarios([suite])
        if each.variant is not None and (each.quarantined or key in approved)
    }
    arms: dict[str, dict[tuple[str, str | None], ScenarioResult]] = {}
    for each in suite.scenarios:
        if each.variant is not None:
            arm = arms.setdefault(each.variant, {})
            if each.id not in excused:
                arm[each.id, None] = each
    return arms
