"""What an item of a test session reports for a scenario: pure functions of results.json and of a suite as written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.reporting.text.ruling_lines import (
    find_approved_keys,
    find_quarantines,
    sort_approvals,
    summarize_approval,
    summarize_quarantine,
)
from evalgate.reporting.text.scenario_sections import SuiteScenario, find_reason
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.scoring.run_statistics import judge_call_checks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.run.trial_doc import TrialDoc
    from evalgate.suite.models import Scenario, Suite

Kind = Literal["passed", "failed", "skipped", "excused"]
EXPECTED_TOOL = "expected_tool"
TOKENS = ("input_tokens", "output_tokens", "total_tokens")


class ItemOutcome(NamedTuple):
    """What an item reports, and why; `excused` is a failure that is expected."""

    kind: Kind
    reason: str = ""


def is_scheduling_suite(suite: Suite) -> bool:
    """Whether each scenario of a suite names the tool that it expects, or none, as `expected_tool`."""
    entries = suite.content.get("scenarios") or []
    return bool(entries) and all(EXPECTED_TOOL in entry for entry in entries)


def find_entry(suite: Suite, scenario_id: str) -> Mapping[str, Any]:
    """The scenario as the suite file has it; empty for a golden."""
    entries = suite.content.get("scenarios") or []
    return next((entry for entry in entries if entry["id"] == scenario_id), {})


def name_item(suite: Suite, scenario: Scenario) -> str:
    """The name of an item: `refund[flat]`; in a scheduling suite `test_positive[flat-refund]`."""
    variant = None if scenario.variant is None else scenario.variant.name
    if not is_scheduling_suite(suite):
        return scenario.id if variant is None else f"{scenario.id}[{variant}]"
    kind = "negative" if find_entry(suite, scenario.id)[EXPECTED_TOOL] is None else "positive"
    return f"test_{kind}[{scenario.id if variant is None else f'{variant}-{scenario.id}'}]"


def find_scenarios(results: ResultsDoc, suite: Suite, scenario: Scenario) -> list[SuiteScenario]:
    """The results of a scenario: several if its id is a glob, none if it is optional and has no trace."""
    variant = None if scenario.variant is None else scenario.variant.name
    return [
        SuiteScenario(document, each)
        for document in results["suites"]
        if document["suite"] == suite.name
        for each in document["scenarios"]
        if each["variant"] == variant and _is_entry(scenario, each)
    ]


def _is_entry(scenario: Scenario, document: ScenarioDoc) -> bool:
    """Whether a result is of this entry, by its place: the id may be one of many, or redacted."""
    place, expected = document["location"], scenario.location
    if place is None or expected is None:
        return document["id"] == scenario.id
    return (place.file, place.line, place.column) == tuple(expected) and (
        scenario.is_glob or scenario.golden is None or document["id"] == scenario.id
    )


def find_unclaimed(results: ResultsDoc, suite: Suite) -> list[SuiteScenario]:
    """The results of a suite that no scenario has: traces that could not be read."""
    found = {id(each.scenario) for scenario in suite.scenarios for each in find_scenarios(results, suite, scenario)}
    return [
        SuiteScenario(document, each)
        for document in results["suites"]
        if document["suite"] == suite.name
        for each in document["scenarios"]
        if id(each) not in found
    ]


def find_outcome(results: ResultsDoc, suite: Suite, found: Sequence[SuiteScenario], *, has_gate: bool) -> ItemOutcome:
    """What an item of a suite reports: the worst of its results. With the gate as an item nothing else fails."""
    if not found:
        reasons = (each for each in results["reasons"] if each["code"] == "no_traces")
        message = next((each["message"] for each in reasons if each.get("suite") == suite.name), "")
        if message and not has_gate:
            return ItemOutcome("failed", message)
        return ItemOutcome("skipped", message or "no trace, and none is needed")
    outcomes = [_find_one(results, each, has_gate=has_gate) for each in found]
    return next(each for kind in ("failed", "excused", "skipped", "passed") for each in outcomes if each.kind == kind)


def _find_one(results: ResultsDoc, found: SuiteScenario, *, has_gate: bool) -> ItemOutcome:
    scenario = found.scenario
    codes = _find_codes(results, found)
    excuse = _find_excuse(results, found, codes)
    reason = f"{scenario['verdict']}: {describe(found)}"
    if excuse:
        return ItemOutcome("excused", f"{excuse}; {reason}")
    if scenario["verdict"] == "PASS":
        return ItemOutcome("passed")
    if scenario["verdict"] == "NOT_EVALUABLE" and "not_evaluable" not in codes:
        return ItemOutcome("skipped", reason)
    return ItemOutcome("excused" if has_gate else "failed", f"{reason} ({', '.join(codes)})" if codes else reason)


def _find_excuse(results: ResultsDoc, found: SuiteScenario, codes: Sequence[str]) -> str:
    name, scenario = found.suite["suite"], found.scenario
    if scenario.get("quarantined"):
        quarantines = find_quarantines(results, name, scenario)
        return f"quarantine {summarize_quarantine(quarantines[0])}" if quarantines else "quarantine"
    key = (name, scenario["id"], scenario["variant"])
    if codes or key not in find_approved_keys(results):
        return ""
    approvals = (each for each in sort_approvals(results) if (each["suite"], each["scenario"], each["variant"]) == key)
    return f"approval {summarize_approval(next(approvals))}"


def _find_codes(results: ResultsDoc, found: SuiteScenario) -> list[str]:
    """The words of `fail_on` for which a scenario fails the gate."""
    key = (found.suite["suite"], found.scenario["id"], found.scenario["variant"])
    reasons = results["reasons"]
    codes = [each["code"] for each in reasons if (each.get("suite"), each.get("scenario"), each.get("variant")) == key]
    return list(dict.fromkeys(codes))


def describe(found: SuiteScenario) -> str:
    """The first failure of a scenario in one line."""
    return unmark_parts(find_reason(found.scenario)) or found.scenario["verdict"]


def list_properties(found: Sequence[SuiteScenario]) -> list[tuple[str, object]]:
    """The properties of an item in JUnit's XML; amounts are sums over the trials, and left out if one is unknown."""
    trials = [trial for each in found for trial in each.scenario["trials"]]
    scores = [each.scenario["score"] for each in found]
    amounts: dict[str, object] = {
        "suite": found[0].suite["suite"] if found else None,
        "verdict": _find_worst(found),
        "score": None if None in scores or not scores else min(score for score in scores if score is not None),
        "cost_usd": _add([trial.cost_usd for trial in trials]),
        "tokens": _add([trial.total_tokens for trial in trials]),
    }
    return [(f"evalgate.{name}", value) for name, value in amounts.items() if value is not None]


