"""What people ruled, as text: approvals, quarantines, weakened requirements, and how steady scenarios were.

`render_*` gives escaped Markdown, `format_*` plain text, `summarize_*` the same for places that name the scenario.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from evalgate.measures.text.globs import matches_id
from evalgate.measures.values.json_values import mark_name
from evalgate.reporting.text.escaping import escape_span
from evalgate.reporting.text.sentences import escape_like_names, escape_sentence, unmark_parts
from evalgate.reporting.text.wording import location, scope
from evalgate.scoring.wording import WEAKENING_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.models.comparison.weakening import WeakeningKind
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.results.results_sections import ApprovalDoc, FlakyDoc, QuarantineDoc, WeakeningDoc
    from evalgate.models.run.trial_doc import LocationDoc

APPROVAL_STATUSES = {
    "active": "approved",
    "proposed": "proposed",
    "void": "does not count",
    "expired": "expired",
    "unused": "unused",
}
"""The words for statuses, in the order in which they are shown: those that affect the decision come first."""
QUARANTINE_STATUSES = {"expired": "expired", "void": "does not count", "active": "quarantined", "unused": "unused"}
MAX_NAME, MAX_REASON, MAX_FLAKY = 120, 300, 200
SHORT_SHA = 7
DAY_LENGTH = 10
"""Number of characters in the date part of a timestamp."""
SELF_APPROVED = "self-approved"
ScenarioDocKey = tuple[str, str, str | None]


def _rank(ruling: Mapping[str, Any], statuses: Mapping[str, str]) -> int:
    return [*statuses, ruling["status"]].index(ruling["status"])


def sort_approvals(document: ResultsDoc) -> list[ApprovalDoc]:
    """Sorts by status, active ones first; within a status the order of the document stays."""
    return sorted(document["approvals"], key=lambda each: _rank(each, APPROVAL_STATUSES))


def list_notable_approvals(document: ResultsDoc) -> list[ApprovalDoc]:
    """The approvals but for those of suites without traces, and those whose scenario passes as in the baseline."""
    passing = {
        (suite["suite"], each["id"], each["variant"])
        for suite in document["suites"]
        for each in suite["scenarios"]
        if each["verdict"] == "PASS" and (each["change"] is None or each["change"]["previous_verdict"] == "PASS")
    }
    unrecorded = {reason.get("suite") for reason in document["reasons"] if reason["code"] == "no_traces"}
    return [
        each
        for each in sort_approvals(document)
        if each["suite"] not in unrecorded
        and (each["status"] != "unused" or (each["suite"], each["scenario"], each["variant"]) not in passing)
    ]


def find_approved_keys(document: ResultsDoc) -> set[ScenarioDocKey]:
    """Returns suite, scenario and variant of every active approval."""
    active = (each for each in document["approvals"] if each["status"] == "active")
    return {(each["suite"], each["scenario"], each["variant"]) for each in active}


def render_approval(approval: ApprovalDoc) -> str:
    """Formats one approval."""
    reason, *details = _list_details(approval)
    parts = [f"{_word(approval, APPROVAL_STATUSES)}: {escape_span(_approval_scope(approval), MAX_NAME)}"]
    parts += [f"by {escape_span(reason, MAX_NAME + MAX_REASON)}"]
    parts += [f"**{each}**" if each == SELF_APPROVED else escape_span(each, MAX_NAME) for each in details]
    return f"{', '.join(parts)}; {escape_sentence(approval['message'], MAX_REASON)}"


def format_approval(approval: ApprovalDoc) -> str:
    """Formats one approval."""
    word, scope = _word(approval, APPROVAL_STATUSES), _approval_scope(approval)
    return ", ".join([f"approval {word}: {scope}: {approval['message']}", f"by {', '.join(_list_details(approval))}"])


def summarize_approval(approval: ApprovalDoc) -> str:
    """Formats one approval without its scenario."""
    assertion = [f"of {approval['assertion']}"] if approval["assertion"] else []
    parts = [_word(approval, APPROVAL_STATUSES), *assertion, approval["message"]]
    return ", ".join([*parts, f"by {', '.join(_list_details(approval))}"])


def _word(ruling: Mapping[str, Any], statuses: Mapping[str, str]) -> str:
    return statuses.get(ruling["status"], "unknown")


def _approval_scope(approval: ApprovalDoc) -> str:
    named = scope(approval["suite"], approval["scenario"], approval["variant"], approval["assertion"])
    bounds = [approval["change"]] if approval["change"] else []
    return f"{named} ({', '.join([*bounds, format_limit(approval)])})"


def format_limit(approval: ApprovalDoc) -> str:
    """How bad the scenario may be that a person approved."""
    return f"score at least {approval['limit']['score']:g}" if approval["limit"] else "at any score, also 0"


def _list_details(approval: ApprovalDoc) -> list[str]:
    """Lists person and reason, then source, commit and permission unless it is from the approvals file."""
    details, provenance = [f"{approval['who']}: {approval['reason']}"], approval.get("provenance")
    if provenance is None:
        return details
    comment, commit = provenance["comment_id"], provenance["head_commit"]
    origin = [f"comment {comment}" if comment is not None else provenance["source"]]
    origin += [f"repository {provenance['repository']}"] if provenance.get("repository") else []
    origin += [f"for {commit[:SHORT_SHA]} only"] if commit else []
    origin += [f"permission: {provenance['permission']}"] if provenance["permission"] else []
    return [*details, *filter(None, [", ".join(origin)]), *([SELF_APPROVED] if provenance["self_approved"] else [])]


def sort_quarantines(document: ResultsDoc) -> list[QuarantineDoc]:
    """Sorts by status, expired ones first since they need attention, then by days left."""
    found = document.get("quarantines") or ()
    return sorted(found, key=lambda each: (_rank(each, QUARANTINE_STATUSES), each["days_left"]))


def find_quarantines(document: ResultsDoc, suite: str, scenario: ScenarioDoc) -> Sequence[QuarantineDoc]:
    """Finds the quarantines that cover a scenario."""
    return [
        each
        for each in sort_quarantines(document)
        if each["suite"] == suite
        and each["variant"] in (None, scenario["variant"])
        and matches_id(each["scenario"], scenario["id"])
    ]


def find_quarantined_keys(document: ResultsDoc) -> set[ScenarioDocKey]:
    """Returns the keys of all scenarios in quarantine."""
    return {
        (suite["suite"], each["id"], each["variant"])
        for suite in document["suites"]
        for each in suite["scenarios"]
        if each.get("quarantined")
    }


def render_quarantine(quarantine: QuarantineDoc) -> str:
    """Formats one quarantine."""
    word, scope = _word(quarantine, QUARANTINE_STATUSES), escape_span(_quarantine_scope(quarantine), MAX_NAME)
    message, reason = escape_sentence(quarantine["message"], MAX_REASON), _quarantine_reason(quarantine)
    return f"{word}: {scope}, {message}, {escape_span(reason, MAX_NAME + MAX_REASON)}"


def format_quarantine(quarantine: QuarantineDoc) -> str:
    """Formats one quarantine."""
    head = f"quarantine {_word(quarantine, QUARANTINE_STATUSES)}: {_quarantine_scope(quarantine)}"
    return f"{head}: {quarantine['message']}, {_quarantine_reason(quarantine)}"


def summarize_quarantine(quarantine: QuarantineDoc) -> str:
    """Formats one quarantine without its scenario."""
    word = _word(quarantine, QUARANTINE_STATUSES)
    return f"{word}, {quarantine['message']}, {_quarantine_reason(quarantine)}"


def _quarantine_scope(quarantine: QuarantineDoc) -> str:
    return scope(quarantine["suite"], quarantine["scenario"], quarantine["variant"])


def _quarantine_reason(quarantine: QuarantineDoc) -> str:
    return f"{quarantine['who']}: {quarantine['reason']}" if quarantine["who"] else quarantine["reason"]


REMOVALS = {"suite_removed": "suite", "scenario_removed": "scenario"}
"""What was removed, by the kind of weakening that it is."""
ADDITIONS = {"approval_added": "an approval", "quarantine_added": "a quarantine"}
"""What was added, by the kind of weakening that it is."""
OUTAGE = "not_measured"
"""The kind of weakening that is no rule: what a provider's outage left unmeasured, which scenario and heading say."""


