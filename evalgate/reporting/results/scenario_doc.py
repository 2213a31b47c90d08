"""Builds the records of `results.json`: suites, scenarios, changes with their trajectory diffs, reasons, warnings."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec.structs import astuple

from evalgate.models.comparison.behaviour import BehaviourDifference, UnaskedArgument
from evalgate.models.comparison.comparison import CallsDiff, Cause, ScenarioKey
from evalgate.models.comparison.trajectory import TrajectoryDiff, TrialExample
from evalgate.models.run.trials import count_unmeasured
from evalgate.models.trace.trace import NO_KINDS
from evalgate.reporting.results.clean_values import (
    clean_name,
    clean_optional_name,
    clean_optional_text,
    clean_record,
    clean_text,
)
from evalgate.reporting.results.statistics_doc import build_statistics_doc, build_variant_doc, compute_mean_with_gaps
from evalgate.reporting.results.trial_doc import build_location_doc, build_trial_docs
from evalgate.scoring.run_statistics import EXPECTED_SKILL, compare_variants

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalgate.errors import Problem
    from evalgate.models.comparison.comparison import BaselineDrift, BaselineInfo, Change, GrownFigure, ScenarioOutcome
    from evalgate.models.comparison.decision import Reason
    from evalgate.models.results.results import (
        BaselineDoc,
        ChangeDoc,
        DriftDoc,
        GrownFigureDoc,
        ReasonDoc,
        RemovedDoc,
        ScenarioDoc,
        SuiteDoc,
        SummaryDoc,
        UnclaimedDoc,
        WarningDoc,
    )
    from evalgate.models.run.run import ScenarioResult, SuiteResult, UnclaimedTrace
    from evalgate.models.run.run_statistics import SuiteStatistics
    from evalgate.models.trace.trace import Warning_


MOST_DRIFTED = 20
MAX_DIGESTS = 20_000
"""Characters of the names and digests of the tools that a trace defines."""


def build_reason_doc(reason: Reason) -> ReasonDoc:
    """Builds a reason of the decision; fields that don't apply are absent."""
    document: ReasonDoc = {"code": reason.code, "message": clean_text(reason.message)}
    if reason.suite is not None:
        document["suite"] = clean_name(reason.suite)
    if reason.scenario is not None:
        document["scenario"] = clean_name(reason.scenario)
        document["variant"] = clean_optional_name(reason.variant)
    return document


def build_problem_doc(problem: Problem, code: str) -> ReasonDoc:
    """Builds a reason from a problem in the input, with its hint and location."""
    hint = f" ({problem.hint})" if problem.hint else ""
    return {
        "code": code,
        "message": clean_text(f"{problem.message}{hint}"),
        "location": build_location_doc(problem.location),
    }


def build_suite_doc(
    suite: SuiteResult, changes: Mapping[ScenarioKey, Change], verdict: str, statistics: SuiteStatistics | None = None
) -> SuiteDoc:
    """Builds a suite with its scenarios, in suite order."""
    document: SuiteDoc = {
        "suite": clean_name(suite.name),
        "path": clean_name(suite.path),
        "verdict": verdict,
        "score": compute_mean_with_gaps(suite.scenarios),
        "scenarios": [
            _build_scenario_doc(scenario, changes.get(ScenarioKey(suite.name, scenario.id, scenario.variant)))
            for scenario in suite.scenarios
        ],
        "variants": [build_variant_doc(variant) for variant in compare_variants(suite.scenarios)],
    }
    if suite.unmatched is not None:
        document["unmatched"] = clean_text(suite.unmatched)
    if statistics is not None:
        document["figures"] = build_statistics_doc(statistics)
    if suite.tool_digests:
        document["tool_digests"] = {name: clean_text(text, MAX_DIGESTS) for name, text in suite.tool_digests.items()}
    if suite.tool_kinds != NO_KINDS:
        lookups, changing = ([clean_name(each) for each in listed] for listed in astuple(suite.tool_kinds))
        document["tools"] = {"lookups": lookups, "changing": changing}
    if choices := list(chain.from_iterable(map(_iter_skill_choices, suite.scenarios))):
        from evalgate.evaluators.kinds.skills.routing import measure_routing  # few suites expect a skill

        if (routing := measure_routing(choices)) is not None:
            document["skills"] = {**routing}
    return document


