"""What a reader of a report can do next: fix what blocks, accept it, or merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.models.comparison.comparison import NO_MODEL, NO_PRICE
from evalgate.reporting.markdown.header_lines import MAX_BRANCH
from evalgate.reporting.markdown.heading import is_old
from evalgate.reporting.markdown.statistics_rows import list_growth
from evalgate.reporting.text.changes import count_changes, is_compared
from evalgate.reporting.text.commands import build_approve_command, build_record_command, may_approve
from evalgate.reporting.text.escaping import escape_span
from evalgate.reporting.text.ruling_lines import OUTAGE, REMOVALS
from evalgate.reporting.text.scenario_sections import (
    RULE_OF_ALL,
    count_passed,
    describe_pass_rule,
    find_failed_checks,
    is_crash,
    is_lost,
    reads_answer,
)
from evalgate.reporting.text.trajectory_lines import are_calls_same
from evalgate.reporting.text.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import LostFigureDoc, ResultsDoc, ScenarioDoc
    from evalgate.models.results.results_sections import WeakeningDoc
    from evalgate.reporting.text.scenario_sections import ScenarioSections

INTENDED = "If this is intended:"
_DECIDE = "Decide which answer is right. If the old one: fix the agent and record again. If the new one:"
_ASK_FOR_MODEL = ", or the model, by which it is priced"


class NextStep(NamedTuple):
    """When it is right, and what to do then; both empty if nothing is to be done."""

    lead: str
    text: str


def describe_next_step(document: ResultsDoc, scenarios: ScenarioSections, *, merges: bool) -> NextStep:
    """Describes how to accept what blocks, or, where it `merges` by this verdict, what merging it means."""
    if "selection" in document or document["report_only"]:
        return NextStep("", "")
    if document["verdict"] == "pass":
        return _describe_merge(document) if merges else NextStep("", "")
    text = _describe_acceptance(document, scenarios, merges=merges) if document["verdict"] == "fail" else ""
    return NextStep(_describe_case(document, scenarios, merges=merges) if text else "", text)


def _describe_merge(document: ResultsDoc) -> NextStep:
    """What merging means for what got worse, weaker or more expensive and does not block."""
    if is_compared(document) and count_changes(document).has_bad:
        return NextStep(
            "If the agent is wrong,",
            "fix it before you merge: else this is the new baseline, and later reports show no change",
        )
    if expired := _describe_expiry(document):
        return NextStep("To compare before you merge:", expired)
    if weaker := [each for each in document.get("weakenings") or () if each["kind"] != OUTAGE]:
        return NextStep(INTENDED, f"merge, and later runs {_describe_weaker_runs(weaker)}")
    if list_growth(document):
        text = "merge, and later runs are compared with the new figures; else find the cause first"
        return NextStep(INTENDED, text)
    recordings = document.get("recordings")
    if recordings and recordings["is_asked"] and is_old(recordings) and not recordings["new_rules"]:
        command = build_record_command(document, document["suites"])
        return NextStep("To record again:", escape_span(command)) if command else NextStep("", "")
    return NextStep("", "")


def _describe_expiry(document: ResultsDoc) -> str:
    """How to get a new baseline in place of an expired one, and why that does not block; else empty."""
    baseline = document["baseline"]
    if not baseline or baseline["status"] != "expired":
        return ""
    where = escape_span(baseline.get("target") or "the base branch", MAX_BRANCH)
    return f"run the workflow on {where}, then this check again. It does not block, as a pull request can't mend it"


def _describe_weaker_runs(weaker: Sequence[WeakeningDoc]) -> str:
    """What becomes of later runs, and what else to do."""
    kinds, is_one = {each["kind"] for each in weaker}, len(weaker) == 1
    if kinds == {"check_removed"}:  # this run was judged with them, too
        them, checks = ("it", "check") if is_one else ("them", "checks")
        return (
            f"are judged without {them} (no scenario that passes would fail by {them} now); else restore the {checks}"
        )
    if len(kinds) == 1 and (noun := REMOVALS.get(weaker[0]["kind"])):
        return f"no longer judge {f'it; else restore the {noun}' if is_one else f'them; else restore the {noun}s'}"
    return "are held to the weaker rules; else restore the rules"


def _describe_case(document: ResultsDoc, scenarios: ScenarioSections, *, merges: bool) -> str:
    """Describes when what blocks may be accepted: a failure that the baseline has, too, is not of this change."""
    if lost := _list_lost(scenarios):
        figures = sorted({each["figure"] for each in lost})
        causes = {each["why"] for each in lost}
        price = _describe_pricing(scenarios) if causes == {NO_PRICE} else _ASK_FOR_MODEL if causes == {NO_MODEL} else ""
        return f"Record the {join_words(figures)} again{price}. {_describe_purpose(len(figures))}"
    if not scenarios.known_blocking and {each.scenario["verdict"] for each in scenarios.failures} == {"MISSING"}:
        return _describe_recording(document, scenarios)
    if not _is_inherited(document, scenarios):
        return _describe_repair(scenarios, merges=merges)
    branch = _find_branch(document)
    where = f"on {escape_span(branch, MAX_BRANCH)}" if branch else "in the baseline"
    verb, them = ("It fails", "it") if scenarios.known_blocking == 1 else ("They fail", "them")
    return f"{verb} {where} too, so this change is not the cause; fix {them} there, or"


def _find_branch(document: ResultsDoc) -> str | None:
    return document["baseline"].get("branch") if document["baseline"] else None


def _describe_repair(scenarios: ScenarioSections, *, merges: bool) -> str:
    """What repairs the failures, and when they may be accepted instead: nobody intends that a run crashes."""
    failures = [each.scenario for each in scenarios.failures]
    if not failures or any(map(is_lost, failures)):
        return INTENDED
    if all(map(_is_new, failures)):
        return f"Fix the agent or the scenario and record again. To {'merge' if merges else 'accept'} it as it is:"
    if all(map(_breaks_by_answer, failures)):
        return _DECIDE
    return f"Fix the agent and record again. {'To merge before that:' if _are_crashes(scenarios) else INTENDED}"


def _breaks_by_answer(scenario: ScenarioDoc) -> bool:
    """Whether it passed, and only checks of its answer fail now, after the same calls: either answer may be right."""
    change = scenario["change"]
    diff = change.get("behaviour") if change else None
    if change is None or diff is None or change["previous_verdict"] != "PASS":
        return False
    failed = [each.first for each in find_failed_checks(scenario)]
    is_of_answer = bool(failed) and all(each.outcome == "failed" and reads_answer(each) for each in failed)
    return is_of_answer and bool(diff.response) and are_calls_same(diff)


def _are_crashes(scenarios: ScenarioSections) -> bool:
    return bool(scenarios.failures) and all(is_crash(each.scenario) for each in scenarios.failures)


def _is_new(scenario: ScenarioDoc) -> bool:
    return scenario["change"] is not None and scenario["change"]["kind"] == "new"


def _list_lost(scenarios: ScenarioSections) -> list[LostFigureDoc]:
    """The figures that the baseline records, if nothing blocks but what lacks them."""
    found = [each.scenario for each in scenarios.failures]
    lost = [each["change"].get("lost", ()) if each["change"] and is_lost(each) else () for each in found]
    return [each for one in lost for each in one] if all(lost) else []


def _describe_pricing(scenarios: ScenarioSections) -> str:
    """Where a price can be set for the model of traces that record tokens, but no cost."""
    paths = {each.suite["path"] for each in scenarios.failures}
    where = f" in {escape_span(paths.pop())}" if len(paths) == 1 else ""
    return f", or give the model a price under {escape_span('prices')}{where}"


def _describe_purpose(number: int) -> str:
    return f"If {'it is' if number == 1 else 'they are'} left out on purpose:"


def _describe_recording(document: ResultsDoc, scenarios: ScenarioSections) -> str:
    """How scenarios without a trace are recorded."""
    found = scenarios.failures
    suites = {each.suite["path"]: each.suite for each in found}
    only = found[0].scenario["id"] if len(found) == 1 else ""
    command = build_record_command(document, [*suites.values()], only)
    again = " again" if all(each.kind == "broken" for each in found) else ""
    what = f"{'it' if len(found) == 1 else 'them'}{again}"
    how = f"To record {what}: {escape_span(command)}" if command else f"Record {what}"
    return f"{how}. {_describe_purpose(len(found))}"


def _is_inherited(document: ResultsDoc, scenarios: ScenarioSections) -> bool:
    """Whether only failures block that the baseline has, too."""
    of_run = (each for each in document["reasons"] if not each.get("scenario") or each["code"] == "weakened")
    return bool(scenarios.known_blocking) and not scenarios.failures and not any(of_run)


def _describe_acceptance(document: ResultsDoc, scenarios: ScenarioSections, *, merges: bool) -> str:
    verdicts = {each.scenario["verdict"] for each in scenarios.failures}
    if verdicts == {"ERROR"}:
        return ""  # broken input: repair it
    proposed = {(each["suite"], each["scenario"]) for each in document["approvals"] if each["status"] == "proposed"}
    known = [
        each
        for each in scenarios.known[: scenarios.known_blocking]
        if (each.suite["suite"], each.scenario["id"]) not in proposed
    ]
    is_fault_of_agent = _is_inherited(document, scenarios) or _are_crashes(scenarios)
    suite = f"the suite{_describe_pass_rate(scenarios)}"
    change = "" if is_fault_of_agent else f"change {suite} or its policy, or "
    if known or verdicts - {"ERROR", "MISSING"}:
        if not may_approve(document):
            return change.removesuffix(", or ")
        command = escape_span(build_approve_command([*scenarios.failures, *known]))
        branch = _find_branch(document) if merges else None
        where = f" to {escape_span(branch, MAX_BRANCH)}, by a pull request of its own," if branch else ""
        return f"{change}commit{where} the file that {command} writes"
    reasons = {(each.get("suite"), each.get("scenario")) for each in document["reasons"]}
    if proposed and reasons <= proposed:
        return f"{change}merge past this check, if you may: an approval counts once it is on the branch"
    if verdicts == {"MISSING"}:
        return f"remove {'it' if len(scenarios.failures) == 1 else 'them'} from the suite"
    return f"change {suite} or its policy"


def _describe_pass_rate(scenarios: ScenarioSections) -> str:
    """The setting by which the only failure would pass, if each trial must pass and some did; else empty."""
    failures = [each.scenario for each in scenarios.failures]
    if len(failures) != 1 or describe_pass_rule(failures[0]) != RULE_OF_ALL:
        return ""
    allowed = f"{count_passed(failures[0])} of {failures[0]['n']}"
    return f" ({escape_span('trials.min_pass_rate')} can allow {allowed})"
