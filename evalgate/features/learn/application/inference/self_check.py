"""Judges the traces that a draft was learnt from by the draft itself, and drops what does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.evaluation.scenario_matcher import ScenarioMatcher
from evalgate.application.evaluation.suite_judge import SuiteJudge
from evalgate.application.evaluation.trajectories import BaselineScenarios
from evalgate.errors import SuiteError
from evalgate.features.learn.application.mutation.edits import cut_after
from evalgate.models.run.trials import is_failed
from evalgate.models.trace.trace_view import ARGUMENT_SOURCES, get_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalgate.features.learn.application.inference.draft import CheckPlace, DraftSuite
    from evalgate.models.run.run import Trial
    from evalgate.models.trace.trace import Trace
    from evalgate.models.trace.trace_view import TraceView
    from evalgate.suite.models import Scenario, Suite

MAX_ROUNDS = 20
MAX_KEPT = 500
"""Traces whose arguments' sources are kept for the next round: about 150 KB each."""


class FailingTrace(NamedTuple):
    """A trace that the draft does not pass: its scenario, and names and lines of the checks that fail."""

    scenario: str | None
    names: Sequence[str]
    lines: Sequence[int]


class JudgedTrace(NamedTuple):
    """A trace, its scenario, and the trial that it is."""

    trace: Trace
    scenario: Scenario
    trial: Trial


def check_draft(draft: DraftSuite, traces: Sequence[Trace], load: Callable[[str], Suite]) -> Suite | None:
    """Drops checks until the draft is a suite and all traces pass; None if nothing is left.

    Scenarios that would check nothing are left out too. `load` parses the text of a suite.
    """
    for _ in range(MAX_ROUNDS):
        if not draft.written:
            return None
        text, places = draft.render()
        try:
            suite = load(text)
        except SuiteError as error:
            if not _drop_refused(draft, places, error):
                raise
            continue
        failing = list(find_failing(suite, traces))
        found = {places[line] for each in failing for line in each.lines if line in places}
        unclear = {each.scenario for each in failing if not each.lines}
        if not found and not unclear:
            return suite
        _drop_all(draft, found)
        for scenario in draft.scenarios:
            if scenario.id in unclear:
                scenario.is_left_out = True
    return None


def _drop_refused(draft: DraftSuite, places: Mapping[int, CheckPlace], error: SuiteError) -> bool:
    """Drops checks that no suite can hold, as of a tool whose name is too long; False if none is to blame."""
    lines = {problem.location.line for problem in error.problems if problem.location}
    refused = {place for line, place in places.items() if line in lines}
    _drop_all(draft, refused)
    return bool(refused)


def _drop_all(draft: DraftSuite, places: Iterable[CheckPlace]) -> None:
    """Drops the checks at these places, the last first, since each moves those after it."""
    for place in sorted(places, key=lambda each: -1 if each.number is None else each.number, reverse=True):
        draft.drop(place)


def find_failing(suite: Suite, traces: Iterable[Trace]) -> Iterator[FailingTrace]:
    """The traces that do not pass their scenario; one that no scenario claims is not judged."""
    for judged in judge_traces(suite, traces):
        if judged.trial.status != "passed":
            failed = [found for found in judged.trial.assertions if is_failed(found) and found.counts]
            lines = [found.location.line for found in failed if found.location and found.location.line]
            yield FailingTrace(judged.trace.scenario_id, [found.name for found in failed], lines)


def mark_hollow(draft: DraftSuite, traces: Sequence[Trace], load: Callable[[str], Suite]) -> None:
    """Marks the scenarios that an agent passes that does nothing: it gets the user's message and stops."""
    idle = {}
    for trace in traces:
        asked = next((at for at, each in enumerate(trace.messages, 1) if each["role"] == "user"), None)
        if asked is not None and trace.scenario_id not in idle and (trace.agent_calls or trace.response["content"]):
            idle[trace.scenario_id] = cut_after(trace, 0, asked)
    passing = {
        judged.trace.scenario_id
        for judged in judge_traces(load(draft.render()[0]), idle.values())
        if judged.trial.status == "passed"
    }
    for scenario in draft.scenarios:
        scenario.is_hollow = scenario.id in passing


def judge_traces(suite: Suite, traces: Iterable[Trace]) -> Iterator[JudgedTrace]:
    """Each trace that a scenario claims, with the trial that it is."""
    judge, matcher = SuiteJudge(suite, BaselineScenarios()), ScenarioMatcher(suite)
    for number, trace in enumerate(traces):
        view = get_view(trace)
        judged = judge.judge(trace)
        if number < MAX_KEPT:
            _keep_sources(trace, view)
        chosen = matcher.choose([each.candidate for each in judged.candidates], judged.scenario_id, judged.ref)
        if chosen is not None and (trial := judged.candidates[chosen].trial) is not None:
            place = judged.candidates[chosen].candidate.scenario
            if place is not None:
                yield JudgedTrace(trace, suite.scenarios[place], trial)


def _keep_sources(trace: Trace, view: TraceView) -> None:
    """Keeps where a trace's arguments come from, most of the work of judging it, for the next round."""
    found = view.cache.get(ARGUMENT_SOURCES)
    if found is not None:
        get_view(trace).cache[ARGUMENT_SOURCES] = found
