"""The heading's words for what fails the gate, failed without failing it, or prevents a verdict."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.models.comparison.comparison import REGRESSIONS
from evalgate.models.run.run import HARD_FAILS
from evalgate.reporting.markdown.change_heading import describe_failed_comparison, find_shared_reason
from evalgate.reporting.text.changes import UNREAD, is_compared, is_unread
from evalgate.reporting.text.ruling_lines import OUTAGE
from evalgate.reporting.text.scenario_sections import is_lost
from evalgate.reporting.text.wording import join_words, pluralize, scenario_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.results.results import ReasonDoc, ResultsDoc, ScenarioDoc

MOST_NAMED = 3
"""Scenarios that a heading names."""
_BELOW = "below threshold"
_BLOCKING = {
    "hard_fail": "hard-failed",
    "new_hard_fail": "newly hard-failed",
    "broken": "broke",
    "below_threshold": _BELOW,
    "regression": "regressed",
    "model_changed": "got worse with a changed model or changed tools, or no longer recorded them",
    "behaviour_changed": "acted differently than in the baseline",
    "not_evaluable": "could not be evaluated",
    "stale_evidence": "relied on stale evidence",
    "duplicates": "had duplicate traces",
}
_OF_RUN = {
    "variant_regression": "a variant is worse than its control",
    "no_lift": "a variant is not better than its control",
    "weakened": "the gate was weakened",
    "nothing_recorded": "nothing new was recorded",
}
_NO_TRACE, _UNREADABLE = "has no trace", "has a trace that can't be read"
_SEVERAL = {_NO_TRACE: "have no trace", _UNREADABLE: "have traces that can't be read"}
_UNBLOCKED = ("hard-failed", "broke", _BELOW, *_SEVERAL, "could not be evaluated")
_UNJUDGED = {
    "empty_glob": "a glob of `traces` found nothing",
    "not_measured": "too many trials were not measured",
    "nothing_evaluated": "no scenario was evaluated",
    "nothing_compared": "variants could not be compared",
    "min_evaluated": "too few scenarios were evaluated",
    "no_baseline": "there is no baseline",
    "unreachable": "the baseline could not be fetched from GitHub",
}


_ONLY_COMPARISON = frozenset({"no_baseline", "unreachable"})
"""Codes of reasons for which scenarios were judged, and only not compared."""


def describe_unblocked_failures(document: ResultsDoc) -> list[str]:
    """Describes what failed, as phrases that can be joined: "2 scenarios hard-failed", "3 are ...".

    Each scenario counts once, by the worst that happened to it.
    """
    scenarios = [each for suite in document["suites"] for each in suite["scenarios"]]
    found = Counter(_find_failure(each) for each in scenarios if not is_unread(each))
    unread = _describe_unread(sum(map(is_unread, scenarios)))
    words = _UNBLOCKED if unread or any(found[each] for each in _UNBLOCKED) else ("regressed",)
    return [*_format_counts([(found[each], each) for each in words if found[each]]), *unread]


def _describe_unread(number: int) -> list[str]:
    return [f"{pluralize(number, UNREAD.noun)} {UNREAD.verb(number)}"] if number else []


def _find_failure(scenario: ScenarioDoc) -> str:
    """Returns the worst that happened to a scenario, in the words of the heading; empty if nothing did."""
    verdict, kind = scenario["verdict"], scenario["change"]["kind"] if scenario["change"] else ""
    if lack := _describe_lack(scenario):
        return lack
    if verdict in HARD_FAILS:
        return _BLOCKING["hard_fail"]
    if verdict == "NOT_EVALUABLE":
        return _BLOCKING["not_evaluable"]
    if verdict == "PASS":
        return _BLOCKING["regression"] if kind in REGRESSIONS else ""
    return _BLOCKING["broken"] if kind == "broken" else _BELOW


def _format_counts(found: list[tuple[int, str]]) -> list[str]:
    """Formats counts as `3 scenarios hard-failed`, `1 broke`: the noun occurs once."""
    return [
        f"{f'{number:,}' if index else pluralize(number, 'scenario')} {_inflect(words, number)}"
        for index, (number, words) in enumerate(found)
    ]


def _inflect(words: str, number: int) -> str:
    """Adds the verb that `below threshold` lacks, and inflects the others."""
    if words == _BELOW:
        return f"{'is' if number == 1 else 'are'} {words}"
    return words if number == 1 else _SEVERAL.get(words, words)


def describe_outages(document: ResultsDoc, escape: Callable[[str], str]) -> list[str]:
    """Names what outages left unmeasured: scenarios that the baseline measured, else a number of trials."""
    lost = [escape(each["id"]) for suite in document["suites"] for each in suite["scenarios"] if _was_measured(each)]
    if lost:
        more = [pluralize(len(lost) - MOST_NAMED, "more scenario")] if len(lost) > MOST_NAMED else []
        return [f"an outage left {join_words([*lost[:MOST_NAMED], *more])} unmeasured, unlike in the baseline"]
    trials = document["summary"].get("not_measured", 0) if document["summary"] else 0
    return [f"an outage left {pluralize(trials, 'trial')} unmeasured"] if trials else []


def is_failed_by_outage(document: ResultsDoc) -> bool:
    """Whether what an outage left unmeasured fails the gate."""
    return any(each["gates"] and each["kind"] == OUTAGE for each in document.get("weakenings") or ())


def _was_measured(scenario: ScenarioDoc) -> bool:
    """Whether an outage left a scenario without a verdict that has one in the baseline."""
    change = scenario["change"]
    is_unmeasured = scenario["verdict"] == "NOT_EVALUABLE" and bool(scenario.get("not_measured"))
    return is_unmeasured and change is not None and change["previous_verdict"] is not None


def format_all_passed(number: int) -> str:
    """That so many scenarios pass, which are all."""
    return "the only scenario passes" if number == 1 else f"all {number:,} scenarios pass"


def describe_failure(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """What fails the gate."""
    causes = list(_list_causes_of_run(document, escape))
    if is_compared(document):
        blocked = describe_failed_comparison(document, causes, escape)
    else:
        blocked = _describe_blocking(document, causes, escape)
    text = "; ".join(filter(None, [blocked, _describe_no_traces(document, escape)])) or "see the reasons below"
    if document["report_only"]:
        return f"would fail: {text} (report-only, nothing is blocked)"
    return f"failed: {text}"


def _describe_blocking(document: ResultsDoc, causes: Sequence[str], escape: Callable[[str], str]) -> str:
    """Counts the scenarios that reasons name, by the worst of each, with the reason that all of them share."""
    worst = _find_worst_codes(document["reasons"])
    scenarios: dict[tuple[str | None, ...], ScenarioDoc] = {
        (suite["suite"], each["id"], each["variant"]): each
        for suite in document["suites"]
        for each in suite["scenarios"]
    }
    unread = {key for key in worst.keys() & scenarios.keys() if is_unread(scenarios[key])}
    words = Counter(_describe_block(scenarios.get(key), code) for key, code in worst.items() if key not in unread)
    found = _format_counts([(words[each], each) for each in (*_BLOCKING.values(), *_SEVERAL) if words[each]])
    failed = [scenarios[key] for key in worst if key in scenarios]
    if words[_NO_TRACE] and len(failed) == len(worst) == 1:
        found = [f"scenario {escape(scenario_name(failed[0]['id'], failed[0]['variant']))} {_NO_TRACE}"]
    is_alone = not (unread or causes or _describe_no_traces(document, escape)) and len(failed) == len(worst)
    reason = find_shared_reason(failed, escape) if is_alone else ""
    return f"{join_words([*found, *_describe_unread(len(unread)), *causes])}{f': {reason}' if reason else ''}"


def _describe_block(scenario: ScenarioDoc | None, code: str) -> str:
    """What blocks a scenario: if no check failed, what is missing."""
    is_about_checks = code in ("hard_fail", "new_hard_fail", "below_threshold")
    lack = _describe_lack(scenario) if scenario is not None and is_about_checks else ""
    return lack or _BLOCKING[code]


def _describe_lack(scenario: ScenarioDoc) -> str:
    """What a scenario lacks that fails only for lack of evidence; empty for any other."""
    if scenario["verdict"] == "PASS" or not is_lost(scenario):
        return ""
    words = {"MISSING": _NO_TRACE, "ERROR": _UNREADABLE}
    return words.get(scenario["verdict"], _BLOCKING["not_evaluable"])


def _list_causes_of_run(document: ResultsDoc, escape: Callable[[str], str]) -> Iterator[str]:
    """What fails the gate beside single scenarios."""
    if any(map(_is_golden_suite_reason, document["reasons"])):
        yield "goldens have too many critical issues"
    codes = {reason["code"] for reason in document["reasons"]}
    if is_failed_by_outage(document):
        yield from describe_outages(document, escape)
        if not any(each["gates"] and each["kind"] != OUTAGE for each in document.get("weakenings") or ()):
            codes.discard("weakened")
    yield from (words for code, words in _OF_RUN.items() if code in codes)


def _is_golden_suite_reason(reason: ReasonDoc) -> bool:
    """Whether a whole suite hard-failed, by the total of critical issues of its goldens."""
    return reason["code"] in ("hard_fail", "new_hard_fail") and not reason.get("scenario")


def _find_worst_codes(reasons: Sequence[ReasonDoc]) -> dict[tuple[str | None, ...], str]:
    """Finds one code per scenario, the worst: one that hard-failed also broke, but counts once."""
    worst: dict[tuple[str | None, ...], str] = {}
    for code in _BLOCKING:
        for reason in reasons:
            if reason["code"] == code and not _is_golden_suite_reason(reason):
                key = (reason.get("suite"), reason.get("scenario"), reason.get("variant"))
                worst.setdefault(key, code)
    return worst


def _describe_no_traces(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """Names the globs that found nothing, of the first suite; empty if each suite has traces."""
    names = [reason.get("suite") for reason in document["reasons"] if reason["code"] == "no_traces"]
    if not names:
        return ""
    globs = next((suite.get("unmatched") for suite in document["suites"] if suite["suite"] == names[0]), None)
    found = f": nothing matches {_format_globs(globs, escape)}" if globs else ""
    more = f" (and for {pluralize(len(names) - 1, 'more suite')})" if len(names) > 1 else ""
    return f"no traces found{found}{more}"


def _format_globs(text: str, escape: Callable[[str], str]) -> str:
    """Escapes globs and the folder below which they search, each by itself."""
    globs, below, folder = text.rpartition(" below ")
    if not globs:
        return escape(text)
    return f"{escape(globs)}{below}{folder if folder == 'the working directory' else escape(folder)}"


def describe_missing_verdict(document: ResultsDoc, escape: Callable[[str], str]) -> str:
    """Why there is no verdict, and how many scenarios pass where only the comparison is missing."""
    codes = [reason["code"] for reason in document["reasons"]]
    no_traces = _describe_no_traces(document, escape)
    words = [*([no_traces] if no_traces else []), *(words for code, words in _UNJUDGED.items() if code in codes)]
    what = " what changed" if codes and {*codes} <= _ONLY_COMPARISON else ""
    text = f"cannot judge{what}: {'; '.join(words) if no_traces else join_words(words) or 'see the reasons below'}"
    summary = document["summary"]
    if summary and summary["scenarios"] and {*codes} <= _ONLY_COMPARISON:
        number, passed = summary["scenarios"], summary["passed"]
        some = f"{passed:,} of {pluralize(number, 'scenario')} pass"
        text += f"; {format_all_passed(number) if passed == number else some}"
    if document["report_only"]:
        return f"{text} (report-only, nothing is blocked)"
    return text
