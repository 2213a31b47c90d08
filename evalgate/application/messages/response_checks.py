"""Checks the parts of an answer; by hand, since the process must start fast."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn, cast

from evalgate.errors import JudgeCrashed
from evalgate.gate.decision.counts import find_wrong_count
from evalgate.models.comparison.decision import EXCUSES, VERDICTS, exit_code_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalgate.application.messages.request import JudgeRequest
    from evalgate.models.results.results import ResultsDoc

EXIT_CODES = {"pass": {0}, "fail": {1}, "cannot_judge": {3, 4}, "invalid": {2}}
CHANGES = ("broken", "fixed", "improved", "new", "regressed", "removed")
COUNTED = (
    *("scenarios", "passed", "failed", "partial", "hard_fails", "missing", "errors", "not_evaluable"),
    *("skipped", "regressions", "improvements", *CHANGES),
)
FIGURES = ("score", "pass_rate", "cost_usd", "latency_p50_s", "latency_p95_s", "total_tokens")
GATING = {
    "below_threshold": ("failed", "partial"),
    "broken": ("broken",),
    "regression": ("regressed", "broken"),
}
"""Words of `fail_on` with the counts of scenarios that fail the gate then, if nothing excuses them."""
FOUND = frozenset({"exact", "ancestor", "latest", "drifted", "given"})
FIRST_SUITE = b',"suites":['
STATUSES = frozenset({"exact", "ancestor", "latest", "drifted", "given", "expired", "unreachable", "none"})
SHA = re.compile(r"[0-9a-fA-F]{4,64}")
MOST = 1_000
MOST_REASONS = 500_000
LONGEST = 100_000
LARGEST = 1e100
MOST_CONTAINERS, MOST_VALUES = 3_000_000, 15_000_000
"""Most brackets and commas in JSON of the judge, as in a results document."""


def invalid_answer(what: str) -> JudgeCrashed:
    """The error for an answer that the judge never gives."""
    return JudgeCrashed("UnfitAnswer", [f"invalid response of the judge: {what}"])


def results_of(plain: Any, *, report_only: bool | None = None) -> ResultsDoc:
    """The results in an answer, without suites; exit code 0 without a pass needs report-only.

    `report_only` is whether this run is report-only, None for another run's answer.
    """
    results = record(plain, "results")
    verdict, code = results.get("verdict"), results.get("exit_code")
    allowed = EXIT_CODES.get(verdict) if isinstance(verdict, str) else None
    if allowed is None or type(code) is not int or type(results.get("report_only")) is not bool:
        raise invalid_answer("its verdict")
    if report_only is None:
        report_only = results["report_only"]
    if results["report_only"] is not report_only:
        raise invalid_answer("its report-only setting")
    if code not in allowed and not (report_only and code == 0 and verdict != "invalid"):
        raise invalid_answer("its exit code does not match its verdict")
    if (results.get("summary") is None) is not (verdict == "invalid"):
        raise invalid_answer("its summary does not match its verdict")
    for reason in items(results, "reasons", MOST_REASONS):
        texts(record(reason, "reason"), ("code", "message"), ("suite", "scenario", "variant"))
    if results["summary"] is not None:
        _summary(record(results["summary"], "summary"))
    if results.get("baseline", "") is not None:
        _baseline(record(results.get("baseline"), "baseline"))
    return cast("ResultsDoc", results)


def check_decision(results: ResultsDoc) -> None:
    """Computes verdict and exit code again from the reasons and counts of a run of this process.

    Raises JudgeCrashed if they are others, or if a run passes that evaluated nothing.
    """
    codes = {reason["code"] for reason in results["reasons"]}
    summary = results["summary"]
    if summary is None:
        if not codes:
            raise invalid_answer("it is invalid for no reason")
        return
    code = exit_code_of(codes)
    if results["verdict"] != VERDICTS[code]:
        raise invalid_answer("its verdict does not follow from its reasons")
    if results["exit_code"] != (0 if results["report_only"] else code):
        raise invalid_answer("its exit code does not follow from its reasons")
    evaluated = summary["passed"] + summary["partial"] + summary["failed"] + summary["hard_fails"]
    if results["verdict"] == "pass" and not (evaluated and summary.get("quarantined", 0) < summary["scenarios"]):
        raise invalid_answer("it passes, and evaluated no scenario that counts")


def check_excuses(results: ResultsDoc, excused: Mapping[str, int], request: JudgeRequest) -> None:
    """Raises JudgeCrashed if a run passes with hard fails that nothing excuses, or with excuses it can't have.

    Who asks knows whether there are approvals, and the `fail_on` that it asked for.
    """
    summary = results["summary"]
    if results["verdict"] != "pass" or summary is None:
        return
    quarantined, approved, not_gating = (excused.get(name, 0) for name in EXCUSES)
    if quarantined + approved + not_gating != summary["hard_fails"] + summary["errors"] + summary["missing"]:
        raise invalid_answer("it passes with hard fails that nothing excuses")
    if quarantined > summary.get("quarantined", 0):
        raise invalid_answer("more is excused by quarantine than is in quarantine")
    if approved > (summary["hard_fails"] if request.has_approvals else 0):
        raise invalid_answer("more is approved than can be")
    if not_gating and "hard_fail" in (request.fail_on or ()):
        raise invalid_answer("it passes with hard fails, which `fail-on` names")
    for word in request.fail_on or ():
        failed = sum(count(dict(summary)[name]) for name in GATING.get(word, ()))
        if failed > summary.get("quarantined", 0) and not request.has_approvals:
            raise invalid_answer(f"it passes with {failed} that `fail-on` names ({word})")


def check_subject(results: ResultsDoc, request: JudgeRequest) -> None:
    """Raises JudgeCrashed if the answer is about another commit, or about another baseline than it was given."""
    if results.get("commit") != request.commit:
        raise invalid_answer("its commit")
    compared, given = results["baseline"], request.baseline
    if compared is None:
        return
    if given is None or (given.sha is not None and compared["sha"] not in (None, given.sha)):
        raise invalid_answer("its baseline is not the one that it was given")
    if compared["status"] in FOUND and given.status not in FOUND:
        raise invalid_answer("its baseline was not found")


def check_head(results: ResultsDoc, pieces: Iterable[bytes]) -> None:
    """Raises JudgeCrashed if results.json has another verdict than the answer: other tools read it."""
    head = bytearray()
    at = -1
    for piece in pieces:
        searched = max(0, len(head) - len(FIRST_SUITE))
        head += piece
        at = head.find(FIRST_SUITE, searched)
        if at >= 0:
            break
    written = parse_json(bytes(head[: max(at, 0)]) + b"}")
    for name in ("verdict", "exit_code", "report_only", "summary"):
        if not isinstance(written, dict) or name not in written or written[name] != dict(results)[name]:
            raise invalid_answer(f"its {name} is another one in results.json")


def parse_json(content: bytes) -> Any:
    """Parses JSON of the judge. Raises JudgeCrashed if it is invalid, or would take far more memory than bytes."""
    if content.count(b"[") + content.count(b"{") > MOST_CONTAINERS or content.count(b",") > MOST_VALUES:
        raise invalid_answer("it holds more values than any run")
    try:
        return json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise invalid_answer("it is not valid JSON") from None


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


def _summary(summary: dict[str, Any]) -> None:
    for name in COUNTED:
        count(summary.get(name))
    if "quarantined" in summary:
        count(summary["quarantined"])
    if wrong := find_wrong_count(summary):
        raise invalid_answer(wrong)
    for name in FIGURES:
        figure = summary.get(name, "")
        if figure is not None and (type(figure) not in (int, float) or not abs(figure) < LARGEST):
            raise invalid_answer(f"its {name}")


def _baseline(baseline: dict[str, Any]) -> None:
    sha = baseline.get("sha")
    if baseline.get("status") not in STATUSES or (sha is not None and not SHA.fullmatch(text(sha))):
        raise invalid_answer("its baseline")
    for name in ("age_seconds", "distance"):
        if baseline.get(name) is not None:
            count(baseline[name])
    drift = baseline.get("drift")
    if drift is not None and type(record(drift, "drift").get("suites")) is not bool:
        raise invalid_answer("its drift")


def record(plain: Any, what: str) -> dict[str, Any]:
    """Checks that the value is an object."""
    if not isinstance(plain, dict):
        raise invalid_answer(f"its {what} is not an object")
    return plain


def items(answer: dict[str, Any], name: str, most: int = MOST) -> list[Any]:
    """Checks that the value is a list that is not too long."""
    found = answer.get(name)
    if not isinstance(found, list) or len(found) > most:
        raise invalid_answer(f"{name} is not a list, or too long")
    return found


def parts(plain: Any, number: int) -> list[Any]:
    """Checks that the value is a list of that length."""
    if not isinstance(plain, list) or len(plain) != number:
        raise invalid_answer("a list has the wrong length")
    return plain


def texts(plain: dict[str, Any], needed: tuple[str, ...], optional: tuple[str, ...]) -> None:
    """Checks that fields are text; optional ones may be missing."""
    for name in needed:
        text(plain.get(name))
    for name in optional:
        maybe_text(plain.get(name))


def text(plain: Any) -> str:
    """Checks that the value is text of bounded length."""
    if not isinstance(plain, str) or len(plain) > LONGEST:
        raise invalid_answer("a text is missing or too long")
    return plain


def maybe_text(plain: Any) -> str | None:
    """The same, or None."""
    return None if plain is None else text(plain)


def count(plain: Any) -> int:
    """Checks that the value is a non-negative integer."""
    if type(plain) is not int or not 0 <= plain < 10**15:
        raise invalid_answer("a count is missing or out of range")
    return plain


def maybe_count(plain: Any) -> int | None:
    """The same, or None."""
    return None if plain is None else count(plain)
