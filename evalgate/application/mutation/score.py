"""Judges passing traces again after small changes, by the same evaluation as a run, and counts what was noticed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.evaluation.pricing import Pricer
from evalgate.application.evaluation.scenario_matcher import ScenarioMatcher
from evalgate.application.evaluation.suite_judge import SuiteJudge
from evalgate.application.evaluation.trace_warnings import format_location
from evalgate.application.evaluation.trajectories import BaselineScenarios
from evalgate.application.mutation.equivalence import is_shown
from evalgate.application.mutation.operators import OPERATORS, KnownTools, apply_change, list_changes
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.mutation import MutationReport, Survivor, Tally
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.models.mutation import Mutation, OperatorName
    from evalgate.models.run.run import TraceRef
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import PriceTable, Progress
    from evalgate.ports.batches import Engine
    from evalgate.suite.models import Suite

MAX_TRIALS = 10
"""Passing traces of a scenario that are changed; the others would be much alike."""
MAX_TRACES = 2_000
"""Passing traces that are kept in memory."""
TASK_SIZE = 200
CHANGES = "changes"


class PassingTrace(NamedTuple):
    """A trace that passes: the index of its suite, its scenario there, and the reference to it."""

    suite: int
    place: int
    key: ScenarioKey
    trace: Trace
    ref: TraceRef


class ChosenChange(NamedTuple):
    """A change to try: the index of the passing trace, and what to change in it."""

    trace: int
    change: Mutation


class MutationRun:
    """Collects the passing traces of suites, then tries changes on them; the same input gives the same report."""

    def __init__(self, suites: Sequence[Suite], prices: PriceTable | None) -> None:
        self._suites, self._prices = suites, prices
        self._judges = [SuiteJudge(suite, BaselineScenarios()) for suite in suites]
        self._tools = [KnownTools() for _ in suites]
        self._passing: list[PassingTrace] = []
        self._chosen: list[ChosenChange] = []
        self._read = self._passed = self._possible = self._shown = 0

    def add_traces(self, number: int, records: Iterable[TraceRecord], progress: Progress) -> None:
        """Judges the records of one suite, given by its index, and keeps those that pass."""
        suite = self._suites[number]
        pricer, matcher = Pricer(suite.prices, self._prices), ScenarioMatcher(suite)
        kept: dict[ScenarioKey, int] = {}
        for record in records:
            progress.advance("traces")
            self._read += 1
            if not isinstance(record, Trace):
                continue
            pricer.price(record)
            self._tools[number].add(record)
            found = self._find_passing(number, record, matcher)
            if found is None:
                continue
            self._passed += 1
            if kept.setdefault(found.key, 0) < MAX_TRIALS and len(self._passing) < MAX_TRACES:
                kept[found.key] += 1
                self._passing.append(found)

    def add_tools(self, number: int, records: Iterable[TraceRecord]) -> None:
        """Notes the tools of records of one suite that are not to be changed."""
        for record in records:
            if isinstance(record, Trace):
                self._tools[number].add(record)

    def _find_passing(self, number: int, trace: Trace, matcher: ScenarioMatcher) -> PassingTrace | None:
        judged = self._judges[number].judge(trace)
        chosen = matcher.choose([each.candidate for each in judged.candidates], judged.scenario_id, judged.ref)
        if chosen is None:
            return None
        place, trial = judged.candidates[chosen].candidate.scenario, judged.candidates[chosen].trial
        if place is None or trial is None or trial.status != "passed":
            return None
        claim = matcher.make_claim(place, judged.scenario_id)
        key = ScenarioKey(self._suites[number].name, claim.id, claim.variant)
        return PassingTrace(number, place, key, trace, judged.ref)

    def choose(self, most: int) -> int:
        """Chooses at most `most` changes, evenly over scenarios and operators; returns how many."""
        groups: dict[tuple[ScenarioKey, OperatorName], list[ChosenChange]] = {}
        names: dict[ScenarioKey, dict[int, list[str]]] = {}
        for index, passing in enumerate(self._passing):
            names.setdefault(passing.key, {})[index] = passing.trace.called
        for index, passing in enumerate(self._passing):
            called = names[passing.key][index]
            others = [each for other, each in names[passing.key].items() if other != index]
            for change in list_changes(passing.trace, self._tools[passing.suite]):
                if is_shown(change, called, others):
                    self._shown += 1
                else:
                    groups.setdefault((passing.key, change.operator), []).append(ChosenChange(index, change))
        self._possible = sum(map(len, groups.values()))
        self._chosen = choose_evenly(list(groups.values()), most)
        return len(self._chosen)

    def try_changes(self, engine: Engine | None, progress: Progress) -> MutationReport:
        """Judges the chosen changes with the engine, None for this process, and reports."""
        starts = range(0, len(self._chosen), TASK_SIZE)
        caught: list[bool] = []
        if engine is None:
            results: Iterable[Callable[[], list[bool]]] = [partial(self._judge_range, start) for start in starts]
        else:
            engine.begin(self._judge_range)
            results = [engine.submit(start) for start in starts]
        try:
            for wait in results:
                found = wait()
                caught += found
                progress.advance(CHANGES, len(found))
        finally:
            if engine is not None:
                engine.close()
        return self._report(caught)

    def _judge_range(self, start: int) -> list[bool]:
        return [self._is_caught(each) for each in self._chosen[start : start + TASK_SIZE]]

    def _is_caught(self, chosen: ChosenChange) -> bool:
        """Whether the changed trace does not pass its scenario, or is of another one now."""
        passing = self._passing[chosen.trace]
        changed = apply_change(passing.trace, chosen.change, self._tools[passing.suite])
        judged = self._judges[passing.suite].judge(changed, passing.ref)
        trials = [each.trial for each in judged.candidates if each.candidate.scenario == passing.place]
        return not any(trial is not None and trial.status == "passed" for trial in trials)

    def _report(self, caught: Sequence[bool]) -> MutationReport:
        operators: dict[OperatorName, Tally] = {name: Tally() for name in OPERATORS}
        scenarios: dict[ScenarioKey, dict[OperatorName, Tally]] = {each.key: {} for each in self._passing}
        kinds: dict[tuple[ScenarioKey, OperatorName, str, str], Survivor] = {}
        for (index, change), is_caught in zip(self._chosen, caught, strict=True):
            passing = self._passing[index]
            operators[change.operator].add(is_caught=is_caught)
            scenarios[passing.key].setdefault(change.operator, Tally()).add(is_caught=is_caught)
            kind = (passing.key, change.operator, change.tool, change.other)
            survivor = kinds.setdefault(kind, Survivor(*kind, 0, 0, ""))
            survivor.tried += 1
            survivor.count += not is_caught
            survivor.example = survivor.example or ("" if is_caught else self._locate(passing, change))
        return MutationReport(
            operators,
            scenarios,
            [survivor for survivor in kinds.values() if survivor.count],
            self._read,
            self._passed,
            len(self._passing),
            self._possible,
            self._shown,
        )

    def _locate(self, passing: PassingTrace, change: Mutation) -> str:
        """The trace, and the number of the call among the agent's."""
        place = format_location(passing.ref)
        if not change.tool:
            return place
        own = sum(call["requestor"] == "assistant" for call in passing.trace.tool_calls[: change.at + 1])
        return f"{place}, call {own}"


def choose_evenly(groups: Sequence[Sequence[ChosenChange]], most: int) -> list[ChosenChange]:
    """At most `most` changes: as many of each group as fit, spread over the group, so that large groups lose first."""
    quota = max((len(group) for group in groups), default=0)
    if sum(map(len, groups)) > most:
        low = 0
        while low < quota:
            middle = (low + quota + 1) // 2
            fits = sum(min(len(group), middle) for group in groups) <= most
            low, quota = (middle, quota) if fits else (low, middle - 1)
    if not quota:
        return [groups[number * len(groups) // most][0] for number in range(min(most, len(groups)))]
    return [
        group[number * len(group) // size]
        for group in groups
        for size in (min(len(group), quota),)
        for number in range(size)
    ]
