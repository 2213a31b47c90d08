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

    __slots__ = ("_entries", "_whole")

    def __init__(self, run: BaselineRun | None = None) -> None:
        self._entries = {} if run is None else run.entries
        document = None if run is None else run.document
        self._whole: Mapping[ScenarioKey, ScenarioDoc] | None = document and {
            ScenarioKey(suite["suite"], scenario["id"], scenario["variant"]): scenario
            for suite in document["suites"]
            for scenario in suite["scenarios"]
        }

    def find_scenario(self, key: ScenarioKey) -> BaselineScenario | None:
        """One scenario; None if the baseline has none of that name and variant, or did not measure it."""
        entry = self._entries.get(key)
        if entry is None or entry.is_absent:
            return None
        if self._whole is not None:
            return self._whole.get(key)
        return {"verdict": entry.verdict, "score": entry.score}
