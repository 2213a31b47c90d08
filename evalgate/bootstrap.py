"""The one place that picks adapters and joins them to the use cases."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, TextIO

from evalgate.errors import InvalidInput, SettingError
from evalgate.settings.limits import IN_ACTION, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.baseline_zip import BaselineZips
    from evalgate.adapters.github import Site
    from evalgate.adapters.suite_files import SuiteFiles
    from evalgate.adapters.trace_formats.source import TraceFiles
    from evalgate.adapters.workspace import Workspace
    from evalgate.application.gate_in_action import Task, World
    from evalgate.application.judge import Tools
    from evalgate.application.request import Judgement, JudgeRequest
    from evalgate.ports import StepOutput
    from evalgate.settings.settings import Settings
    from evalgate.suite.models import Configuration

OUTPUT_FOLDER = ".evalgate"
RESULTS = "results.json"


def workspace(cwd: str, root: str | None = None) -> Workspace:
    """The file system: a shell's, or a job's with everything outside `root` refused."""
    from evalgate.adapters.workspace import Workspace

    return Workspace(root, cwd)


def suite_files(cwd: str, root: str | None = None, bounds: Limits | None = None) -> SuiteFiles:
    """Where suites come from."""
    from evalgate.adapters.suite_files import SuiteFiles

    return SuiteFiles(workspace(cwd, root), (bounds or Limits()).suite)


def use_own_evaluators(modules: Sequence[str], cwd: str) -> None:
    """Lets suites name own evaluators: those of the modules, and of installed packages. Never in a job."""
    from evalgate.adapters.own_evaluators import OwnEvaluators
    from evalgate.evaluators.registry import use_own

    use_own(OwnEvaluators(modules, cwd))


def trace_files(cwd: str, root: str | None = None, bounds: Limits | None = None) -> TraceFiles:
    """Where traces come from."""
    from evalgate.adapters.trace_formats.limits import TraceLimits
    from evalgate.adapters.trace_formats.source import TraceFiles

    bounds = bounds or Limits()
    return TraceFiles(
        workspace(cwd, root), TraceLimits(record_bytes=bounds.record, total_bytes=bounds.traces)
    )


def baseline_files(cwd: str, root: str | None = None) -> BaselineZips:
    """Where baselines are read and written."""
    from evalgate.adapters.baseline_zip import BaselineZips

    return BaselineZips(workspace(cwd, root))


def check_formats(configuration: Configuration) -> None:
    """Raises SettingError for a suite's `format` that does not exist."""
    from evalgate.application.judge import format_problems

    problems = format_problems(configuration, trace_files("."))
    if problems:
        raise SettingError(*problems)


