"""Looks up one scenario of a finished run, for a person who asks why it failed."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.documents.run_documents import run_of
from evalgate.application.evaluation.trajectories import stored_courses
from evalgate.application.judge.compare_finished import compare_finished
from evalgate.errors import InvalidInput, Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.gate.trajectory.trial_pairs import behaviour_of, pair_of
from evalgate.measures.redaction.redact import redact
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.records import dataclass, field
from evalgate.reporting.results.trajectory_doc import behaviour_doc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.comparison.baseline_run import Place
    from evalgate.models.comparison.trajectory import Trajectory
    from evalgate.models.results.results import RemovedDoc, ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.run.run import TrialResult
    from evalgate.ports import BaselineFiles

OWN_TRACES = "baseline.zip"
"""The file next to a run's results that holds its traces."""
MOST_NAMED = 10


class ExplainRequest(NamedTuple):
    """Which scenario to explain: suite and variant are only needed if its id is ambiguous."""

    id: str
    suite: str | None = None
    variant: str | None = None


@dataclass(slots=True)
class Explanation:
    """The scenario in its document; `removed` instead if only the baseline has it."""

    document: ResultsDoc
    suite: SuiteDoc | None = None
    scenario: ScenarioDoc | None = None
    removed: RemovedDoc | None = None
    warnings: Sequence[Problem] = field(default_factory=tuple)


def explain(files: BaselineFiles, asked: ExplainRequest, results: str, baseline: str | None) -> Explanation:
    """Finds the scenario in the results, compared with the baseline if one is given.

    Raises SettingError if there is no such scenario, or several.
    """
    document = files.load(results).results
    if baseline is None:
        return _found(document, asked)
    command = document.get("command")
    document = compare_finished(files, baseline, results, None)
    document["command"] = command
    found = _found(document, asked)
    if found.suite is not None and found.scenario is not None:
        found.warnings = _add_behaviour(files, found, results, baseline)
    return found


def _found(document: ResultsDoc, asked: ExplainRequest) -> Explanation:
    matches = [
        Explanation(document, suite, scenario)
        for suite in document["suites"]
        for scenario in suite["scenarios"]
        if _is_meant(asked, suite["suite"], scenario)
    ]
    gone = [
        Explanation(document, removed=removed)
        for removed in document["removed"]
        if _is_meant(asked, removed["suite"], removed)
    ]
    if len(matches + gone) == 1:
        return (matches + gone)[0]
    raise SettingError(_several(matches + gone) if matches or gone else _unknown(document, asked))


def _is_meant(asked: ExplainRequest, suite: str, scenario: ScenarioDoc | RemovedDoc) -> bool:
    return (
        scenario["id"] in (asked.id, redact(asked.id))
        and asked.suite in (None, suite)
        and asked.variant in (None, scenario["variant"])
    )


def _several(matches: Sequence[Explanation]) -> Problem:
    """The problem that several scenarios match, with the flags that select one."""
    named = []
    for match in matches[:MOST_NAMED]:
        scenario = match.scenario or match.removed
        suite = match.suite["suite"] if match.suite else match.removed["suite"] if match.removed else ""
        variant = f" --variant {scenario['variant']}" if scenario and scenario["variant"] else ""
        named.append(f"--suite {suite}{variant}")
    left = len(matches) - len(named)
    more = f" and {left} more" if left else ""
    return Problem(f"{len(matches)} scenarios have this id", None, f"add one of: {'; '.join(named)}{more}")


def _unknown(document: ResultsDoc, asked: ExplainRequest) -> Problem:
    """The problem that none matches, with a suggestion."""
    pairs = [(suite["suite"], each["id"]) for suite in document["suites"] for each in suite["scenarios"]]
    pairs += [(removed["suite"], removed["id"]) for removed in document["removed"]]
    suites = {suite for suite, _ in pairs}
    if asked.suite is not None and asked.suite not in suites:
        return Problem(f"these results have no suite `{asked.suite}`", None, suggest(asked.suite, suites))
    ids = {id_ for suite, id_ in pairs if asked.suite in (None, suite)}
    if asked.id in ids:
        return Problem(f"scenario `{asked.id}` has no variant `{asked.variant}` here")
    return Problem(f"these results have no scenario `{asked.id}`", None, suggest(asked.id, ids))


def _add_behaviour(
    files: BaselineFiles, found: Explanation, results: str, baseline: str
) -> Sequence[Problem]:
    """Compares the two traces; if that fails, returns warnings."""
    suite, scenario = found.suite, found.scenario
    if suite is None or scenario is None or scenario["change"] is None or not scenario["trials"]:
        return []
    key = ScenarioKey(suite["suite"], scenario["id"], scenario["variant"])
    earlier = files.earlier(baseline).run.trials_of(key)
    if not earlier:
        return []
    pair = pair_of(earlier, _trials(found.document, suite, scenario))
    try:
        before = _course(files.traces(baseline), pair.earlier.place)
        trace = pair.trial.trace
        now = _course(_own_traces(files, results), (trace.path, trace.line, trace.record))
    except InvalidInput as error:
        return error.problems
    if before is None or now is None:
        where = "the baseline keeps" if before is None else f"{OWN_TRACES} beside these results keeps"
        return [Problem(f"arguments and answers are not compared: {where} no recording of it")]
    scenario["change"]["behaviour"] = behaviour_doc(behaviour_of(pair, before, now))
    return []


def _trials(document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc) -> Sequence[TrialResult]:
    alone: ResultsDoc = {**document, "suites": [{**suite, "scenarios": [scenario]}]}
    return run_of(alone).suites[0].scenarios[0].trials


def _course(lines: Iterator[bytes], place: Place) -> Trajectory | None:
    return stored_courses(lines, {place}).get(place)


def _own_traces(files: BaselineFiles, results: str) -> Iterator[bytes]:
    """The traces of the run with these results; none if the zip next to them is of another run."""
    beside = posixpath.join(posixpath.dirname(results), OWN_TRACES)
    try:
        mine, theirs = (files.earlier(path).run for path in (results, beside))
    except InvalidInput:
        return
    if (mine.created_at, mine.commit) == (theirs.created_at, theirs.commit):
        yield from files.traces(beside)
