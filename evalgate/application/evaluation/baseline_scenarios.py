"""The baseline's result for each scenario, for assertions that compare with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from evalgate.models.comparison.comparison import ScenarioKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.results.results import ScenarioDoc


class BaselineScenario(TypedDict):
    """A scenario's result; a whole ScenarioDoc if assertions of this run may read it."""

    verdict: str
    score: float | None


class BaselineScenarios:
    """The scenarios of the baseline by key; empty without a baseline."""

    __slots__ = ("_absent", "_run", "_whole")

    def __init__(self, run: BaselineRun | None = None) -> None:
        self._run = run
        self._absent = frozenset(() if run is None else run.unmeasured_rows)
        document = None if run is None else run.document
        self._whole: Mapping[ScenarioKey, ScenarioDoc] | None = document and {
            ScenarioKey(suite["suite"], scenario["id"], scenario["variant"]): scenario
            for suite in document["suites"]
            for scenario in suite["scenarios"]
        }

    def find_scenario(self, key: ScenarioKey) -> BaselineScenario | None:
        """One scenario; None if the baseline has none of that name and variant, or did not measure it."""
        place = None if self._run is None else self._run.row_by_key.get(key)
        if place is None or self._run is None or place in self._absent:
            return None
        if self._whole is not None:
            return self._whole.get(key)
        return {"verdict": self._run.verdicts[place], "score": self._run.scores[place]}
