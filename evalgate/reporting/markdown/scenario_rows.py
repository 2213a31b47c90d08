"""Builds rows of a report from scenarios of a document, and escapes all untrusted text."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from evalgate.measures.sequences.differences import diff_lists
from evalgate.measures.text.plain_text import mark_unseen
from evalgate.models.comparison.comparison import MORE_TRIALS, NOT_MEASURED
from evalgate.models.run.run import RUN_FAILED
from evalgate.reporting.markdown.view import CheckRow, Example, Failure, Rows, ScenarioRow
from evalgate.reporting.text import wording
from evalgate.reporting.text.behaviour_lines import describe_baseline_side, describe_example, find_example
from evalgate.reporting.text.commands import find_place
from evalgate.reporting.text.escaping import (
    SPAN_LIMIT,
    escape_cell,
    escape_diff,
    escape_fence,
    escape_id,
    escape_pipes,
    escape_span,
)
from evalgate.reporting.text.grouping import (
    AS_IN_OTHERS,
    FailureGroup,
    MissingEvidence,
    count_changes,
    describe_causes,
    describe_failures,
)
from evalgate.reporting.text.scenario_sections import (
    FAILS_MORE,
    FAILS_NOW,
    MAY_BE_FIXED,
    NOT_COMPARED,
    NOT_JUDGED,
    NOT_RECORDED,
    SuiteScenario,
    count_passed,
    count_trials,
    describe_change,
    describe_checks,
    describe_pass_rule,
    describe_unmet_rule,
    fails_by_differences,
    find_failed_trial,
    find_request,
)
from evalgate.reporting.text.sentences import escape_sentence, escape_sentence_cell
from evalgate.reporting.text.trajectory_lines import (
    DiffLine,
    describe_reading,
    extract_side,
    merge_equal_lines,
    summarize_calls,
)
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalgate.models.comparison.comparison import CallsDiff
    from evalgate.models.comparison.trajectory import TrajectoryDiff
    from evalgate.models.results.results import ChangeDoc, RemovedDoc, ScenarioDoc
    from evalgate.reporting.markdown.links import Links
    from evalgate.reporting.text.scenario_sections import FailedCheck

MAX_CHECKS = 3
FEW = 4
"""Most scenarios that one row names in full."""
_REDUNDANT_EVIDENCE = frozenset(
    {"members", "verdict", "expected_calls", "judged_by", "alignment", "expression"}
)  # what the reason repeats, and what is in the suite
MAX_NAME, MAX_REASON, MAX_EVIDENCE, MAX_PLACE = 120, 300, 1_500, 80
MAX_REQUEST, MAX_JSON_NAME, MAX_EXAMPLE = 160, 60, 800

_PASSED_NOW, _TRIALS_FAILED = re.compile(r"\d+ of \d+ now"), re.compile(r"\d+ of \d+ trials failed")

VERDICT_WORDS = {
    "PASS": "\u2705\u00a0PASS",
    "PARTIAL": "\U0001f7e1\u00a0PARTIAL",
    "FAIL": "\u274c\u00a0FAIL",
    "HARD_FAIL": "\u26d4\u00a0HARD\u00a0FAIL",
    "ERROR": "\u26d4\u00a0ERROR",
    "MISSING": "\u26d4\u00a0MISSING",
    "NOT_EVALUABLE": "\u2753\u00a0NOT EVALUABLE",
}
_LOST_VERDICTS = frozenset({"FAIL", "PARTIAL", "HARD_FAIL"})
"""Verdicts that do not say by themselves that evidence is missing."""
_CHANGE_WORDS = {
    "broken": "broke",
    "regressed": "regressed",
    "improved": "improved",
    "fixed": "fixed",
    "new": "new",
    "removed": "removed",
    "not measured": "not measured",
    "unchanged": "",
    **{
        words: words
        for words in ("may be chance", FAILS_NOW, FAILS_MORE, MAY_BE_FIXED, NOT_RECORDED, NOT_JUDGED, NOT_COMPARED)
    },
}
_EXCUSED, _EXCUSES = "\U0001f7e1", frozenset({"approved", "quarantined"})
_FLAG_WORDS = {
    "single_trial": "single trial",
}


def format_verdict(verdict: str) -> str:
    """Formats a verdict with its sign; an unknown one is escaped as code."""
    return VERDICT_WORDS.get(verdict) or escape_cell(verdict, MAX_NAME)


class Examples(NamedTuple):
    """The new scenarios of which a trial is shown, by their identity, and how many others there are."""

    shown: Collection[int]
    left: int


def choose_examples(items: Sequence[SuiteScenario | RemovedDoc], most: int) -> Examples:
    """The first new scenarios of which a trial is known."""
    new = [each.scenario for each in items if isinstance(each, SuiteScenario) and each.shown_kind == "new"]
    shown = {id(each) for each in islice(filter(find_example, new), most)}
    return Examples(shown, len(new) - len(shown))


def build_changed_row(
    item: SuiteScenario | RemovedDoc, *, many: bool, shared: Collection[str], examples: Examples, is_short: bool
) -> ScenarioRow:
    """Builds the row of a scenario that changed without failing; of a new one with its checks, if the list is short."""
    row = build_scenario_row(item, many=many, shared=shared)
    if not isinstance(item, SuiteScenario) or item.shown_kind != "new":
        return row
    if id(item.scenario) in examples.shown:
        return replace(row, example=_build_example(item.scenario))
    checks = escape_sentence_cell(describe_checks(item.scenario), MAX_REASON) if is_short else ""
    return replace(row, note=row.note or checks)


def _build_example(scenario: ScenarioDoc) -> Example:
    example, checks = find_example(scenario), describe_checks(scenario)
    trials = (each for each in scenario["trials"] if example is not None and each.trial == example.trial)
    place = next((escape_id(find_place(each), MAX_PLACE) for each in trials), "")
    texts = *describe_example(scenario), f"{checks[:1].upper()}{checks[1:]}"
    return Example(place, *(escape_sentence(each, MAX_EXAMPLE) for each in texts))


def build_scenario_row(
    item: FailureGroup | SuiteScenario | RemovedDoc, *, many: bool, shared: Collection[str] = ()
) -> ScenarioRow:
    """Builds the row of a scenario, current or removed, or of several; `many` suites add the suite's name."""
    if isinstance(item, FailureGroup):
        return _build_group_row(item, many=many, shared=shared)
    if not isinstance(item, SuiteScenario):
        return _build_removed_row(item, many=many)
    scenario, change = item.scenario, item.scenario["change"]
    name = format_name(item.suite["suite"], scenario, many=many)
    return ScenarioRow(
        name=escape_pipes(name),
        verdict=_mark_excused(f"{format_verdict(scenario['verdict'])}{_format_passed_share(scenario)}", item),
        change=_format_change(item),
        score=_format_score(scenario),
        score_delta=wording.points(change["score_delta"], scenario["score"]) if change else "",
        note=_format_note(item, shared),
        names=Rows((name,), 1),
    )


