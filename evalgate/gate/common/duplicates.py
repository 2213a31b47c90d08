"""Refuses scenarios with duplicate traces where the policy asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.run.run import Run, ScenarioResult
    from evalgate.suite.policy import Policy


def explain_duplicates(scenario: ScenarioResult) -> str:
    """What is alike among the traces of a scenario, empty if nothing is."""
    return "; ".join(note.text for note in scenario.duplicates)


def refuse_duplicates(run: Run, policies: Mapping[str, Policy]) -> None:
    """Makes scenarios with duplicate traces an ERROR in suites with `duplicates: fail`."""
    for suite in run.suites:
        if policies[suite.name].duplicates == "fail":
            for scenario in suite.scenarios:
                if reason := explain_duplicates(scenario):
                    scenario.verdict, scenario.reason = "ERROR", reason
