"""How many trials may fail, where some failed when they were recorded, and which failures stay unnoticed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.evaluation.scenario_matcher import natural
from evalgate.features.learn.application.inference.self_check import JudgedTrace, judge_traces
from evalgate.features.learn.application.inference.shared import except_scenarios, list_excepted_checks
from evalgate.models.run.trials import is_failed, list_measured
from evalgate.reporting.text.wording import pluralize
from evalgate.scoring.outage import find_outage
from evalgate.scoring.recorded_result import find_recorded_result, is_passing
from evalgate.scoring.scenario import judge_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalgate.features.learn.application.inference.draft import CheckPlace, DraftSuite
    from evalgate.models.run.run import AnyAssertion
    from evalgate.models.trace.trace import Trace
    from evalgate.suite.models import Scenario, Suite

    BrokenChecks = dict[CheckPlace, set[str]]

FEWEST_DIGITS, MOST_DIGITS = 2, 7
"""Digits of a pass rate."""
LOWEST_RATE = 0.01
"""What is demanded until the trials are counted."""
RUNS = 20
"""In one of so many runs a scenario of an unchanged agent may pass fewer trials than its rate demands."""


class FailedTrials(NamedTuple):
    """The trials of a scenario in which a check fails, of how many; `results` are what they recorded, each once.

    `least` is the number of trials that must pass, 0 if these checks only lower the score, None if the first run fails.
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
    """The scenarios with trials that the suite fails; of `recorded` failures those that it does not notice.

    `scored` are failures whose checks only lower the score.
    """

    failed: Sequence[FailedTrials]
    recorded: int
    unnoticed: Sequence[UnnoticedFailures]
    scored: int = 0

    @property
    def missed(self) -> int:
        """The number of recorded failures that pass all checks."""
        return sum(len(each.trials) for each in self.unnoticed)


class ScenarioTrials(NamedTuple):
    """A scenario with all its recorded trials, judged."""

    scenario: Scenario
    trials: list[JudgedTrace]

    @staticmethod
    def group(suite: Suite, traces: Iterable[Trace]) -> list[ScenarioTrials]:
        """Judges traces; those of each scenario that has any, in the order of the suite."""
        groups = {id(scenario): ScenarioTrials(scenario, []) for scenario in suite.scenarios}
        for judged in judge_traces(suite, traces):
            groups[id(judged.scenario)].trials.append(judged)
        return [group for group in groups.values() if group.trials]

    @property
    def imperfect(self) -> list[JudgedTrace]:
        """The trials in which a check fails."""
        return [each for each in self.trials if each.trial.status != "not_measured" and _list_failed(each)]

    @property
    def recorded(self) -> list[JudgedTrace]:
        """The trials that failed when they were recorded; an outage is no failure of the agent."""
        return [each for each in self.trials if each.trial.status != "not_measured" and not is_passing(each.trace)]

    @property
    def measured(self) -> int:
        """The number of trials that show what the agent does."""
        return len(list_measured([each.trial for each in self.trials]))

    @property
    def passed(self) -> int:
        """The number of trials that pass."""
        return sum(each.trial.status == "passed" for each in self.trials)

    @property
    def least(self) -> int:
        """The number of passing trials that may be demanded."""
        return find_least_passes(self.passed, self.measured)

    @property
    def demanded(self) -> int:
        """The number of passing trials that its pass rate demands."""
        return math.ceil((self.scenario.rules.min_pass_rate or 0) * self.measured)

    @property
    def is_red(self) -> bool:
        """Whether a run fails it."""
        judged = judge_scenario([each.trial for each in self.trials], self.scenario.threshold, self.scenario.rules)
        return judged is not None and judged.verdict != "PASS"

    def list_failed(self) -> list[str]:
        """The names of the checks that fail in a trial which does not pass."""
        return [found.name for each in self.trials if each.trial.status != "passed" for found in _list_failed(each)]

    def describe(self) -> FailedTrials:
        """What fails, and what was recorded of it."""
        results = [find_recorded_result(each.trace) for each in self.imperfect]
        shown = {
            result.describe() if result else f"status {each.trace.status}"
            for result, each in zip(results, self.imperfect, strict=True)
        }
        least = None if self.is_red else self.demanded
        return FailedTrials(self.scenario.id, len(self.imperfect), len(self.trials), sorted(shown), least)

    def find_unnoticed(self) -> UnnoticedFailures:
        """The recorded failures in which no check fails."""
        return UnnoticedFailures(
            self.scenario.id, [each.trace.trial for each in self.recorded if not _list_failed(each)]
        )


def _list_failed(judged: JudgedTrace) -> list[AnyAssertion]:
    return [found for found in judged.trial.assertions if is_failed(found) and found.counts]


def allow_recorded_failures(
    draft: DraftSuite, traces: Sequence[Trace], load: Callable[[str], Suite]
) -> RecordedFailures:
    """Lets the draft pass recorded trials in which a check of it fails. `load` parses a suite's text.

    A scenario gets the pass rate that an unchanged agent rarely misses. Where too few trials passed for one, the
    checks that fail only lower the score.
    """
    groups = _judge(draft, traces, load)
    flaky = {group.scenario.id for group in groups if group.imperfect}
    if flaky:
        finder = _RateFinder(draft, flaky, _find_broken(draft, groups), lambda: _judge(draft, traces, load))
        groups = finder.set_rates()
    unclaimed = _find_unclaimed(draft, traces, groups)
    return RecordedFailures(
        [group.describe() for group in groups if group.imperfect],
        sum(len(group.recorded) for group in groups) + sum(len(each.trials) for each in unclaimed),
        [*(unnoticed for group in groups if (unnoticed := group.find_unnoticed()).trials), *unclaimed],
        sum(each.trial.status == "passed" and bool(_list_failed(each)) for group in groups for each in group.recorded),
    )


