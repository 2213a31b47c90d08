"""Judges passing traces again after small changes, by the same evaluation as a run, and counts what was noticed."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.evaluation.pricing import Pricer
from evalgate.application.evaluation.scenario_matcher import ScenarioMatcher
from evalgate.application.evaluation.suite_judge import SuiteJudge
from evalgate.application.evaluation.trace_warnings import format_location
from evalgate.application.evaluation.trajectories import BaselineScenarios
from evalgate.features.learn.application.mutation.equivalence import is_shown
from evalgate.features.learn.application.mutation.gate_effect import GateEffects
from evalgate.features.learn.application.mutation.operators import (
    OPERATORS,
    KnownTools,
    apply_change,
    list_changes,
    rank_harm,
)
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.mutation import MutationReport, Survivor, Tally
from evalgate.models.trace.trace import Trace
from evalgate.scoring.recorded_result import find_recorded_result
from evalgate.suite.policy import build_effective_policy
from evalgate.suite.suite_file import PolicyEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.models.mutation import Effect, Mutation, OperatorName
    from evalgate.models.run.run import TraceRef, TrialResult
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import PriceTable, Progress
    from evalgate.ports.batches import Engine
    from evalgate.suite.models import Suite

MAX_TRIALS = 10
"""Passing traces of a scenario that are changed; the others would be much alike."""
MAX_TRACES = 2_000
"""Passing traces that are changed, and others that suggested checks must pass, which are kept in memory."""
TASK_SIZE = 200
CHANGES = "changes"


class PassingTrace(NamedTuple):
    """A trace that passes, and its reference.

    The indexes of its suite, and of its entry, scenario and trial there, with the trial's score.
    """

    suite: int
    entry: int
    place: int
    key: ScenarioKey
    trial: int
    score: float
    trace: Trace
    ref: TraceRef


class JudgedTrial(NamedTuple):
    """A record as a trial of a scenario of the suite: the index of its entry, of the scenario, and of the trial."""

    entry: int
    place: int
    key: ScenarioKey
    number: int
    trial: TrialResult
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
        policies = [build_effective_policy(suite.policy, shared, None) for suite in suites]
        self._fail_on = [policy.fail_on for policy in policies]
        self._gates = [GateEffects(suite, policy) for suite, policy in zip(suites, policies, strict=True)]
        self._judges = [SuiteJudge(suite, BaselineScenarios()) for suite in suites]
        self._tools = [KnownTools() for _ in suites]
        self._passing: list[PassingTrace] = []
        self._called: dict[ScenarioKey, Counter[tuple[str, ...]]] = {}
        self._references: dict[tuple[int, int], list[Trace]] = {}
        """By suite and entry, the traces that a suggestion must pass."""
        self._chosen: list[ChosenChange] = []
        self._effects: list[Effect] = []
        self._read = self._passed = self._possible = self._shown = self._recorded_failures = 0
        self._kept = self._untried = 0

    def add_traces(self, number: int, records: Iterable[TraceRecord], progress: Progress) -> None:
        """Judges the records of one suite, given by its index, and keeps those that pass."""
        suite = self._suites[number]
        pricer, matcher = Pricer(suite.prices, self._prices), ScenarioMatcher(suite)
        for record in records:
            progress.advance("traces")
            self._read += 1
            if isinstance(record, Trace):
                pricer.price(record)
                record.take_kinds(suite.tool_kinds)
                self._tools[number].add(record)
            found = self._judge_record(number, record, matcher)
            if found is not None and isinstance(record, Trace):
                self._keep(number, record, found)
        self._gates[number].close()

    def _keep(self, number: int, trace: Trace, found: JudgedTrial) -> None:
        """Keeps a trace to change it, if it passes, or to try suggestions on it, also if it only passed as recorded."""
        passes, recorded = found.trial.status == "passed", find_recorded_result(trace)
        is_failure = recorded is not None and not recorded.passed
        self._recorded_failures += passes and is_failure
        is_changed = False
        if passes and not is_failure:
            self._passed += 1
            called = self._called.setdefault(found.key, Counter())
            is_changed = called.total() < MAX_TRIALS and len(self._passing) < MAX_TRACES
            called[tuple(trace.called)] += 1
        if is_changed:
            place = number, found.entry, found.place, found.key, found.number, found.trial.score or 0.0
            self._passing.append(PassingTrace(*place, trace, found.ref))
        if passes or (recorded is not None and recorded.passed):
            references = self._references.setdefault((number, found.entry), [])
            if is_changed or self._kept < MAX_TRACES:
                references.append(trace)
                self._kept += 1
            else:
                self._untried += 1

    def add_tools(self, number: int, records: Iterable[TraceRecord]) -> None:
        """Notes the tools of records of one suite that are not to be changed."""
        for record in records:
            if isinstance(record, Trace):
                self._tools[number].add(record)

    def _judge_record(self, number: int, record: TraceRecord, matcher: ScenarioMatcher) -> JudgedTrial | None:
        """The record as a trial of its scenario; None if no scenario claims it."""
        judged = self._judges[number].judge(record)
        chosen = matcher.choose([each.candidate for each in judged.candidates], judged.scenario_id, judged.ref)
        if chosen is None:
            return None
        candidate, trial = judged.candidates[chosen].candidate, judged.candidates[chosen].trial or judged.damage
        if candidate.scenario is None or trial is None:
            return None
        claim = matcher.make_claim(candidate.scenario, judged.scenario_id)
        key = ScenarioKey(self._suites[number].name, claim.id, claim.variant)
        at = self._gates[number].add_trial(key, claim.scenario, trial)
        return JudgedTrial(candidate.entry, candidate.scenario, key, at, trial, judged.ref)

    def choose(self, most: int) -> int:
        """Chooses at most `most` changes, evenly over scenarios and operators; returns how many."""
        groups: dict[tuple[ScenarioKey, OperatorName], list[ChosenChange]] = {}
        for index, passing in enumerate(self._passing):
            called = tuple(passing.trace.called)
            others = [*(self._called[passing.key] - Counter([called]))]
            for change in list_changes(passing.trace, self._tools[passing.suite]):
                if change.operator == "failed_run" and not self._allows_failed_runs(passing):
                    continue  # the gate itself fails it
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
        effects: list[Effect] = []
        if engine is None:
            results: Iterable[Callable[[], list[Effect]]] = [partial(self._judge_range, start) for start in starts]
        else:
            engine.begin(self._judge_range)
            results = [engine.submit(start) for start in starts]
        try:
            for wait in results:
                found = wait()
                effects += found
                progress.advance(CHANGES, len(found))
        finally:
            if engine is not None:
                engine.close()
        self._effects = effects
        return self._report()

    def _judge_range(self, start: int) -> list[Effect]:
        return [self._judge_change(each) for each in self._chosen[start : start + TASK_SIZE]]

    def _judge_change(self, chosen: ChosenChange) -> Effect:
        """Whether a check fails that passed, or the trace is of another scenario now, and what the gate does then."""
        passing = self._passing[chosen.trace]
        changed = apply_change(passing.trace, chosen.change, self._tools[passing.suite])
        judged = self._judges[passing.suite].judge(changed, passing.ref)
        own = [each.trial for each in judged.candidates if each.candidate.scenario == passing.place]
        trial = next((each for each in own if each is not None), None)
        if trial is not None and trial.status == "passed":
            return "lower_score" if (trial.score or 0.0) < passing.score else "missed"
        return self._gates[passing.suite].find_effect(passing.key, passing.trial, trial)

    def _report(self) -> MutationReport:
        operators: dict[OperatorName, Tally] = {name: Tally() for name in OPERATORS}
        scenarios: dict[ScenarioKey, dict[OperatorName, Tally]] = {each.key: {} for each in self._passing}
        kinds: dict[tuple[ScenarioKey, OperatorName, str, str], Survivor] = {}
        for (index, change), effect in zip(self._chosen, self._effects, strict=True):
            passing = self._passing[index]
            operators[change.operator].add(effect)
            scenarios[passing.key].setdefault(change.operator, Tally()).add(effect)
            kind = _name_kind(passing, change)
            survivor = kinds.setdefault(
                kind, Survivor(*kind, 0, 0, "", rank_harm(change, passing.trace.tool_kinds), self._name_entry(passing))
            )
            survivor.tried += 1
            if effect == "missed":
                survivor.count += 1
                survivor.example = survivor.example or _locate(passing, change)
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
            self._recorded_failures,
            dict(sorted(Counter(self._effects).items())),
            self._untried,
        )

    def suggest(self, report: MutationReport, progress: Progress) -> None:
        """Tries checks for the survivors of a report, entry by entry of the suites, and notes those that help."""
        from evalgate.features.learn.application.mutation.suggestions import MissedChange, suggest_checks

        survivors = {(each.scenario, each.operator, each.tool, each.other): each for each in report.survivors}
        groups: dict[tuple[int, int], list[MissedChange]] = {}
        for (index, change), effect in zip(self._chosen, self._effects, strict=True):
            passing = self._passing[index]
            if effect == "missed" and self._suites[passing.suite].scenarios[passing.place].golden is None:
                found = MissedChange(change, passing.trace, survivors[_name_kind(passing, change)])
                groups.setdefault((passing.suite, passing.entry), []).append(found)
        for entry, missed in groups.items():
            suggest_checks(missed, self._references[entry], self._tools[entry[0]])
            progress.advance(CHANGES, len(missed))

    def _allows_failed_runs(self, passing: PassingTrace) -> bool:
        return self._suites[passing.suite].scenarios[passing.place].rules.run_status == "any"

    def _name_entry(self, passing: PassingTrace) -> str:
        return self._suites[passing.suite].scenarios[passing.place].id


def _name_kind(passing: PassingTrace, change: Mutation) -> tuple[ScenarioKey, OperatorName, str, str]:
    return passing.key, change.operator, change.tool, change.other


def _locate(passing: PassingTrace, change: Mutation) -> str:
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
