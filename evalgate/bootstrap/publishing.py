"""Wires a job that publishes the report of another run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.job import build_site, choose_template
from evalgate.errors import SettingError

if TYPE_CHECKING:
    from evalgate.adapters.github import RequestDeadline
    from evalgate.application.action.publish import PublishOptions, PublishPorts
    from evalgate.bootstrap.judge_context import JobJudge
    from evalgate.ports import StepOutput
    from evalgate.settings.settings import Settings


def build_publish_options(settings: Settings) -> PublishOptions:
    """The options of a job that publishes for another run."""
    from evalgate.application.action.publish import PublishOptions
    from evalgate.application.messages.request import RenderOptions

    inputs, job, run = settings.inputs, settings.job, settings.event.triggering_run
    if run is None:
        raise SettingError("the event payload (GITHUB_EVENT_PATH) contains no valid workflow run")
    url = f"{job.server_url}/{job.repository}/actions/runs/{run.id}"
    return PublishOptions(
        run=run,
        artifact=settings.report_artifact,
        render_options=RenderOptions(settings.comment_key, inputs.max_comment_chars, url),
        comment=inputs.comment,
        summarise=inputs.job_summary,
    )


def build_publish_ports(
    settings: Settings, step: StepOutput, judge: JobJudge, downloads: str, deadline: RequestDeadline | None = None
) -> PublishPorts:
    """The ports of such a job; `downloads` is a private folder, `deadline` the time for GitHub."""
    from functools import partial
    from pathlib import Path

    from evalgate.adapters import github
    from evalgate.application.action.publish import PublishPorts

    trace = step.log if settings.inputs.debug or settings.job.debug else None
    client = github.Client(build_site(settings), deadline, trace)
    folder = Path(downloads)
    return PublishPorts(
        pulls=github.Pulls(client),
        reports=github.Reports(client, folder),
        render=judge.render_report,
        pull_request=partial(github.Comments, client),
        step=step,
        template=choose_template(settings, client),
    )