def _find_unclaimed(
    draft: DraftSuite, traces: Sequence[Trace], groups: Sequence[ScenarioTrials]
) -> list[UnnoticedFailures]:
    """The recorded failures of the suite's scenarios that none of its variants claims."""
    claimed = {id(each.trace) for group in groups for each in group.trials}
    found: dict[str, list[int | None]] = {scenario.id: [] for scenario in draft.written}
    for trace in traces:
        is_failure = not is_passing(trace) and find_outage(trace) is None
        if trace.scenario_id in found and id(trace) not in claimed and is_failure:
            found[trace.scenario_id].append(trace.trial)
    return [UnnoticedFailures(id_, trials) for id_, trials in found.items() if trials]


class _RateFinder:
    """Finds which scenarios of a draft get a pass rate, and in which the checks that fail only lower the score."""

    def __init__(
        self, draft: DraftSuite, flaky: set[str], broken: BrokenChecks, judge: Callable[[], list[ScenarioTrials]]
    ) -> None:
        self._draft, self._flaky, self._broken, self._judge = draft, flaky, broken, judge
        self._scored: set[str] = set()

    def set_rates(self) -> list[ScenarioTrials]:
        """Sets them; returns the trials as the draft judges them then."""
        lowest = self._settle()
        if self._except_scored():
            self._broken = _find_broken(self._draft, self._judge())
            lowest = self._settle()
        self._apply(lowest)
        return self._judge()

    def _settle(self) -> dict[str, ScenarioTrials]:
        """Finds the scenarios in which too few trials pass; returns the variant of each flaky one that passes least."""
        lowest: dict[str, ScenarioTrials] = {}
        while True:
            self._apply(lowest)
            groups = self._judge()
            lowest = {
                id_: min((each for each in groups if each.scenario.id == id_), key=lambda each: each.least)
                for id_ in self._flaky
            }
            scored = {id_ for id_, each in lowest.items() if not each.least or each.passed == each.measured}
            if scored <= self._scored:
                return lowest
            self._scored |= scored

    def _except_scored(self) -> bool:
        """Lets a shared check be required although few scenarios only score it: they get it themselves.

        Whether any check could be changed so.
        """
        scenarios = {scenario.id: scenario for scenario in self._draft.written}
        changed = False
        for place, ids in self._broken.items():
            number, scored = place.number, sorted(ids & self._scored, key=natural)
            if place.scenario is not None or number is None or not scored or self._draft.shared[number].is_limit:
                continue
            shared = except_scenarios(self._draft.shared[number], scored, len(scenarios))
            if shared is not None:
                self._draft.shared[number] = shared
                changed = True
                for id_ in scored:
                    scenarios[id_].checks += list_excepted_checks(shared)
        return changed

    def _apply(self, lowest: Mapping[str, ScenarioTrials]) -> None:
        """Sets what each scenario demands, by its variant with the `lowest` number of passing trials."""
        for index, scenario in enumerate(self._draft.scenarios):
            broken = {place.number for place in self._broken if place.scenario == index}
            numbers = {number for number in broken if number is not None}
            if scenario.id in self._scored:
                scenario.score_only(numbers)
            elif scenario.id in self._flaky:
                found = lowest.get(scenario.id)
                rate = LOWEST_RATE if found is None else _choose_rate(found.least, found.measured)
                scenario.set_pass_rate(rate, "" if found is None else _explain_rate(found), numbers)
        shared = {place.number: ids for place, ids in self._broken.items() if place.scenario is None}
        scored = {number for number, ids in shared.items() if number is not None and ids & self._scored}
        self._draft.require_shared(scored, {number for number in shared if number is not None})


def _find_broken(draft: DraftSuite, groups: Sequence[ScenarioTrials]) -> BrokenChecks:
    """The checks that fail in a recorded trial, each with the scenarios of these trials."""
    _, places = draft.render()
    found: BrokenChecks = {}
    for group in groups:
        for failed in (failed for each in group.imperfect for failed in _list_failed(each)):
            if failed.location and (place := places.get(failed.location.line or 0)):
                found.setdefault(place, set()).add(group.scenario.id)
    return found


def _judge(draft: DraftSuite, traces: Sequence[Trace], load: Callable[[str], Suite]) -> list[ScenarioTrials]:
    """All recorded trials by their scenario, in the order of the suite."""
    return ScenarioTrials.group(load(draft.render()[0]), traces)


def _choose_rate(least: int, trials: int) -> float:
    """The rate that demands so many of these trials, in as few digits as do.

    >>> _choose_rate(1, 4), _choose_rate(2, 3), _choose_rate(2, 606)
    (0.25, 0.66, 0.003)
    """
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        rate = math.floor(least * int(10.0**digits) / trials) / 10.0**digits
        if rate * trials > least - 1:
            return rate
    return least / trials


def _explain_rate(group: ScenarioTrials) -> str:
    passing = f"{group.passed:,} of {group.measured:,} pass these checks"
    return f"{passing}; an unchanged agent passes fewer than {group.least:,} in 1 of {RUNS} runs at most"


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
