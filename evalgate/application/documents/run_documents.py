"""Reads a finished run back from its results document."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from evalgate.errors import Location
from evalgate.gate.common.scenarios import list_scenario_docs
from evalgate.models.comparison.comparison import Change, list_scenarios
from evalgate.models.run.run import Run, ScenarioResult, SuiteResult, TraceRef, UnclaimedTrace, Verdict
from evalgate.models.run.trials import identify_recording, list_agent_parts, list_measured
from evalgate.models.trace.trace import NO_KINDS, ToolKinds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.comparison.comparison import ChangeFlag, ChangeKind, ScenarioKey
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.run.golden import GoldenResult
    from evalgate.models.run.run import Trial, Verdict
    from evalgate.models.run.trial_doc import LocationDoc, TrialDoc


def run_of(document: ResultsDoc) -> Run:
    """The run as it was before any comparison."""
    summary = document["summary"]
    unclaimed_counts = Counter(each["suite"] for each in document["unclaimed"])
    suites = [
        SuiteResult(
            suite["suite"],
            suite["path"],
            [_scenario(each) for each in suite["scenarios"]],
            traces=unclaimed_counts[suite["suite"]] + sum(len(each["trials"]) for each in suite["scenarios"]),
            unmatched=suite.get("unmatched"),
            tool_digests=suite.get("tool_digests", {}),
            tool_kinds=kinds_of(suite),
        )
        for suite in document["suites"]
    ]
    if suites and summary is not None:
        suites[0].skipped = summary["skipped"]  # the document counts them for the whole run
    unclaimed = [
        UnclaimedTrace(
            each["suite"],
            TraceRef(each["id"], each["path"], "", None, each["line"], each["record"]),
            each["scenario_id"],
        )
        for each in document["unclaimed"]
    ]
    return Run(suites, unclaimed)


def kinds_of(suite: SuiteDoc) -> ToolKinds:
    """What a suite says of its tools."""
    listed = suite.get("tools")
    return NO_KINDS if listed is None else ToolKinds(tuple(listed["lookups"]), tuple(listed["changing"]))


def _scenario(document: ScenarioDoc) -> ScenarioResult:
    interval, golden = document["pass_rate_interval"], _golden(document)
    return ScenarioResult(
        document["id"],
        cast("Verdict", document["verdict"]),
        document["score"],
        document["threshold"],
        document["trials"] if golden is None else [_with_golden(each, document) for each in document["trials"]],
        variant=document["variant"],
        pass_rate=document["pass_rate"],
        pass_rate_interval=None if interval is None else (interval[0], interval[1]),
        reason=document["reason"],
        location=location_in(document["location"]),
        quarantined=document.get("quarantined") or False,
        golden=golden,
        passes_needed=document.get("passes_needed", 0),
    )


def _with_golden(trial: TrialDoc, scenario: ScenarioDoc) -> TrialDoc:
    """A trial with its golden as it is judged, from which its document is built, and cleaned, again."""
    from evalgate.application.documents.golden_documents import golden_trial_of

    found = golden_trial_of(trial, scenario)
    return trial if found is None else replace(trial, golden=found)


def _golden(document: ScenarioDoc) -> GoldenResult | None:
    if document.get("golden") is None:
        return None
    from evalgate.application.documents.golden_documents import golden_result_of

    return golden_result_of(document)


def identify_agent(document: ResultsDoc) -> frozenset[object]:
    """What the traces of a run record of the agent: models, tools and prompts."""
    scenarios = [each for suite in document["suites"] for each in suite["scenarios"]]
    return frozenset(parts for each in scenarios for parts in list_agent_parts(each["trials"]))


def pool_trials(documents: Iterable[ResultsDoc]) -> dict[ScenarioKey, list[Trial]]:
    """The measured trials of each scenario over several runs; a recording counts once.

    Scenarios in quarantine and goldens are left out.
    """
    found: dict[ScenarioKey, dict[object, Trial]] = {}
    for number, document in enumerate(documents):
        for key, scenario in list_scenarios(run_of(document).suites):
            if scenario.quarantined or scenario.golden is not None:
                continue
            trials = found.setdefault(key, {})
            for index, trial in enumerate(list_measured(scenario.trials)):
                trials.setdefault(identify_recording(trial) or (number, index), trial)
    return {key: list(trials.values()) for key, trials in found.items()}


def changes_of(document: ResultsDoc) -> dict[ScenarioKey, Change]:
    """Changes by scenario, with the fields a decision needs."""
    return {
        key: Change(
            cast("ChangeKind", change["kind"]),
            change["reason"],
            change["score_delta"],
            cast("list[ChangeFlag]", list(change["flags"])),
            list(change["increases"]),
            cast("Verdict | None", change["previous_verdict"]),
        )
        for key, scenario in list_scenario_docs(document)
        if (change := scenario["change"]) is not None
    }


def location_in(document: LocationDoc | None) -> Location | None:
    """Reads a location in a suite."""
    return None if document is None else Location(document.file, document.line, document.column)
