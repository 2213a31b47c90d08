"""The first line of a report: the verdict, never better than the run was."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.models.comparison.comparison import REGRESSIONS
from evalgate.reporting.markdown.change_heading import (
    are_proposed,
    cut_sentence,
    describe_comparison,
    describe_origins,
    describes_uncovered,
    find_not_blocked,
    find_shared_reason,
    find_void_approvals,
    name_baseline,
    split_void,
)
from evalgate.reporting.markdown.failure_heading import (
    describe_failure,
    describe_missing_verdict,
    describe_outages,
    describe_unblocked_failures,
    format_all_passed,
    is_failed_by_outage,
)
from evalgate.reporting.markdown.statistics_rows import list_growth, list_slowdown
from evalgate.reporting.text.changes import (
    UNCOMPARED,
    describe_lack,
    describe_missing_legs,
    describe_off,
    is_attention_due,
    is_compared,
    is_off,
)
from evalgate.reporting.text.escaping import to_one_line
from evalgate.reporting.text.ruling_lines import (
    OUTAGE,
    REMOVALS,
    describe_weakening_in_heading,
    find_approved_keys,
)
from evalgate.reporting.text.scenario_sections import (
    describe_fewer_passes,
    describe_pass_rule,
    find_worst_outcome,
    has_failed_trials,
    would_fail,
)
from evalgate.reporting.text.wording import join_words, pluralize, scenario_name, score

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from evalgate.models.results.results import ReasonDoc, RecordingsDoc, ResultsDoc, ScenarioDoc, SummaryDoc
    from evalgate.models.results.results_sections import WeakeningDoc
    from evalgate.reporting.markdown.change_heading import ComparisonWords
    from evalgate.reporting.text.ruling_lines import ScenarioDocKey

QUARANTINED, APPROVED, NOT_ASKED = "quarantined", "approved", "not in fail_on"
_FAILED_TRIALS, _DID_NOT_PASS = "with failed trials", "with checks that did not pass"
_NOT_EVALUATED = "with checks that could not be evaluated"
BUG, MOST_UNASKED, MEAN_SCORE = "internal", 3, "mean score "
NO_REPORT = "no_report"
"""The code of an error in EvalGate's own code."""
PASSED, NOTHING_NEW, ATTENTION, FAILED, INVALID = "\u2705", "\u26aa", "\U0001f7e1", "\u274c", "\u26d4"


DECISIVE = frozenset({"decisive_copies"})
DUPLICATES = frozenset({"duplicates", *DECISIVE})
"""Codes of warnings about traces that are alike."""


_NOT_COMPARED = {
    "expired": "has expired",
    "refused": "was refused",
    "unreachable": "could not be fetched",
}


class Heading(NamedTuple):
    """A sign and the verdict, and the matrix leg of which it is, if it is one."""

    sign: str
    text: str
    leg: str = ""

    @property
    def tone(self) -> Literal["good", "warn", "bad"]:
        """The colour, which terminal and page have, too: green, yellow or red; nothing new is no worse than before."""
        return "good" if self.sign in (PASSED, NOTHING_NEW) else "warn" if self.sign == ATTENTION else "bad"

    @property
    def sentence(self) -> str:
        """The verdict, and of which leg it is."""
        return " \u00b7 ".join(filter(None, (self.text, self.leg)))

    def __str__(self) -> str:
        return f"{self.sign} {f'{self.leg}: ' if self.leg else ''}EvalGate {self.text}"


def build_heading(
    document: ResultsDoc, escape: Callable[[str], str] = to_one_line, *, makes_baseline: bool = False
) -> Heading:
    """Builds the verdict in one line, and what it is about if that is not the whole gate.

    That is the job's matrix leg, or the scenarios of `--scenario`. `escape` is applied to what is not trusted.
    `makes_baseline` is whether the run is the baseline of its branch, which has none.
    """
    heading, leg, selection = _build_verdict(document, escape), document.get("leg"), document.get("selection")
    heading = _add_old_recordings(document, heading)
    text = _add_other_branch(document, heading.text, escape, makes_baseline=makes_baseline)
    text = f"{text}{_describe_unasked(document, escape) if makes_baseline else ''}"
    if selection:
        judged = f"{selection['judged']:,} of {pluralize(selection['of'], 'scenario')} judged"
        text = f"{text} \u00b7 {judged} (--scenario), which is not the gate"
    return heading._replace(text=text, leg=escape(leg) if leg else "")


