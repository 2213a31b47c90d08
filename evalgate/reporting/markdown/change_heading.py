"""The heading's words for a run that was compared with a baseline: what changed comes first."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.text.plain_text import mark_part
from evalgate.models.run.run import HOLDS_NOT, UNWANTED
from evalgate.reporting.markdown.statistics_rows import list_growth
from evalgate.reporting.text.changes import (
    ACTS_DIFFERENTLY,
    BAD,
    BROKE,
    FAILS_MORE,
    FAILS_NOW,
    FAILS_OTHERWISE,
    FAILS_UNCOMPARED,
    GOOD,
    GOT_WORSE,
    KNOWN_FAILURE,
    LOST_EVIDENCE,
    MAY_BE_CHANCE,
    MAY_BE_WORSE,
    NEW_FAILS,
    OTHER_WORDS,
    REMOVED,
    UNEVALUATED,
    ChangeWords,
    RunChanges,
    count_changes,
    iter_changes,
)
from evalgate.reporting.text.ruling_lines import REMOVALS, format_limit
from evalgate.reporting.text.scenario_sections import describe_more_failures, find_failed_checks, list_grave_reasons
from evalgate.reporting.text.sentences import escape_like_names, unmark_parts
from evalgate.reporting.text.wording import identify_reason, join_words, pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from evalgate.models.results.results import ReasonDoc, ResultsDoc, ScenarioDoc
    from evalgate.models.results.results_sections import ApprovalDoc
    from evalgate.reporting.text.changes import ScenarioChange

OTHER_CAUSES = {
    "regression": "went over a limit on",
    "model_changed": "got worse with a changed model or changed tools, or no longer recorded them",
    "not_evaluable": "could not be evaluated",
    "stale_evidence": "relied on stale evidence",
    "duplicates": "had duplicate traces",
}
"""What blocks a scenario of which no change says so, by the code of the reason."""


SHORT_SHA = 7
_SHORT = re.compile(f"[0-9a-f]{{{SHORT_SHA}}}")
MOST_EXPLAINED, MAX_REASON = 1_000, 100
"""Scenarios of which a heading looks for one reason, and its characters."""
_WITH_REASON = (
    *(BROKE, NEW_FAILS, FAILS_NOW, FAILS_UNCOMPARED, GOT_WORSE, FAILS_OTHERWISE, FAILS_MORE),
    *(MAY_BE_WORSE, MAY_BE_CHANCE, UNEVALUATED),
)


_NOT_COUNTED = frozenset({"void", "expired"})
"""Statuses of approvals of a scenario that fails all the same."""


class ComparisonWords(NamedTuple):
    """What changed, the same in words, whether anything did, and what follows an excuse: why, and what else did."""

    changes: RunChanges
    text: str
    is_changed: bool
    more: str = ""


def describe_comparison(document: ResultsDoc, escape: Callable[[str], str]) -> ComparisonWords:
    """What changed since the baseline."""
    changes, growth = count_changes(document), list_growth(document)
    if reason := describe_reason(changes, escape):
        good = changes.describe(escape, _list_good(document, changes), is_named=True)
        return ComparisonWords(
            changes, join_words(changes.describe(escape, BAD)), is_changed=True, more=_join_reason(reason, good, growth)
        )
    phrases = changes.describe(escape, (*BAD, *_list_good(document, changes)))
    what = _describe_only_difference(document, escape) if len(phrases) == changes.counts[ACTS_DIFFERENTLY] == 1 else ""
    found = [*filter(None, [f"{join_words(phrases)}{what}"]), *growth]
    return ComparisonWords(changes, "; ".join(found) or describe_no_change(document, changes, escape), bool(found))


def describe_reason(changes: RunChanges, escape: Callable[[str], str]) -> str:
    """The first reason of the scenario that is bad, or the one that all bad ones share, cut; else empty."""
    if any(each.words not in _WITH_REASON for each in changes.bad):
        return ""
    return find_shared_reason([each.scenario for each in changes.bad], escape)


def find_shared_reason(scenarios: Sequence[ScenarioDoc], escape: Callable[[str], str]) -> str:
    """The gravest reason that all scenarios share, cut; else a check that fails in all, or nothing."""
    shared: dict[Hashable, str] = {}
    for number, each in enumerate(scenarios if len(scenarios) <= MOST_EXPLAINED else ()):
        reasons = [reason for reason in list_grave_reasons(each) if reason]
        if number:
            found = {*map(identify_reason, reasons)}
            shared = {key: reason for key, reason in shared.items() if key in found}
        else:
            shared = {identify_reason(reason): reason for reason in reasons}
        if not shared:
            return _name_shared_check(scenarios, escape)
    return cut_sentence(next(iter(shared.values()), ""), escape)


def _name_shared_check(scenarios: Sequence[ScenarioDoc], escape: Callable[[str], str]) -> str:
    """That a check fails in all scenarios, each time for another reason; empty if none does."""
    names = [
        [check.name for check in find_failed_checks(each) if check.first.outcome == "failed"] for each in scenarios
    ]
    shared = next((name for name in names[0] if all(name in others for others in names[1:])), None)
    return "" if shared is None else f"{cut_sentence(mark_part(shared), escape)} fails"


def cut_sentence(sentence: str, escape: Callable[[str], str]) -> str:
    """A sentence of at most `MAX_REASON` characters for a heading, with its untrusted parts escaped."""
    if len(sentence) > MAX_REASON:
        cut = sentence[:MAX_REASON].rpartition(" ")[0] or sentence[:MAX_REASON]
        begun = cut.rfind(" (")  # of what stands in brackets not half, unless that is most of it
        is_half = begun > max(cut.rfind(")"), MAX_REASON // 2)
        sentence = f"{cut[:begun] if is_half else cut} \u2026"
    return escape_like_names(sentence, escape) if sentence else ""


def _describe_only_difference(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """What the only scenario that acts differently does, after a colon."""
    from evalgate.reporting.text.behaviour_lines import describe_first_act

    differing = next(each.scenario for each in iter_changes(document) if each.words is ACTS_DIFFERENTLY)
    return f": {cut_sentence(describe_first_act(differing), escape)}"


def _join_reason(reason: str, good: Sequence[str], growth: Sequence[str]) -> str:
    return "; ".join([f": {reason}", *filter(None, [join_words(list(good))]), *growth])


def _list_good(document: ResultsDoc, changes: RunChanges) -> tuple[ChangeWords, ...]:
    """What needs no look; a removal does if it is a weakening, which the heading names by itself.

    Other words around the same values are left out beside what is bad: they may be chance.
    """
    kinds = {each["kind"] for each in document.get("weakenings") or ()}
    is_stated = not kinds.isdisjoint(REMOVALS) and all(each["code"] != "weakened" for each in document["reasons"])
    left_out = {*([REMOVED] if is_stated else []), *([OTHER_WORDS] if changes.has_bad else [])}
    return tuple(each for each in GOOD if each not in left_out)


def describe_no_change(document: ResultsDoc, changes: RunChanges, escape: Callable[[str], str]) -> str:
    """That nothing changed, as far as it was compared, and on how many recordings that rests if all are new."""
    since, recordings = f"since {name_baseline(document, escape)}", document.get("recordings")
    if not changes.is_same:
        return f"no verdict changed {since}"
    if (origins := document.get("origins")) and origins["is_asked"]:
        return "; ".join([f"no change {since}", *describe_origins(document)])
    are_new = recordings is not None and not recordings["unchanged"]
    number = f" in {pluralize(recordings['of'], 'new trace')}" if recordings and are_new else ""
    return f"no change {since}{number}"


def describe_origins(document: ResultsDoc) -> list[str]:
    """How many traces were replayed, or made at another commit, as phrases."""
    found = document.get("origins")
    if not found:
        return []
    replayed = [f"{_count_recordings(found['replayed'], found['of'])} replayed from cassettes"]
    names = [*filter(_SHORT.fullmatch, found["commits"])]
    where = f"commit{'s' if len(names) > 1 else ''} {join_words(names)}" if names else "another commit"
    this = judged if _SHORT.fullmatch(judged := (document["commit"] or "")[:SHORT_SHA]) else "this one"
    made = [f"{_count_recordings(found['elsewhere'], found['of'])} made at {where}, not at {this}"]
    return [*(replayed if found["replayed"] else []), *(made if found["elsewhere"] else [])]


def _count_recordings(number: int, of: int) -> str:
    if of == 1:
        return "the only trace was"
    which = f"all {of:,}" if number == of else f"{number:,} of {of:,}"
    return f"{which} traces {'was' if number == 1 else 'were'}"


def name_baseline(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """The branch of the baseline, if it is known."""
    branch = document["baseline"].get("branch") if document["baseline"] else None
    return escape(branch) if branch else "the baseline"


def describe_failed_comparison(document: ResultsDoc, causes: Sequence[str], escape: Callable[[str], str]) -> str:
    """What changed and fails the gate, then what else did; `causes` are those of the run as a whole."""
    changes, blocking = count_changes(document), list(_iter_blocking(document))
    bad = [*changes.describe(escape, BAD), *_describe_other_causes(document, blocking), *causes]
    new = [each for each in blocking if each.words is not KNOWN_FAILURE]
    good, growth = changes.describe(escape, _list_good(document, changes), is_named=bool(bad)), list_growth(document)
    is_alone = len(bad) == len(changes.describe(escape, BAD))  # else it would not be clear of what it is the reason
    uncovered = _describe_uncovered(document, escape)
    reason = "" if uncovered or not is_alone else describe_reason(changes, escape)
    phrases = uncovered or join_words(bad if reason else [*bad, *good])
    text = "; ".join([phrases or describe_no_change(document, changes, escape), *([] if reason else growth)])
    known = changes.describe_known(escape)
    if known and not new and not causes and blocking:
        left = changes.counts[KNOWN_FAILURE] - len(blocking)
        who = f"{len(blocking):,} of {known}" if left else known
        verb = "blocks" if len(blocking) == 1 else "block"
        if are_proposed(document):
            return f"{text}; {who} {verb}: {_describe_proposed(document)}"
        return f"{text}, but {who} still {verb}"
    lost = _name_lost(new)
    if lost and len(lacking := _find_lacking(document)) > len(new):
        reason_of = _explain_lost(new)
        text, lost = f"{lost} in {pluralize(len(lacking), 'scenario')}; {text}{reason_of}", ""
    aside = "; ".join(filter(None, [lost, _describe_other_agent(document, new), known]))
    return f"{text}{f' ({aside})' if aside else ''}{_join_reason(reason, good, growth) if reason else ''}"


def _iter_blocking(document: ResultsDoc) -> Iterator[ScenarioChange]:
    """The scenarios that reasons name."""
    named = {_key(each) for each in document["reasons"] if each["code"] != "weakened"}
    return (each for each in iter_changes(document) if each.key in named)


def _key(reason: ReasonDoc) -> tuple[str | None, ...]:
    return reason.get("suite"), reason.get("scenario"), reason.get("variant")


def _describe_other_causes(document: ResultsDoc, blocking: Iterable[ScenarioChange]) -> Iterator[str]:
    codes: dict[tuple[str | None, ...], str] = {}
    for reason in document["reasons"]:
        if reason["code"] in OTHER_CAUSES:
            codes.setdefault(_key(reason), reason["code"])
    is_explained = {*BAD, KNOWN_FAILURE}
    left = [each for each in blocking if each.words not in is_explained and each.key in codes]
    counts = Counter(codes[each.key] for each in left)
    for code, words in OTHER_CAUSES.items():
        if counts[code]:
            amounts = f" {join_words(_list_exceeded(left))}" if code == "regression" else ""
            yield f"{pluralize(counts[code], 'scenario')} {words}{amounts}"


def _list_exceeded(found: Iterable[ScenarioChange]) -> list[str]:
    """The amounts that grew over a limit: cost, latency or tokens."""
    increases = (each for one in found if one.scenario["change"] for each in one.scenario["change"]["increases"])
    return list(dict.fromkeys(each.partition(" ")[0] for each in increases))


def _list_lost(blocking: Sequence[ScenarioChange]) -> set[str]:
    """The figures that the baseline has and that scenarios which can't be judged any more lack."""
    changes = (each.scenario["change"] for each in blocking if each.words is LOST_EVIDENCE)
    return {lost["figure"] for change in changes if change for lost in change.get("lost", ())}


