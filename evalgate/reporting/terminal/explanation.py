"""Explains one scenario in a terminal: an overview with the reasons first, then all findings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evalgate.reporting.terminal.terminal_page import VERDICT_COLOURS, TerminalPage
from evalgate.reporting.terminal.trajectory_explanation import add_trajectory_diff
from evalgate.reporting.text import wording
from evalgate.reporting.text.approval_lines import sort_approvals, summarize_approval
from evalgate.reporting.text.grouping import describe_failures
from evalgate.reporting.text.history_lines import find_flaky, format_flaky
from evalgate.reporting.text.quarantine_lines import find_quarantines, summarize_quarantine
from evalgate.reporting.text.scenario_sections import SuiteScenario, describe_change
from evalgate.reporting.text.trial_reasons import count_passed

if TYPE_CHECKING:
    from evalgate.models.results.results import (
        AssertionDoc,
        ChangeDoc,
        RemovedDoc,
        ResultsDoc,
        ScenarioDoc,
        SuiteDoc,
        TrialDoc,
    )

MAX_TRIALS, MAX_CHECKS, MAX_EVIDENCE = 50, 200, 1_500
MAX_REASONS = 5
SHORT_SHA = 7
_MIN_TRIALS = 2
_STATUS_COLOURS = {"passed": "green", "not_evaluable": "yellow", "not_measured": "yellow", "skipped": "dim"}
_NOT_FAILED = frozenset({"passed", "skipped"})
_REDUNDANT_EVIDENCE = frozenset({"verdict"})  # evidence that only repeats the outcome


def render_explanation(
    document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc, *, width: int = 100, colour: bool = False
) -> str:
    """Renders plain text without a trailing line feed; `colour` adds EvalGate's colour codes only."""
    page = TerminalPage(width, colour=colour)
    _add_overview(page, document, suite, scenario)
    change = scenario["change"]
    if change is not None:
        add_trajectory_diff(page, change)
    if scenario.get("golden") is not None:
        from evalgate.reporting.terminal.golden_explanation import add_golden

        add_golden(page, scenario)
    _add_trials(page, scenario)
    page.add_title("To reproduce the run")
    page.add_text(document.get("command") or "evalgate run", indent=2)
    return str(page)


def render_removed_scenario(removed: RemovedDoc, *, width: int = 100, colour: bool = False) -> str:
    """Explains a scenario that only the baseline has."""
    page = TerminalPage(width, colour=colour)
    page.add_heading("REMOVED", _scenario_name(removed), "yellow")
    page.add_fact("suite", removed["suite"])
    was = f"{_to_words(removed['verdict'])}, score {wording.score(removed['score'])}"
    page.add_fact("why", f"only in the baseline ({was}): no suite of this run contains it")
    return str(page)


def _scenario_name(scenario: ScenarioDoc | RemovedDoc) -> str:
    return wording.scenario_name(scenario["id"], scenario["variant"])


def _to_words(word: str) -> str:
    return word.replace("_", " ")


def _add_overview(page: TerminalPage, document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc) -> None:
    verdict, change = scenario["verdict"], scenario["change"]
    page.add_heading(_to_words(verdict), _scenario_name(scenario), VERDICT_COLOURS.get(verdict, "red"))
    location = scenario["location"]
    page.add_fact("suite", f"{suite['suite']} ({wording.location(location)})" if location else suite["suite"])
    for number, reason in enumerate(_list_reasons(suite, scenario)):
        page.add_fact("" if number else "why", reason)
    page.add_fact("score", _format_score(scenario))
    if scenario["n"] > 1 or (scenario["n"] and scenario.get("not_measured")):
        page.add_fact("trials", _format_pass_rate(scenario))
    _add_background(page, document, suite, scenario)
    if change is None:
        page.add_fact("change", "not compared; `--baseline PATH` compares it with an earlier run")
        return
    flags = f" ({', '.join(map(_to_words, change['flags']))})" if change["flags"] else ""
    page.add_fact("change", f"{_to_words(change['kind'])}{flags}: {describe_change(change)}")
    cause = change.get("cause")
    if cause:
        page.add_fact("cause", cause["message"])
    for increase in change["increases"]:
        page.add_fact("", increase)
    page.add_fact("since", _describe_baseline(document, change))
    _add_significance(page, scenario, change)


def _add_background(page: TerminalPage, document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc) -> None:
    """Adds stale traces, flakiness, quarantines and approvals of the scenario."""
    stale_reasons = [why for trial in scenario["trials"] if (why := trial["trace"].get("stale"))]
    if stale_reasons:
        others = f" (and {len(stale_reasons) - 1} more)" if len(stale_reasons) > 1 else ""
        page.add_fact("stale", f"{stale_reasons[0]}{others}")
    key = suite["suite"], scenario["id"], scenario["variant"]
    for flaky in find_flaky(document):
        if (flaky["suite"], flaky["scenario"], flaky["variant"]) == key:
            page.add_fact("history", format_flaky(flaky))
    for quarantine in find_quarantines(document, suite["suite"], scenario):
        page.add_fact("quarantine", summarize_quarantine(quarantine))
    for approval in sort_approvals(document):
        if (approval["suite"], approval["scenario"], approval["variant"]) == key:
            page.add_fact("approval", summarize_approval(approval))


