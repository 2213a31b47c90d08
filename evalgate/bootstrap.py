"""The one place that picks adapters and joins them to the use cases."""

from __future__ import annotations

import gc
import os
import posixpath
from typing import TYPE_CHECKING, TextIO

from evalgate.errors import InvalidInput, Problem, SettingError
from evalgate.settings.limits import IN_ACTION, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.adapters.baseline_zip import BaselineZips
    from evalgate.adapters.export_files import LineFile
    from evalgate.adapters.fingerprints import FileFingerprints
    from evalgate.adapters.github import Budget, Client, Site
    from evalgate.adapters.suite_files import SuiteFiles
    from evalgate.adapters.trace_formats.source import TraceFiles
    from evalgate.adapters.workspace import Workspace
    from evalgate.application.backtest import BacktestTools
    from evalgate.application.gate_in_action import Task, World
    from evalgate.application.judge import Tools
    from evalgate.application.pricing import Pricer
    from evalgate.application.publish import PublishTask, PublishWorld
    from evalgate.application.request import Judgement, JudgeRequest
    from evalgate.models.approval import ApprovalFile
    from evalgate.models.template_file import TemplateFile
    from evalgate.models.trace import DamagedTrace, TraceRecord
    from evalgate.ports import ApprovalSource, PriceTable, StepOutput, TemplateSource
    from evalgate.settings.settings import Settings
    from evalgate.suite.models import Configuration

OUTPUT_FOLDER = ".evalgate"
RESULTS = "results.json"
COLLECT_EVERY = 300_000
"""Objects between looks for cycles, more than loading makes. Results are many and hold none."""


def settle_python() -> None:
    """What every front door asks of the process first: few pauses, and no code of strangers in pydantic."""
    gc.set_threshold(COLLECT_EVERY)
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"


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
    limits = TraceLimits(
        record_bytes=bounds.record,
        together_bytes=bounds.together,
        unpacked_file_bytes=bounds.unpacked,
        total_bytes=bounds.traces,
        messages=bounds.messages,
    )
    return TraceFiles(workspace(cwd, root), limits)


def converted(
    records: Iterable[TraceRecord], target: str, *, full: bool, redact: bool
) -> Iterator[bytes | DamagedTrace]:
    """Traces as lines of another format; see writers.writer_for."""
    from evalgate.adapters.trace_formats.writers import converted, writer_for

    return converted(records, writer_for(target, full=full), redact=redact)


def line_file(path: str, cwd: str) -> LineFile:
    """A file that a person named in a shell."""
    from evalgate.adapters.export_files import LineFile

    return LineFile(path, cwd)


def baseline_files(cwd: str, root: str | None = None) -> BaselineZips:
    """Where baselines are read and written."""
    from evalgate.adapters.baseline_zip import BaselineZips

    return BaselineZips(workspace(cwd, root))


def template(path: str, cwd: str) -> TemplateFile:
    """A project's own words for the comment, out of a file that a person named."""
    from evalgate.adapters.template_on_disk import TemplateOnDisk

    return TemplateOnDisk(workspace(cwd), path).read()


def price_list() -> PriceTable | None:
    """What models cost, where the extra is installed that knows it."""
    from evalgate.adapters.prices import installed

    return installed()


def pricer() -> Pricer:
    """Gives traces the cost that a run of a suite without `prices` would give them."""
    from evalgate.application.pricing import Pricer
    from evalgate.suite.prices import OwnPrices

    return Pricer(OwnPrices(), price_list())


def check_formats(configuration: Configuration) -> None:
    """Raises SettingError for a suite's `format` that does not exist."""
    from evalgate.application.formats import format_problems

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
        price_list(),
        fingerprints(cwd),
    )


def backtest_tools(cwd: str, *, progress_to: TextIO) -> BacktestTools:
    """What a backtest works with, in a shell."""
    from evalgate.adapters.terminal import progress_for
    from evalgate.adapters.trace_formats.stored import stored_traces
    from evalgate.application.backtest import BacktestTools

    return BacktestTools(
        suite_files(cwd),
        baseline_files(cwd),
        stored_traces,
        progress_for(progress_to, quiet=False),
        price_list(),
    )