def _format_score(scenario: ScenarioDoc) -> str:
    """The score, and the threshold that it misses."""
    score = wording.score(scenario["score"])
    return f"{score}, {wording.score(scenario['threshold'])} needed" if _is_below(scenario) else score


def _build_group_row(group: FailureGroup, *, many: bool, shared: Collection[str]) -> ScenarioRow:
    first = build_scenario_row(group.members[0], many=many, shared=shared)
    if len(group.members) == 1:
        return first
    scores = {member.scenario["score"] for member in group.members}
    names = _list_names(group, many=many)
    return replace(
        first,
        name=escape_pipes(_join_names(names)),
        verdict=_format_verdicts(group),
        change=count_changes(group, _format_change) or first.change,
        score=first.score if len(scores) == 1 else "",
        score_delta="",
        note=escape_sentence_cell("; ".join(describe_causes(group)), MAX_REASON),
        names=names,
    )


def build_failure(group: FailureGroup, *, many: bool, links: Links, shared: Collection[str] = ()) -> Failure:
    """Builds the details of scenarios that fail alike: worst checks, each with the reason of its first failure."""
    first = group.members[0]
    scenario, members = first.scenario, len(group.members)
    ended, checks = _split_ending(group.causes)
    names = _list_names(group, many=many)
    reason = group.reason if scenario["verdict"] != "PASS" else ""
    if reason and group.reasons_differ:
        reason = f"for example: {reason}"
    return Failure(
        name=_join_names(names),
        verdict=_format_verdicts(group),
        facts=tuple(_list_facts(first, links, shared) if members == 1 else _list_group_facts(group, links, shared)),
        reason="; ".join(escape_sentence(each, MAX_REASON) for each in (*ended, reason) if each),
        checks=tuple(_build_check_row(check, group) for check in checks[:MAX_CHECKS]),
        checks_left=max(0, len(checks) - MAX_CHECKS),
        behaviour="" if group.is_lost else _format_behaviour(scenario, has_ending=not ended),
        evidence=_format_evidence(group.checks[:MAX_CHECKS]),
        names=names,
        others=(),
        request=format_request(find_request(scenario)),
    )


