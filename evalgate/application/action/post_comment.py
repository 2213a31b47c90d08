"""Posts or updates the gate's one comment, if it is wanted and not outdated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from evalgate.application.action.step_outputs import comment_outputs
from evalgate.errors import Forbidden, InvalidInput, Unreachable
from evalgate.models.github.checks import Annotation
from evalgate.models.github.template_file import TEMPLATE_UNUSED

if TYPE_CHECKING:
    from evalgate.models.github.template_file import TemplateFile
    from evalgate.models.results.results import ResultsDoc
    from evalgate.ports import PullRequest, StepOutput, TemplateSource

CommentMode = Literal["auto", "always", "on-change", "on-failure", "off"]
CHANGES = ("regressed", "broken", "improved", "fixed", "new", "removed")
TITLE = "EvalGate"
SHORT_SHA = 7


class CommentText(Struct, frozen=True):
    """A comment to post under `key`, for `commit`; `create`: post it even if none exists yet."""

    key: str
    body: str
    commit: str | None
    create: bool = True


def post_comment(comment: CommentText, pull_request: PullRequest, step: StepOutput) -> None:
    """Posts or updates the comment and sets its outputs. If GitHub refuses, adds a warning.

    If the pull request has a newer commit, the comment is left to the newer run.
    """
    newer = _newer_head(comment.commit, pull_request)
    if newer:
        newer = newer[:SHORT_SHA]
        message = f"no comment: the pull request has the newer commit {newer}, whose run will comment"
        add_annotation(step, "notice", message)
        return
    try:
        posted = pull_request.upsert_comment(comment.key, comment.body, create=comment.create)
    except Forbidden as refusal:
        add_annotation(step, "warning", f"the comment was not posted: {refusal}. It needs `pull-requests: write`")
    except Unreachable as trouble:
        add_annotation(step, "warning", f"the comment was not posted: {trouble}")
    else:
        if posted is not None:
            step.outputs(comment_outputs(posted))


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