def _explain_lost(blocking: Sequence[ScenarioChange]) -> str:
    """Why these can't be judged, of all that lack the figure; empty if they lack several."""
    figures = _list_lost(blocking)
    verb = "it checks" if len(blocking) == 1 else "they check"
    return f", as {verb} the {figures.pop()}" if len(figures) == 1 else ""


def _name_lost(blocking: Sequence[ScenarioChange]) -> str:
    """The same in words; may be empty."""
    figures = _list_lost(blocking)
    verb = "is" if len(figures) == 1 else "are"
    return f"{join_words(sorted(figures))} {verb} no longer recorded" if figures else ""


def _find_lacking(document: ResultsDoc) -> list[ScenarioDoc]:
    """The scenarios that lack a figure of the baseline in all trials."""
    changes = ((each.scenario, each.scenario["change"]) for each in iter_changes(document))
    return [
        scenario
        for scenario, change in changes
        if change and any(each["missing"] == each["trials"] for each in change.get("lost", ()))
    ]


def _describe_other_agent(document: ResultsDoc, blocking: Iterable[ScenarioChange]) -> str:
    """How many block because they got worse with another model or other tools, and for nothing worse."""
    codes: dict[tuple[str | None, ...], str] = {}
    for reason in document["reasons"]:
        codes.setdefault(_key(reason), reason["code"])
    number = sum(each.words in BAD and codes[each.key] == "model_changed" for each in blocking)
    return f"{number:,} of them with a changed model or changed tools" if number else ""


