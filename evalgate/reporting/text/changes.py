"""What changed since the baseline in a few words, each scenario once, for the heading of a report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from evalgate.models.comparison.comparison import NOT_MEASURED, REGRESSIONS, UNJUDGED_BEFORE
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.reporting.text.ruling_lines import find_approved_keys
from evalgate.reporting.text.scenario_sections import MAY_BE_FIXED as MAYBE
from evalgate.reporting.text.scenario_sections import (
    NOT_JUDGED,
    NOT_RECORDED,
    OTHER,
    WORSE,
    describe_more_failures,
    describe_new,
    describe_share,
    fails_in_more_trials,
    is_certain,
    is_known_failure,
    is_lost,
    is_unjudged_before,
)
from evalgate.reporting.text.wording import join_words, pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalgate.models.comparison.behaviour import BehaviourDifference
    from evalgate.models.results.results import ChangeDoc, ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.reporting.text.ruling_lines import ScenarioDocKey


class ChangeWords(NamedTuple):
    """What several scenarios did, and one; `noun` is set if it is not `scenario`."""

    several: str
    one: str
    noun: str = ""

    def verb(self, number: int) -> str:
        """What so many of them did."""
        return self.one if number == 1 else self.several


class ScenarioName(NamedTuple):
    """What names a scenario in a heading, and in how many trials it fails where that decides."""

    id: str
    variant: str | None
    share: str = ""


BROKE, NEW_FAILS = ChangeWords("broke", "broke"), ChangeWords("fail", "fails", "new scenario")
UNREAD = ChangeWords("can't be read", "can't be read", "trace")
LOST_TRACE = ChangeWords(f"have {NOT_RECORDED}", f"has {NOT_RECORDED}")
LOST_EVIDENCE = ChangeWords(NOT_JUDGED, NOT_JUDGED)
NEW_WITHOUT_TRACE = ChangeWords("have no trace", "has no trace", "new scenario")
GOT_WORSE = ChangeWords("got worse", "got worse", "known failure")
MAY_BE_WORSE = ChangeWords("may have got worse", "may have got worse", "known failure")
FAILS_OTHERWISE = ChangeWords("fail another check", "fails another check", "known failure")
FAILS_MORE = ChangeWords("fail in more trials", "fails", "known failure")
FAILS_NOW = ChangeWords("fail now", "fails now")
MAY_BE_CHANCE = ChangeWords("may fail by chance", "may fail by chance")
UNEVALUATED = ChangeWords("could not be evaluated", "could not be evaluated")
REGRESSED, FIXED = ChangeWords("regressed", "regressed"), ChangeWords("fixed", "fixed")
FAILS_UNCOMPARED = ChangeWords(f"fail and {UNJUDGED_BEFORE}", f"fails and {UNJUDGED_BEFORE}")
UNCOMPARED = ChangeWords(UNJUDGED_BEFORE, UNJUDGED_BEFORE)
IMPROVED, MAY_BE_FIXED = ChangeWords("improved", "improved"), ChangeWords(MAYBE, MAYBE)
ACTS_DIFFERENTLY = ChangeWords("act differently", "acts differently")
OTHER_MODEL = ChangeWords("run with another model", "runs with another model")
OTHER_TOOLS = ChangeWords("have other tool definitions", "has other tool definitions")
OTHER_PROMPT = ChangeWords("have another system prompt", "has another system prompt")
OTHER_ASKED = ChangeWords("ask the model in another way", "asks the model in another way")
OTHER_WORDS = ChangeWords("answer with other words", "answers with other words")
ADDED, REMOVED = ChangeWords("added", "added"), ChangeWords("removed", "removed")
KNOWN_FAILURE, UNMEASURED = ChangeWords("", "", "known failure"), ChangeWords("", "", "outage")
UNCHANGED = ChangeWords("", "")

LOST = (LOST_TRACE, LOST_EVIDENCE)
BAD = (
    *(BROKE, NEW_FAILS, FAILS_NOW, FAILS_UNCOMPARED, UNREAD, GOT_WORSE, FAILS_OTHERWISE, FAILS_MORE, *LOST),
    *(NEW_WITHOUT_TRACE, MAY_BE_WORSE, MAY_BE_CHANCE, UNEVALUATED, REGRESSED),
)
"""What a person should look at, the worst first."""
GOOD = (
    *(ACTS_DIFFERENTLY, OTHER_MODEL, OTHER_ASKED, OTHER_TOOLS, OTHER_PROMPT, OTHER_WORDS),
    *(FIXED, MAY_BE_FIXED, IMPROVED, UNCOMPARED, ADDED, REMOVED),
)
ORDER = (*BAD, *GOOD)
_OF_KINDS = {
    "model": OTHER_MODEL,
    "asked": OTHER_ASKED,
    "tools": OTHER_TOOLS,
    "prompt": OTHER_PROMPT,
    "wording": OTHER_WORDS,
}
QUIET = frozenset({"asked", "tools", "prompt"})
"""Kinds of differences that are no acts, and leave a heading green."""
_OF_KNOWN = {WORSE: GOT_WORSE, OTHER: FAILS_OTHERWISE}
_OF_FAILING = {"regressed": GOT_WORSE, "broken": BROKE}
_OF_PASSING = {"regressed": REGRESSED, "broken": REGRESSED, "fixed": FIXED, "improved": IMPROVED, "new": ADDED}


def is_compared(document: ResultsDoc) -> bool:
    """Whether any scenario was compared with a baseline."""
    changes = (scenario["change"] for suite in document["suites"] for scenario in suite["scenarios"])
    return document["baseline"] is not None and (bool(document["removed"]) or any(changes))


def is_off(document: ResultsDoc) -> bool:
    """Whether a setting turned the comparison off."""
    return document["baseline"] is not None and document["baseline"]["status"] == "off"


def describe_off(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """The setting that turned the comparison off, as a phrase."""
    setting = document["baseline"].get("off_by") if document["baseline"] else ""
    return f"compared with nothing: {escape(setting or 'baseline: none')} was set"


MOST_OTHERS = 3
"""Names of baselines that a report shows."""


def describe_lack(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """That the branch should have a baseline, or has some of other names than the run asked for, as a phrase.

    Else empty.
    """
    baseline = document["baseline"]
    if baseline is None:
        return ""
    others = baseline.get("others", ())
    if runs := baseline.get("runs"):
        ran = f"{escape(baseline.get('target', ''))} has {pluralize(runs, 'successful run')} of this workflow"
        return f"compared with nothing: {ran} and no baseline: it was deleted, or none is uploaded"
    if not others:
        return ""
    left = len(others) - MOST_OTHERS
    more = [f"{left:,} more"] if left > 0 else []
    names = join_words([*map(escape, others[:MOST_OTHERS]), *more])
    branch, asked = escape(baseline.get("target", "")), escape(baseline.get("artifact", ""))
    noun = "baseline" if len(others) == 1 else "baselines"
    return f"compared with nothing: {branch} has the {noun} {names}, this run asked for {asked}"


def describe_missing_legs(document: ResultsDoc, escape: Callable[[str], str]) -> list[str]:
    """That the job's matrix has fewer legs than the baseline's had, as a phrase: what those judged is not judged."""
    baseline = document["baseline"]
    before = baseline.get("legs", 0) if baseline else 0
    gone = before - document.get("legs", before)
    if baseline is None or gone <= 0:
        return []
    verb = "does" if gone == 1 else "do"
    return [f"{gone:,} of the {before:,} legs that {escape(baseline.get('branch', ''))} has {verb} not run here"]


def describe_baseline_run(document: ResultsDoc) -> str:
    """That the baseline is of a run that somebody started by hand or again, as a phrase; else empty.

    An agent that answers at random fails in some run, if it is run often enough: what fails is known then.
    """
    baseline = document["baseline"]
    if baseline is None:
        return ""
    attempt, is_by_hand = baseline.get("attempt", 1), baseline.get("event") == "workflow_dispatch"
    run = "a run started by hand" if is_by_hand else "its run"
    return f"attempt {attempt:,} of {run}" if attempt > 1 else run if is_by_hand else ""


def find_change(scenario: ScenarioDoc, *, is_approved: bool = False) -> ChangeWords:
    """The words for what a scenario did since the baseline: only what failed a check broke."""
    change = scenario["change"]
    if change is None:
        return UNCHANGED
    if scenario["verdict"] == "PASS":
        return _find_change_of_passing(scenario, change)
    if is_known_failure(scenario, is_approved=is_approved):
        return KNOWN_FAILURE
    if change["kind"] in REGRESSIONS and is_lost(scenario):
        return LOST_TRACE if scenario["verdict"] == "MISSING" else LOST_EVIDENCE
    return _find_change_of_known(scenario, change) or _find_change_of_failing(scenario, change)


def is_unread(scenario: ScenarioDoc) -> bool:
    """Whether it is none of a suite, but stands for a trace that can't be read, so that its scenario is unknown."""
    return scenario["verdict"] == "ERROR" and scenario["location"] is None


