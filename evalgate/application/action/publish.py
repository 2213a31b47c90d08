"""Posts what a run without a writing token found to its pull request, with a token that can write.

The run, its commit and its branch are taken from GitHub's event, the pull request from GitHub's list. Of what
the run uploaded only numbers and escaped texts are used; nothing of it decides where to post.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.action.post_comment import (
    CommentText,
    keep_comment,
    say,
    template_from,
    worth_a_comment,
)
from evalgate.errors import InvalidInput, Unreachable
from evalgate.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.application.action.post_comment import CommentMode
    from evalgate.application.messages.request import RenderedReport, RenderOptions
    from evalgate.models.approvals.triggering_run import TriggeringRun
    from evalgate.ports import (
        PullRequest,
        PullRequestFinder,
        ReportSource,
        StepOutput,
        TemplateSource,
    )

FROM = "pull_request"
PUBLISHED = 0
SHORT_SHA = 7


@dataclass(frozen=True, slots=True)
class PublishTask:
    """Whose report to post, and how."""

    run: TriggeringRun
    artifact: str
    form: RenderOptions
    comment: CommentMode = "auto"
    summarise: bool = True


@dataclass(frozen=True, slots=True)
class PublishWorld:
    """The ports that publishing needs."""

    pulls: PullRequestFinder
    reports: ReportSource
    write: Callable[
        [str, TriggeringRun, RenderOptions], RenderedReport
    ]  # renders the report in a zip of that run
    pull_request: Callable[[int], PullRequest]
    step: StepOutput
    template: TemplateSource | None = None  # from this workflow's branch, never from the run's


class _NothingToPost(Exception):
    """Why nothing is posted, and the level of the annotation that reports it."""

    def __init__(self, level: str, message: str) -> None:
        self.level = level
        super().__init__(message)


def publish(task: PublishTask, world: PublishWorld) -> int:
    """Posts the report, or logs in one line why not. Always 0: the other run enforces the verdict."""
    world.step.outputs({"exit-code": str(PUBLISHED)})
    try:
        number = _pull_request(task.run, world)
        written = _written(task, world)
        for warning in written.warnings:
            say(world.step, "warning", warning)
    except _NothingToPost as end:
        say(world.step, end.level, f"nothing is published: {end}")
        return PUBLISHED
    if task.summarise:
        world.step.summary(written.summary)
    _told(task, number, written, world.step)
    if task.comment != "off":
        text = CommentText(
            task.form.comment_key,
            written.comment,
            task.run.head_sha,
            create=worth_a_comment(task.comment, written.results),
        )
        keep_comment(text, world.pull_request(number), world.step)
    return PUBLISHED


def _told(task: PublishTask, number: int, written: RenderedReport, step: StepOutput) -> None:
    run = task.run
    told = f"run {run.id} at {run.head_sha[:SHORT_SHA]} of {run.head_repository}"
    step.log(f"EvalGate: {written.results['verdict']}, as {told} reports it for pull request {number}")


def _pull_request(run: TriggeringRun, world: PublishWorld) -> int:
    """The number of the one pull request that the run belongs to."""
    if run.event != FROM:
        raise _NothingToPost("notice", f"run {run.id} was started by `{run.event}`, not by a pull request")
    try:
        found = world.pulls.open_from(run)
    except Unreachable as trouble:
        raise _NothingToPost("warning", f"the pull request could not be looked up: {trouble}") from None
    numbers = [pull.number for pull in found if pull.head_sha == run.head_sha]
    if len(numbers) == 1:
        return numbers[0]
    if numbers:
        listed = ", ".join(f"{number}" for number in sorted(numbers)[:10])
        raise _NothingToPost(
            "warning", f"pull requests {listed} have the same head, and the run may be of any"
        )
    if found:
        newer = found[0].head_sha[:SHORT_SHA]
        raise _NothingToPost("notice", f"the pull request has moved on to {newer}, whose own run reports")
    raise _NothingToPost("notice", f"no open pull request has the branch of run {run.id}")


def _written(task: PublishTask, world: PublishWorld) -> RenderedReport:
    run = task.run
    try:
        path = world.reports.fetch(run, task.artifact)
    except Unreachable as trouble:
        raise _NothingToPost("warning", f"the report of run {run.id} can't be had: {trouble}") from None
    if path is None:
        remedy = "both workflows need the same `comment-key`, and the run must have come to a verdict"
        missing = f"run {run.id} left no artifact called {task.artifact}: {remedy}"
        raise _NothingToPost("notice" if run.is_ours else "warning", missing)
    form = replace(task.form, template=template_from(world.template, world.step))
    try:
        return world.write(path, run, form)
    except InvalidInput as refusal:
        reasons = "; ".join(problem.message for problem in refusal.problems)
        raise _NothingToPost("warning", f"the report of run {run.id} is refused: {reasons}") from None
