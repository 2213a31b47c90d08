"""What the baseline says of each scenario, for checks that compare a figure with what it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.comparison import ScenarioKey

if TYPE_CHECKING:
    from evalgate.models.results import ResultsDoc, ScenarioDoc


class Earlier:
    """The scenarios of an earlier run by their key; empty without one."""

    __slots__ = ("_scenarios",)

    def __init__(self, results: ResultsDoc | None = None) -> None:
        self._scenarios = {
            ScenarioKey(suite["suite"], scenario["id"], scenario["variant"]): scenario
            for suite in (results["suites"] if results is not None else ())
            for scenario in suite["scenarios"]
        }

    def of(self, key: ScenarioKey) -> ScenarioDoc | None:
        """One scenario, None where the earlier run had none of that name in this variant."""
        return self._scenarios.get(key)