def _iter_skill_choices(scenario: ScenarioResult) -> Iterator[Mapping[str, Any]]:
    """Yields what each trial of a scenario with `expected_skill` used; such a check is in all trials or in none."""
    for trial in scenario.trials:
        found = [each.evidence for each in trial.assertions if each.type == EXPECTED_SKILL]
        if trial.assertions and not found:
            return
        yield from filter(None, found)


def build_baseline_doc(baseline: BaselineInfo, summary: SummaryDoc | None) -> BaselineDoc:
    """Builds the record of the baseline, with the summary of its run."""
    document: BaselineDoc = {
        "status": baseline.status,
        "sha": clean_optional_name(baseline.sha),
        "age_seconds": baseline.age_seconds,
        "path": clean_optional_name(baseline.path),
        "distance": baseline.distance,
        "summary": summary,
    }
    if baseline.drift is not None:
        document["drift"] = _build_drift_doc(baseline.drift)
    if baseline.branch:
        document["branch"] = clean_name(baseline.branch)
    if baseline.target:
        document["target"] = clean_name(baseline.target)
    if baseline.off_by:
        document["off_by"] = clean_text(baseline.off_by)
    if baseline.others:
        document["artifact"] = clean_name(baseline.artifact)
        document["others"] = [clean_name(each) for each in baseline.others]
    if baseline.runs:
        document["runs"] = baseline.runs
    if baseline.legs:
        document["legs"] = baseline.legs
    if baseline.event not in ("", "push"):
        document["event"] = clean_name(baseline.event)
    if baseline.attempt > 1:
        document["attempt"] = baseline.attempt
    return document


def _build_drift_doc(drift: BaselineDrift) -> DriftDoc:
    document: DriftDoc = {
        "found": drift.original_status,
        "suites": drift.has_changed_suites,
        "evaluators": [
            {"type": clean_name(each.type), "before": each.baseline_version, "now": each.version}
            for each in drift.evaluators
        ],
    }
    if drift.changed_files:
        document["files"] = [clean_name(each) for each in drift.changed_files[:MOST_DRIFTED]]
    return document


def build_removed_doc(outcome: ScenarioOutcome) -> RemovedDoc:
    """Builds a scenario that only the baseline has."""
    return {
        "suite": clean_name(outcome.key.suite),
        "id": clean_name(outcome.key.id),
        "variant": clean_optional_name(outcome.key.variant),
        "verdict": outcome.verdict,
        "score": outcome.score,
    }


def build_unclaimed_doc(unclaimed: UnclaimedTrace) -> UnclaimedDoc:
    """Builds a trace that matches no scenario."""
    found: UnclaimedDoc = {
        "suite": clean_name(unclaimed.suite),
        "path": clean_name(unclaimed.trace.path),
        "id": clean_optional_name(unclaimed.trace.id),
        "scenario_id": clean_optional_name(unclaimed.scenario_id),
        "line": unclaimed.trace.line,
        "record": unclaimed.trace.record,
    }
    if unclaimed.trace.status is not None:
        found["status"] = unclaimed.trace.status
    return found


def build_warning_doc(warning: Warning_) -> WarningDoc:
    """Builds a warning with its location."""
    return {
        "code": clean_name(warning["code"]),
        "message": clean_text(warning["message"]),
        "where": clean_optional_name(warning["where"]),
    }


