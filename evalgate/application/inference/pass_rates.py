"""Lets trials fail that failed when they were recorded, so that the first run of a suite shows what was recorded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.inference.draft import OWN_THRESHOLD
from evalgate.application.inference.self_check import JudgedTrace, judge_traces
from evalgate.models.run.trials import list_measured
from evalgate.scoring.recorded_result import find_recorded_result, is_passing
from evalgate.scoring.scenario import judge_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.application.inference.draft import DraftSuite
    from evalgate.models.trace.trace import Trace
    from evalgate.scoring.scenario import ScenarioJudgement
    from evalgate.suite.models import Scenario, Suite

HUNDREDTHS, TENTHS = 100, 10


class FailedTrials(NamedTuple):
    """The trials of a scenario that the suite fails, of how many; `results` are what they recorded, each once."""

    scenario: str
    failed: int
    trials: int
    results: Sequence[str]
    is_red: bool


class RecordedFailures(NamedTuple):
    """The scenarios with trials that the suite fails; `unnoticed` counts the recorded failures that it does not."""

    failed: Sequence[FailedTrials]
    unnoticed: int


class _ScenarioTrials(NamedTuple):
    """A scenario with all its recorded trials, judged."""

    scenario: Scenario
    trials: list[JudgedTrace]

    @property
    def failing(self) -> list[JudgedTrace]:
        """The trials that do not pass."""
        return [each for each in self.trials if each.trial.status not in {"passed", "not_measured"}]

    @property
    def pass_rate(self) -> float:
        """The share of measured trials that pass."""
        count = len(list_measured([each.trial for each in self.trials]))
        return 1 - len(self.failing) / count if count else 1.0

    def judge(self) -> ScenarioJudgement | None:
        """The verdict of a run over these trials."""
        return judge_scenario([each.trial for each in self.trials], self.scenario.threshold, self.scenario.rules)

    def describe(self) -> FailedTrials:
        """What fails, and why as recorded."""
        results = [find_recorded_result(each.trace) for each in self.failing]
        shown = {
            result.describe() if result else f"status {each.trace.status}"
            for result, each in zip(results, self.failing, strict=True)
        }
        judged = self.judge()
        is_red = judged is not None and judged.verdict != "PASS"
        return FailedTrials(self.scenario.id, len(self.failing), len(self.trials), sorted(shown), is_red)


def allow_recorded_failures(
    draft: DraftSuite, traces: Sequence[Trace], load: Callable[[str], Suite]
) -> RecordedFailures:
    """Sets the pass rate of each scenario with recorded trials that the draft fails. `load` parses a suite's text."""
    scenarios = {scenario.id: scenario for scenario in draft.written}
    groups = _judge(draft, traces, load)
    flaky = {group.scenario.id for group in groups if group.failing}
    if flaky:
        for id_ in flaky:
            scenarios[id_].set_pass_rate(0, 0)
        draft.require_shared()
        groups = _judge(draft, traces, load)  # by required checks only
        for id_ in flaky:
            own = [group for group in groups if group.scenario.id == id_]
            rate = min(group.pass_rate for group in own)
            score = min(judged.score or 0 for group in own if (judged := group.judge()) is not None)
            scenarios[id_].set_pass_rate(_round_down(rate, HUNDREDTHS), min(OWN_THRESHOLD, _round_down(score, TENTHS)))
        groups = _judge(draft, traces, load)
    unnoticed = sum(
        not is_passing(each.trace) and each.trial.status == "passed" for group in groups for each in group.trials
    )
    return RecordedFailures([group.describe() for group in groups if group.failing], unnoticed)


def _judge(draft: DraftSuite, traces: Sequence[Trace], load: Callable[[str], Suite]) -> list[_ScenarioTrials]:
    """All recorded trials by their scenario, in the order of the suite."""
    suite = load(draft.render()[0])
    groups = {id(scenario): _ScenarioTrials(scenario, []) for scenario in suite.scenarios}
    for judged in judge_traces(suite, traces):
        groups[id(judged.scenario)].trials.append(judged)
    return [group for group in groups.values() if group.trials]


def _round_down(share: float, parts: int) -> float:
    """A share rounded down to whole parts.

    >>> _round_down(2 / 3, 100), _round_down(0.5, 10)
    (0.66, 0.5)
    """
    return math.floor(round(share * parts, 6)) / parts
