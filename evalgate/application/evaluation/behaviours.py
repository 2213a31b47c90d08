"""Collects what the trials of a run did, and compares it, and their prompts, with those of its baseline."""

from __future__ import annotations

from collections import defaultdict
from heapq import nsmallest
from typing import TYPE_CHECKING

from evalgate.application.evaluation.trajectories import iterate_stored
from evalgate.errors import Problem
from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.gate.common.wording import format_count
from evalgate.models.comparison.comparison import REGRESSIONS, ScenarioKey, list_scenarios
from evalgate.models.run.trials import get_digest, list_agent_parts, list_measured
from evalgate.models.trace.trace import OTHER_AGENTS, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from evalgate.application.evaluation.trajectories import StoredTraces
    from evalgate.models.comparison.behaviour import Behaviour, UnaskedArgument
    from evalgate.models.comparison.comparison import Change, Comparison
    from evalgate.models.results.baseline_run import BaselineRun, BaselineTrial, TracePosition
    from evalgate.models.run.run import Run, ScenarioResult, Trial
    from evalgate.models.trace.trace import ToolKinds
    from evalgate.ports import TraceSource
    from evalgate.suite.models import Form

    FindTraces = Callable[[Collection[TracePosition]], Iterable[tuple[TracePosition, Trace]]]
    Unasked = Mapping[ScenarioKey, Sequence[UnaskedArgument]]
    Places = dict[str, set[TracePosition]]
    JudgedPlace = tuple[TracePosition, ToolKinds]
    """A trace, and what the suite says of its tools: two suites may judge the same one."""

MOST_TRIALS = 5_000
"""Trials whose behaviour is kept and compared."""
LEAST_WITH_SOURCES, MOST_WITH_SOURCES = 3, 500
"""Trials of a scenario, and of a finished run, of which the sources of arguments are looked for: about 10 ms each."""


class BehaviourRecorder:
    """The behaviour of the trials of a run, by scenario; of a scenario all or none are kept."""

    def __init__(self) -> None:
        self._kept: dict[ScenarioKey, list[Behaviour]] = {}
        self._count = 0
        self.left_out: set[ScenarioKey] = set()
        """Scenarios beyond the number of trials that are kept."""
        self.untraced: set[ScenarioKey] = set()
        """Scenarios of which the baseline holds not all traces."""

    def add(self, key: ScenarioKey, behaviour: Behaviour) -> None:
        """Adds one trial."""
        if self._count < MOST_TRIALS or key in self._kept:
            self._kept.setdefault(key, []).append(behaviour)
            self._count += 1
        else:
            self.left_out.add(key)

    def find(self, key: ScenarioKey) -> list[Behaviour]:
        """The trials of a scenario."""
        return self._kept.get(key, [])


def keep_unasked_arguments(
    comparison: Comparison, run: Run, baseline: BaselineRun, recorder: BehaviourRecorder
) -> Unasked:
    """Adds to the changes what is still so of the arguments of which the baseline knows that they are not as asked."""
    if not any(each.unasked for each in baseline.entries.values()):
        return {}
    from evalgate.gate.trajectory.unasked_arguments import keep_unasked

    known = {}
    for key, scenario in list_scenarios(run.suites):
        entry, change = baseline.entries.get(find_baseline_key(key, baseline.entries)), comparison.changes.get(key)
        if entry is not None and entry.unasked and change is not None:
            known[key] = entry.unasked
            change.unasked = keep_unasked(entry.unasked, recorder.find(key), scenario, baseline.commit)
    return known


