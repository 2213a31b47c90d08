"""Finds recordings that were another scenario's in the baseline: a quarantine does not follow them to its id."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.comparison.weakening import Quarantine
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.run.run import ScenarioResult, Trial

GLOB = "*"


class MovedRecordings:
    """The recordings of a baseline, by suite and by what identifies them: their bytes, or the file of their own."""

    def __init__(self, baseline: BaselineRun) -> None:
        self._baseline = baseline

    @cached_property
    def _ids(self) -> dict[tuple[str, str], set[str]]:
        found: dict[tuple[str, str], set[str]] = {}
        for key, entry in self._baseline.entries.items():
            for trial in entry.trials:
                trace = trial.trace
                is_alone = trace.line is None and trace.record is None
                for mark in filter(None, (trace.sha256, trace.path if is_alone else None)):
                    found.setdefault((key.suite, mark), set()).add(key.id)
        return found

    def refuse(self, suite: str, quarantine: Quarantine, scenario: ScenarioResult) -> str | None:
        """Why a quarantine does not hold for a scenario; None if it does.

        A new id that a pattern matches was not known to whoever wrote the pattern.
        """
        key = find_baseline_key(ScenarioKey(suite, scenario.id, scenario.variant), self._baseline.entries)
        if GLOB in quarantine.scenario and key not in self._baseline.entries and suite in self._baseline.suite_sizes:
            return f"{cut_quote(scenario.id)} is not in the baseline: quarantine it by its id"
        for trial in scenario.trials:
            before = self._find_ids(suite, trial)
            if before and key.id not in before:
                return f"a trace of {cut_quote(scenario.id)} was one of {cut_quote(min(before))} in the baseline"
        return None

    def _find_ids(self, suite: str, trial: Trial) -> set[str]:
        trace = trial.trace
        marks: Iterator[str | None] = iter((trace.sha256, trace.path if trace.line is trace.record is None else None))
        return set[str]().union(*(self._ids.get((suite, mark), set()) for mark in marks if mark))