def baselines_at(patterns: Sequence[str], cwd: str) -> list[str]:
    """The zips that files, folders or globs name, each once; raises SettingError where one names none."""
    files, found = workspace(cwd), dict[str, None]()
    for pattern in patterns:
        matches = [file.path for file in files.expand(pattern, ".") if file.path.endswith(".zip")]
        if not matches:
            raise SettingError(Problem(f"no baseline.zip at {pattern!r}"))
        found.update(dict.fromkeys(matches))
    return list(found)


def action_tools(
    root: str,
    cwd: str,
    output_dir: str,
    bounds: Limits = IN_ACTION,
    *,
    source_date_epoch: str | None,
    named_baseline: bool,
) -> Tools:
    """What the judge works with in a job: nothing outside the workspace `root`, no symbolic links.

    A baseline that was found lies in the runner's own folder; one that an input names must lie inside.
    """
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.export_files import OutputFolder
    from evalgate.adapters.terminal import Quiet
    from evalgate.application.judge import Tools

    return Tools(
        suite_files(cwd, root, bounds),
        trace_files(cwd, root, bounds),
        baseline_files(cwd, root if named_baseline else None),
        OutputFolder(output_dir, cwd, root),
        SystemClock(source_date_epoch),
        Quiet(),
        price_list(),
        fingerprints(cwd, root),
    )


def action_task(settings: Settings) -> Task:
    """What a job asks of the gate, out of its inputs and its event."""
    from evalgate.application.gate_in_action import Task

    inputs = settings.inputs
    return Task(
        request=action_request(settings),
        shown_folder=posixpath.normpath(f"{inputs.working_directory}/{OUTPUT_FOLDER}"),
        comment="off" if inputs.mode == "evaluate" else inputs.comment,
        only_reads=settings.only_reads,
        artifact=inputs.baseline_artifact if settings.uploads_baseline else None,
        report_artifact=settings.report_artifact if settings.leaves_report else None,
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
        on_weakening=inputs.on_weakening,
        report_only=inputs.mode == "report-only",
        make_baseline_zip=settings.makes_baseline,
        sarif=bool(inputs.sarif_path),
        folder="" if inputs.working_directory == "." else posixpath.normpath(inputs.working_directory),
        commit=settings.commit,
        merge_commit=job.sha,
        branch=pull_request.head_ref if pull_request else job.ref.removeprefix("refs/heads/"),
        run_id=job.run_id,
        comment_key=settings.comment_key,
        max_comment_chars=inputs.max_comment_chars,
        report_url=job.run_url,
        notes=settings.notes,
    )


def action_world(settings: Settings, step: StepOutput, downloads: str, budget: Budget | None = None) -> World:
    """What a job's run acts through; `downloads` is a folder of its own, `budget` the time for GitHub."""
    from functools import partial
    from pathlib import Path

    from evalgate.adapters import github
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.export_files import NamedFile, OutputFolder
    from evalgate.adapters.report_zip import ReportZips
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
    time = budget or github.Budget()
    before_verdict = time.half()
    found_in = Path(downloads)
    return World(
        judge=partial(_judge_in_action, job.workspace, cwd, folder, inputs.limits, job.source_date_epoch),
        folder=OutputFolder(folder, cwd, job.workspace),
        step=step,
        template=_template(settings, client(before_verdict)),
        approvals=_approvals(settings, client(before_verdict)),
        proposed=_approvals_on_disk(job.workspace) if settings.approvals_commit else None,
        baselines=github.Baselines(client(before_verdict), wanted, found_in, SystemClock(None))
        if search
        else None,
        pull_request=github.Comments(client(time), pull_request.number) if pull_request else None,
        checks=github.CheckRuns(client(time)) if inputs.check_run else None,
        artifacts=github.Artifacts(site, time)
        if settings.uploads_baseline or settings.leaves_report
        else None,
        reports=ReportZips(Path(downloads)) if settings.leaves_report else None,
        copies={
            name: NamedFile(posixpath.join(inputs.working_directory, path), job.workspace)
            for name, path in (("junit.xml", inputs.junit_path), ("results.sarif", inputs.sarif_path))
            if path
        },
    )


