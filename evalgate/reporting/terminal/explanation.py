"""Explains one scenario in a terminal: an overview with the reasons first, then all findings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evalgate.reporting.terminal.terminal_page import TerminalPage
from evalgate.reporting.terminal.trajectory_explanation import behaviour_lines
from evalgate.reporting.text import wording
from evalgate.reporting.text.approval_lines import approval_fact, sorted_approvals
from evalgate.reporting.text.history_lines import flaky_in, flaky_words
from evalgate.reporting.text.quarantine_lines import quarantine_fact, quarantines_of
from evalgate.reporting.text.scenario_sections import failed_checks, first_reason
from evalgate.reporting.text.trial_reasons import passed_in

if TYPE_CHECKING:
    from evalgate.models.results.results import (
        AssertionDoc,
        ChangeDoc,
        LocationDoc,
        RemovedDoc,
        ResultsDoc,
        ScenarioDoc,
        SuiteDoc,
        TrialDoc,
    )

MOST_TRIALS, MOST_CHECKS, MOST_EVIDENCE = 50, 200, 1_500
MOST_REASONS = 5
SHORT_SHA = 7
_SEVERAL = 2
_VERDICT_COLOURS = {"PASS": "green", "PARTIAL": "yellow", "NOT_EVALUABLE": "yellow"}
_STATUS_COLOURS = {"passed": "green", "not_evaluable": "yellow", "skipped": "dim"}
_NOT_FAILED = frozenset({"passed", "skipped"})
_SAID = frozenset({"verdict"})  # evidence that only repeats the outcome


def explanation(
    document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc, *, width: int = 100, colour: bool = False
) -> str:
    """Renders plain text without a trailing line feed; `colour` adds EvalGate's colour codes only."""
    page = TerminalPage(width, colour=colour)
    _glance(page, document, suite, scenario)
    change = scenario["change"]
    if change is not None:
        behaviour_lines(page, change)
    if scenario.get("golden") is not None:
        from evalgate.reporting.terminal.golden_explanation import golden_lines

        golden_lines(page, scenario)
    _trials(page, scenario)
    page.title("To repeat the run")
    page.say(document.get("command") or "evalgate run", indent=2)
    return str(page)


def explained_removal(removed: RemovedDoc, *, width: int = 100, colour: bool = False) -> str:
    """Explains a scenario that only the baseline has."""
    page = TerminalPage(width, colour=colour)
    page.heading("REMOVED", _name(removed), "yellow")
    page.fact("suite", removed["suite"])
    was = f"{_words(removed['verdict'])}, score {wording.score(removed['score'])}"
    page.fact("why", f"only the baseline has it ({was}): no suite of this run names or finds it")
    return str(page)


def _name(scenario: ScenarioDoc | RemovedDoc) -> str:
    return f"{scenario['id']} [{scenario['variant']}]" if scenario["variant"] else scenario["id"]


def _words(word: str) -> str:
    return word.replace("_", " ")


def _glance(page: TerminalPage, document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc) -> None:
    verdict, change = scenario["verdict"], scenario["change"]
    page.heading(_words(verdict), _name(scenario), _VERDICT_COLOURS.get(verdict, "red"))
    location = scenario["location"]
    page.fact("suite", f"{suite['suite']} ({_place(location)})" if location else suite["suite"])
    for number, reason in enumerate(_reasons(scenario)):
        page.fact("" if number else "why", reason)
    page.fact("score", _score(scenario))
    if scenario["n"] > 1:
        page.fact("trials", _share(scenario))
    _grounds(page, document, suite, scenario)
    if change is None:
        page.fact("change", "not compared; `--baseline PATH` compares it with an earlier run")
        return
    flags = f" ({', '.join(map(_words, change['flags']))})" if change["flags"] else ""
    page.fact("change", f"{_words(change['kind'])}{flags}: {change['reason']}")
    cause = change.get("cause")
    if cause:
        page.fact("cause", cause["message"])
    for increase in change["increases"]:
        page.fact("", increase)
    page.fact("since", _since(document, change))
    _statistics(page, scenario, change)


def _grounds(page: TerminalPage, document: ResultsDoc, suite: SuiteDoc, scenario: ScenarioDoc) -> None:
    """Adds stale traces, flakiness, quarantines and approvals of the scenario."""
    stale = [why for trial in scenario["trials"] if (why := trial["trace"].get("stale"))]
    if stale:
        others = f" (and {len(stale) - 1} more)" if len(stale) > 1 else ""
        page.fact("stale", f"{stale[0]}{others}")
    key = suite["suite"], scenario["id"], scenario["variant"]
    for flaky in flaky_in(document):
        if (flaky["suite"], flaky["scenario"], flaky["variant"]) == key:
            page.fact("history", flaky_words(flaky))
    for quarantine in quarantines_of(document, suite["suite"], scenario):
        page.fact("quarantine", quarantine_fact(quarantine))
    for approval in sorted_approvals(document):
        if (approval["suite"], approval["scenario"], approval["variant"]) == key:
            page.fact("approval", approval_fact(approval))