def _split_ending(causes: Sequence[FailedCheck | MissingEvidence]) -> tuple[Sequence[str], Sequence[Any]]:
    """How the run ended, which no check of the suite says, and the checks."""
    if causes and not isinstance(causes[0], MissingEvidence) and causes[0].first.type == RUN_FAILED:
        return causes[0].reasons, causes[1:]
    return (), causes


def format_request(text: str) -> str:
    """What the user asked for, as code and cut; empty if it is unknown."""
    return escape_span(text, MAX_REQUEST) if text else ""


def _format_check_name(name: str) -> str:
    """The name of a check; JSON in it is cut early."""
    return escape_span(name, MAX_JSON_NAME if "{" in name or "[" in name else MAX_NAME)


def _list_names(group: FailureGroup, *, many: bool) -> Rows[str]:
    """Formats the names of a few scenarios, or the first of many, to which the others are added if they fit."""
    shown = group.members if len(group.members) <= FEW else group.members[:1]
    names = [format_name(member.suite["suite"], member.scenario, many=many) for member in shown]
    return Rows(tuple(names), len(group.members))


def _join_names(names: Rows[str]) -> str:
    return f"{', '.join(names.shown)}{f' and {names.left:,} more' if names.left else ''}"


def _format_verdicts(group: FailureGroup) -> str:
    verdicts = dict.fromkeys(_format_verdict(each, is_lost=group.is_lost) for each in group.members)
    return ", ".join(list(verdicts)[:MAX_CHECKS])


def _format_verdict(item: SuiteScenario, *, is_lost: bool) -> str:
    """The verdict; of a scenario that fails by no check, what fails the gate if that is known."""
    if fails_by_differences(item.scenario):
        return "\u274c ACTS DIFFERENTLY"
    verdict = format_verdict(item.scenario["verdict"])
    if is_lost and item.scenario["verdict"] in _LOST_VERDICTS:
        verdict = f"{verdict[0]} can't be judged"
    return _mark_excused(verdict, item)


def _mark_excused(verdict: str, item: SuiteScenario) -> str:
    """The verdict, in yellow if the failure is excused; the section of scenarios in quarantine says why they are."""
    is_approved = "approved" in item.flags
    if item.scenario["verdict"] == "PASS" or not (is_approved or item.scenario.get("quarantined")):
        return verdict
    return f"{_EXCUSED}{verdict[1:]}{' (approved)' if is_approved else ''}"


def _build_removed_row(removed: RemovedDoc, *, many: bool) -> ScenarioRow:
    note = f"was {removed['verdict'].replace('_', ' ')} in the baseline"
    return ScenarioRow(
        name=format_name_cell(removed["suite"], removed, many=many),
        verdict=wording.DASH,
        change="removed",
        score=wording.DASH,
        score_delta="",
        note=escape_sentence_cell(note, MAX_REASON),
        names=Rows((), 1),
    )


def format_name(suite: str, scenario: ScenarioDoc | RemovedDoc, *, many: bool) -> str:
    """Formats a scenario's name; `many` suites add the suite's name."""
    variant = f" {escape_id(scenario['variant'], MAX_NAME)}" if scenario["variant"] else ""
    name = f"{escape_id(mark_unseen(scenario['id']), MAX_NAME)}{variant}"
    return f"{escape_id(suite, MAX_NAME)} / {name}" if many else name


def format_name_cell(suite: str, scenario: ScenarioDoc | RemovedDoc, *, many: bool) -> str:
    """Formats a scenario's name for a table cell."""
    return escape_pipes(format_name(suite, scenario, many=many))


def _format_change(item: SuiteScenario) -> str:
    """What changed; that it is excused, its verdict says, or the section of scenarios in quarantine."""
    change = item.scenario["change"]
    if change is None:
        return ""
    kind = item.shown_kind
    words = _CHANGE_WORDS[kind] if kind in _CHANGE_WORDS else escape_cell(kind, MAX_NAME)
    flags = [_FLAG_WORDS.get(flag) or escape_cell(flag, MAX_NAME) for flag in item.flags if flag not in _EXCUSES]
    return f"{words} ({', '.join(flags)})" if flags and words else words or ", ".join(flags)