def add_differences(
    comparison: Comparison,
    run: Run,
    baseline: BaselineRun,
    recorder: BehaviourRecorder,
    stored: StoredTraces,
    unasked: Unasked,
) -> None:
    """Adds the differences of behaviour to the changes of scenarios whose traces are known on both sides.

    `unasked` are arguments that the baseline knows not to be as asked.
    """
    from evalgate.gate.trajectory.behaviour_differences import find_differences
    from evalgate.gate.trajectory.cause import compare_agents, join_digests, parts_of_baseline

    compared = [
        (key, scenario, change, baseline.find_trials(find_baseline_key(key, baseline.entries)))
        for key, scenario in list_scenarios(run.suites)
        if recorder.find(key) and (change := comparison.changes.get(key)) is not None
    ]
    other = [each for each in compared if not _are_same_recordings(each[3], list_measured(each[1].trials))]
    comparison.behaviour_compared, compared = len(compared) - len(other), other
    kinds = {suite.name: suite.tool_kinds for suite in run.suites}
    wanted = {
        (trial.position, kinds[key.suite]): any(
            call.sources for each in recorder.find(key) for call in each.calls or ()
        )
        for key, *_, trials in compared
        for trial in trials
    }
    behaviours = _load_behaviours(stored, wanted)
    parts, digests = parts_of_baseline(baseline), join_digests(run, baseline.tool_digests)
    for key, scenario, change, trials in compared:
        places = [(trial.position, kinds[key.suite]) for trial in trials]
        before = [behaviours[place] for place in places if place in behaviours]
        if len(before) < len(trials):
            recorder.untraced.add(key)
            continue
        comparison.behaviour_compared += 1
        agent = compare_agents(parts.find(key), list_agent_parts(scenario.trials), parts.steady, digests)
        now, passes = recorder.find(key), _passes(scenario, change)
        change.differences = find_differences(before, now, agent, passes=passes, unasked=unasked.get(key, ()))
        if any(each.asked for each in change.differences):
            from evalgate.gate.trajectory.unasked_arguments import add_unasked  # few runs find any

            change.unasked = add_unasked(change.unasked, before, change.differences, scenario)
        change.prompts = (agent and agent.prompts) or _pair_other_prompts(before, now)
        change.request = before[0].request if change.differences else None


def _pair_other_prompts(before: Sequence[Behaviour], now: Sequence[Behaviour]) -> tuple[str, str] | None:
    """The system prompts of a sub-agent before and now, if it has another one."""
    if not any(each.others for each in now):
        return None
    from evalgate.gate.trajectory.call_origins import pair_other_prompts  # few recordings have any

    return pair_other_prompts(before, now)


def _are_same_recordings(before: Sequence[BaselineTrial], now: Sequence[Trial]) -> bool:
    """Whether both sides read the same bytes as the same run, so that nothing differs."""
    digests = {trial.trace.digest for trial in before}
    if None in digests or digests != set(map(get_digest, now)):
        return False
    sides = [{(each.trace.sha256, each.trace.record, each.trace.digest) for each in side} for side in (before, now)]
    return sides[0] == sides[1] and all(sha256 for sha256, *_ in sides[0])


def describe_unrecorded(comparison: Comparison) -> list[Problem]:
    """A warning of scenarios that regressed and of whose sub-agents no model call is recorded any more."""
    count = sum(
        change.kind in REGRESSIONS and any(each.kind == "model_calls" for each in change.differences)
        for change in comparison.changes.values()
    )
    what = f"no model call of a sub-agent is recorded any more in {format_count(count, 'scenario')} that regressed"
    return [Problem(f"{what}: does it ask its model past the recorder?")] if count else []


def describe_left_out(recorder: BehaviourRecorder, *, is_asked: bool) -> list[Problem]:
    """Warnings of scenarios whose behaviour was not compared, so that no one takes it for unchanged.

    That the baseline holds no traces matters only if `fail_on` asks for changes of behaviour.
    """
    reasons = (
        (recorder.left_out, f"at most {MOST_TRIALS:,} trials of a run are"),
        (recorder.untraced if is_asked else (), "it does not hold all traces of them; compare with a baseline.zip"),
    )
    return [
        Problem(
            f"what the agent did in {format_count(len(keys), 'scenario')} was not compared with the baseline: {why}"
        )
        for keys, why in reasons
        if keys
    ]


def record_behaviours(run: Run, stored: StoredTraces) -> BehaviourRecorder:
    """The behaviour of a finished run, of scenarios all of whose traces are among those that it keeps."""
    places = {
        ScenarioKey(suite.name, scenario.id, scenario.variant): [
            ((trial.trace.path, trial.trace.line, trial.trace.record), suite.tool_kinds)
            for trial in list_measured(scenario.trials)
        ]
        for suite in run.suites
        for scenario in suite.scenarios
    }
    repeated = sum(len(each) for each in places.values() if len(each) >= LEAST_WITH_SOURCES)
    wanted = {
        place: repeated <= MOST_WITH_SOURCES and len(each) >= LEAST_WITH_SOURCES
        for each in places.values()
        for place in each
    }
    found = _load_behaviours(stored, wanted)
    recorder = BehaviourRecorder()
    for key, each in places.items():
        if all(place in found for place in each):
            for place in each:
                recorder.add(key, found[place])
    return recorder


