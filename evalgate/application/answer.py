"""What a judge in another process answers: made there, and checked here by hand, for it is not trusted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from evalgate.application.request import Judgement, Written
from evalgate.errors import BugElsewhere, Location, Problem, SettingError
from evalgate.models.annotation import Annotation
from evalgate.reporting.exports.results_shape import check

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.errors import InvalidInput
    from evalgate.models.results import ResultsDoc

FILES = ("results.json", "comment.md", "summary.md", "junit.xml", "results.sarif")
"""What belongs to a judgement beside its baseline."""
EXIT_CODES = {"pass": 0, "fail": 1, "invalid": 2}
UNDECIDED = frozenset({3, 4})
LEVELS = frozenset({"error", "warning", "notice"})
MOST = 1_000
LONGEST = 100_000
LEFT_BEHIND: tuple[tuple[str, Any], ...] = (
    *(("suites", []), ("removed", []), ("unclaimed", []), ("warnings", []), ("approvals", [])),
    ("command", None),
)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
PLACE = re.compile(r"[A-Za-z0-9_.<>-]{1,80}:[0-9]{1,6} in [A-Za-z0-9_<>]{1,80}")


def told(judgement: Judgement) -> dict[str, Any]:
    """A judgement but for its files, which travel beside it, and for its suites, which are in one of them."""
    return {
        "results": without_suites(judgement.results),
        "heading": judgement.heading,
        "annotations": [list(each) for each in judgement.annotations[:MOST]],
        "problems": [_problem(each) for each in judgement.problems[:MOST]],
        "warnings": [str(each)[:LONGEST] for each in judgement.warnings[:MOST]],
        "files": list(judgement.files),
        "baseline": judgement.baseline_zip is not None,
    }


def told_written(written: Written) -> dict[str, Any]:
    """A report written anew, but for its texts, which travel beside it."""
    warnings = [each[:LONGEST] for each in written.warnings[:MOST]]
    return {"results": without_suites(written.results), "warnings": warnings}


def told_refusal(refusal: InvalidInput) -> dict[str, Any]:
    """Input that can't be used."""
    return {"refused": [_problem(each) for each in refusal.problems[:MOST]]}


def told_bug(kind: str, places: Sequence[str]) -> dict[str, Any]:
    """A bug of ours, and where it lies."""
    return {"bug": kind, "places": list(places)}


def without_suites(results: ResultsDoc) -> dict[str, Any]:
    """A results document with all but the scenarios: what everything after the judge goes by."""
    needed = ("schema", "evalgate_version", "created_at", "commit", "verdict", "exit_code", "report_only")
    kept = {name: dict(results)[name] for name in (*needed, "reasons", "summary", "baseline")}
    return {**kept, **dict(LEFT_BEHIND)}


def judgement_of(
    answer: Any, file: Callable[[str], bytes | None], *, baseline_zip: str | None, report_only: bool
) -> Judgement:
    """The judgement that an answer tells of. Raises BugElsewhere for what is none of ours."""
    answer = _an_answer(answer)
    results = results_of(answer.get("results"))
    expected = EXIT_CODES.get(results["verdict"])
    code = results["exit_code"]
    is_spared = report_only and code == 0 and results["verdict"] != "invalid"
    if not is_spared and (code not in UNDECIDED if expected is None else code != expected):
        raise _unfit("its exit code does not go with its verdict")
    names = [name for name in _texts(answer, "files") if name in FILES]
    files = {name: content for name in names if (content := file(name)) is not None}
    if "results.json" not in files:
        raise _unfit("it has no results")
    return Judgement(
        results,
        files,
        heading=_text(answer.get("heading")),
        annotations=[_annotation(each) for each in _list(answer, "annotations")],
        problems=problems_of(answer),
        baseline_zip=baseline_zip if answer.get("baseline") is True else None,
        warnings=_texts(answer, "warnings"),
    )


def written_of(answer: Any, file: Callable[[str], bytes | None]) -> Written:
    """The report that an answer tells of. Raises SettingError where it is one that can't be used."""
    answer = _an_answer(answer)
    if "refused" in answer:
        raise SettingError(*problems_of(answer, "refused"))
    comment, summary = file("comment.md"), file("summary.md")
    if comment is None or summary is None:
        raise _unfit("it has no comment")
    return Written(
        results_of(answer.get("results")),
        comment.decode(errors="replace"),
        summary.decode(errors="replace"),
        _texts(answer, "warnings"),
    )


def results_of(plain: Any) -> ResultsDoc:
    """A results document out of an answer."""
    mistake = check(plain, whole=True)
    if mistake:
        raise _unfit(f"its results: {mistake}")
    return cast("ResultsDoc", plain)


def problems_of(answer: dict[str, Any], name: str = "problems") -> list[Problem]:
    """Mistakes, each with its place."""
    return [_read_problem(each) for each in _list(answer, name)]


def _an_answer(answer: Any) -> dict[str, Any]:
    """The answer, unless it tells of a bug."""
    if not isinstance(answer, dict):
        raise _unfit("it is no object")
    if "bug" in answer:
        kind = answer["bug"]
        places = [place for place in _texts(answer, "places") if PLACE.fullmatch(place)]
        raise BugElsewhere(kind if isinstance(kind, str) and WORD.fullmatch(kind) else "Exception", places)
    return answer


def _problem(problem: Problem) -> list[Any]:
    place = list(problem.location) if problem.location else None
    return [problem.message[:LONGEST], place, problem.hint and problem.hint[:LONGEST]]


def _read_problem(plain: Any) -> Problem:
    message, place, hint = _parts(plain, 3)
    if place is None:
        return Problem(_text(message), None, _maybe_text(hint))
    file, line, column = _parts(place, 3)
    return Problem(_text(message), Location(_text(file), _count(line), _count(column)), _maybe_text(hint))


def _annotation(plain: Any) -> Annotation:
    level, title, message, file, line, column = _parts(plain, len(Annotation._fields))
    if level not in LEVELS:
        raise _unfit("a level that is none")
    return Annotation(level, _text(title), _text(message), _maybe_text(file), _count(line), _count(column))


def _parts(plain: Any, number: int) -> list[Any]:
    if not isinstance(plain, list) or len(plain) != number:
        raise _unfit("a list of another length")
    return plain


def _list(answer: dict[str, Any], name: str) -> list[Any]:
    found = answer.get(name)
    if not isinstance(found, list) or len(found) > MOST:
        raise _unfit(f"no list of {name}")
    return found


def _texts(answer: dict[str, Any], name: str) -> list[str]:
    return [_text(each) for each in _list(answer, name)]


def _text(plain: Any) -> str:
    if not isinstance(plain, str) or len(plain) > LONGEST:
        raise _unfit("no text, or too long a one")
    return plain


def _maybe_text(plain: Any) -> str | None:
    return None if plain is None else _text(plain)


def _count(plain: Any) -> int | None:
    if plain is None:
        return None
    if type(plain) is not int or not 0 <= plain < 10**9:
        raise _unfit("no place in a file")
    return plain


def _unfit(what: str) -> BugElsewhere:
    return BugElsewhere("UnfitAnswer", [f"the judge answers what it may not: {what}"])