def _format_passed_share(scenario: ScenarioDoc) -> str:
    """Formats how many of several trials passed, as ` 3/4 trials`, or failed, as `, 1 of 4 trials`; empty for one."""
    if scenario["verdict"] == "PASS":
        trials = count_trials(scenario, "\u00a0trials")
        return f"\u00a0{trials}" if trials else ""
    failed, rule = scenario["n"] - count_passed(scenario), describe_pass_rule(scenario)
    if scenario["n"] <= 1 or not scenario["trials"]:
        return ""
    share = f" in\u00a0{failed} of\u00a0{scenario['n']}\u00a0trials"
    return f"{share}, {rule}" if rule else share


def _format_note(item: SuiteScenario, shared: Collection[str]) -> str:
    """Formats the worst cause of a failure, or all that failed in a scenario that passes, and what changed."""
    scenario, change = item.scenario, item.scenario["change"]
    passes = scenario["verdict"] == "PASS"
    parts = describe_failures(item)
    parts = [each for each in parts if not _TRIALS_FAILED.fullmatch(each)] if passes else parts[:1]
    if cause := _describe_cause(change, shared):
        parts.insert(0 if passes else 1, cause)
    if change and item.shown_kind not in ("unchanged", "new"):
        why = describe_change(scenario)
        why = why.partition(f": {MORE_TRIALS}")[0] if passes else why  # which the next step says
        is_in_column = "score " in why and change["score_delta"] is not None
        reasons = [*([] if is_in_column else [why]), *change["increases"]]
        parts += [each for each in reasons if each not in "; ".join(parts)]
    return escape_sentence_cell("; ".join(parts), MAX_REASON)


def _list_facts(item: SuiteScenario, links: Links, shared: Collection[str]) -> list[str]:
    """Lists how many trials passed, what changed and why, and where it is written; each of it once."""
    scenario, change = item.scenario, item.scenario["change"]
    why = describe_change(scenario) if change and change["kind"] != "unchanged" else ""
    unmet = describe_unmet_rule(scenario)
    rule = f", {each}" if not unmet and (each := describe_pass_rule(scenario)) else ""
    facts = [unmet or f"{count_passed(scenario)} of {pluralize(scenario['n'], 'trial')} passed{rule}"]
    is_counted = _PASSED_NOW.search(why) is not None
    facts = facts if scenario["n"] > 1 and (unmet or not is_counted) else []
    unmeasured = scenario.get("not_measured", 0)
    facts += [f"{pluralize(unmeasured, 'trial')} not measured"] if unmeasured else []
    if change and why and item.shown_kind != NOT_RECORDED:  # which its reason says
        is_in_word = why == NOT_MEASURED or item.shown_kind == "new"
        reason = "" if is_in_word else f": {escape_sentence(why, MAX_REASON)}{rule if is_counted else ''}"
        is_in_verdict = _format_change(item) == NOT_JUDGED and reason
        facts.append(
            reason.removeprefix(": ").partition(", ")[0] if is_in_verdict else f"{_format_change(item)}{reason}"
        )
    if not unmet and item.shown_kind != NOT_JUDGED:
        facts += _describe_score(scenario)
    if change and change["increases"]:
        facts.append(escape_sentence(", ".join(change["increases"]), MAX_REASON))
    if cause := _describe_cause(change, shared):
        facts.append(escape_sentence(cause, MAX_REASON))
    if where := links.place(scenario["location"]):
        facts.append(where)
    return [*facts, *_name_trace(scenario, "trace")]


def _describe_score(scenario: ScenarioDoc) -> list[str]:
    """The score of a scenario that fails by it alone, with the threshold that it misses."""
    if not _is_below(scenario):
        return []
    return [f"score {wording.score(scenario['score'])}, threshold {wording.score(scenario['threshold'])}"]


def _is_below(scenario: ScenarioDoc) -> bool:
    """Whether it fails by its score alone: no required check does."""
    score = scenario["score"]
    return scenario["verdict"] == "FAIL" and score is not None and score < scenario["threshold"]


