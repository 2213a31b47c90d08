"""What the baseline says of each scenario, for checks that compare a figure with what it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalgate.models.results import ResultsDoc, ScenarioDoc


class Earlier:
    """The scenarios of an earlier run by suite and id; empty without one."""

    __slots__ = ("_scenarios",)

    def __init__(self, results: ResultsDoc | None = None) -> None:
        self._scenarios = {
            (suite["suite"], scenario["id"]): scenario
            for suite in (results["suites"] if results is not None else ())
            for scenario in suite["scenarios"]
        }

    def of(self, suite: str, scenario_id: str) -> ScenarioDoc | None:
        """One scenario, None where the earlier run had none of that name."""
        return self._scenarios.get((suite, scenario_id))
