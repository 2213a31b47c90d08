"""Builds rows of a report from scenarios of a document, and escapes all untrusted text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.reporting.markdown.trajectory_block import behaviour
from evalgate.reporting.markdown.view import CheckRow, Failure, ScenarioRow
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import cell, fence, span
from evalgate.reporting.text.scenario_sections import Placed, failed_checks, first_reason
from evalgate.reporting.text.trial_reasons import passed_in

if TYPE_CHECKING:
    from evalgate.models.results.results import ChangeDoc, RemovedDoc, ScenarioDoc
    from evalgate.reporting.text.scenario_sections import FailedCheck

MAX_CHECKS = 3
_SAID = frozenset({"verdict", "expected_calls", "judged_by"})  # evidence whose values the reason repeats
NAME, REASON, NOTE, EVIDENCE = 120, 300, 160, 1_500

VERDICT_WORDS = {
    "PASS": "\u2705\u00a0PASS",
    "PARTIAL": "\U0001f7e1\u00a0PARTIAL",
    "FAIL": "\u274c\u00a0FAIL",
    "HARD_FAIL": "\u26d4\u00a0HARD\u00a0FAIL",
    "ERROR": "\u26d4\u00a0ERROR",
    "MISSING": "\u26d4\u00a0MISSING",
    "NOT_EVALUABLE": "\u2753\u00a0NOT EVALUABLE",
}
_CHANGE_WORDS = {
    "broken": "broke",
    "regressed": "regressed",
    "improved": "improved",
    "fixed": "fixed",
    "new": "new",
    "removed": "removed",
    "inconclusive": "inconclusive",
    "unchanged": "as before",
}
_FLAG_WORDS = {
    "single_trial": "single trial",
    "flaky": "flaky",
    "approved": "approved",
    "quarantined": "quarantined",
}


def verdict_words(verdict: str) -> str:
    """Formats a verdict with its sign; an unknown one is escaped as code."""
    return VERDICT_WORDS.get(verdict) or cell(verdict, NAME)


def scenario_row(item: Placed | RemovedDoc, *, many: bool) -> ScenarioRow:
    """Builds the row of a scenario, current or removed; `many` suites add the suite's name."""
    if not isinstance(item, Placed):
        return _removed_row(item, many=many)
    scenario, change = item.scenario, item.scenario["change"]
    return ScenarioRow(
        name=scenario_name(item.suite["suite"], scenario, many=many),
        verdict=f"{verdict_words(scenario['verdict'])}{_share_passed(scenario)}",
        change=_change_words(change),
        score=wording.score(scenario["score"]),
        score_delta=wording.points(change["score_delta"]) if change else "",
        note=_note(item),
    )


def failure(item: Placed, *, many: bool) -> Failure:
    """Builds the details of a scenario: its worst checks, each with the reason of its first failure."""
    scenario = item.scenario
    checks = failed_checks(scenario)
    shown = checks[:MAX_CHECKS]
    reason = "" if checks and scenario["verdict"] != "ERROR" else first_reason(scenario)
    return Failure(
        name=scenario_name(item.suite["suite"], scenario, many=many),
        verdict=verdict_words(scenario["verdict"]),
        facts=tuple(_facts(scenario)),
        reason=span(reason, REASON) if reason else "",
        checks=tuple(map(_check_row, shown)),
        checks_left=len(checks) - len(shown),
        behaviour=behaviour(scenario["change"]),
        evidence=_evidence(shown),
    )


def place(location: Any) -> str:
    """Formats a location as `file:line`; None gives an empty text."""
    if not location:
        return ""
    line = location["line"]
    return span(location["file"] if line is None else f"{location['file']}:{line}", NAME)


def _removed_row(removed: RemovedDoc, *, many: bool) -> ScenarioRow:
    before = f"was {removed['verdict'].replace('_', ' ')} in the baseline"
    return ScenarioRow(
        name=scenario_name(removed["suite"], removed, many=many),
        verdict=wording.DASH,
        change="removed",
        score=wording.DASH,
        score_delta="",
        note=cell(before, NOTE),
    )


def scenario_name(suite: str, scenario: ScenarioDoc | RemovedDoc, *, many: bool) -> str:
    """Formats a scenario's name for a table cell; `many` suites add the suite's name."""
    variant = f" {cell(scenario['variant'], NAME)}" if scenario["variant"] else ""
    name = f"{cell(scenario['id'], NAME)}{variant}"
    return f"{cell(suite, NAME)} {name}" if many else name


def _change_words(change: ChangeDoc | None) -> str:
    if change is None:
        return ""
    words = _CHANGE_WORDS.get(change["kind"]) or cell(change["kind"], NAME)
    flags = [_FLAG_WORDS.get(flag) or cell(flag, NAME) for flag in change["flags"]]
    return f"{words} ({', '.join(flags)})" if flags else words


def _share_passed(scenario: ScenarioDoc) -> str:
    """Formats how many of several trials passed, as ` 3/4` after the verdict; empty for one trial."""
    passed = passed_in(scenario)
    return f"\u00a0{passed}/{scenario['n']}" if scenario["n"] > 1 else ""


def _note(item: Placed) -> str:
    scenario, change = item.scenario, item.scenario["change"]
    parts = [change["reason"], *change["increases"]] if change and item.kind != "unchanged" else []
    if scenario["verdict"] != "PASS" or item.kind == "regressed":
        parts.insert(0, first_reason(scenario))
    cause = change.get("cause") if change else None
    if cause:
        parts.insert(0 if scenario["verdict"] == "PASS" else 1, cause["message"])
    text = "; ".join(part for part in parts if part)
    return cell(text, NOTE) if text else ""


def _facts(scenario: ScenarioDoc) -> list[str]:
    passed = passed_in(scenario)
    facts = [f"{passed} of {wording.counted(scenario['n'], 'trial')} passed"] if scenario["n"] > 1 else []
    change = scenario["change"]
    if change and change["kind"] != "unchanged":
        facts.append(f"{_change_words(change)}: {span(change['reason'], REASON)}")
    if change and change["increases"]:
        facts.append(span(", ".join(change["increases"]), REASON))
    cause = change.get("cause") if change else None
    if cause:
        facts.append(span(cause["message"], REASON))
    if where := place(scenario["location"]):
        facts.append(where)
    return facts


def _check_row(check: FailedCheck) -> CheckRow:
    first = check.first
    words = {"error": "error: ", "not_evaluable": "not evaluable: "}.get(first["outcome"], "")
    return CheckRow(
        name=span(first["name"], NAME),
        is_required=first["required"],
        failed=check.failed,
        trials=check.trials,
        reason=span(f"{words}{first['reason']}", REASON),
    )


def _evidence(checks: list[FailedCheck]) -> str:
    """Formats the evidence of checks, except what their reasons repeat already."""
    recorded = {
        check.first["name"]: check.first["evidence"]
        for check in checks
        if check.first["evidence"] and _SAID.isdisjoint(check.first["evidence"])
    }
    if not recorded:
        return ""
    import json

    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in recorded.items()]
    return fence("\n".join(lines), EVIDENCE)