def _passes(scenario: ScenarioResult, change: Change) -> bool:
    return scenario.verdict == "PASS" and change.previous_verdict == "PASS"


def _load_behaviours(stored: StoredTraces, wanted: Mapping[JudgedPlace, bool]) -> dict[JudgedPlace, Behaviour]:
    """The behaviour in the wanted traces, with sources of arguments if that is set."""
    from evalgate.gate.trajectory.behaviour import behaviour_from_trace

    by_place: dict[TracePosition, list[JudgedPlace]] = {}
    for each in wanted:
        by_place.setdefault(each[0], []).append(each)
    found = {}
    for place, trace in iterate_stored(stored, by_place):
        for each in by_place[place]:
            trace.take_kinds(each[1])
            found[each] = behaviour_from_trace(trace, with_sources=wanted[each])
            found[each].request = trace.first_request
    return found


MOST_CHANGES, MOST_PLACES = 5, 3
"""Pairs of prompts that are compared, and traces in which one of them is looked for: not all traces may be kept."""


def add_prompt_changes(
    comparison: Comparison, run: Run, baseline: BaselineRun, before: FindTraces, now: FindTraces
) -> None:
    """Adds how the prompts differ that the scenarios of a comparison have now, as far as both texts are found."""
    pairs: dict[tuple[str, str], None] = {}
    places: tuple[Places, Places] = defaultdict(set), defaultdict(set)
    for key, scenario in list_scenarios(run.suites):
        change = comparison.changes.get(key)
        prompts = change and change.prompts
        if not prompts or (prompts not in pairs and len(pairs) == MOST_CHANGES):
            continue
        pairs[prompts] = None
        trials = baseline.find_trials(find_baseline_key(key, baseline.entries)), list_measured(scenario.trials)
        places[0][prompts[0]].update(trial.position for trial in trials[0])
        places[1][prompts[1]].update((each.trace.path, each.trace.line, each.trace.record) for each in trials[1])
    if not pairs:
        return
    from evalgate.gate.trajectory.prompts import compare_prompts  # few runs need it

    texts = _read_prompts(before, places[0]), _read_prompts(now, places[1])
    known = [pair for pair in pairs if pair[0] in texts[0] and pair[1] in texts[1]]
    found = [compare_prompts(pair, texts[0][pair[0]], texts[1][pair[1]]) for pair in known]
    comparison.prompt_changes = list(filter(None, found))


def _read_prompts(find: FindTraces, places: Places) -> dict[str, str]:
    """The texts of prompts by their hashes, each from one of the first places that has it and is found."""
    first = {place: prompt for prompt, each in places.items() for place in nsmallest(MOST_PLACES, each, _sort_key)}
    found: dict[str, str] = {}
    for place, trace in find(first):
        text = _find_prompt(trace, first[place])
        if text:
            found.setdefault(first[place], text)
        if found.keys() == places.keys():
            break
    return found


def _find_prompt(trace: Trace, prompt: str) -> str | None:
    """The text with this hash, of the main agent or of another one."""
    if OTHER_AGENTS not in trace.metadata:
        return trace.system_instructions
    from evalgate.gate.trajectory.call_origins import list_other_prompts
    from evalgate.measures.values.compact import hash_stable_text

    texts = [trace.system_instructions or "", *list_other_prompts(trace)]
    return next((text for text in texts if hash_stable_text(text) == prompt), None)


def _sort_key(place: TracePosition) -> tuple[str, int, int]:
    path, line, record = place
    return path, line or 0, record or 0


def iterate_read(
    traces: TraceSource, sources: Iterable[tuple[Sequence[str], str, Form]], wanted: Collection[TracePosition]
) -> Iterator[tuple[TracePosition, Trace]]:
    """Yields the wanted traces of a run that keeps none, each once, with its place: its files are read again."""
    left = set(wanted)
    for source in sources:
        for record in traces.read(*source) if left else ():
            place = record.source.path, record.source.line, record.source.record
            if place in left and isinstance(record, Trace):
                left.remove(place)
                yield place, record
                if not left:
                    return