RECORD_AGAIN = "to judge a change of the agent, record it again"


def _add_old_recordings(document: ResultsDoc, heading: Heading) -> Heading:
    """Adds that nothing was recorded since the baseline, if that is asked and the heading does not say it."""
    recordings = document.get("recordings")
    if heading.sign == NOTHING_NEW or RECORD_AGAIN in heading.text:
        return heading
    if not recordings or not is_old(recordings) or not recordings["is_asked"]:
        return heading
    joint = ", but" if heading.text.startswith("passed:") else ";"
    return heading._replace(text=f"{heading.text}{joint} {describe_recordings(document)}")


def _build_nothing_new(
    document: ResultsDoc, found: ComparisonWords, escape: Callable[[str], str], *, is_calm: bool
) -> Heading | None:
    """That nothing was recorded since the baseline, where nothing changed: no change of the agent was judged.

    None if something was recorded, or judged by new rules, or nobody asks for it. In a shell, where a baseline is
    given, it is all there is to say, too.
    """
    recordings, baseline = document.get("recordings"), document["baseline"]
    is_given = baseline is not None and baseline["status"] == "given"
    if not recordings or not is_old(recordings) or not (recordings["is_asked"] or is_given):
        return None
    if recordings["new_rules"] or found.is_changed or not found.changes.is_same:
        return None
    since, number = name_baseline(document, escape), recordings["of"]
    same = f"all {number:,} traces are the same as those" if number > 1 else "the only trace is the same as that"
    parts = [f"passed: nothing new was recorded ({same} of {since})", found.changes.describe_known(escape)]
    parts += _describe_duplicates(document, DUPLICATES)
    return Heading(NOTHING_NEW if is_calm else ATTENTION, "; ".join([*filter(None, parts), RECORD_AGAIN]))


def _add_other_branch(document: ResultsDoc, text: str, escape: Callable[[str], str], *, makes_baseline: bool) -> str:
    """Adds that the baseline is another branch's, as the run's own has none; `text` may name that branch already."""
    baseline = document["baseline"]
    target, branch = (baseline.get("target"), baseline.get("branch")) if baseline else (None, None)
    if not target or not branch or document["summary"] is None:
        return text
    lack = f"first baseline of {escape(target)}" if makes_baseline else f"{escape(target)} has no baseline"
    since = f" since {escape(branch)}"
    before, named, after = text.partition(since)
    return f"{before}{since} ({lack}){after}" if named else f"{text}; compared with {escape(branch)}: {lack}"