def publish_task(settings: Settings) -> PublishTask:
    """What a job that publishes for another run is to do."""
    from evalgate.application.foreign_report import Form
    from evalgate.application.publish import PublishTask

    inputs, job, run = settings.inputs, settings.job, settings.event.triggering_run
    if run is None:
        raise SettingError("the event file does not say which run has finished")
    url = f"{job.server_url}/{job.repository}/actions/runs/{run.id}"
    return PublishTask(
        run=run,
        artifact=settings.report_artifact,
        form=Form(settings.comment_key, inputs.max_comment_chars, url),
        comment=inputs.comment,
        summarise=inputs.job_summary,
    )


def publish_world(
    settings: Settings, step: StepOutput, downloads: str, budget: Budget | None = None
) -> PublishWorld:
    """What such a job acts through; `downloads` is a folder of its own, `budget` the time for GitHub."""
    from functools import partial
    from pathlib import Path

    from evalgate.adapters import github
    from evalgate.adapters.report_zip import ReportZips
    from evalgate.application.publish import PublishWorld

    trace = step.log if settings.inputs.debug or settings.job.debug else None
    client = github.Client(_site(settings), budget, trace)
    folder = Path(downloads)
    return PublishWorld(
        pulls=github.Pulls(client),
        reports=github.Reports(client, folder),
        files=ReportZips(folder),
        pull_request=partial(github.Comments, client),
        step=step,
        template=_template(settings, client),
    )


def _template(settings: Settings, client: Client) -> TemplateSource | None:
    """A project's template. A pull request does not say what its own comment says: its base commit does."""
    from evalgate.adapters.github import TemplateInCommit
    from evalgate.adapters.template_on_disk import TemplateOnDisk

    inputs, job = settings.inputs, settings.job
    if not inputs.template:
        return None
    if settings.template_commit:
        path = posixpath.normpath(posixpath.join(inputs.working_directory, inputs.template))
        return TemplateInCommit(client, path, settings.template_commit)
    cwd = posixpath.normpath(f"{job.workspace}/{inputs.working_directory}")
    return TemplateOnDisk(workspace(cwd, job.workspace), inputs.template)


def _approvals(settings: Settings, client: Client) -> ApprovalSource:
    """The approvals that count. A pull request does not approve its own failures: its base commit does."""
    from evalgate.adapters.github import ApprovalsInCommit

    if settings.approvals_commit:
        return ApprovalsInCommit(client, settings.approvals_commit)
    return _approvals_on_disk(settings.job.workspace)


def _approvals_on_disk(root: str) -> ApprovalSource:
    from evalgate.adapters.approvals_on_disk import ApprovalsOnDisk

    return ApprovalsOnDisk(workspace(root, root))


def approvals(cwd: str) -> ApprovalFile | None:
    """The approvals of the working folder, which a shell trusts; None where it has none."""
    from evalgate.adapters.approvals_on_disk import ApprovalsOnDisk

    return ApprovalsOnDisk(workspace(cwd)).read()


def fingerprints(cwd: str, root: str | None = None) -> FileFingerprints:
    """What files are, told in one word."""
    from evalgate.adapters.fingerprints import FileFingerprints

    return FileFingerprints(workspace(cwd, root))


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


def _judge_in_action(
    root: str, cwd: str, folder: str, bounds: Limits, epoch: str | None, request: JudgeRequest
) -> Judgement:
    from evalgate.application.judge import judge

    named = request.baseline_required
    tools = action_tools(root, cwd, folder, bounds, source_date_epoch=epoch, named_baseline=named)
    return judge(request, tools)
