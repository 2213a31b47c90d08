"""Answers of a judge in another process: encoded there; decoded and checked here, for they are untrusted."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from evalgate.application.messages.request import ApprovedReport, Judgement, RenderedReport
from evalgate.errors import JudgeCrashed, Problem, SettingError
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.comparison.decision import EXCUSES, VERDICTS, exit_code_of, find_wrong_count
from evalgate.models.github import Annotation  # noqa: TC001  for the decoder
from evalgate.models.results.results import ResultsDoc  # noqa: TC001  the same
from evalgate.models.results.results_sections import ApprovalDoc  # noqa: TC001  the same
from evalgate.models.run.bounds import Count  # noqa: TC001  the same
from evalgate.ports.outputs import COMMENT, RESULTS, STANDARD, SUMMARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalgate.application.messages.request import JudgeRequest
    from evalgate.errors import InvalidInput
    from evalgate.models.approvals.review import CommentApproval
    from evalgate.models.run.chunks import Content
    from evalgate.ports.outputs import LoadOutput, RunSubject

RESULT_KEYS = (
    *("schema", "evalgate_version", "created_at", "commit", "verdict", "exit_code", "report_only"),
    *("reasons", "summary", "baseline"),
)
"""Fields of the results needed after judging; scenarios are in the file."""
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
PLACE = re.compile(r"[A-Za-z0-9_.<>-]{1,80}:[0-9]{1,6} in [A-Za-z0-9_<>]{1,80}")
EXIT_CODES = {"pass": {0}, "fail": {1}, "cannot_judge": {3, 4}, "invalid": {2}}
GATING: Mapping[str, tuple[Literal["failed", "partial", "broken", "regressed"], ...]] = {
    "below_threshold": ("failed", "partial"),
    "broken": ("broken",),
    "regression": ("regressed", "broken"),
}
"""Words of `fail_on` with the counts of scenarios that fail the gate then, if nothing excuses them."""
FOUND = frozenset({"exact", "ancestor", "latest", "drifted", "given"})
STATUSES = FOUND | {"expired", "refused", "unreachable", "none", "off"}
SHA = re.compile(r"[0-9a-fA-F]{4,64}")
FIRST_SUITE = b',"suites":['
LEVELS = frozenset({"error", "warning", "notice"})
MOST, MOST_ANNOTATIONS, MOST_APPROVALS = 1_000, 3_000, 100_000
LONGEST = 100_000
MOST_CONTAINERS, MOST_VALUES = 3_000_000, 15_000_000
"""Most brackets and commas in JSON of the judge, as in a results document."""
Text = Annotated[str, Meta(max_length=LONGEST)]
Texts = Annotated[list[Text], Meta(max_length=MOST)]
Problems = Annotated[list[Problem], Meta(max_length=MOST)]
A = TypeVar("A", bound=Struct)


class _Failure(Struct):
    """What an answer reports instead of a result: a bug and where it was raised, or unusable input."""

    bug: Any = None
    places: Texts = []
    refused: Problems | None = None


class _Report(Struct):
    results: ResultsDoc
    warnings: Texts


class _Judgement(_Report):
    heading: Text
    annotations: Annotated[list[Annotation], Meta(max_length=MOST_ANNOTATIONS)]
    problems: Problems
    files: Texts
    baseline: bool
    excused: dict[str, Count]


class _RefusedComment(Struct):
    comment: int
    why: str


class _ApprovedReport(_Report):
    heading: Text
    approvals: Annotated[list[ApprovalDoc], Meta(max_length=MOST_APPROVALS)]
    not_approved: list[_RefusedComment]


# --- encoded by the judge -----------------------------------------------------


def encode_judgement(judgement: Judgement) -> dict[str, Any]:
    """A judgement without its files, which are sent separately, and its suites, which are in results.json."""
    return {
        "results": _without_suites(judgement.results),
        "heading": judgement.heading,
        "annotations": [list(each) for each in judgement.annotations[:MOST_ANNOTATIONS]],
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


def encode_approved(report: ApprovedReport) -> dict[str, Any]:
    """A report decided again, without its files."""
    return {
        **encode_report(report.rendered),
        "heading": report.heading,
        "approvals": list(report.approvals[:MOST_APPROVALS]),
        "not_approved": [{"comment": comment, "why": why} for comment, why in report.refused],
    }


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
    plain: Any, file: Callable[[str], Content | None], request: JudgeRequest, *, baseline_zip: str | None
) -> Judgement:
    """Decodes the judgement in an answer to the request.

    Raises SettingError for unusable input, JudgeCrashed for a bug or an invalid answer.
    """
    answer = _decode(plain, _Judgement)
    results = answer.results
    _check_results(results, report_only=request.rules.report_only)
    _check_decision(results)
    _check_subject(results, request)
    _check_excuses(results, answer.excused, request)
    asked = {*STANDARD, *request.outputs}
    names = [name for name in answer.files if name in asked]
    files = {name: content for name in names if (content := file(name)) is not None}
    if RESULTS not in files:
        raise invalid_answer("it has no results")
    if not LEVELS.issuperset(each.level for each in answer.annotations):
        raise invalid_answer("unknown annotation level")
    texts = (part for each in (*answer.annotations, *answer.problems) for part in each)
    if any(isinstance(text, str) and len(text) > LONGEST for text in texts):
        raise invalid_answer("a text is too long")
    return Judgement(
        results,
        files,
        heading=answer.heading,
        annotations=answer.annotations,
        problems=answer.problems,
        baseline_zip=baseline_zip if answer.baseline and request.baseline.makes_zip else None,
        warnings=answer.warnings,
        excused=answer.excused,
    )


def decode_report(plain: Any, file: Callable[[str], bytes | None], asked: Iterable[str] = ()) -> RenderedReport:
    """Decodes the report in an answer, with the outputs that were asked for; raises the same errors."""
    report = _build_report(_decode(plain, _Report), file)
    return replace(report, files={name: content for name in asked if (content := file(name)) is not None})


def decode_approved(
    plain: Any, file: Callable[[str], bytes | None], consents: Sequence[CommentApproval]
) -> ApprovedReport:
    """Decodes the report in an answer to a request with these consents; raises the same errors."""
    answer = _decode(plain, _ApprovedReport)
    report = _build_report(answer, file)
    for each in answer.approvals:
        _check_consent(each, consents)
    refused = [(each.comment, each.why) for each in answer.not_approved]
    return ApprovedReport(report, answer.heading, answer.approvals, refused)


def _decode(plain: Any, kind: type[A]) -> A:
    """Returns the answer, unless it reports a bug or unusable input."""
    failure = _convert(plain, _Failure)
    if failure.bug is not None:
        places = [place for place in failure.places if PLACE.fullmatch(place)]
        is_word = isinstance(failure.bug, str) and WORD.fullmatch(failure.bug)
        raise JudgeCrashed(failure.bug if is_word else "Exception", places)
    if failure.refused is not None:
        raise SettingError(*failure.refused)
    return _convert(plain, kind)


def _convert(plain: Any, kind: type[A]) -> A:
    try:
        return msgspec.convert(plain, kind)
    except (msgspec.ValidationError, RecursionError, OverflowError) as error:
        raise invalid_answer(str(error).rpartition(" - at ")[2]) from None  # the rest may quote the answer


def _build_report(answer: _Report, file: Callable[[str], bytes | None]) -> RenderedReport:
    comment, summary = file(COMMENT), file(SUMMARY)
    if comment is None or summary is None:
        raise invalid_answer("it has no comment")
    _check_results(answer.results, report_only=answer.results["report_only"])
    return RenderedReport(
        answer.results, comment.decode(errors="replace"), summary.decode(errors="replace"), answer.warnings
    )


def invalid_answer(what: str) -> JudgeCrashed:
    """The error for an answer that the judge never gives."""
    return JudgeCrashed("UnfitAnswer", [f"invalid response of the judge: {what}"])


def _check_results(results: ResultsDoc, *, report_only: bool) -> None:
    """Checks that results agree with themselves; exit code 0 without a pass needs report-only."""
    verdict, code = results["verdict"], results["exit_code"]
    if results["report_only"] is not report_only:
        raise invalid_answer("its report-only setting")
    if code not in EXIT_CODES[verdict] and not (report_only and code == 0 and verdict != "invalid"):
        raise invalid_answer("its exit code does not match its verdict")
    if (results["summary"] is None) is not (verdict == "invalid"):
        raise invalid_answer("its summary does not match its verdict")
    if results["summary"] is not None and (wrong := find_wrong_count(dict(results["summary"]))):
        raise invalid_answer(wrong)
    baseline = results["baseline"]
    if baseline is not None and baseline["status"] not in STATUSES:
        raise invalid_answer("its baseline")
    if baseline is not None and baseline["sha"] is not None and not SHA.fullmatch(baseline["sha"]):
        raise invalid_answer("its baseline")


def _check_decision(results: ResultsDoc) -> None:
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


def _check_excuses(results: ResultsDoc, excused: Mapping[str, int], request: JudgeRequest) -> None:
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
    if approved > (summary["hard_fails"] if request.approvals.has_any else 0):
        raise invalid_answer("more is approved than can be")
    if not_gating and "hard_fail" in (request.rules.fail_on or ()):
        raise invalid_answer("it passes with hard fails, which `fail-on` names")
    for word in request.rules.fail_on or ():
        failed = sum(summary[name] for name in GATING.get(word, ()))
        if failed > summary.get("quarantined", 0) and not request.approvals.has_any:
            raise invalid_answer(f"it passes with {failed} that `fail-on` names ({word})")


def _check_subject(results: ResultsDoc, request: JudgeRequest) -> None:
    """Raises JudgeCrashed if the answer is about another commit, or about another baseline than it was given."""
    if results["commit"] != request.subject.commit:
        raise invalid_answer("its commit")
    compared, given = results["baseline"], request.baseline.info
    if compared is None:
        return
    if given is None or (given.sha is not None and compared["sha"] not in (None, given.sha)):
        raise invalid_answer("its baseline is not the one that it was given")
    if compared["status"] in FOUND and given.status not in FOUND:
        raise invalid_answer("its baseline was not found")


def _check_consent(approval: ApprovalDoc, consents: Sequence[CommentApproval]) -> None:
    """Raises JudgeCrashed for an approval that refers to a comment which did not approve this scenario."""
    origin = approval.get("provenance")
    if origin is None or origin["source"] != "comment" or approval["status"] != "active":
        return
    names = ScenarioKey(approval["suite"], approval["scenario"], approval["variant"]).spellings
    by_comment = (each for each in consents if each.provenance.comment_id == origin["comment_id"])
    if not any(each.scenario is None or each.scenario in names for each in by_comment):
        raise invalid_answer("an approval that no comment gave")


def keep_allowed(
    contents: Mapping[str, Content],
    results: ResultsDoc,
    subject: RunSubject,
    asked: Mapping[str, Any],
    load: LoadOutput,
) -> tuple[dict[str, Content], list[str]]:
    """The contents of an untrusted judge that are of this run, and a warning for each other one."""
    kept: dict[str, Content] = {}
    warnings: list[str] = []
    for name, content in contents.items():
        output = load(name)
        if output.is_allowed(content, results, subject, asked.get(name)):
            kept[name] = content
        else:
            warnings.append(output.refusal or f"{name} is left out: it is not one of this run")
    return kept, warnings


def check_head(results: ResultsDoc, pieces: Iterable[bytes]) -> None:
    """Raises JudgeCrashed if results.json has another verdict than the answer: it is what other tools read."""
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
    if not is_bounded(content):
        raise invalid_answer("it holds more values than any run")
    try:
        return json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise invalid_answer("it is not valid JSON") from None


def is_bounded(content: bytes) -> bool:
    """Whether JSON holds as few brackets and commas as that of a run."""
    return content.count(b"[") + content.count(b"{") <= MOST_CONTAINERS and content.count(b",") <= MOST_VALUES


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError
