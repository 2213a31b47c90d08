"""Wires a job that publishes the report of another run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.job import site, template_of
from evalgate.errors import SettingError

if TYPE_CHECKING:
    from evalgate.adapters.github import RequestDeadline
    from evalgate.application.action.publish import PublishTask, PublishWorld
    from evalgate.bootstrap.judge_context import JobJudge
    from evalgate.ports import StepOutput
    from evalgate.settings.settings import Settings


def publish_task(settings: Settings) -> PublishTask:
    """The options of a job that publishes for another run."""
    from evalgate.application.action.publish import PublishTask
    from evalgate.application.messages.request import RenderOptions

    inputs, job, run = settings.inputs, settings.job, settings.event.triggering_run
    if run is None:
        raise SettingError("the event file does not say which run has finished")
    url = f"{job.server_url}/{job.repository}/actions/runs/{run.id}"
    return PublishTask(
        run=run,
        artifact=settings.report_artifact,
        form=RenderOptions(settings.comment_key, inputs.max_comment_chars, url),
        comment=inputs.comment,
        summarise=inputs.job_summary,
    )


def publish_world(
    settings: Settings,
    step: StepOutput,
    judge: JobJudge,
    downloads: str,
    budget: RequestDeadline | None = None,
) -> PublishWorld:
    """The ports of such a job; `downloads` is a private folder, `deadline` the time for GitHub."""
    from functools import partial
    from pathlib import Path

    from evalgate.adapters import github
    from evalgate.application.action.publish import PublishWorld

    trace = step.log if settings.inputs.debug or settings.job.debug else None
    client = github.Client(site(settings), budget, trace)
    folder = Path(downloads)
    return PublishWorld(
        pulls=github.Pulls(client),
        reports=github.Reports(client, folder),
        write=judge.write,
        pull_request=partial(github.Comments, client),
        step=step,
        template=template_of(settings, client),
    )
