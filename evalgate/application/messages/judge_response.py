"""Answers of a judge in another process: encoded there; decoded and checked here, for they are untrusted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.application.messages.request import Judgement, RenderedReport
from evalgate.application.messages.response_checks import (
    LONGEST,
    MOST,
    check_decision,
    check_excuses,
    check_subject,
    count,
    invalid_answer,
    items,
    maybe_count,
    maybe_text,
    parts,
    record,
    results_of,
    text,
)
from evalgate.errors import JudgeCrashed, Location, Problem, SettingError
from evalgate.models.github import Annotation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.application.messages.request import JudgeRequest
    from evalgate.errors import InvalidInput
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content

FILES = ("results.json", "comment.md", "summary.md", "junit.xml", "results.sarif")
"""Files of a judgement, besides its baseline."""
LEVELS = frozenset({"error", "warning", "notice"})
RESULT_KEYS = (
    *("schema", "evalgate_version", "created_at", "commit", "verdict", "exit_code", "report_only"),
    *("reasons", "summary", "baseline"),
)
"""Fields of the results needed after judging; scenarios are in the file."""
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
PLACE = re.compile(r"[A-Za-z0-9_.<>-]{1,80}:[0-9]{1,6} in [A-Za-z0-9_<>]{1,80}")

# --- encoded by the judge -----------------------------------------------------


def encode_judgement(judgement: Judgement) -> dict[str, Any]:
    """A judgement without its files, which are sent separately, and its suites, which are in results.json."""
    return {
        "results": _without_suites(judgement.results),
        "heading": judgement.heading,
        "annotations": [list(each) for each in judgement.annotations[:MOST]],
        "problems": [_encode_problem(each) for each in judgement.problems[:MOST]],
        "warnings": [each[:LONGEST] for each in judgement.warnings[:MOST]],
        "files": list(judgement.files),
        "baseline": judgement.baseline_zip is not None,
        "excused": dict(judgement.excused),
    }


def encode_report(report: RenderedReport) -> dict[str, Any]:
    """A rendered report without its texts, which are sent separately; free of untrusted text."""
    warnings = [each[:LONGEST] for each in report.warnings[:MOST]]
    results = {**_without_suites(report.results), "baseline": None, "reasons": []}
    return {"results": results, "warnings": warnings}


def encode_refusal(refusal: InvalidInput) -> dict[str, Any]:
    """Input that can't be used."""
    return {"refused": [_encode_problem(each) for each in refusal.problems[:MOST]]}


def encode_bug(kind: str, places: Sequence[str]) -> dict[str, Any]:
    """An error in EvalGate's code, and where it was raised."""
    return {"bug": kind, "places": list(places)}


def _without_suites(results: ResultsDoc) -> dict[str, Any]:
    whole = dict(results)
    left = {name: list[Any]() for name in ("suites", "removed", "unclaimed", "warnings", "approvals")}
    return {**{name: whole[name] for name in RESULT_KEYS}, **left, "command": None}


def _encode_problem(problem: Problem) -> list[Any]:
    place = list(problem.location) if problem.location else None
    return [problem.message[:LONGEST], place, problem.hint and problem.hint[:LONGEST]]


# --- decoded by the parent process --------------------------------------------


def decode_judgement(
    answer: Any, file: Callable[[str], Content | None], request: JudgeRequest, *, baseline_zip: str | None
) -> Judgement:
    """Decodes the judgement in an answer to the request.

    Raises SettingError for unusable input, JudgeCrashed for a bug or an invalid answer.
    """
    answer = _check_answer(answer)
    results = results_of(answer.get("results"), report_only=request.report_only)
    check_decision(results)
    check_subject(results, request)
    excused = {name: count(value) for name, value in record(answer.get("excused"), "excuses").items()}
    check_excuses(results, excused, request)
    known = FILES if request.sarif else FILES[:-1]
    names = [name for name in items(answer, "files") if name in known]
    files = {name: content for name in names if (content := file(name)) is not None}
    if "results.json" not in files:
        raise invalid_answer("it has no results")
    return Judgement(
        results,
        files,
        heading=text(answer.get("heading")),
        annotations=[_decode_annotation(each) for each in items(answer, "annotations")],
        problems=[_decode_problem(each) for each in items(answer, "problems")],
        baseline_zip=baseline_zip if answer.get("baseline") is True and request.make_baseline_zip else None,
        warnings=[text(each) for each in items(answer, "warnings")],
        excused=excused,
    )


def decode_report(answer: Any, file: Callable[[str], bytes | None]) -> RenderedReport:
    """Decodes the report in an answer; raises the same errors."""
    answer = _check_answer(answer)
    comment, summary = file("comment.md"), file("summary.md")
    if comment is None or summary is None:
        raise invalid_answer("it has no comment")
    return RenderedReport(
        results_of(answer.get("results")),
        comment.decode(errors="replace"),
        summary.decode(errors="replace"),
        [text(each) for each in items(answer, "warnings")],
    )


def _check_answer(plain: Any) -> dict[str, Any]:
    """Returns the answer, unless it reports a bug or unusable input."""
    answer = record(plain, "answer")
    if "bug" in answer:
        kind = answer["bug"]
        places = [place for place in items(answer, "places") if PLACE.fullmatch(text(place))]
        raise JudgeCrashed(kind if isinstance(kind, str) and WORD.fullmatch(kind) else "Exception", places)
    if "refused" in answer:
        raise SettingError(*[_decode_problem(each) for each in items(answer, "refused")])
    return answer


def _decode_problem(plain: Any) -> Problem:
    message, place, hint = parts(plain, 3)
    if place is None:
        return Problem(text(message), None, maybe_text(hint))
    file, line, column = parts(place, 3)
    return Problem(text(message), Location(text(file), maybe_count(line), maybe_count(column)), maybe_text(hint))


def _decode_annotation(plain: Any) -> Annotation:
    level, title, message, file, line, column = parts(plain, len(Annotation._fields))
    if text(level) not in LEVELS:
        raise invalid_answer("unknown annotation level")
    return Annotation(level, text(title), text(message), maybe_text(file), maybe_count(line), maybe_count(column))