def _find_worst(found: Sequence[SuiteScenario]) -> str | None:
    verdicts = [each.scenario["verdict"] for each in found]
    return next((each for each in verdicts if each != "PASS"), verdicts[0] if verdicts else None)


def _add(amounts: Sequence[float | int | None]) -> float | None:
    known = [each for each in amounts if each is not None]
    return round(sum(known), 9) if known and len(known) == len(amounts) else None


def list_feedback(scenario: ScenarioDoc, entry: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Inputs, outputs and feedback of each trial of a scenario of a scheduling suite; what is unknown is left out."""
    return [each for trial in scenario["trials"] for each in _list_trial_feedback(scenario["variant"], trial, entry)]


def _list_trial_feedback(variant: str | None, trial: TrialDoc, entry: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Scores are 1.0 or 0.0, as in what `evalgate track` publishes."""
    judged = judge_call_checks(
        [(each.outcome, each.evidence) for each in trial.assertions if each.type == EXPECTED_TOOL]
    )
    is_negative = entry.get(EXPECTED_TOOL) is None
    found: dict[str, object] = {
        "prompt": entry.get("prompt"),
        "variant": variant,
        "category": entry.get("category"),
        **({"expected_tool_calls": 0} if is_negative else {"expected_tool": entry[EXPECTED_TOOL]}),
        "min_calls": None if is_negative else entry.get("min_calls", 1),
        "tool_call_names": ",".join(trial.tool_calls),
        "call_count": len(trial.tool_calls),
    }
    if judged is not None and is_negative:
        found["no_false_trigger"] = float(judged[1])
    elif judged is not None:
        found |= {"correct_tool": float(judged[0]), "correct_count": float(judged[1])}
    found |= {name: getattr(trial, name) for name in TOKENS}
    return [(name, value) for name, value in found.items() if value is not None]