def sort_weakenings(document: ResultsDoc) -> list[WeakeningDoc]:
    """Sorts those that fail the gate first; otherwise the order of the document stays."""
    return sorted(document.get("weakenings") or (), key=lambda each: not each["gates"])


def list_weakenings(document: ResultsDoc) -> list[WeakeningDoc]:
    """Those that reports with a heading list: what it does not name, and no outage, which its scenarios say."""
    found = sort_weakenings(document)
    are_named = not any(each["code"] == "weakened" for each in document["reasons"])
    return [
        each
        for each in found
        if each["gates"] or (each["kind"] != OUTAGE and not (are_named and _is_in_heading(each, found)))
    ]


def _is_in_heading(weakening: WeakeningDoc, found: Sequence[WeakeningDoc]) -> bool:
    """Whether a heading names it: the only removal of its kind, or the only other one that adds a ruling or a check."""
    kind = weakening["kind"]
    if weakening["variant"] is not None:
        return False
    if kind in REMOVALS:
        return sum(each["kind"] == kind for each in found) == 1
    others = [each for each in found if each["kind"] not in {*REMOVALS, "failure_masked", OUTAGE}]
    is_named = kind in ADDITIONS or (kind == "check_removed" and bool(weakening["assertion"]))
    return is_named and weakening["scenario"] is not None and len(others) == 1