def are_proposed(document: ResultsDoc) -> bool:
    """Whether this pull request proposes to approve all that blocks."""
    blocking = list(_iter_blocking(document)) if document["approvals"] else []
    proposed = {(each["suite"], each["scenario"]) for each in document["approvals"] if each["status"] == "proposed"}
    return bool(blocking) and all(each.key[:2] in proposed for each in blocking)


def find_void_approvals(document: ResultsDoc) -> list[ApprovalDoc]:
    """The approvals that do not count of scenarios that block."""
    blocking = {(each.get("suite"), each.get("scenario")) for each in document["reasons"]}
    void = (each for each in document["approvals"] if each["status"] in _NOT_COUNTED)
    return [each for each in void if (each["suite"], each["scenario"]) in blocking]


def split_void(approval: ApprovalDoc) -> tuple[str, str]:
    """Why an approval does not count, and the names of the checks that it does not cover; these may be empty."""
    cause, _, names = unmark_parts(approval["message"]).partition(": ")
    return cause, names


def describes_uncovered(document: ResultsDoc) -> bool:
    """Whether one scenario is all that blocks and is to be looked at, and an approval does not cover it."""
    return _find_uncovered(document) is not None


def _find_uncovered(document: ResultsDoc) -> tuple[ApprovalDoc, ScenarioChange] | None:
    """The one approval that does not cover checks of the one scenario that blocks and is bad; None if there is more."""
    void = find_void_approvals(document)
    if len(void) != 1 or not split_void(void[0])[1]:
        return None
    blocking, bad = list(_iter_blocking(document)), count_changes(document).bad
    is_one = len(blocking) == len(bad) == 1 and blocking[0].key == bad[0].key
    return (void[0], bad[0]) if is_one else None