def _build_scenario_doc(scenario: ScenarioResult, change: Change | None) -> ScenarioDoc:
    interval, unmeasured = scenario.pass_rate_interval, count_unmeasured(scenario.trials)
    document: ScenarioDoc = {
        "id": clean_name(scenario.id),
        "variant": clean_optional_name(scenario.variant),
        "verdict": scenario.verdict,
        "score": scenario.score,
        "threshold": scenario.threshold,
        "n": len(scenario.trials) - unmeasured,
        "pass_rate": scenario.pass_rate,
        "pass_rate_interval": _list_interval(interval),
        "dimensions": None,
        "reason": clean_optional_text(scenario.reason),
        "location": build_location_doc(scenario.location),
        "change": None if change is None else _build_change_doc(change, passes=scenario.verdict == "PASS"),
        "trials": build_trial_docs(scenario.trials),
    }
    if change is not None and change.differences:
        document["differences"] = [clean_record(each, BehaviourDifference) for each in change.differences]
        if change.request is not None:
            document["request"] = clean_name(change.request)
    if change is not None and change.unasked:
        document["unasked"] = [clean_record(each, UnaskedArgument) for each in change.unasked]
    if scenario.passes_needed:
        document["passes_needed"] = scenario.passes_needed
    if scenario.quarantined:
        document["quarantined"] = True
    if unmeasured:
        document["not_measured"] = unmeasured
    if scenario.golden is not None:
        from evalgate.reporting.results.judged_golden_doc import build_golden_doc

        document["dimensions"] = dict(scenario.golden.dimensions)
        document["golden"] = build_golden_doc(scenario.golden)
    return document


@lru_cache(maxsize=1_024)
def _list_interval(interval: tuple[float, float] | None) -> list[float] | None:
    """The interval as JSON, one list for all scenarios that share it."""
    return None if interval is None else list(interval)


def _add_agent_and_rules(document: ChangeDoc, change: Change) -> None:
    if change.agent is not None:
        document["comes_with"] = [clean_text(item) for item in change.agent.items]
    if change.same_parts:
        document["same_parts"] = [*change.same_parts]
    if change.prompts is not None:
        document["prompts"] = list(change.prompts)
    if change.added_checks:
        document["added_checks"] = [clean_text(each) for each in change.added_checks]


def _add_trials(document: ChangeDoc, change: Change) -> None:
    if change.trajectory_diff is not None:
        document["behaviour"] = clean_record(change.trajectory_diff, TrajectoryDiff)
    if change.example is not None:
        document["example"] = clean_record(change.example, TrialExample)


def _build_grown(figure: GrownFigure) -> GrownFigureDoc:
    document: GrownFigureDoc = {"figure": figure.figure, "before": figure.before, "now": figure.now}
    if figure.every_trial:
        document["every_trial"] = True
    return document


def _build_change_doc(change: Change, *, passes: bool) -> ChangeDoc:
    document: ChangeDoc = {
        "kind": change.kind,
        "flags": list(change.flags),
        "score_delta": change.score_delta,
        "reason": clean_text(change.reason),
        "increases": [clean_text(increase) for increase in change.increases],
        "previous_verdict": change.previous_verdict,
        "p_value": change.p_value,
    }
    if change.test is not None:
        document["test"] = change.test
    if change.p_corrected is not None:
        document["p_corrected"] = change.p_corrected
    if change.calls is not None:
        calls = clean_record(change.calls, CallsDiff)
        if calls.baseline != calls.current or change.kind != "unchanged" or not passes:
            document["calls"] = calls
    if change.cause is not None:
        document["cause"] = clean_record(change.cause, Cause)
    _add_agent_and_rules(document, change)
    if change.lost:
        document["lost"] = [
            {"figure": each.name, "missing": each.missing, "trials": each.trials, "why": each.why}
            for each in change.lost
        ]
    if change.grown:
        document["grown"] = [_build_grown(each) for each in change.grown]
    if change.known_failure is not None:
        document["known_failure"] = change.known_failure
    _add_trials(document, change)
    return document