def _find_change_of_passing(scenario: ScenarioDoc, change: ChangeDoc) -> ChangeWords:
    if change["kind"] == "inconclusive" and change["previous_verdict"] not in (None, "PASS"):
        return MAY_BE_FIXED
    found = _OF_PASSING.get(change["kind"], UNCHANGED)
    if found is ADDED and is_unjudged_before(scenario):
        return UNCOMPARED
    return name_differences(scenario.get("differences", ())) if found is UNCHANGED else found


def name_differences(differences: Iterable[BehaviourDifference]) -> ChangeWords:
    """What a scenario that passes as before does otherwise, by the gravest of its differences."""
    kinds = {each.kind for each in differences}
    if kinds - _OF_KINDS.keys():
        return ACTS_DIFFERENTLY
    return next((words for kind, words in _OF_KINDS.items() if kind in kinds), UNCHANGED)


def is_attention_due(scenario: ScenarioDoc) -> bool:
    """Whether a scenario that passes makes a heading yellow: another model, or other acts in several trials a side.

    Other acts of a single trial may be chance; other tool definitions, prompts and settings are no acts.
    """
    return any(
        each.kind == "model" or (each.kind not in QUIET and min(each.trials_before, each.trials) > 1)
        for each in scenario.get("differences", ())
    )


def _find_change_of_known(scenario: ScenarioDoc, change: ChangeDoc) -> ChangeWords | None:
    known = change.get("known_failure", "")
    if known == OTHER and scenario["verdict"] in NOT_EVALUATED:
        return LOST_TRACE if scenario["verdict"] == "MISSING" else UNEVALUATED
    if known != WORSE or change["kind"] != "inconclusive":
        return _OF_KNOWN.get(known)
    if fails_in_more_trials(change):
        return FAILS_MORE
    return GOT_WORSE if is_certain(scenario) else MAY_BE_WORSE


def _find_change_of_failing(scenario: ScenarioDoc, change: ChangeDoc) -> ChangeWords:
    if change["reason"] == NOT_MEASURED:
        return UNMEASURED
    if scenario["verdict"] == "NOT_EVALUABLE" and change["kind"] != "broken":
        return UNEVALUATED
    if is_unread(scenario):
        return UNREAD
    if change["kind"] == "new":
        fails = FAILS_UNCOMPARED if is_unjudged_before(scenario) else NEW_FAILS
        return NEW_WITHOUT_TRACE if scenario["verdict"] == "MISSING" else fails
    if change["kind"] in _OF_FAILING:
        return _OF_FAILING[change["kind"]]
    return FAILS_NOW if is_certain(scenario) else MAY_BE_CHANCE


class ScenarioChange(NamedTuple):
    """A scenario of a run, and what it did since the baseline."""

    key: ScenarioDocKey
    suite: SuiteDoc
    scenario: ScenarioDoc
    words: ChangeWords
    is_approved: bool


