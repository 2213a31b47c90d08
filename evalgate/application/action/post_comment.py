"""Posts the gate's one comment, if it is wanted and not outdated, and its check run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from evalgate.application.action.combined_comment import Leg, merge_section
from evalgate.application.action.comment_origin import CommentOrigin, add_last_run, add_origin, find_other_origin
from evalgate.application.action.step_outputs import comment_outputs
from evalgate.errors import Forbidden, InvalidInput, Unreachable
from evalgate.models.github import TEMPLATE_UNUSED, Annotation, CheckRun
from evalgate.models.run.chunks import join_chunks
from evalgate.reporting.text.sentences import escape_sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.application.messages.request import Judgement, JudgeRequest
    from evalgate.models.github import Conclusion, TemplateFile
    from evalgate.models.results.results import ResultsDoc
    from evalgate.ports import CheckRuns, Comment, PullRequest, StepOutput, TemplateSource


CommentMode = Literal["auto", "combined", "always", "on-change", "on-failure", "off"]
CHANGES = ("regressed", "broken", "improved", "fixed", "new", "removed")
TITLE = "EvalGate"
SHORT_SHA = 7


class CommentText(Struct, frozen=True):
    """A comment to post under `key`, for `commit`; `create`: post it even if none exists yet.

    `copy` is where else the report is. The token of a pull request from a fork can't be given a permission.
    """

    key: str
    body: str
    commit: str | None
    create: bool = True
    copy: str = ""
    is_from_fork: bool = False
    origin: CommentOrigin | None = None  # of a report of this run
    leg: Leg | None = None  # if the comment is one for all legs of a matrix


class PostResult(Struct, frozen=True):
    """The comment that was posted, None for none; `is_refused` if GitHub refused it to this token (403).

    `replaced` is the body that the comment had before, empty if it is new.
    """

    comment: CommentText | None = None
    replaced: str = ""
    is_refused: bool = False


def post_comment(comment: CommentText, pull_request: PullRequest, step: StepOutput) -> PostResult:
    """Posts or updates the comment and sets its outputs.

    A refusal is a notice, any other failure a warning. If the pull request has a newer commit, the comment is left to
    the newer run.
    """
    newer = _newer_head(comment.commit, pull_request)
    if newer:
        newer = newer[:SHORT_SHA]
        message = f"no comment: the pull request has the newer commit {newer}, whose run will comment"
        add_annotation(step, "notice", message)
        return PostResult()
    try:
        posted = _write(comment, comment.body, pull_request, create=comment.create)
    except Forbidden as refusal:
        reason = describe_refusal(refusal, is_from_fork=comment.is_from_fork)
        add_annotation(step, "notice", f"no comment: {reason}{name_copies(comment)}")
        return PostResult(is_refused=True)
    except Unreachable as trouble:
        add_annotation(step, "warning", f"the comment was not posted: {trouble}")
        return PostResult()
    if posted is None:
        return PostResult()
    step.outputs(comment_outputs(posted))
    if comment.leg is None:
        _warn_of_overwriting(comment.origin, posted, step)
    return PostResult(comment, posted.found_body)


def add_to_comment(
    comment: CommentText, add: Callable[[str], str], pull_request: PullRequest, step: StepOutput
) -> None:
    """Changes the body of a comment that was just posted, unless the pull request has a newer commit."""
    if _newer_head(comment.commit, pull_request):
        return
    try:
        _write(comment, add(comment.body), pull_request, create=False)
    except Unreachable as trouble:
        add_annotation(step, "notice", f"the comment has no link to the tracker: {trouble}")


def _write(comment: CommentText, text: str, pull_request: PullRequest, *, create: bool) -> Comment | None:
    """Writes the comment, or the section of its leg in the one that it shares with the others."""
    if comment.leg is not None:
        leg = replace(comment.leg, commit=comment.commit or "")
        return pull_request.merge_comment(leg.key, partial(merge_section, leg, text), comment.key)
    if comment.origin is None:
        return pull_request.upsert_comment(comment.key, text, create=create)
    origin = replace(comment.origin, commit=comment.commit or "")
    body, keep = add_origin(text, origin), partial(_hides_failure, origin)
    revise = partial(add_last_run, own=origin)
    return pull_request.upsert_comment(comment.key, body, create=create, keep=keep, revise=revise)


def name_copies(comment: CommentText) -> str:
    """Where else the report is, and how a fork's can be posted; empty if it is nowhere."""
    how = f"; {PUBLISHING}" if comment.is_from_fork else ""
    return f"; the report is in {comment.copy}{how}" if comment.copy else ""