def _name_trace(scenario: ScenarioDoc, lead: str) -> list[str]:
    """Where the first failed trial's trace is, and what ended it; of one that can't be read its reason says so."""
    trial = find_failed_trial(scenario)
    if trial is None or trial.status == "error":
        return []
    stopped_by = trial.trace.stopped_by
    ended = [f"run ended by {escape_sentence(stopped_by, MAX_NAME)}"] if stopped_by else []
    return [f"{lead}\u00a0{escape_id(find_place(trial), MAX_PLACE)}", *ended]


def _describe_cause(change: ChangeDoc | None, shared: Collection[str]) -> str:
    """Returns what caused a change; empty if the report states once that all regressions come with it."""
    cause = change.get("cause") if change else None
    if change is None or cause is None:
        return ""
    is_shared = cause.kind == "model_or_tools" and set(change.get("comes_with", ())) <= set(shared)
    return "" if is_shared else cause.message


def _list_group_facts(group: FailureGroup, links: Links, shared: Collection[str]) -> list[str]:
    """Lists how the scenarios changed, what caused that, and where they are written if it is one place."""
    scenarios = [member.scenario for member in group.members]
    changes = count_changes(group, _format_change)
    causes = Counter(cause for each in scenarios if (cause := _describe_cause(each["change"], shared)))
    facts = [changes] if changes else []
    for message, count in list(causes.items())[:MAX_CHECKS]:
        where = "" if count == len(scenarios) else f"in {count:,}: "
        facts.append(f"{where}{escape_sentence(message, MAX_REASON)}")
    places = dict.fromkeys(links.place(each["location"]) for each in scenarios)
    facts += places if len(places) == 1 and any(places) else []
    return [*facts, *_name_trace(scenarios[0], "first trace")]


def _build_check_row(cause: FailedCheck | MissingEvidence, group: FailureGroup) -> CheckRow:
    """Builds the row of a check that failed, or of all checks that lack the same evidence."""
    missing = cause if isinstance(cause, MissingEvidence) else None
    check = cause.checks[0] if isinstance(cause, MissingEvidence) else cause
    names = missing.names if missing else [check.name]
    reasons = [AS_IN_OTHERS.lstrip(", ")] if missing and missing.is_stated else check.reasons
    example = "for example: " if group.reasons_differ else ""
    more = f" and {len(names) - MAX_CHECKS:,} more" if len(names) > MAX_CHECKS else ""
    is_shared = missing is not None and missing.scenarios > len(group.members) and not missing.is_stated
    return CheckRow(
        name=f"{', '.join(map(_format_check_name, names[:MAX_CHECKS]))}{more}",
        is_required=cause.is_required,
        is_new=all(check.first.name in _list_added(member.scenario) for member in group.members),
        failed=check.failed,
        trials=check.trials if len(group.members) == 1 else 1,
        reason=f"{example}{f'{missing.outcome}: ' if missing else ''}{'; '.join(map(_escape_reason, reasons))}",
        scenarios=missing.scenarios if missing and is_shared else 0,
    )


def _list_added(scenario: ScenarioDoc) -> Sequence[str]:
    """The checks that the baseline's suite lacks."""
    return scenario["change"].get("added_checks", ()) if scenario["change"] else ()


def _escape_reason(reason: str) -> str:
    return escape_sentence(reason, MAX_REASON)


def _format_evidence(checks: list[FailedCheck]) -> str:
    """Formats the evidence of checks, except what their reasons repeat already."""
    recorded = {
        check.first.name: check.first.evidence
        for check in checks
        if check.first.evidence and _REDUNDANT_EVIDENCE.isdisjoint(check.first.evidence)
    }
    if not recorded:
        return ""
    import json

    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in recorded.items()]
    return escape_fence("\n".join(lines), MAX_EVIDENCE)


MAX_CALLS = 1_000
MAX_LINES = 14
CONTEXT_CALLS = 1
"""Unchanged calls shown on either side of a change."""
CONTEXT = 40
"""Characters of a final answer shown on either side of a change."""
MAX_ANSWER = 300
GAP = DiffLine("", "")
_SIGNS = {"kept": "", "gone": "-", "come": "+"}


def _format_behaviour(scenario: ScenarioDoc, *, has_ending: bool) -> str:
    """How the trajectory differs from the baseline's, and what that has wrong."""
    diff = format_trajectory_diff(scenario["change"], has_ending=has_ending)
    return "\n\n".join(filter(None, [diff, escape_sentence(describe_baseline_side(scenario), MAX_REASON)]))