class RunChanges(NamedTuple):
    """How many scenarios did what since the baseline, and how each of them that fails is excused."""

    counts: Counter[ChangeWords]
    only: Mapping[ChangeWords, ScenarioName]  # of what happened to one scenario
    approved: int  # known failures that a person approved
    quarantined: int  # known failures in quarantine
    excused: int  # known failures that are one or the other
    is_same: bool  # nothing of what was compared differs
    bad: Sequence[ScenarioChange]  # those that a person should look at
    known_from: str = ""  # the run of the baseline that knows them, if it was started by hand or again

    @property
    def has_bad(self) -> bool:
        """Whether there is anything that a person should look at."""
        return any(self.counts[each] for each in BAD)

    @property
    def are_known_excused(self) -> bool:
        """Whether a person approved each known failure, or set it in quarantine."""
        return self.counts[KNOWN_FAILURE] <= self.excused

    def describe(
        self, escape: Callable[[str], str], words: tuple[ChangeWords, ...] = ORDER, *, is_named: bool = False
    ) -> list[str]:
        """Phrases that can be joined: `2 scenarios broke`, `known failure gift got worse`, `3 fixed`.

        The noun occurs once, or not at all if it `is_named`.
        """
        phrases = []
        for each in words:
            if self.counts[each]:
                noun = each.noun or ("" if is_named else "scenario")
                share = self.only[each].share if self.counts[each] == 1 else ""
                phrases.append(f"{self._format_subject(each, noun, escape)} {each.verb(self.counts[each])}{share}")
                is_named = is_named or not each.noun
        return phrases

    def _format_subject(self, words: ChangeWords, noun: str, escape: Callable[[str], str]) -> str:
        number = self.counts[words]
        if number != 1:
            return pluralize(number, noun) if noun else f"{number:,}"
        scenario = self.only[words]
        return " ".join(filter(None, [noun, escape(scenario.id), scenario.variant and escape(scenario.variant)]))

    def describe_known(self, escape: Callable[[str], str]) -> str:
        """`known failure gift`, `3 known failures, 1 of them approved`, or an empty string."""
        number = self.counts[KNOWN_FAILURE]
        if not number:
            return ""
        excused = [
            f"{'' if count == number else f'{count:,} of them '}{word}"
            for count, word in ((self.approved, "approved"), (self.quarantined, "quarantined"))
            if count
        ]
        origin = [f"by a baseline of {self.known_from}"] if self.known_from else []
        return ", ".join([self._format_subject(KNOWN_FAILURE, KNOWN_FAILURE.noun, escape), *excused, *origin])


def count_changes(document: ResultsDoc) -> RunChanges:
    """Counts what the scenarios of a run did since its baseline."""
    found = list(iter_changes(document))
    unrecorded = find_unrecorded_suites(document)
    removed = [each for each in document["removed"] if each["suite"] not in unrecorded]
    known = [each for each in found if each.words is KNOWN_FAILURE]
    counts = Counter(each.words for each in found)
    counts[REMOVED] = len(removed)
    only = {each.words: _name_scenario(each) for each in found if counts[each.words] == 1}
    if len(removed) == 1:
        only[REMOVED] = ScenarioName(removed[0]["id"], removed[0]["variant"])
    return RunChanges(
        counts,
        only,
        approved=sum(each.is_approved for each in known),
        quarantined=sum(bool(each.scenario.get("quarantined")) for each in known),
        excused=sum(each.is_approved or bool(each.scenario.get("quarantined")) for each in known),
        is_same=not removed and _is_behaviour_compared(document) and all(_is_same(each.scenario) for each in found),
        bad=[each for each in found if each.words in BAD],
        known_from=describe_baseline_run(document),
    )


def _name_scenario(each: ScenarioChange) -> ScenarioName:
    share = describe_share(each.scenario) if each.words in (BROKE, NEW_FAILS, FAILS_NOW) else ""
    if each.words is FAILS_MORE:
        share = describe_more_failures(each.scenario)
    elif each.words is ADDED:
        share = describe_new(each.scenario)
    return ScenarioName(each.scenario["id"], each.scenario["variant"], share)


def find_unrecorded_suites(document: ResultsDoc) -> set[str | None]:
    """The suites without a trace: a reason covers them, and their scenarios say nothing."""
    return {reason.get("suite") for reason in document["reasons"] if reason["code"] == "no_traces"}


def iter_changes(document: ResultsDoc) -> Iterator[ScenarioChange]:
    """What each scenario did, but for those of suites without a trace."""
    approved, unrecorded = find_approved_keys(document), find_unrecorded_suites(document)
    for suite in document["suites"]:
        for scenario in () if suite["suite"] in unrecorded else suite["scenarios"]:
            key = suite["suite"], scenario["id"], scenario["variant"]
            is_approved = key in approved
            yield ScenarioChange(key, suite, scenario, find_change(scenario, is_approved=is_approved), is_approved)


def _is_same(scenario: ScenarioDoc) -> bool:
    change = scenario["change"]
    if change is None or change["kind"] != "unchanged" or "differences" in scenario:
        return False
    if scenario["verdict"] != "PASS" and (len(scenario["trials"]) == 1 or change.get("known_failure") == OTHER):
        return False  # what a single trial that failed did is not compared
    return not change["score_delta"] and not change["increases"] and not change.get("lost")


def _is_behaviour_compared(document: ResultsDoc) -> bool:
    comparison = document.get("comparison")
    return comparison is not None and comparison.get("behaviour_compared", 0) >= comparison["compared"]
