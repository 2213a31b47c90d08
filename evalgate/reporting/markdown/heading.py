"""The first line of a report: the verdict, never better than the run was."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from evalgate.models.comparison.comparison import REGRESSIONS
from evalgate.reporting.text.approval_lines import approved_keys
from evalgate.reporting.text.scenario_sections import would_fail
from evalgate.reporting.text.wording import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.results.results import ReasonDoc, ResultsDoc, ScenarioDoc, SummaryDoc
    from evalgate.reporting.text.approval_lines import Key

QUARANTINED, APPROVED, NOT_ASKED = "quarantined", "approved", "not in fail_on"
PASSED, ATTENTION, FAILED, INVALID = "\u2705", "\U0001f7e1", "\u274c", "\u26d4"

_BLOCKING = {
    "hard_fail": "hard-failed",
    "new_hard_fail": "newly hard-failed",
    "broken": "broke",
    "below_threshold": "fell below threshold",
    "regression": "regressed",
    "not_evaluable": "could not be evaluated",
    "stale_evidence": "relied on stale evidence",
}
_UNJUDGED = {
    "no_traces": "a suite has neither traces nor scenarios",
    "nothing_evaluated": "no scenario was evaluated",
    "min_evaluated": "too few scenarios were evaluated",
    "no_baseline": "there is no baseline",
    "unreachable": "the baseline could not be fetched from GitHub",
}


class Heading(NamedTuple):
    """A sign and the sentence of the verdict."""

    sign: str
    text: str

    def __str__(self) -> str:
        return f"{self.sign} EvalGate {self.text}"


def heading(document: ResultsDoc) -> Heading:
    """Builds the verdict in one line."""
    summary = document["summary"]
    verdict = document["verdict"]
    if verdict == "invalid" or summary is None:
        return Heading(INVALID, f"could not run: {counted(len(document['reasons']), 'mistake')} in its input")
    if verdict == "fail":
        return _failed(document)
    if verdict == "cannot_judge":
        return _unjudged(document)
    return _passed(document, summary)


def unblocked_failures(summary: SummaryDoc) -> list[str]:
    """Describes what failed, as phrases that can be joined: "2 scenarios hard-failed", "3 are ..."."""
    hard = summary["hard_fails"] + summary["errors"] + summary["missing"]
    below = summary["failed"] + summary["partial"]
    found = [
        (hard, "hard-failed"),
        (below, "is below threshold" if below == 1 else "are below threshold"),
        (summary["not_evaluable"], "could not be evaluated"),
    ]
    if not any(number for number, _ in found):
        found = [(summary["regressions"], "regressed")]
    return _scenarios([(number, words) for number, words in found if number])


def _scenarios(found: list[tuple[int, str]]) -> list[str]:
    """Formats counts as `3 scenarios hard-failed`, `1 broke`: the noun occurs once."""
    return [
        f"{f'{number:,}' if index else counted(number, 'scenario')} {words}"
        for index, (number, words) in enumerate(found)
    ]


def _passed(document: ResultsDoc, summary: SummaryDoc) -> Heading:
    failures = unblocked_failures(summary)
    if failures:
        return Heading(ATTENTION, f"passed, but {listed(failures)} ({_why_not_blocked(document)})")
    if told := weaker(document):
        return Heading(ATTENTION, f"passed, but {listed(told)}")
    if not summary["scenarios"]:
        return Heading(ATTENTION, "passed, but there was nothing to evaluate")
    return Heading(PASSED, f"passed: {_all_of(summary['scenarios'])}")


def weaker(document: ResultsDoc) -> list[str]:
    """Describes what passes only because rules are weaker than the baseline's."""
    hidden = sum(would_fail(each) for suite in document["suites"] for each in suite["scenarios"])
    weakened = len(document.get("weakenings") or ())
    told = [f"{counted(hidden, 'scenario')} would fail under the baseline's rules"] if hidden else []
    if weakened:
        verb = "is" if weakened == 1 else "are"
        told.append(f"{counted(weakened, 'demand')} {verb} weaker than the baseline's")
    return told


def _why_not_blocked(document: ResultsDoc) -> str:
    scenarios = [(suite["suite"], each) for suite in document["suites"] for each in suite["scenarios"]]
    failing = [pair for pair in scenarios if pair[1]["verdict"] != "PASS"] or [
        pair for pair in scenarios if pair[1]["change"] and pair[1]["change"]["kind"] in REGRESSIONS
    ]
    approved = approved_keys(document)
    words = Counter(_excuse(suite, each, approved) for suite, each in failing)
    if len(words) == 1:
        return next(iter(words))
    excused = [f"{words[word]:,} {word}" for word in (QUARANTINED, APPROVED) if words[word]]
    return ", ".join([*excused, *([f"the rest {NOT_ASKED}"] if words[NOT_ASKED] else [])])


def _excuse(suite: str, scenario: ScenarioDoc, approved: set[Key]) -> str:
    if scenario.get("quarantined"):
        return QUARANTINED
    return APPROVED if (suite, scenario["id"], scenario["variant"]) in approved else NOT_ASKED


def _all_of(number: int) -> str:
    return "the one scenario passes" if number == 1 else f"all {number:,} scenarios pass"


def _failed(document: ResultsDoc) -> Heading:
    codes = Counter(_worst_codes(document["reasons"]))
    found = [(codes[code], words) for code, words in _BLOCKING.items() if codes[code]]
    blocking = _scenarios(found)
    if any(map(_is_of_goldens, document["reasons"])):
        blocking.append("goldens have too many critical issues")
    if any(reason["code"] == "weakened" for reason in document["reasons"]):
        blocking.append("the gate was weakened")
    what = listed(blocking) or "see the reasons below"
    if document["report_only"]:
        return Heading(FAILED, f"would fail: {what} (report-only, nothing is blocked)")
    return Heading(FAILED, f"failed: {what}")


def _is_of_goldens(reason: ReasonDoc) -> bool:
    """Whether a whole suite hard-failed, by the total of critical issues of its goldens."""
    return reason["code"] in ("hard_fail", "new_hard_fail") and not reason.get("scenario")


def _worst_codes(reasons: Sequence[ReasonDoc]) -> Iterable[str]:
    """Lists one code per scenario, the worst: one that hard-failed also broke, but counts once."""
    worst: dict[tuple[str | None, ...], str] = {}
    for code in _BLOCKING:
        for reason in reasons:
            if reason["code"] == code and not _is_of_goldens(reason):
                place = (reason.get("suite"), reason.get("scenario"), reason.get("variant"))
                worst.setdefault(place, code)
    return worst.values()


def _unjudged(document: ResultsDoc) -> Heading:
    codes = [reason["code"] for reason in document["reasons"]]
    words = [words for code, words in _UNJUDGED.items() if code in codes]
    text = f"cannot judge: {listed(words) or 'see the reasons below'}"
    return Heading(
        ATTENTION, f"{text} (report-only, nothing is blocked)" if document["report_only"] else text
    )
