"""Compares two finished runs, and adds to one scenario what a person who asks why it failed sees."""

from __future__ import annotations

import posixpath
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from evalgate.application.comparison.policies import fail_on_words, flag_changes
from evalgate.application.comparison.price_comparison import compare_costs_alike, drop_incomparable_costs
from evalgate.application.comparison.weakening import weakening_between, weakening_problems
from evalgate.application.documents.run_documents import kinds_of, run_of
from evalgate.application.evaluation.behaviours import (
    add_differences,
    add_prompt_changes,
    keep_unasked_arguments,
    record_behaviours,
)
from evalgate.application.evaluation.trajectories import (
    StoredTraces,
    add_stored_examples,
    iterate_stored,
    load_trajectories,
)
from evalgate.application.judge.explained_scenarios import find_scenario
from evalgate.application.judge.report import warning_of
from evalgate.errors import InvalidInput, Problem
from evalgate.gate.comparison.golden_changes import add_golden_changes
from evalgate.gate.comparison.known_failures import mark_known_failures
from evalgate.gate.comparison.outcomes import compute_run_statistics
from evalgate.gate.decision.decide import decide, no_traces
from evalgate.gate.trajectory.cause import add_agent_changes, join_digests, name_agent_causes, parts_of_baseline
from evalgate.gate.trajectory.trial_pairs import add_tool_calls, compare_pair, pair_worst_trial
from evalgate.models.comparison.comparison import BaselineInfo, ScenarioKey
from evalgate.models.comparison.trajectory import TrajectoryDiff
from evalgate.reporting.results.clean_values import clean_record
from evalgate.reporting.results.results_json import RunFindings, RunOrigin, build_results_document
from evalgate.suite.policy import Policies, Policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.application.judge.explained_scenarios import ExplainRequest, Explanation
    from evalgate.models.comparison.trajectory import Trajectory
    from evalgate.models.results.baseline_run import BaselineRun, TracePosition
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.run.run import Trial
    from evalgate.models.trace.trace import Trace
    from evalgate.ports import BaselineFiles, TraceArchive


def compare_finished(
    files: BaselineFiles, traces: TraceArchive, base: str, head: str, fail_on: Sequence[str] | None
) -> ResultsDoc:
    """The later run with its changes since the earlier; without `fail_on` it only reports."""
    words = fail_on_words(fail_on)
    policy = Policy() if words is None else Policy(fail_on=words)
    baseline = files.load_run(base, whole=False).run
    run = run_of(head_results := files.load(head).results)
    if any(each.golden is not None for suite in run.suites for each in suite.scenarios):
        baseline = files.load_run(base, whole=True).run
    costs = drop_incomparable_costs(baseline, run)
    baseline = costs.baseline
    policies = Policies({suite.name: policy for suite in run.suites}, policy)
    comparison = compare_costs_alike(run, costs, policies)
    comparison.unrecorded = frozenset(suite.name for suite in run.suites if no_traces(suite) is not None)
    mark_known_failures(comparison, run, baseline)
    add_tool_calls(comparison, run, baseline)
    add_agent_changes(comparison, run, parts_of_baseline(baseline), join_digests(run, baseline.tool_digests))
    name_agent_causes(comparison.changes.values())
    add_golden_changes(run, comparison, baseline.document, policies.suites)
    flag_changes(run, comparison)
    restore = traces.restore_trace
    recorder = record_behaviours(run, StoredTraces(read_own_traces(files, head), restore))
    unasked = keep_unasked_arguments(comparison, run, baseline, recorder)
    add_differences(comparison, run, baseline, recorder, StoredTraces(files.read_traces(base), restore), unasked)
    lines = files.read_traces(base), read_own_traces(files, head)
    find_before, find_now = (partial(iterate_stored, StoredTraces(each, restore)) for each in lines)
    add_prompt_changes(comparison, run, baseline, find_before, find_now)
    add_stored_examples(comparison, run, StoredTraces(read_own_traces(files, head), restore))
    info = BaselineInfo("given", baseline.commit, None, base)
    weakenings = weakening_between(files, (base, head), comparison, baseline, policies)
    decision = decide(run, comparison, info, policies, weakenings=weakenings).for_report_only(words is None)
    created_at = datetime.fromisoformat(head_results["created_at"])
    found = RunFindings(
        [*costs.warnings, *map(warning_of, weakening_problems(weakenings))],
        compute_run_statistics(run, comparison),
        weakenings=weakenings,
    )
    origin = RunOrigin(head_results["commit"], created_at, info, baseline.summary)
    document = build_results_document(run, comparison, decision, origin, found)
    if "quarantines" in head_results:
        document["quarantines"] = head_results["quarantines"]
    return document


OWN_TRACES = "baseline.zip"
"""The file next to a run's results that holds its traces."""
MOST_TRACES = 50


def explain(
    files: BaselineFiles, traces: TraceArchive, request: ExplainRequest, results: str, baseline: str | None
) -> Explanation:
    """Finds the scenario in the results, compared with the baseline if one is given.

    Raises SettingError if there is no such scenario, or several.
    """
    found = find_scenario(load_compared(files, traces, results, baseline), request, results)
    add_details(files, traces, found, results, baseline)
    return found


