"""Wires a job that handles a comment, which may approve something in its pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.job import build_site, choose_template
from evalgate.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.github import Client, RequestDeadline
    from evalgate.application.action.approve_from_comment import ApproveOptions, ApprovePorts
    from evalgate.bootstrap.judge_context import JobJudge
    from evalgate.models.approvals.approval import Approval
    from evalgate.ports import StepOutput
    from evalgate.ports.review import Review
    from evalgate.settings.event import CommentEvent
    from evalgate.settings.settings import Settings


def build_approve_options(settings: Settings) -> ApproveOptions:
    """The options of such a job, including the comment."""
    from evalgate.application.action.approve_from_comment import ApproveOptions, TriggeringComment
    from evalgate.application.messages.request import RenderOptions

    inputs, job, comment = settings.inputs, settings.job, _require_comment(settings)
    runs = f"{job.server_url}/{job.repository}/actions/runs/"
    return ApproveOptions(
        comment=TriggeringComment(
            comment.id, comment.body, is_new=comment.action == "created", is_on_pull_request=comment.is_on_pull_request
        ),
        render_options=RenderOptions(settings.comment_key, inputs.max_comment_chars, ""),
        run_url=runs,
        allow_self=inputs.allow_self_approval,
        keeps_comment=inputs.comment != "off",
        summarise=inputs.job_summary,
    )


def build_approve_ports(
    settings: Settings, step: StepOutput, judge: JobJudge, downloads: str, deadline: RequestDeadline | None = None
) -> ApprovePorts:
    """The ports of such a job; `downloads` is a private folder, `deadline` the time for GitHub."""
    from functools import partial
    from pathlib import Path

    from evalgate.adapters import github
    from evalgate.adapters.archives.report_zip import ReportZips
    from evalgate.application.action.approve_from_comment import ApprovePorts

    comment = _require_comment(settings)
    trace = step.log if settings.inputs.debug or settings.job.debug else None
    client = github.Client(build_site(settings), deadline, trace)
    return ApprovePorts(
        review=build_review(settings, client, comment.number, downloads),
        files=ReportZips(Path(downloads)),
        decide=judge.approve,
        pull_request=github.Comments(client, comment.number),
        step=step,
        template=choose_template(settings, client),
        checks=github.CheckRuns(client) if settings.inputs.check_run else None,
        record=partial(_record_approvals, settings) if settings.inputs.store_url else None,
    )


def build_review(settings: Settings, client: Client, number: int, downloads: str) -> Review:
    """The pull request's review data. For a comment event the gate is another workflow than this one."""
    from pathlib import Path

    from evalgate.adapters import github

    workflow = settings.baseline_workflow if settings.is_approving else settings.job.workflow_path
    reports = github.Reports(client, Path(downloads))
    return github.PullRequestReview(client, number, workflow, settings.report_artifact, reports)


def _require_comment(settings: Settings) -> CommentEvent:
    if settings.event.comment is None:
        raise SettingError("the event payload (GITHUB_EVENT_PATH) contains no comment")
    return settings.event.comment


def _record_approvals(settings: Settings, approvals: Sequence[Approval]) -> None:
    """Records approvals in the store for information only: the comment is what counts."""
    from evalgate.bootstrap.approval_storage import store_approvals

    job = settings.job
    store_approvals(settings.inputs.store_url, job.temp, approvals, job.source_date_epoch)