def render_weakening(weakening: WeakeningDoc, place: Callable[[LocationDoc | None], str]) -> str:
    """Formats one weakening; `place` formats where it is."""
    where = place(weakening["location"])
    at = f", at {where}" if where else ""
    scope, message = (
        escape_span(_weakening_scope(weakening), MAX_NAME),
        escape_sentence(weakening["message"], MAX_REASON),
    )
    return f"{'fails the gate: ' if weakening['gates'] else ''}{scope}: {message}{at}"


def format_weakening(weakening: WeakeningDoc) -> str:
    """Formats one weakening."""
    where = location(weakening["location"])
    return f"weakened: {summarize_weakening(weakening)}{f' ({where})' if where else ''}"


def summarize_weakening(weakening: WeakeningDoc) -> str:
    """Formats one weakening without the place where it is written."""
    return f"{_weakening_scope(weakening)}: {unmark_parts(weakening['message'])}"


def describe_weakening_in_heading(only: WeakeningDoc, escape: Callable[[str], str]) -> str:
    """What became weaker and where, as a phrase: `the threshold was lowered in refund`."""
    kind, of = only["kind"], f" of {mark_name(only['scenario'])}" if only["scenario"] else ""
    words = WEAKENING_WORDS.get(cast("WeakeningKind", kind))
    if kind in ADDITIONS:
        return escape_like_names(f"{ADDITIONS[kind]}{of} was added", escape)
    if words is None:
        return escape_like_names(f"1 requirement{of} is weaker than the baseline's", escape)
    if only["assertion"]:
        words = words.replace("a check", f"check {mark_name(only['assertion'])}")
    where = f" {'from' if kind == 'check_removed' else 'in'} {_name_place(only)}" if only["suite"] else ""
    return escape_like_names(f"{words}{where}", escape)


def _name_place(weakening: WeakeningDoc) -> str:
    if weakening["scenario"]:
        return " ".join(mark_name(each) for each in (weakening["scenario"], weakening["variant"]) if each)
    number = weakening.get("scenarios", 1)
    return f"{number:,} scenarios" if number > 1 else f"suite {mark_name(weakening['suite'] or '')}"


def _weakening_scope(weakening: WeakeningDoc) -> str:
    return scope(weakening["suite"] or "the project", weakening["scenario"], weakening["variant"])


def find_flaky(document: ResultsDoc, *, new: bool | None = None) -> Sequence[FlakyDoc]:
    """Lists flaky scenarios, newly flaky ones first; `new` keeps only newly flaky ones, or only others."""
    history = document.get("history")
    return [each for each in (history["flaky"] if history else ()) if new in (None, each["new"])]


def render_flaky(flaky: FlakyDoc, quarantined: set[ScenarioDocKey]) -> str:
    """Formats one flaky scenario; `quarantined` holds the keys of all scenarios in quarantine."""
    key = flaky["suite"], flaky["scenario"], flaky["variant"]
    name = escape_span(" / ".join(filter(None, key)), MAX_FLAKY)
    return f"{name} {escape_span(format_flaky(flaky), MAX_FLAKY)}{', quarantined' if key in quarantined else ''}"


def format_flaky(flaky: FlakyDoc) -> str:
    """Describes how often a scenario passed, and since when it is flaky, without its name."""
    since = f"flaky since {flaky['since'][:DAY_LENGTH]}" if flaky["since"] else "flaky"
    return f"{format_passed_runs(flaky['passed'], flaky['runs'])}, {'newly ' if flaky['new'] else ''}{since}"


def format_passed_runs(passed: int, runs: int) -> str:
    """Returns a text like `passed 18 of the last 20 runs`."""
    if runs == 1:
        return "passed the last run" if passed else "did not pass the last run"
    return f"passed {passed} of the last {runs} runs"
