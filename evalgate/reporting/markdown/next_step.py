"""What a reader of a report can do next: fix what blocks, accept it, or merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.models.comparison.comparison import NO_MODEL, NO_PRICE
from evalgate.reporting.markdown.header_lines import MAX_BRANCH
from evalgate.reporting.markdown.heading import is_old
from evalgate.reporting.markdown.links import Links
from evalgate.reporting.markdown.statistics_rows import list_growth
from evalgate.reporting.text.changes import count_changes, is_compared
from evalgate.reporting.text.commands import build_approve_command, build_record_command, may_approve
from evalgate.reporting.text.escaping import escape_id, escape_span
from evalgate.reporting.text.ruling_lines import ADDITIONS, OUTAGE, REMOVALS
from evalgate.reporting.text.scenario_sections import (
    MAY_BE_FIXED,
    RULE_OF_ALL,
    SuiteScenario,
    count_needed_trials,
    count_passed,
    describe_checks,
    describe_pass_rule,
    find_failed_checks,
    find_unchecked,
    is_crash,
    is_lost,
    list_scenarios,
    reads_answer,
)
from evalgate.reporting.text.sentences import escape_sentence
from evalgate.reporting.text.trajectory_lines import are_calls_same
from evalgate.reporting.text.wording import join_words, scenario_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import LostFigureDoc, ResultsDoc, ScenarioDoc
    from evalgate.models.results.results_sections import WeakeningDoc
    from evalgate.reporting.markdown.links import RunPages
    from evalgate.reporting.text.scenario_sections import ScenarioSections

INTENDED = "If this is intended:"
_LIMIT = " (a `limit` in it allows less)"
_DECIDE = "Decide which answer is right. If the old one: fix the agent and record again. If the new one:"
_ASK_FOR_MODEL = ", or the model, by which it is priced"


class NextStep(NamedTuple):
    """When it is right, and what to do then; both empty if nothing is to be done."""

    lead: str
    text: str


def describe_next_step(document: ResultsDoc, scenarios: ScenarioSections, pages: RunPages) -> NextStep:
    """Describes how to accept what blocks, or, where something merges by this verdict, what merging it means.

    For a run of a branch itself that makes its baseline, what it means for later pull requests.
    """
    merges = pages.merges
    if "selection" in document or document["report_only"]:
        return NextStep("", "")
    if document["verdict"] == "pass":
        links = Links(pages.of_commit)
        found = _describe_merge(document, links) if merges else None
        return found or (_describe_push(document, links) if pages.makes_baseline else NextStep("", ""))
    if document["verdict"] == "cannot_judge" and merges:
        return _describe_unreachable(document)
    text = _describe_acceptance(document, scenarios, merges=merges) if document["verdict"] == "fail" else ""
    return NextStep(_describe_case(document, scenarios, merges=merges) if text else "", text)


def _describe_unreachable(document: ResultsDoc) -> NextStep:
    """How to get a comparison whose baseline GitHub did not give, and why its lack blocks."""
    codes = {each["code"] for each in document["reasons"]}
    if codes != {"unreachable"}:
        return NextStep("", "")
    return NextStep(
        "To compare:",
        "correct what the warning names, by a push to this pull request if it is the workflow; if GitHub is down,"
        " run again. It blocks, as the policy asks for a comparison",
    )


def _describe_merge(document: ResultsDoc, links: Links) -> NextStep:
    """What merging means for what got worse, weaker or more expensive and does not block."""
    if is_compared(document) and count_changes(document).has_bad:
        return NextStep(
            "If the agent is wrong,",
            "fix it before you merge: else this is the new baseline, and later reports show no change",
        )
    if expired := _describe_expiry(document):
        return NextStep("To compare before you merge:", expired)
    if weaker := _list_weaker(document):
        means, undone = _describe_weaker_runs(document, weaker)
        return NextStep(INTENDED, f"merge, and later runs {means}; else {undone}{_name_place(document, weaker, links)}")
    if list_growth(document):
        text = "merge, and later runs are compared with the new figures; else find the cause first"
        return NextStep(INTENDED, text)
    unsure = _list_unsure(document)
    return _describe_more_trials(document, unsure) if unsure else _describe_new(document)


def _describe_new(document: ResultsDoc) -> NextStep:
    """What to look at in new scenarios that only look things up and of which no call is checked, else in old traces."""
    found = [each for each in list_scenarios(document) if only_reads_unchecked(each)]
    if not found:
        return _describe_new_recordings(document)
    one = len(found) == 1
    who = escape_id(scenario_name(found[0]["id"], found[0]["variant"])) if one else f"the {len(found):,} new scenarios"
    them, what = ("it", "it looks") if one else ("them", "they look")
    return NextStep(f"If {who} should change something:", f"add a check of that to {them}, as {what} things up only")


def only_reads_unchecked(scenario: ScenarioDoc) -> bool:
    """Whether a new scenario that passes looks things up only, and no check looks at its calls."""
    example = scenario["change"].get("example") if scenario["change"] else None
    return example is not None and example.reads_only and find_unchecked(scenario)[1]


def _describe_new_recordings(document: ResultsDoc) -> NextStep:
    """How a run of which all traces are those of the baseline is recorded."""
    recordings = document.get("recordings")
    is_due = recordings and recordings["is_asked"] and is_old(recordings) and not recordings["new_rules"]
    command = build_record_command(document, document["suites"]) if is_due else ""
    return NextStep("To record again:", escape_span(command)) if command else NextStep("", "")


def _describe_push(document: ResultsDoc, links: Links) -> NextStep:
    """What became worse, weaker or more expensive on a branch itself means for later pull requests into it."""
    if is_compared(document) and count_changes(document).has_bad:
        return NextStep("If the agent is wrong,", "revert this push or fix it now: later reports show no change")
    if weaker := _list_weaker(document):
        means, undone = _describe_weaker_runs(document, weaker)
        where = _name_place(document, weaker, links)
        return NextStep(f"Later runs {means}.", f"If this is not intended: {undone}{where}")
    if list_growth(document):
        return NextStep("Later runs are compared with the new figures.", "If this is not intended, revert this push")
    return _describe_new(document)


def _list_weaker(document: ResultsDoc) -> list[WeakeningDoc]:
    return [each for each in document.get("weakenings") or () if each["kind"] != OUTAGE]


def _list_unsure(document: ResultsDoc) -> list[SuiteScenario]:
    """The scenarios that pass and of which more trials would say whether they got better or worse."""
    found = (SuiteScenario(suite, each) for suite in document["suites"] for each in suite["scenarios"])
    return [each for each in found if each.scenario["verdict"] == "PASS" and count_needed_trials(each.scenario)]


def _describe_more_trials(document: ResultsDoc, unsure: Sequence[SuiteScenario]) -> NextStep:
    """How to know whether a change is one or chance, and what merging it means if it is for the worse."""
    trials, first = max(count_needed_trials(each.scenario) for each in unsure), unsure[0].scenario
    only = first["id"] if len(unsure) == 1 else ""
    suites = {each.suite["path"]: each.suite for each in unsure}
    command = build_record_command(document, [*suites.values()], only, trials)
    how = f": {escape_span(command)}" if command else ""
    where = escape_span(branch, MAX_BRANCH) if (branch := _find_branch(document)) else "the base branch"
    slipped = [each.scenario for each in unsure if each.shown_kind != MAY_BE_FIXED]
    lower = f"{count_passed(slipped[0])} of {slipped[0]['n']}" if len(slipped) == 1 else "the lower pass rate"
    warning = f". Once merged, {lower} is what later runs are compared with" if slipped else ""
    return NextStep(
        f"To know whether {'it is' if len(unsure) == 1 else 'they are'} chance:",
        f"record at least {trials} trials, here and on {where}{how}{warning}",
    )


def _describe_expiry(document: ResultsDoc) -> str:
    """How to get a new baseline in place of an expired one, and why that does not block; else empty."""
    baseline = document["baseline"]
    if not baseline or baseline["status"] != "expired":
        return ""
    where = escape_span(baseline.get("target") or "the base branch", MAX_BRANCH)
    return f"run the workflow on {where}, then this check again. It does not block, as a pull request can't correct it"


def _describe_removed(document: ResultsDoc) -> str:
    """Whether the only scenario that was removed passed in the baseline; empty if it is not the only one."""
    removed = document["removed"]
    passed = "passed" if removed and removed[0]["verdict"] == "PASS" else "did not pass"
    return f" (it {passed} in the baseline)" if len(removed) == 1 else ""


def _describe_weaker_runs(document: ResultsDoc, weaker: Sequence[WeakeningDoc]) -> tuple[str, str]:
    """What becomes of later runs, and what else is to be done."""
    kinds, is_one = {each["kind"] for each in weaker}, len(weaker) == 1
    if kinds == {"check_removed"}:  # this run was judged with them, too
        them, checks = ("it", "check") if is_one else ("them", "checks")
        return f"are judged without {them} (this run would pass with {them}, too)", f"restore the {checks}"
    if len(kinds) == 1 and (noun := REMOVALS.get(weaker[0]["kind"])):
        before = _describe_removed(document) if is_one else ""
        return f"no longer judge {f'it{before}' if is_one else 'them'}", f"restore the {noun}{'' if is_one else 's'}"
    if kinds <= ADDITIONS.keys():
        if not is_one or not weaker[0]["scenario"]:
            return "are not blocked by what is approved or in quarantine now", "remove what should not be"
        failure = "the approved failure of " if kinds == {"approval_added"} else ""
        what = ADDITIONS[weaker[0]["kind"]].partition(" ")[2]
        return f"are not blocked by {failure}{escape_id(weaker[0]['scenario'])}", f"remove the {what}"
    return "are held to the weaker rules", "restore the rules"


def _name_place(document: ResultsDoc, weaker: Sequence[WeakeningDoc], links: Links) -> str:
    """Where the only requirement was that got weaker, and the checks that are left beside a removed one."""
    where = links.place(weaker[0]["location"]) if len(weaker) == 1 else ""
    left = _describe_left_checks(document, weaker[0]) if weaker[0]["kind"] == "check_removed" and where else ""
    return f" (at {where}){left}" if where else ""


def _describe_left_checks(document: ResultsDoc, removed: WeakeningDoc) -> str:
    """By what the scenario is still checked of which a check was removed; empty if that is not known."""
    scenarios = (
        each for suite in document["suites"] for each in suite["scenarios"] if suite["suite"] == removed["suite"]
    )
    found = next((each for each in scenarios if each["id"] == removed["scenario"]), None)
    checks = escape_sentence(describe_checks(found)) if found else ""
    return f". {escape_id(found['id'])} is still {checks}" if found and checks else ""


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
    only = scenarios.known[0].scenario if scenarios.known_blocking == 1 else None
    who = f"{escape_id(scenario_name(only['id'], only['variant']))} fails" if only else "The known failures fail"
    them, cause = "it" if only else "them", f"{who} {where} too, so this change is not the cause."
    if _are_all_proposed(document):
        has_limits = all(each["limit"] for each in document["approvals"] if each["status"] == "proposed")
        return f"{cause} If you agree with the approval{'' if has_limits else _LIMIT}:"
    there = f"{them} there, then update this branch and record again; or" if merges else f"{them}, or"
    return f"{cause} Fix {there}"


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
    proposed = _find_proposed(document)
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
        return f"{change}run {command} and {_describe_commit(document, merges=merges)}"
    if _are_all_proposed(document):
        return f"{change}merge past this check, which stays red here and which an administrator may"
    if verdicts == {"MISSING"}:
        return f"remove {'it' if len(scenarios.failures) == 1 else 'them'} from the suite"
    return f"change {suite} or its policy"


def _find_proposed(document: ResultsDoc) -> set[tuple[str | None, str | None]]:
    return {(each["suite"], each["scenario"]) for each in document["approvals"] if each["status"] == "proposed"}


def _are_all_proposed(document: ResultsDoc) -> bool:
    """Whether an approval is proposed of all that blocks."""
    proposed = _find_proposed(document)
    return bool(proposed) and {(each.get("suite"), each.get("scenario")) for each in document["reasons"]} <= proposed


def _describe_commit(document: ResultsDoc, *, merges: bool) -> str:
    """Where the file that approves a failure must get, to count."""
    branch = _find_branch(document) if merges else None
    if not branch:
        return "commit the file it writes"
    return f"merge the file it writes into {escape_span(branch, MAX_BRANCH)} by a pull request of its own"


def _describe_pass_rate(scenarios: ScenarioSections) -> str:
    """The setting by which the only failure would pass, if each trial must pass and some did; else empty."""
    failures = [each.scenario for each in scenarios.failures]
    if len(failures) != 1 or describe_pass_rule(failures[0]) != RULE_OF_ALL:
        return ""
    allowed = f"{count_passed(failures[0])} of {failures[0]['n']}"
    rate = int(100 * count_passed(failures[0]) / failures[0]["n"]) / 100
    return f" ({escape_span(f'trials: {{min_pass_rate: {rate:g}}}')} allows {allowed})"
