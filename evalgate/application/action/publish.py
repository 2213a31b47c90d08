"""Posts what a run without a writing token found to its pull request, with a token that can write.

The run, its commit and its branch are taken from GitHub's event, the pull request from GitHub's list. Of what
the run uploaded only numbers and escaped texts are used; nothing of it decides where to post.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from evalgate.application.action.comment_origin import make_published_origin
from evalgate.application.action.deliver import LatePorts, apply_late
from evalgate.application.action.post_comment import (
    CommentText,
    add_annotation,
    is_comment_wanted,
    load_template,
    post_comment,
)
from evalgate.errors import InvalidInput, Unreachable
from evalgate.ports.outputs import deliver

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.application.action.comment_origin import CommentOrigin
    from evalgate.application.action.post_comment import CommentMode
    from evalgate.application.messages.request import RenderedReport
    from evalgate.models.approvals.review import TriggeringRun
    from evalgate.ports import PullRequest, PullRequestFinder, ReportSource, StepOutput, TemplateSource
    from evalgate.ports.outputs import AskedOutput, RenderOptions

FROM = "pull_request"
PUBLISHED = 0
SHORT_SHA = 7


class PublishOptions(Struct, frozen=True):
    """Which report to post, and how."""

    run: TriggeringRun
    artifact: str
    render_options: RenderOptions
    comment: CommentMode = "auto"
    summarise: bool = True


class PublishPorts(Struct, frozen=True):
    """The ports that publishing needs."""

    pulls: PullRequestFinder
    reports: ReportSource
    render: Callable[[str, TriggeringRun, RenderOptions, Mapping[str, Any]], RenderedReport]  # that in a zip of the run
    render_missing: Callable[[str, TriggeringRun, RenderOptions], RenderedReport]  # that there is none, and why
    pull_request: Callable[[int], PullRequest]
    step: StepOutput
    template: TemplateSource | None = None  # from this workflow's branch, never from the run's
    outputs: Sequence[AskedOutput] = ()


class _NothingToPost(Exception):
    """Why nothing is posted, and the level of the annotation that reports it."""

    def __init__(self, level: str, message: str) -> None:
        self.level = level
        super().__init__(message)


class _NoReport(_NothingToPost):
    """Why what a run found is unknown, so that the report of an older commit must not stand for it."""


def publish(options: PublishOptions, ports: PublishPorts) -> int:
    """Posts the report, or logs in one line why not. Always 0: the other run enforces the verdict."""
    ports.step.outputs({"exit-code": str(PUBLISHED)})
    try:
        number = _find_pull_request(options.run, ports)
        report = _render_report(options, ports, number)
        for warning in report.warnings:
            add_annotation(ports.step, "warning", warning)
    except _NothingToPost as end:
        add_annotation(ports.step, end.level, f"nothing is published: {end}")
        return PUBLISHED
    if options.summarise:
        ports.step.summary(report.summary)
    _log_result(options, number, report, ports.step)
    pull_request = comment = None
    if options.comment != "off":
        text = CommentText(
            options.render_options.comment_key,
            report.comment,
            options.run.head_sha,
            create=is_comment_wanted(options.comment, report.results),
            copy="the job summary" if options.summarise else "",
            origin=_make_origin(options.run, report),
        )
        pull_request = ports.pull_request(number)
        comment = post_comment(text, pull_request, ports.step).comment
    late = deliver(ports.outputs, report.files, report.results, is_late=True)
    apply_late(late, LatePorts(ports.step, None, pull_request, comment, options.summarise))
    return PUBLISHED


def _log_result(options: PublishOptions, number: int, report: RenderedReport, step: StepOutput) -> None:
    run = options.run
    source = f"run {run.id} at {run.head_sha[:SHORT_SHA]} of {run.head_repository}"
    step.log(f"EvalGate: {report.results['verdict']}, reported by {source} for pull request {number}")


def _find_pull_request(run: TriggeringRun, ports: PublishPorts) -> int:
    """The number of the one pull request that the run belongs to."""
    if run.event != FROM:
        raise _NothingToPost("notice", f"run {run.id} was started by `{run.event}`, not by a pull request")
    try:
        found = ports.pulls.find_open(run)
    except Unreachable as trouble:
        raise _NothingToPost("warning", f"the pull request could not be looked up: {trouble}") from None
    numbers = [pull.number for pull in found if pull.head_sha == run.head_sha]
    if len(numbers) == 1:
        return numbers[0]
    if numbers:
        listed = ", ".join(f"{number}" for number in sorted(numbers)[:10])
        raise _NothingToPost(
            "warning", f"pull requests {listed} have the same head, so the run may belong to any of them"
        )
    if found:
        newer = found[0].head_sha[:SHORT_SHA]
        raise _NothingToPost("notice", f"the pull request has the newer commit {newer}, whose run will report")
    raise _NothingToPost("notice", f"no open pull request has the branch of run {run.id}")


def _make_origin(run: TriggeringRun, report: RenderedReport) -> CommentOrigin:
    return make_published_origin(run.id, run.attempt, passed=report.results["verdict"] == "pass")


def _replace_older_report(options: PublishOptions, ports: PublishPorts, number: int, reason: str) -> None:
    """Writes that the fork's commit was not judged where a comment reports an older one."""
    if options.comment == "off":
        return
    report = ports.render_missing(reason, options.run, options.render_options)
    key, origin = options.render_options.comment_key, _make_origin(options.run, report)
    text = CommentText(key, report.comment, options.run.head_sha, create=False, origin=origin)
    post_comment(text, ports.pull_request(number), ports.step)


def _render_report(options: PublishOptions, ports: PublishPorts, number: int) -> RenderedReport:
    try:
        return _read_report(options, ports)
    except _NoReport as end:
        if not options.run.is_same_repository:
            _replace_older_report(options, ports, number, str(end))
        raise


def _read_report(options: PublishOptions, ports: PublishPorts) -> RenderedReport:
    run = options.run
    try:
        path = ports.reports.fetch(run, options.artifact)
    except Unreachable as trouble:
        raise _NoReport("warning", f"the report of run {run.id} is not available: {trouble}") from None
    if path is None:
        remedy = "both workflows need the same `comment-key`, and the run must have reached a verdict"
        missing = f"run {run.id} uploaded no artifact named {options.artifact}: {remedy}"
        kind = _NoReport if run.failure else _NothingToPost
        raise kind("notice" if run.is_same_repository else "warning", missing)
    render_options = replace(options.render_options, template=load_template(ports.template, ports.step))
    try:
        asked = {each.output.name: each.options for each in ports.outputs}
        return ports.render(path, run, render_options, asked)
    except InvalidInput as refusal:
        reasons = "; ".join(problem.message for problem in refusal.problems)
        raise _NoReport("warning", f"the report of run {run.id} is refused: {reasons}") from None