def _describe_uncovered(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """What the one scenario fails by, after the approval that does not cover it; empty if there is none."""
    found = _find_uncovered(document)
    if found is None:
        return ""
    approval, bad = found
    names = split_void(approval)[1]
    checks = find_failed_checks(bad.scenario)
    reason = next((each.first.reason for each in checks if each.name == names), "")
    if not reason or reason.startswith((UNWANTED, HOLDS_NOT)):
        reason = mark_part(names)
    who = f"fails a check that the approval of {escape(approval['who'])} does not cover"
    name = " ".join(escape(each) for each in (bad.scenario["id"], bad.scenario["variant"]) if each)
    share = describe_more_failures(bad.scenario)
    noun = bad.words.noun or "scenario"
    return f"{noun} {name} {who}{f',{share}' if share else ''}: {cut_sentence(reason, escape)}"


def _describe_proposed(document: ResultsDoc) -> str:
    """That the approvals which this pull request proposes don't count for its own check, and the score of one."""
    proposed = [each for each in document["approvals"] if each["status"] == "proposed"]
    if len(proposed) > 1:
        return "the approvals proposed here count only once merged"
    return f"the approval proposed here ({format_limit(proposed[0])}) counts only once merged"


def find_not_blocked(document: ResultsDoc) -> list[tuple[str, ScenarioDoc]]:
    """The scenarios that a passing run excuses: what is known already needs no excuse."""
    return [
        (str(each.key[0]), each.scenario)
        for each in iter_changes(document)
        if each.scenario["change"] is None or each.words is not KNOWN_FAILURE
    ]