def shell_tools(
    cwd: str,
    output_dir: str,
    bounds: Limits,
    *,
    source_date_epoch: str | None,
    progress_to: TextIO | None,
) -> Tools:
    """What the judge works with in a shell, where what a person names is trusted."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.export_files import OutputFolder
    from evalgate.adapters.terminal import Quiet, progress_for
    from evalgate.application.judge import Tools

    return Tools(
        suite_files(cwd, None, bounds),
        trace_files(cwd, None, bounds),
        baseline_files(cwd),
        OutputFolder(output_dir, cwd),
        SystemClock(source_date_epoch),
        Quiet() if progress_to is None else progress_for(progress_to, quiet=False),
    )


def action_tools(
    root: str, cwd: str, output_dir: str, *, source_date_epoch: str | None, named_baseline: bool
) -> Tools:
    """What the judge works with in a job: nothing outside the workspace `root`, no symbolic links.

    A baseline that was found lies in the runner's own folder; one that an input names must lie inside.
    """
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.export_files import OutputFolder
    from evalgate.adapters.terminal import Quiet
    from evalgate.application.judge import Tools

    return Tools(
        suite_files(cwd, root, IN_ACTION),
        trace_files(cwd, root, IN_ACTION),
        baseline_files(cwd, root if named_baseline else None),
        OutputFolder(output_dir, cwd, root),
        SystemClock(source_date_epoch),
        Quiet(),
    )


def action_task(settings: Settings) -> Task:
    """What a job asks of the gate, out of its inputs and its event."""
    from evalgate.application.gate_in_action import Task

    inputs, pull_request = settings.inputs, settings.event.pull_request
    return Task(
        request=action_request(settings),
        shown_folder=posixpath.normpath(f"{inputs.working_directory}/{OUTPUT_FOLDER}"),
        comment=inputs.comment,
        from_fork=pull_request is not None and pull_request.from_fork,
        artifact=inputs.baseline_artifact if settings.uploads_baseline else None,
        annotate=inputs.annotations,
        summarise=inputs.job_summary,
    )


def action_request(settings: Settings) -> JudgeRequest:
    """The question to the judge, but for the baseline that is still to be found."""
    from evalgate.application.request import JudgeRequest
    from evalgate.models.comparison import BaselineInfo

    inputs, job, pull_request = settings.inputs, settings.job, settings.event.pull_request
    given = inputs.baseline not in {"auto", "none"}
    return JudgeRequest(
        configs=inputs.config,
        traces=inputs.traces or None,
        form=None if inputs.format in {"", "auto"} else inputs.format,
        baseline=BaselineInfo("given", path=inputs.baseline) if given else None,
        baseline_required=given,
        fail_on=inputs.fail_on or None,
        report_only=inputs.mode == "report-only",
        make_baseline_zip=settings.makes_baseline,
        commit=settings.commit,
        branch=pull_request.head_ref if pull_request else job.ref.removeprefix("refs/heads/"),
        run_id=job.run_id,
        comment_key=settings.comment_key,
        max_comment_chars=inputs.max_comment_chars,
        report_url=job.run_url,
        notes=settings.notes,
    )


def action_world(settings: Settings, step: StepOutput, downloads: str) -> World:
    """What a job's run acts through; `downloads` is a folder of its own."""
    from functools import partial
    from pathlib import Path

    from evalgate.adapters import github
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.export_files import NamedFile, OutputFolder
    from evalgate.application.gate_in_action import World

    inputs, job, pull_request = settings.inputs, settings.job, settings.event.pull_request
    cwd = posixpath.normpath(f"{job.workspace}/{inputs.working_directory}")
    folder = f"{cwd}/{OUTPUT_FOLDER}"
    site, trace = _site(settings), step.log if inputs.debug or job.debug else None
    client = partial(github.Client, site, trace=trace)
    wanted = github.Wanted(
        inputs.baseline_artifact,
        settings.baseline_branch,
        settings.event.default_branch,
        settings.baseline_workflow,
        github.Reference(*settings.compared_commit),
    )
    search = inputs.baseline == "auto"
    return World(
        judge=partial(_judge_in_action, job.workspace, cwd, folder, job.source_date_epoch),
        folder=OutputFolder(folder, cwd, job.workspace),
        step=step,
        baselines=github.Baselines(client(), wanted, Path(downloads), SystemClock(None)) if search else None,
        pull_request=github.Comments(client(), pull_request.number) if pull_request else None,
        artifacts=github.Artifacts(site) if settings.uploads_baseline else None,
        junit=NamedFile(posixpath.join(inputs.working_directory, inputs.junit_path), job.workspace)
        if inputs.junit_path
        else None,
    )


def leave_invalid(workspace_root: str, mistake: InvalidInput) -> str:
    """Writes results.json for settings that can't be meant; its path, empty where there is no place."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.export_files import OutputFolder
    from evalgate.application.leave_files import leave_files
    from evalgate.application.report import invalid
    from evalgate.application.request import JudgeRequest

    if not workspace_root:
        return ""
    judgement = invalid(JudgeRequest(), mistake, SystemClock(None).now())
    try:
        folder = OutputFolder(OUTPUT_FOLDER, workspace_root, workspace_root)
        leave_files(judgement, folder)
    except InvalidInput:
        return ""
    return f"{OUTPUT_FOLDER}/{RESULTS}"


def _site(settings: Settings) -> Site:
    from evalgate.adapters.github import Network, Site

    job = settings.job
    return Site(
        job.api_url,
        job.server_url,
        job.repository,
        job.repository_id,
        token=settings.inputs.github_token,
        results_url=job.results_url,
        runtime_token=job.runtime_token,
        network=Network(job.proxies, job.no_proxy, job.ca_bundle),
    )


def _judge_in_action(root: str, cwd: str, folder: str, epoch: str | None, request: JudgeRequest) -> Judgement:
    from evalgate.application.judge import judge

    tools = action_tools(root, cwd, folder, source_date_epoch=epoch, named_baseline=request.baseline_required)
    return judge(request, tools)