def load_compared(files: BaselineFiles, traces: TraceArchive, results: str, baseline: str | None) -> ResultsDoc:
    """The document of a finished run, compared with the baseline if one is given."""
    document = files.load(results).results
    if baseline is None:
        return document
    command = document.get("command")
    document = compare_finished(files, traces, baseline, results, None)
    document["command"] = command
    return document


def add_details(
    files: BaselineFiles, traces: TraceArchive, found: Explanation, results: str, baseline: str | None
) -> None:
    """Adds the traces of a scenario, and how its worst trial differs from the baseline's.

    Without a named baseline that is the run's own, where the run did not compare them and something differs.
    """
    if found.suite is None or found.scenario is None:
        return
    if baseline is not None:
        found.warnings = add_behaviour(files, traces, found, results, baseline)
    elif _is_difference_open(found.scenario) and (own := find_own_baseline(files, found.document)) is not None:
        add_behaviour(files, traces, found, results, own[0])  # what it lacks was not asked for
    found.traces = _load_traces(files, traces, found.scenario, results)
    for trace in found.traces.values():
        trace.take_kinds(kinds_of(found.suite))


def _is_difference_open(scenario: ScenarioDoc) -> bool:
    change = scenario["change"]
    is_other = scenario["verdict"] != "PASS" or "differences" in scenario
    return change is not None and "behaviour" not in change and (is_other or change["kind"] != "unchanged")


def find_own_baseline(files: BaselineFiles, document: ResultsDoc) -> tuple[str, BaselineRun] | None:
    """The baseline in the file that a run read, unless another one has its place by now."""
    found = document["baseline"]
    if found is None or found["path"] is None or found["summary"] is None:
        return None
    try:
        run = files.load_run(found["path"]).run
    except InvalidInput:
        return None
    is_same = found["summary"] == run.summary and run.created_at <= document["created_at"]
    return (found["path"], run) if is_same else None


def _load_traces(
    files: BaselineFiles, traces: TraceArchive, scenario: ScenarioDoc, results: str
) -> Mapping[TracePosition, Trace]:
    """The traces of the first trials, those that did not pass first, as far as the run keeps them."""
    trials = sorted(scenario["trials"], key=lambda trial: trial.status == "passed")
    places = [(each.trace.path, each.trace.line, each.trace.record) for each in trials[:MOST_TRACES]]
    return dict(iterate_stored(StoredTraces(read_own_traces(files, results), traces.restore_trace), places))


def add_behaviour(
    files: BaselineFiles,
    traces: TraceArchive,
    explanation: Explanation,
    results: str,
    baseline: str,
) -> Sequence[Problem]:
    """Adds to a scenario how its worst trial differs from the baseline's trace; if that fails, returns warnings."""
    suite, scenario = explanation.suite, explanation.scenario
    if suite is None or scenario is None or scenario["change"] is None or not scenario["trials"]:
        return []
    key = ScenarioKey(suite["suite"], scenario["id"], scenario["variant"])
    baseline_trials = files.load_run(baseline).run.find_trials(key)
    if not baseline_trials:
        return []
    pair = pair_worst_trial(baseline_trials, _trials(explanation.document, suite, scenario))
    try:
        baseline_trajectory = _load_trajectory(
            StoredTraces(files.read_traces(baseline), traces.restore_trace), pair.baseline_trial.position
        )
        trace = pair.trial.trace
        trajectory = _load_trajectory(
            StoredTraces(read_own_traces(files, results), traces.restore_trace), (trace.path, trace.line, trace.record)
        )
    except InvalidInput as error:
        return error.problems
    if baseline_trajectory is None or trajectory is None:
        where = "the baseline holds" if baseline_trajectory is None else f"{OWN_TRACES} next to these results holds"
        return [Problem(f"arguments and answers are not compared: {where} no trace of it")]
    scenario["change"]["behaviour"] = clean_record(compare_pair(pair, baseline_trajectory, trajectory), TrajectoryDiff)
    return []


def _trials(document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc) -> Sequence[Trial]:
    one_scenario: ResultsDoc = {**document, "suites": [{**suite, "scenarios": [scenario]}]}
    return run_of(one_scenario).suites[0].scenarios[0].trials


def _load_trajectory(stored: StoredTraces, place: TracePosition) -> Trajectory | None:
    return load_trajectories(stored, {place}).get(place)


def read_own_traces(files: BaselineFiles, results: str) -> Iterator[bytes]:
    """The stored traces of a run: of its zip, else of the zip next to its results, unless that is of another run."""
    has_own = False
    for line in files.read_traces(results):
        has_own = True
        yield line
    if has_own:
        return
    zip_path = posixpath.join(posixpath.dirname(results), OWN_TRACES)
    try:
        mine, theirs = (files.load_run(path).run for path in (results, zip_path))
    except InvalidInput:
        return
    if (mine.created_at, mine.commit) == (theirs.created_at, theirs.commit):
        yield from files.read_traces(zip_path)