def describe_refusal(refusal: Forbidden, *, is_from_fork: bool) -> str:
    """GitHub's reason, and what to change in the workflow if that can help."""
    return f"{refusal.problems[0].message}: {READ_ONLY}" if is_from_fork else str(refusal)


def _hides_failure(origin: CommentOrigin, posted_body: str) -> bool:
    """Whether a report that passed would replace another one of this run that did not."""
    other = find_other_origin(posted_body, origin)
    return other is not None and origin.passed and not other.passed


def _warn_of_overwriting(origin: CommentOrigin | None, posted: Comment, step: StepOutput) -> None:
    if origin is None or find_other_origin(posted.found_body, origin) is None:
        return
    what = (
        "this report replaced that of another job or step of this run"
        if posted.changed
        else "the comment was not updated: it shows another job or step of this run, which did not pass"
    )
    add_annotation(step, "warning", f"{what}. Give each its own `comment-key`")


def is_comment_wanted(mode: CommentMode, results: ResultsDoc) -> bool:
    """Whether to create a comment; an existing one is updated in any case."""
    failed = results["verdict"] != "pass"
    if mode == "on-failure":
        return failed
    summary = results["summary"]
    changed = summary is not None and any(dict(summary)[kind] for kind in CHANGES)
    return mode != "on-change" or failed or changed


def load_template(source: TemplateSource | None, step: StepOutput) -> TemplateFile | None:
    """The project's template; None, with a warning, if it is unavailable."""
    if source is None:
        return None
    try:
        return source.read()
    except (Unreachable, InvalidInput) as trouble:
        add_annotation(step, "warning", f"{TEMPLATE_UNUSED}: {trouble}")
        return None


def add_annotation(step: StepOutput, level: str, message: str) -> None:
    """Adds an annotation to the step as a whole."""
    step.annotate([Annotation(level, TITLE, message)])


def _newer_head(commit: str | None, pull_request: PullRequest) -> str:
    """The pull request's head if it is another commit by now; empty if it is not, or unknown."""
    try:
        head = pull_request.head()
    except Unreachable:
        return ""
    return head if commit and head != commit else ""


LARGEST_SUMMARY = 65_535
"""Bytes of a check run's summary: GitHub counts bytes, although it documents characters."""
MOST_REASONS = 50
READ_ONLY = "the token is read-only on pull requests from forks"
PUBLISHING = "a workflow with `mode: publish` can post it (examples/workflows/fork-publish.yml)"
REQUIRE_THE_JOB = "a required check of this name stays pending: require the job instead"


def post_check(
    request: JudgeRequest, judgement: Judgement, checks: CheckRuns, step: StepOutput, *, is_from_fork: bool = False
) -> None:
    """Posts the check run. If GitHub refuses it to this token (403), it adds a notice; for other failures a warning."""
    check = build_check_run(request, judgement)
    if check is None:
        return
    try:
        rejected = checks.post(check)
    except Forbidden as refusal:
        reason = describe_refusal(refusal, is_from_fork=is_from_fork)
        add_annotation(step, "notice", f"no check run: {reason}; {REQUIRE_THE_JOB}")
    except Unreachable as trouble:
        add_annotation(step, "warning", f"the check run was not written: {trouble}")
    else:
        if rejected:
            step.log(f"The check run has its annotations in its text: {rejected}")


def build_check_run(request: JudgeRequest, judgement: Judgement) -> CheckRun | None:
    """Builds the check run; None if the commit to attach it to is unknown."""
    results = judgement.results
    if request.subject.commit is None:
        return None
    heading = judgement.heading
    return CheckRun(
        name=f"EvalGate ({request.render.comment_key})",
        commit=request.subject.commit,
        conclusion=conclusion(results),
        title=heading[:1].upper() + heading[1:],
        summary=_summary(judgement) or f"EvalGate {heading}",
        annotations=judgement.annotations,
        details_url=request.render.run_url,
    )


def conclusion(results: ResultsDoc) -> Conclusion:
    """`failure` if the step fails; `neutral` if it would fail but nothing is blocked."""
    if results["verdict"] == "pass":
        return "success"
    return "failure" if results["exit_code"] else "neutral"


def _summary(judgement: Judgement) -> str:
    """The comment without its marker, which belongs to comments only; without a comment, the reasons."""
    comment = join_chunks(judgement.files.get("comment.md", b"")).partition(b"\n")[2]
    if comment and len(comment) <= LARGEST_SUMMARY:
        return comment.decode()
    reasons = judgement.results["reasons"]
    lines = [f"- {escape_sentence(reason['message'])}" for reason in reasons[:MOST_REASONS]]
    left = len(reasons) - MOST_REASONS
    return "\n".join([*lines, *([f"- {left:,} more are in results.json"] if left > 0 else [])])