def _describe_unasked(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """What does not do what users asked for on the branch whose baseline this run is: there it is to be corrected."""
    from evalgate.reporting.text.behaviour_lines import list_unasked  # few runs are a baseline

    scenarios = [each for suite in document["suites"] for each in suite["scenarios"] if list_unasked(each)]
    names = [escape(scenario_name(each["id"], each["variant"])) for each in scenarios[:MOST_UNASKED]]
    left = len(scenarios) - len(names)
    listed = join_words([*names, *([f"{left:,} more"] if left else [])])
    return f"; not as asked: {listed}" if listed else ""


def is_old(recordings: RecordingsDoc) -> bool:
    """Whether nothing was recorded since the baseline."""
    return recordings["unchanged"] == recordings["of"]


def describe_recordings(document: ResultsDoc) -> str:
    """Describes how many recordings are those of the baseline, as a phrase; empty if none is known to be."""
    found = document.get("recordings")
    if not found or not found["unchanged"]:
        return ""
    number = pluralize(found["of"], "trace")
    if not is_old(found):
        return f"{found['unchanged']:,} of {number} are the same as in the baseline"
    which = f"the only {number[2:]} is" if found["of"] == 1 else f"all {number} are"
    if found["new_rules"]:
        return f"{which} the same as in the baseline: traces unchanged, judged by new rules"
    return f"{which} the same as in the baseline: {RECORD_AGAIN}"


def describe_other_recordings(document: ResultsDoc, heading: str, *, has_figure: bool = False) -> str:
    """Describes the same as a sentence, unless the heading does; a report that `has_figure` counts new ones there."""
    recordings = document.get("recordings")
    is_counted = has_figure and recordings is not None and not is_old(recordings)
    phrase = "" if is_counted or RECORD_AGAIN in heading else describe_recordings(document)
    found = [each for each in (phrase, *describe_origins(document)) if each and each not in heading]
    return " ".join(f"{each[:1].upper()}{each[1:]}." for each in found)


def _build_verdict(document: ResultsDoc, escape: Callable[[str], str]) -> Heading:
    summary = document["summary"]
    verdict = document["verdict"]
    if any(reason["code"] == BUG for reason in document["reasons"]):
        return Heading(INVALID, "could not run: it has a bug")
    if any(reason["code"] == NO_REPORT for reason in document["reasons"]):
        return Heading(INVALID, "could not run, or left no report that can be read")
    if verdict == "invalid" or summary is None:
        return Heading(INVALID, f"could not run: {_describe_errors(document['reasons'], escape)}")
    if verdict == "fail":
        return _add_reservations(document, Heading(FAILED, describe_failure(document, escape)), escape)
    if verdict == "cannot_judge":
        sign = ATTENTION if document["report_only"] else INVALID
        return _add_reservations(document, Heading(sign, describe_missing_verdict(document, escape)), escape)
    heading = _build_passed(document, summary, escape)
    return _add_confirmation(document, heading) if "confirmation" in document else heading


def _describe_errors(reasons: Sequence[ReasonDoc], escape: Callable[[str], str]) -> str:
    """The only error with its place, else how many there are, and in which file if it is one."""
    places = [found for each in reasons if (found := each.get("location"))]
    if len(reasons) == 1:
        line = f":{places[0].line}" if places and places[0].line else ""
        where = f"{escape(places[0].file + line)} " if places else ""
        return f"{where}{cut_sentence(reasons[0]['message'], escape)}"
    files = {each.file for each in places} if len(places) == len(reasons) else set()
    where = escape(*files) if len(files) == 1 else f"{len(files):,} files" if files else "its input"
    return f"{pluralize(len(reasons), 'error')} in {where}"


def _add_confirmation(document: ResultsDoc, heading: Heading) -> Heading:
    """A pass after a failure is never plainly green: what was recorded again comes first, then what else is amiss."""
    from evalgate.reporting.text.arm_lines import describe_confirmation

    but = "passed, but "
    rest = f"; {heading.text.removeprefix(but)}" if heading.text.startswith(but) else ""
    return Heading(ATTENTION, f"{but}{describe_confirmation(document['confirmation'])}{rest}")


def _add_reservations(document: ResultsDoc, heading: Heading, escape: Callable[[str], str]) -> Heading:
    """Adds what is weaker than in the baseline, unless the heading says that this fails the gate, and the rest."""
    is_weakened = any(reason["code"] == "weakened" for reason in document["reasons"])
    outages = [] if is_failed_by_outage(document) else describe_outages(document, escape)
    reasons = [
        *_describe_void_approvals(document, escape),
        *describe_missing_legs(document, escape),
        *([] if is_weakened else describe_weaker_rules(document, escape)),
        *outages,
        *_describe_duplicates(document, DUPLICATES),
    ]
    return heading._replace(text=f"{heading.text}; {'; '.join(reasons)}") if reasons else heading


def _build_passed(document: ResultsDoc, summary: SummaryDoc, escape: Callable[[str], str]) -> Heading:
    if is_compared(document):
        return _build_passed_comparison(document, summary, escape)
    off = _describe_no_baseline(document, escape)
    failures = describe_unblocked_failures(document)
    if failures:
        found = f"passed, but {join_words(failures)} ({_explain_not_blocked(document)})"
        heading = Heading(ATTENTION, "; ".join([found, *off]))
        return _add_reservations(document, heading, escape)
    reasons = [*describe_weaker_rules(document, escape), *describe_outages(document, escape)]
    duplicates = [*off, *_describe_duplicates(document, DUPLICATES)]
    if reasons or _describe_duplicates(document, DECISIVE):
        return Heading(ATTENTION, f"passed, but {'; '.join([*reasons, *duplicates])}")
    if not summary["scenarios"]:
        return Heading(ATTENTION, "passed, but there was nothing to evaluate")
    passed = _describe_all_passed(document, summary["scenarios"], escape)
    if off and not is_off(document):
        return Heading(ATTENTION, f"passed, but {'; '.join([*duplicates, passed])}")
    first = ["nothing to compare with yet"] if document["baseline"] and document["baseline"]["status"] == "none" else []
    return Heading(PASSED, "; ".join([f"passed: {passed}", *first, *duplicates]))


def _build_passed_comparison(document: ResultsDoc, summary: SummaryDoc, escape: Callable[[str], str]) -> Heading:
    found = describe_comparison(document, escape)
    known = found.changes.describe_known(escape)
    if found.changes.has_bad:
        excuse = "; ".join(filter(None, [_explain_not_blocked(document), known]))
        heading = Heading(ATTENTION, f"passed, but {found.text} ({excuse}){found.more}")
        return _add_reservations(document, heading, escape)
    reasons = [
        *describe_missing_legs(document, escape),
        *describe_weaker_rules(document, escape),
        *describe_outages(document, escape),
    ]
    duplicates = _describe_duplicates(document, DUPLICATES)
    text = f"{found.text} ({known})" if known else found.text
    if reasons or _describe_duplicates(document, DECISIVE):
        changed = [text] if found.is_changed or known else []
        return Heading(ATTENTION, f"passed, but {'; '.join([*reasons, *duplicates, *changed])}")
    number = summary["scenarios"]
    passed = [_describe_all_passed(document, number, escape)] if number and not known else []
    is_clean = not passed or passed == [format_all_passed(number)]
    parts = [text, *passed] if found.is_changed or is_clean else [*passed, *([text] if found.changes.is_same else [])]
    is_loud = any(is_attention_due(each) for suite in document["suites"] for each in suite["scenarios"])
    is_excused = not known or (found.changes.are_known_excused and found.changes.is_same)
    is_blind = found.changes.counts[UNCOMPARED] and not document.get("comparison", {}).get("compared")
    is_calm = number and is_excused and not is_loud and not is_blind and not list_growth(document)
    if nothing_new := _build_nothing_new(document, found, escape, is_calm=bool(is_calm)):
        return nothing_new
    return Heading(
        PASSED if is_calm else ATTENTION, f"passed: {'; '.join([*parts, *list_slowdown(document), *duplicates])}"
    )


def _describe_no_baseline(document: ResultsDoc, escape: Callable[[str], str]) -> list[str]:
    """Says that nothing was compared, unless there never was a baseline."""
    if is_off(document):
        return [describe_off(document, escape)]
    if lack := describe_lack(document, escape):
        return [lack]
    status = document["baseline"]["status"] if document["baseline"] else "none"
    return [f"not compared: the last baseline {_NOT_COMPARED[status]}"] if status in _NOT_COMPARED else []


def _describe_duplicates(document: ResultsDoc, codes: Container[str]) -> list[str]:
    """Says that traces are alike: copies of a good one may hide a bad one."""
    is_alike = any(warning["code"] in codes for warning in document["warnings"])
    return ["there are duplicate traces (see the warnings)"] if is_alike else []


def _describe_void_approvals(document: ResultsDoc, escape: Callable[[str], str]) -> list[str]:
    """Why approvals of scenarios that block do not count, unless their only scenario says it."""
    void = find_void_approvals(document)
    if not void or describes_uncovered(document):
        return []
    if len(void) == 1:
        cause, names = split_void(void[0])
        lack = f"not cover {escape(names)}" if names else f"not count: {cause}"
        return [f"the approval of {escape(void[0]['who'])} does {lack}"]
    causes = {split_void(each)[0] for each in void}
    return [f"{len(void):,} approvals do not count{f': {causes.pop()}' if len(causes) == 1 else ''}"]


def describe_weaker_rules(document: ResultsDoc, escape: Callable[[str], str]) -> list[str]:
    """Describes what passes only because rules are weaker than the baseline's, as one phrase."""
    weakenings = document.get("weakenings") or ()
    masked = [each["scenarios"] for each in weakenings if each["kind"] == "failure_masked"]
    hidden = sum(would_fail(each) for suite in document["suites"] for each in suite["scenarios"])
    weaker = [each for each in weakenings if each["kind"] not in {"failure_masked", OUTAGE}]
    if are_proposed(document):  # which the heading says
        weaker = [each for each in weaker if each["kind"] != "approval_added"]
    hidden = max(hidden, sum(masked))
    parts = [f"{pluralize(hidden, 'scenario')} would fail under the baseline's rules"] if hidden else []
    for kind, noun in REMOVALS.items():
        if gone := [each["scenario"] or each["suite"] or "" for each in weaker if each["kind"] == kind]:
            what = f"{noun} {escape(gone[0])} was" if len(gone) == 1 else f"{pluralize(len(gone), noun)} were"
            parts.append(f"{what} removed")
    if weaker := [each for each in weaker if each["kind"] not in REMOVALS]:
        parts.append(_describe_weaker_requirements(weaker, escape))
    return [join_words(parts)] if parts else []


def _describe_weaker_requirements(weaker: Sequence[WeakeningDoc], escape: Callable[[str], str]) -> str:
    if len(weaker) > 1:
        return f"{len(weaker):,} requirements are weaker than the baseline's"
    return describe_weakening_in_heading(weaker[0], escape)


def _explain_not_blocked(document: ResultsDoc) -> str:
    scenarios = find_not_blocked(document)
    failing = [pair for pair in scenarios if pair[1]["verdict"] != "PASS"] or [
        pair for pair in scenarios if pair[1]["change"] and pair[1]["change"]["kind"] in REGRESSIONS
    ]
    approved = find_approved_keys(document)
    words = Counter(_find_excuse(suite, each, approved) for suite, each in failing)
    if len(words) == 1:
        covered = "covered by an approval" if len(failing) == 1 else "covered by approvals"
        return covered if words[APPROVED] else next(iter(words))
    excused = [f"{words[word]:,} {word}" for word in (QUARANTINED, APPROVED) if words[word]]
    return ", ".join([*excused, *([f"the rest {NOT_ASKED}"] if words[NOT_ASKED] else [])])


def _find_excuse(suite: str, scenario: ScenarioDoc, approved: set[ScenarioDocKey]) -> str:
    if scenario.get("quarantined"):
        return QUARANTINED
    return APPROVED if (suite, scenario["id"], scenario["variant"]) in approved else NOT_ASKED


def _find_flaw(scenario: ScenarioDoc) -> str:
    """What was not as it should be in a scenario that passes, in words; empty if nothing."""
    outcome = find_worst_outcome(scenario)
    if outcome == "not_evaluable":
        return _NOT_EVALUATED
    if outcome is None:
        return ""
    return _FAILED_TRIALS if has_failed_trials(scenario) else _DID_NOT_PASS


def _describe_all_passed(document: ResultsDoc, number: int, escape: Callable[[str], str]) -> str:
    """The number of scenarios, and how many of them have flaws; one that has some by its name."""
    flawed: dict[str, list[ScenarioDoc]] = {}
    for suite in document["suites"]:
        for each in suite["scenarios"]:
            flawed.setdefault(_find_flaw(each), []).append(each)
    words = [each for each in (_FAILED_TRIALS, _DID_NOT_PASS, _NOT_EVALUATED) if each in flawed]
    if number == 1:
        return ", ".join(["the only scenario passes", *words])
    slipped = flawed.get(_FAILED_TRIALS, [])
    if words == [_FAILED_TRIALS] and len(slipped) == 1 and describe_pass_rule(slipped[0]):
        return f"{_describe_flawed(slipped, _FAILED_TRIALS, escape, ' passes')}; {format_all_passed(number)}"
    return ", ".join([format_all_passed(number), *(_describe_flawed(flawed[each], each, escape) for each in words)])


def _describe_flawed(found: Sequence[ScenarioDoc], flaw: str, escape: Callable[[str], str], verb: str = "") -> str:
    """How many have the flaw; of one its name, and in how many trials it passes by which rule."""
    if len(found) > 1:
        return f"{len(found):,} {flaw}"
    name, rule = escape(scenario_name(found[0]["id"], found[0]["variant"])), describe_pass_rule(found[0])
    if verb and (reason := find_shared_reason(found, escape)):
        return f"{name}{verb}{describe_fewer_passes(found[0])}: {reason}"
    if rule.startswith(MEAN_SCORE):
        rule = f"{MEAN_SCORE}{score(found[0]['score'])}, {rule.removeprefix(MEAN_SCORE)}"
    return f"{name}{verb}{describe_fewer_passes(found[0])} ({rule})" if rule else f"{name} {flaw}"
