"""Compares what got better or acts differently for a page: a run compares only the calls of what got worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalgate.features.page.reporting.build_page import place_of
from evalgate.features.page.reporting.scenario_view import order_trials
from evalgate.gate.trajectory.trajectory_diff import diff_trajectories, trajectory_from_trace
from evalgate.models.comparison.trajectory import TrajectoryDiff
from evalgate.reporting.results.clean_values import clean_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.features.page.reporting.build_page import TracePlace
    from evalgate.features.page.reporting.page_builder import ComparedTrial
    from evalgate.models.comparison.trajectory import Trajectory
    from evalgate.models.results.baseline_run import BaselineTrial
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.trace.trace import Trace

MOST_COMPARED = 50
"""Scenarios whose calls a page compares by itself."""


def copy_changes(document: ResultsDoc) -> ResultsDoc:
    """The document with copies of its changes, to which a page may add differences."""
    suites = [
        {
            **suite,
            "scenarios": [
                {**scenario, "change": scenario["change"] and {**scenario["change"]}} for scenario in suite["scenarios"]
            ],
        }
        for suite in document["suites"]
    ]
    return cast("ResultsDoc", {**document, "suites": suites})


def find_counterpart(trials: Sequence[BaselineTrial], number: int | None) -> BaselineTrial | None:
    """The trial of that number; without a number the first that did not pass, else the first; None without trials."""
    if number is not None:
        return next((trial for trial in trials if trial.trial == number), None)
    return next((trial for trial in trials if not trial.passed), trials[0] if trials else None)


class BetterScenarios:
    """Trajectories of scenarios that the run did not compare, by the place of the trial that the page shows first."""

    def __init__(self, compared: Sequence[ComparedTrial]) -> None:
        better = [each for each in compared if each.is_open and each.item.scenario["trials"]][:MOST_COMPARED]
        self._places = {id(each): place_of(order_trials(each.item.scenario)[0].trace) for each in better}
        self._wanted = {*self._places.values()}
        self._trajectories: dict[TracePlace, Trajectory] = {}

    def add(self, place: TracePlace, trace: Trace) -> None:
        """Keeps what the agent did in a trace of this run, if it is to be compared."""
        if place in self._wanted:
            self._trajectories[place] = trajectory_from_trace(trace)

    def compare(self, compared: ComparedTrial, trial: int, trace: Trace) -> bool:
        """Adds how it differs from the baseline's trace of this trial to a scenario that the run did not compare.

        Returns whether the scenario was compared, now or by the run.
        """
        if not compared.is_open:
            return True
        place, scenario = self._places.get(id(compared)), compared.item.scenario
        current = None if place is None else self._trajectories.get(place)
        if current is None or scenario["change"] is None:
            return False
        number = order_trials(scenario)[0].trial
        found = diff_trajectories(trajectory_from_trace(trace), current, trial, number)
        scenario["change"]["behaviour"] = clean_record(found, TrajectoryDiff)
        return True