def _list_reasons(suite: SuiteDoc, scenario: ScenarioDoc) -> list[str]:
    """Lists the worst failures; of a scenario without any that every check passed."""
    causes = describe_failures(SuiteScenario(suite, scenario))
    if not causes:
        return [scenario["reason"] or ("every check passed" if scenario["trials"] else "no trace was found")]
    left = len(causes) - MAX_REASONS
    return [*causes[:MAX_REASONS], *([f"and {left:,} more"] if left > 0 else [])]


def _format_score(scenario: ScenarioDoc) -> str:
    change = scenario["change"]
    moved = wording.points(change["score_delta"]) if change else ""
    since = f", {moved} since the baseline" if moved else ""
    return f"{wording.score(scenario['score'])}{since}; threshold {wording.score(scenario['threshold'])}"


def _format_pass_rate(scenario: ScenarioDoc) -> str:
    passed = count_passed(scenario)
    interval = scenario["pass_rate_interval"]
    between = ""
    if interval:
        low, high = map(wording.percent, interval)
        between = f"; the true rate is between {low} and {high}, with 95% confidence"
    unmeasured = scenario.get("not_measured", 0)
    return f"{passed} of {scenario['n']} passed{f', {unmeasured} not measured' if unmeasured else ''}{between}"


def _describe_baseline(document: ResultsDoc, change: ChangeDoc) -> str:
    baseline = document["baseline"]
    baseline_verdict = _to_words(change["previous_verdict"]) if change["previous_verdict"] else "absent"
    if baseline is None:
        return f"the baseline, in which it was {baseline_verdict}"
    name = baseline["sha"][:SHORT_SHA] if baseline["sha"] else baseline["path"] or "an unknown commit"
    facts = [_to_words(baseline["status"])]
    if baseline["age_seconds"] is not None:
        facts.append(wording.age(baseline["age_seconds"]))
    return f"the baseline {name} ({', '.join(facts)}), in which it was {baseline_verdict}"


def _add_significance(page: TerminalPage, scenario: ScenarioDoc, change: ChangeDoc) -> None:
    """Explains in words what the p-value of the change means."""
    p, corrected = change["p_value"], change.get("p_corrected")
    if p is not None:
        page.add_fact(
            "chance", f"a change at least this large would occur by chance in {wording.percent(p)} of runs (p {p:.3g})"
        )
    if corrected is not None:
        page.add_fact("", f"p {corrected:.3g} after correction for the number of scenarios")
    if "single_trial" in change["flags"]:
        page.add_fact("chance", "single trial: may be noise; record several trials")
    elif p is None and scenario["n"] < _MIN_TRIALS and change["kind"] not in ("unchanged", "new"):
        page.add_fact("chance", "not tested for significance")


def _add_trials(page: TerminalPage, scenario: ScenarioDoc) -> None:
    page.add_title("Trials" if scenario["trials"] else "No trials")
    checks_left = MAX_CHECKS
    for trial in scenario["trials"][:MAX_TRIALS]:
        _add_trial(page, trial)
        checks = sorted(trial["assertions"], key=lambda each: each["outcome"] in _NOT_FAILED)
        for check in checks[: max(checks_left, 0)]:
            _add_check(page, check)
        if len(checks) > max(checks_left, 0):
            page.add_text(f"and {wording.pluralize(len(checks) - max(checks_left, 0), 'more check')}", indent=4)
        checks_left -= len(checks)
    left = len(scenario["trials"]) - MAX_TRIALS
    if left > 0:
        page.add_text(f"and {wording.pluralize(left, 'more trial')}", indent=2)


def _add_trial(page: TerminalPage, trial: TrialDoc) -> None:
    page.add_coloured(
        f"trial {trial['trial']}: {_to_words(trial['status'])}", _STATUS_COLOURS.get(trial["status"], "red"), indent=2
    )
    trace = trial["trace"]
    number = trace["line"] if trace["line"] is not None else trace["record"]
    where = trace["path"] if number is None else f"{trace['path']}:{number}"
    page.add_text(f"{where} ({trace['format']})" if trace["format"] else where, indent=4)
    page.add_text(
        f"score {wording.score(trial['score'])}, cost {wording.dollars(trial['cost_usd'])}, latency"
        f" {wording.seconds(trial['latency_seconds'])}, tokens {wording.count(trial.get('total_tokens'))}",
        indent=4,
    )
    if trial["tool_calls"]:
        page.add_text(f"calls {', '.join(trial['tool_calls'])}", indent=4)
    if trial["reason"]:
        page.add_text(trial["reason"], indent=4)


def _add_check(page: TerminalPage, check: AssertionDoc) -> None:
    required = " (required)" if check["required"] else ""
    weight = f", weight {check['weight']:g}" if check["weight"] != 1 else ""
    partial = f", score {wording.score(check['score'])}" if 0 < check["score"] < 1 else ""
    where = f" [{wording.location(check['location'])}]" if check["location"] else ""
    outcome, reason = check["outcome"], check["reason"]
    reason_text = "" if reason == check["name"] else f": {reason}"
    text = f"{check['name']}{required}{weight}{partial}{reason_text}{where}"
    colour = _STATUS_COLOURS.get(outcome, "red")
    page.add_labelled(_to_words(outcome), text, colour, indent=4)
    evidence = check["evidence"]
    if evidence and outcome not in _NOT_FAILED:
        for name in sorted(evidence.keys() - _REDUNDANT_EVIDENCE):
            page.add_text(f"{name}: {json.dumps(evidence[name], ensure_ascii=False)}", indent=8, limit=MAX_EVIDENCE)
