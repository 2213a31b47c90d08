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
from evalgate.application.mutation.operators import OPERATORS, KnownTools, apply_change, list_changes, rank_harm
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.mutation import MutationReport, Survivor, Tally
from evalgate.models.trace.trace import Trace
from evalgate.suite.policy import build_effective_policy
from evalgate.suite.suite_file import PolicyEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.models.mutation import Effect, Mutation, OperatorName
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
GATING: dict[str, frozenset[str]] = {
    "hard_fail": frozenset({"hard_fail", "new_hard_fail", "broken", "regression"}),
    "error": frozenset({"hard_fail", "new_hard_fail", "broken", "regression"}),
    "failed": frozenset({"below_threshold", "broken", "regression"}),
    "not_evaluable": frozenset({"not_evaluable"}),
}
"""Words of `fail_on` that fail the gate if the only trial of a scenario has this status and passed in the baseline."""
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

    def __init__(self, suites: Sequence[Suite], prices: PriceTable | None, project: PolicyEntry | None = None) -> None:
        self._suites, self._prices = suites, prices
        shared = project or PolicyEntry.from_defaults()
        self._has_fail_on = [shared.fail_on is not None or suite.policy.fail_on is not None for suite in suites]
        self._fail_on = [build_effective_policy(suite.policy, shared, None).fail_on for suite in suites]
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
        caught: list[Effect] = []
        if engine is None:
            results: Iterable[Callable[[], list[Effect]]] = [partial(self._judge_range, start) for start in starts]
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

    def _judge_range(self, start: int) -> list[Effect]:
        return [self._judge_change(each) for each in self._chosen[start : start + TASK_SIZE]]

    def _judge_change(self, chosen: ChosenChange) -> Effect:
        """Whether the changed trace does not pass its scenario, or is of another one now; and if that is gated."""
        passing = self._passing[chosen.trace]
        changed = apply_change(passing.trace, chosen.change, self._tools[passing.suite])
        judged = self._judges[passing.suite].judge(changed, passing.ref)
        trials = [each.trial for each in judged.candidates if each.candidate.scenario == passing.place]
        statuses = {trial.status for trial in trials if trial is not None} or {"hard_fail"}  # without it: MISSING
        if "passed" in statuses:
            return "missed"
        words = {word for status in statuses for word in GATING.get(status, ())}
        return "caught" if words.isdisjoint(self._fail_on[passing.suite]) else "gated"

    def _report(self, caught: Sequence[Effect]) -> MutationReport:
        operators: dict[OperatorName, Tally] = {name: Tally() for name in OPERATORS}
        scenarios: dict[ScenarioKey, dict[OperatorName, Tally]] = {each.key: {} for each in self._passing}
        kinds: dict[tuple[ScenarioKey, OperatorName, str, str], Survivor] = {}
        for (index, change), effect in zip(self._chosen, caught, strict=True):
            passing = self._passing[index]
            operators[change.operator].add(effect)
            scenarios[passing.key].setdefault(change.operator, Tally()).add(effect)
            kind = (passing.key, change.operator, change.tool, change.other)
            survivor = kinds.setdefault(kind, Survivor(*kind, 0, 0, "", rank_harm(change)))
            survivor.tried += 1
            if effect == "missed":
                survivor.count += 1
                if not survivor.example:
                    survivor.example = self._locate(passing, change)
                    survivor.calls = passing.trace.called.count(change.tool)
        return MutationReport(
            operators,
            scenarios,
            [survivor for survivor in kinds.values() if survivor.count],
            self._read,
            self._passed,
            len(self._passing),
            self._possible,
            self._shown,
            [words if has_words else () for words, has_words in zip(self._fail_on, self._has_fail_on, strict=True)],
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
