"""Judges the traces that a draft was learnt from by the draft itself, and drops what does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.evaluation.scenario_matcher import ScenarioMatcher
from evalgate.application.evaluation.suite_judge import SuiteJudge
from evalgate.application.evaluation.trajectories import BaselineScenarios
from evalgate.errors import SuiteError
from evalgate.models.run.trials import is_failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evalgate.application.inference.infer import DraftSuite
    from evalgate.models.trace.trace import Trace
    from evalgate.suite.models import Suite

MAX_ROUNDS = 20


class FailingTrace(NamedTuple):
    """A trace that the draft does not pass: its scenario, and names and lines of the checks that fail."""

    scenario: str | None
    names: Sequence[str]
    lines: Sequence[int]


def check_draft(draft: DraftSuite, traces: Sequence[Trace], load: Callable[[str], Suite]) -> Suite | None:
    """Drops checks until the draft is a suite and all traces pass; None if nothing is left.

    Scenarios that would check nothing are left out too. `load` parses the text of a suite.
    """
    for _ in range(MAX_ROUNDS):
        if all(scenario.is_empty for scenario in draft.scenarios):
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
        for place in sorted(found, reverse=True):
            draft.drop(place)
        for scenario in draft.scenarios:
            if scenario.id in unclear:
                scenario.clear()
    return None


def _drop_refused(draft: DraftSuite, places: Mapping[int, tuple[int, int]], error: SuiteError) -> bool:
    """Drops checks that no suite can hold, as of a tool whose name is too long; False if none is to blame."""
    lines = {problem.location.line for problem in error.problems if problem.location}
    refused = {place for line, place in places.items() if line in lines}
    for place in sorted(refused, reverse=True):
        draft.drop(place)
    return bool(refused)


def find_failing(suite: Suite, traces: Sequence[Trace]) -> Iterator[FailingTrace]:
    """The traces that do not pass their scenario; one that no scenario claims is not judged."""
    judge, matcher = SuiteJudge(suite, BaselineScenarios()), ScenarioMatcher(suite)
    for trace in traces:
        judged = judge.judge(trace)
        chosen = matcher.choose([each.candidate for each in judged.candidates], judged.scenario_id, judged.ref)
        trial = None if chosen is None else judged.candidates[chosen].trial
        if trial is None or trial.status == "passed":
            continue
        failed = [found for found in trial.assertions if is_failed(found) and found.counts]
        lines = [found.location.line for found in failed if found.location and found.location.line]
        yield FailingTrace(judged.scenario_id, [found.name for found in failed], lines)