def _reasons(scenario: ScenarioDoc) -> list[str]:
    """Lists the worst failed checks, or the reason of the scenario as a whole."""
    checks = failed_checks(scenario)
    if scenario["verdict"] == "ERROR" or not checks:
        said = first_reason(scenario)
        return [said or "every check passed" if scenario["trials"] else said or "no trace was found for it"]
    told = [
        f"{check.first['name']}{_times(check.failed, check.trials)}: {check.first['reason']}"
        for check in checks[:MOST_REASONS]
    ]
    left = len(checks) - len(told)
    return [*told, f"and {wording.counted(left, 'more check')}"] if left else told


def _times(failed: int, trials: int) -> str:
    return f" ({failed} of {trials} trials)" if trials > 1 else ""


def _score(scenario: ScenarioDoc) -> str:
    change = scenario["change"]
    moved = wording.points(change["score_delta"]) if change else ""
    since = f", {moved} since the baseline" if moved else ""
    return f"{wording.score(scenario['score'])}{since}; it passes from {wording.score(scenario['threshold'])}"


def _share(scenario: ScenarioDoc) -> str:
    passed = passed_in(scenario)
    interval = scenario["pass_rate_interval"]
    between = ""
    if interval:
        low, high = map(wording.percent, interval)
        between = f"; the true rate is between {low} and {high}, with 95% confidence"
    return f"{passed} of {scenario['n']} passed{between}"


def _since(document: ResultsDoc, change: ChangeDoc) -> str:
    baseline = document["baseline"]
    before = _words(change["previous_verdict"]) if change["previous_verdict"] else "not there"
    if baseline is None:
        return f"the baseline, in which it was {before}"
    name = baseline["sha"][:SHORT_SHA] if baseline["sha"] else baseline["path"] or "an unknown commit"
    facts = [_words(baseline["status"])]
    if baseline["age_seconds"] is not None:
        facts.append(wording.age(baseline["age_seconds"]))
    return f"the baseline {name} ({', '.join(facts)}), in which it was {before}"


def _statistics(page: TerminalPage, scenario: ScenarioDoc, change: ChangeDoc) -> None:
    """Explains in words what the p-value of the change means."""
    p, corrected = change["p_value"], change.get("p_corrected")
    if p is not None:
        page.fact(
            "chance",
            f"would do at least this in {wording.percent(p)} of runs if nothing had changed (p {p:.3g})",
        )
    if corrected is not None:
        page.fact("", f"p {corrected:.3g} once corrected for the number of scenarios")
    if "single_trial" in change["flags"]:
        page.fact("chance", "one trial on a side: noise can't be told from change; record several")
    elif p is None and scenario["n"] < _SEVERAL and change["kind"] not in ("unchanged", "new"):
        page.fact("chance", "no test was made")


def _trials(page: TerminalPage, scenario: ScenarioDoc) -> None:
    page.title("Trials" if scenario["trials"] else "No trials")
    room = MOST_CHECKS
    for trial in scenario["trials"][:MOST_TRIALS]:
        _trial(page, trial)
        checks = sorted(trial["assertions"], key=lambda each: each["outcome"] in _NOT_FAILED)
        for check in checks[: max(room, 0)]:
            _check(page, check)
        if len(checks) > max(room, 0):
            page.say(f"and {wording.counted(len(checks) - max(room, 0), 'more check')}", indent=4)
        room -= len(checks)
    left = len(scenario["trials"]) - MOST_TRIALS
    if left > 0:
        page.say(f"and {wording.counted(left, 'more trial')}", indent=2)


def _trial(page: TerminalPage, trial: TrialDoc) -> None:
    page.coloured(
        f"trial {trial['trial']}: {_words(trial['status'])}",
        _STATUS_COLOURS.get(trial["status"], "red"),
        indent=2,
    )
    trace = trial["trace"]
    number = trace["line"] if trace["line"] is not None else trace["record"]
    where = trace["path"] if number is None else f"{trace['path']}:{number}"
    page.say(f"{where} ({trace['format']})" if trace["format"] else where, indent=4)
    page.say(
        f"score {wording.score(trial['score'])}, cost {wording.dollars(trial['cost_usd'])}, latency"
        f" {wording.seconds(trial['latency_seconds'])}, tokens {wording.count(trial.get('total_tokens'))}",
        indent=4,
    )
    if trial["tool_calls"]:
        page.say(f"calls {', '.join(trial['tool_calls'])}", indent=4)
    if trial["reason"]:
        page.say(trial["reason"], indent=4)


def _check(page: TerminalPage, check: AssertionDoc) -> None:
    required = " (required)" if check["required"] else ""
    weight = f", weight {check['weight']:g}" if check["weight"] != 1 else ""
    partial = f", score {wording.score(check['score'])}" if 0 < check["score"] < 1 else ""
    where = f" [{_place(check['location'])}]" if check["location"] else ""
    outcome, reason = check["outcome"], check["reason"]
    said = "" if reason == check["name"] else f": {reason}"
    told = f"{check['name']}{required}{weight}{partial}{said}{where}"
    colour = _STATUS_COLOURS.get(outcome, "red")
    page.labelled(_words(outcome), told, colour, indent=4)
    evidence = check["evidence"]
    if evidence and outcome not in _NOT_FAILED:
        for name in sorted(evidence.keys() - _SAID):
            page.say(
                f"{name}: {json.dumps(evidence[name], ensure_ascii=False)}", indent=8, limit=MOST_EVIDENCE
            )


def _place(location: LocationDoc) -> str:
    return location["file"] if location["line"] is None else f"{location['file']}:{location['line']}"