def format_trajectory_diff(change: ChangeDoc | None, *, has_ending: bool = True) -> str:
    """Formats how the agent's trajectory differs from the baseline, as escaped Markdown; may be empty."""
    found = change.get("behaviour") if change else None
    if found is not None:
        ending = _format_ending(found) if has_ending else ""
        return "\n\n".join(filter(None, (_format_calls_and_answer(found), ending)))
    calls = change.get("calls") if change else None
    return _format_names(calls) if calls else ""


def _format_calls_and_answer(found: TrajectoryDiff) -> str:
    """Formats the calls with the changes of their arguments, and the final answer, as one block."""
    steps, answer = found.steps, _list_answer_lines(found)
    groups = summarize_calls(steps)
    if any(line.sign for group in groups for line in group):
        lines = _abridge_groups(groups)
        return _format_block("Tool calls and final answer", [*lines, GAP, *answer]) if answer else _format_calls(lines)
    same = _name_same_calls([step.name for step in steps], len(steps) + found.steps_left)
    if answer:
        notes = "; ".join(filter(None, [same and f"after the same {same}", describe_reading(found)]))
        return _format_block("Final answer", answer, f" ({notes})" if notes else "")
    return f"The same {same} as in the baseline, with the same arguments." if same else ""


def _name_same_calls(names: Sequence[str], count: int) -> str:
    """A single call by its name, else how many there are; empty if there is none."""
    return (
        f"call of {escape_id(names[0], MAX_NAME)}" if names and count == 1 else f"{count:,} tool calls" if count else ""
    )


def _format_names(calls: CallsDiff) -> str:
    """Formats the calls by name only, if the traces are not available."""
    baseline, current = calls.baseline[:MAX_CALLS], calls.current[:MAX_CALLS]
    if not baseline + current:
        return ""
    if baseline == current:
        return f"The same {_name_same_calls(current, len(current))} as in the baseline."
    runs = groupby(diff_lists(baseline, current), key=lambda step: step.kind)
    return _format_calls(
        _abridge_groups([merge_equal_lines(_SIGNS[kind], [step.name for step in run]) for kind, run in runs])
    )


def _format_calls(lines: Sequence[DiffLine]) -> str:
    return _format_block("Tool calls", lines, limit=SPAN_LIMIT)


def _format_block(title: str, lines: Sequence[DiffLine], note: str = "", limit: int = MAX_ANSWER) -> str:
    return f"{title}, in the baseline (\u2212) and now (+){note}:\n\n{escape_diff(lines, limit)}"


def _abridge_groups(groups: Sequence[Sequence[DiffLine]]) -> list[DiffLine]:
    """Joins the groups of lines; long runs of unchanged calls, and lines beyond the limit, are counted."""
    lines: list[DiffLine] = []
    for index, group in enumerate(groups):
        is_kept = not any(line.sign for line in group)
        lines += _abridge(group, is_first=index == 0, is_last=index + 1 == len(groups)) if is_kept else group
    hidden = len(lines) - MAX_LINES
    return lines if hidden <= 1 else [*lines[:MAX_LINES], DiffLine("", f"\u2026 and {pluralize(hidden, 'more line')}")]


def _abridge(lines: Sequence[DiffLine], *, is_first: bool, is_last: bool) -> Sequence[DiffLine]:
    head, tail = 0 if is_first else CONTEXT_CALLS, 0 if is_last else CONTEXT_CALLS
    hidden = len(lines) - head - tail
    if hidden <= 1:
        return lines
    return [*lines[:head], DiffLine("", f"\u2026 {hidden} unchanged"), *lines[len(lines) - tail :]]


def _list_answer_lines(found: TrajectoryDiff) -> list[DiffLine]:
    parts = found.response
    sides = [DiffLine("-", extract_side(parts, "come", CONTEXT)), DiffLine("+", extract_side(parts, "gone", CONTEXT))]
    return [line for line in sides if line.text.strip()]


def _format_ending(found: TrajectoryDiff) -> str:
    """Formats how the traces ended, if that differs."""
    error = found.error
    if error and error.current:
        return f"The trace ends in an error: {escape_span(error.current)}"
    status = found.status
    if not status:
        return ""
    baseline, current = escape_span(status.baseline or ""), escape_span(status.current or "")
    return f"The trace ends differently: {baseline} before, {current} now."
