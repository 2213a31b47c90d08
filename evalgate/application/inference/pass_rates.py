"""How many trials may fail, where some failed when they were recorded, and which failures stay unnoticed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.inference.self_check import JudgedTrace, judge_traces
from evalgate.models.run.trials import list_measured
from evalgate.reporting.text.wording import pluralize
from evalgate.scoring.recorded_result import find_recorded_result, is_passing
from evalgate.scoring.scenario import judge_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.application.inference.draft import DraftSuite
    from evalgate.models.trace.trace import Trace
    from evalgate.suite.models import Scenario, Suite

HUNDREDTHS = 100
RUNS = 20
"""In one of so many runs a scenario of an unchanged agent may pass fewer trials than its rate demands."""


class FailedTrials(NamedTuple):
    """The trials of a scenario that the suite fails, of how many; `results` are what they recorded, each once.

    `least` is the number of trials that must pass, None if its first run fails.
    """

    scenario: str
    failed: int
    trials: int
    results: Sequence[str]
    least: int | None


class UnnoticedFailures(NamedTuple):
    """The failed trials of a scenario that pass all its checks; a number is None if the trace records none."""

    scenario: str
    trials: Sequence[int | None]

    def describe(self) -> str:
        """The scenario and its trials.

        >>> UnnoticedFailures("refund", [0, 2]).describe(), UnnoticedFailures("pay", [None]).describe()
        ('refund (trials 0, 2)', 'pay (1 trial)')
        """
        numbers = [number for number in self.trials if number is not None]
        if len(numbers) < len(self.trials):
            return f"{self.scenario} ({pluralize(len(self.trials), 'trial')})"
        return f"{self.scenario} (trial{'s'[: len(numbers) > 1]} {', '.join(map(str, sorted(numbers)))})"


class RecordedFailures(NamedTuple):
    """The scenarios with trials that the suite fails; of `recorded` failures those that it does not notice."""

    failed: Sequence[FailedTrials]
    recorded: int
    unnoticed: Sequence[UnnoticedFailures]

    @property
    def missed(self) -> int:
        """The number of recorded failures that pass all checks."""
        return sum(len(each.trials) for each in self.unnoticed)


class _ScenarioTrials(NamedTuple):
    """A scenario with all its recorded trials, judged."""

    scenario: Scenario
    trials: list[JudgedTrace]

    @property
    def failing(self) -> list[JudgedTrace]:
        """The trials that do not pass."""
        return [each for each in self.trials if each.trial.status not in {"passed", "not_measured"}]

    @property
    def recorded(self) -> list[JudgedTrace]:
        """The trials that failed when they were recorded."""
        return [each for each in self.trials if not is_passing(each.trace)]

    @property
    def measured(self) -> int:
        """The number of trials that show what the agent does."""
        return len(list_measured([each.trial for each in self.trials]))

    @property
    def least(self) -> int:
        """The number of passing trials that may be demanded."""
        return find_least_passes(self.measured - len(self.failing), self.measured)

    def describe(self) -> FailedTrials:
        """What fails, and why as recorded."""
        results = [find_recorded_result(each.trace) for each in self.failing]
        shown = {
            result.describe() if result else f"status {each.trace.status}"
            for result, each in zip(results, self.failing, strict=True)
        }
        judged = judge_scenario([each.trial for each in self.trials], self.scenario.threshold, self.scenario.rules)
        is_red = judged is not None and judged.verdict != "PASS"
        least = None if is_red else self.least
        return FailedTrials(self.scenario.id, len(self.failing), len(self.trials), sorted(shown), least)

    def find_unnoticed(self) -> UnnoticedFailures:
        """The recorded failures that pass."""
        return UnnoticedFailures(
            self.scenario.id, [each.trace.trial for each in self.recorded if each.trial.status == "passed"]
        )


def allow_recorded_failures(
    draft: DraftSuite, traces: Sequence[Trace], load: Callable[[str], Suite]
) -> RecordedFailures:
    """Sets the pass rate of each scenario with recorded trials that the draft fails. `load` parses a suite's text."""
    scenarios = {scenario.id: scenario for scenario in draft.written}
    groups = _judge(draft, traces, load)
    flaky = {group.scenario.id for group in groups if group.failing}
    if flaky:
        for id_ in flaky:
            scenarios[id_].set_pass_rate(0, "")
        draft.require_shared()
        groups = _judge(draft, traces, load)  # by required checks only
        for id_ in flaky:
            lowest = min((group for group in groups if group.scenario.id == id_), key=lambda group: group.least)
            rate = math.floor(lowest.least * HUNDREDTHS / max(1, lowest.measured)) / HUNDREDTHS or 0
            scenarios[id_].set_pass_rate(rate, _explain_rate(lowest))
        groups = _judge(draft, traces, load)
    return RecordedFailures(
        [group.describe() for group in groups if group.failing],
        sum(len(group.recorded) for group in groups),
        [unnoticed for group in groups if (unnoticed := group.find_unnoticed()).trials],
    )


def _judge(draft: DraftSuite, traces: Sequence[Trace], load: Callable[[str], Suite]) -> list[_ScenarioTrials]:
    """All recorded trials by their scenario, in the order of the suite."""
    suite = load(draft.render()[0])
    groups = {id(scenario): _ScenarioTrials(scenario, []) for scenario in suite.scenarios}
    for judged in judge_traces(suite, traces):
        groups[id(judged.scenario)].trials.append(judged)
    return [group for group in groups.values() if group.trials]


def _explain_rate(group: _ScenarioTrials) -> str:
    passing = f"{group.measured - len(group.failing)} of {group.measured} pass these checks"
    if not group.least:
        return f"only reports: where {passing}, none passing can be chance; record more trials"
    return f"{passing}; fewer than {group.least} would be chance in 1 of {RUNS} runs at most"


def find_least_passes(passed: int, trials: int) -> int:
    """The largest number of passes that as many new trials of an unchanged agent miss by chance in 1 of RUNS runs.

    Its rate is not known, only that so many trials passed: every rate is as likely before them (Laplace).

    >>> [find_least_passes(passed, 4) for passed in range(5)], find_least_passes(18, 20)
    ([0, 0, 0, 1, 2], 13)
    """
    below = least = 0
    most = math.comb(2 * trials + 1, trials)  # orders in which both runs together can pass and fail
    while least < trials:
        below += math.comb(passed + least, passed) * math.comb(2 * trials - passed - least, trials - passed)
        if below * RUNS > most:
            break
        least += 1
    return least
