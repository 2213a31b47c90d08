"""Wires the gate in a job: its options, its judge request and its ports."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalgate.bootstrap.approving import review_of
from evalgate.bootstrap.job import approvals_of, approvals_on_disk, site, template_of
from evalgate.bootstrap.judge_context import OUTPUT_FOLDER, make_judge_context
from evalgate.bootstrap.run_recording import memory_of_job
from evalgate.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.adapters.github import RequestDeadline
    from evalgate.application.action.run_gate import GateOptions, GatePorts
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.bootstrap.judge_context import JobJudge
    from evalgate.ports import ReportFiles, StepOutput
    from evalgate.settings.settings import Settings

RESULTS = "results.json"


def action_task(settings: Settings) -> GateOptions:
    """The gate's options, from the job's inputs and event."""
    from evalgate.application.action.run_gate import GateOptions

    inputs = settings.inputs
    return GateOptions(
        request=action_request(settings),
        shown_folder=posixpath.normpath(f"{inputs.working_directory}/{OUTPUT_FOLDER}"),
        comment="off" if inputs.mode == "evaluate" else inputs.comment,
        only_reads=settings.only_reads,
        artifact=inputs.baseline_artifact if settings.uploads_baseline else None,
        report_artifact=settings.report_artifact if settings.leaves_report else None,
        annotate=inputs.annotations,
        summarise=inputs.job_summary,
        allow_self=inputs.allow_self_approval,
    )


def action_request(settings: Settings) -> JudgeRequest:
    """The request to the judge, without the baseline, which is found later."""
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.models.comparison.comparison import BaselineInfo

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
        by_rules_of_base=settings.by_rules_of_base,
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


def action_world(
    settings: Settings,
    step: StepOutput,
    judge: JobJudge,
    downloads: str,
    budget: RequestDeadline | None = None,
) -> GatePorts:
    """The gate's ports in a job; `downloads` is a private folder, `deadline` the time for GitHub."""
    from functools import partial
    from pathlib import Path

    from evalgate.adapters import github
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.files.output_folder import NamedFile, OutputFolder
    from evalgate.application.action.run_gate import GatePorts

    inputs, job, pull_request = settings.inputs, settings.job, settings.event.pull_request
    bench = make_judge_context(settings)
    here, trace = site(settings), step.log if inputs.debug or job.debug else None
    client = partial(github.Client, here, trace=trace)
    wanted = github.BaselineRequest(
        inputs.baseline_artifact,
        settings.baseline_branch,
        settings.event.default_branch,
        settings.baseline_workflow,
        github.Reference(*settings.compared_commit),
    )
    search = inputs.baseline == "auto"
    time = budget or github.RequestDeadline()
    before_verdict = time.half()
    found_in = Path(downloads)
    return GatePorts(
        judge=judge.judge,
        folder=OutputFolder(bench.folder, bench.cwd, bench.root),
        step=step,
        template=template_of(settings, client(before_verdict)),
        approvals=approvals_of(settings, client(before_verdict)),
        proposed=approvals_on_disk(job.workspace) if settings.approvals_commit else None,
        review=review_of(settings, client(before_verdict), pull_request.number, downloads)
        if pull_request and settings.reads_comments
        else None,
        baselines=github.Baselines(client(before_verdict), wanted, found_in, SystemClock(None))
        if search
        else None,
        pull_request=github.Comments(client(time), pull_request.number) if pull_request else None,
        checks=github.CheckRuns(client(time)) if inputs.check_run else None,
        artifacts=github.Artifacts(here, time)
        if settings.uploads_baseline or settings.leaves_report
        else None,
        reports=_report_zips(found_in) if settings.leaves_report or settings.reads_comments else None,
        memory=memory_of_job(settings) if inputs.store_url else None,
        copies={
            name: NamedFile(posixpath.join(inputs.working_directory, path), job.workspace)
            for name, path in (("junit.xml", inputs.junit_path), ("results.sarif", inputs.sarif_path))
            if path
        },
    )


def _report_zips(folder: Path) -> ReportFiles:
    from evalgate.adapters.archives.report_zip import ReportZips

    return ReportZips(folder)


def leave_invalid(workspace_root: str, mistake: InvalidInput) -> str:
    """Writes results.json for invalid settings; returns its path, empty if it can't be written."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.application.judge.report import invalid
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.application.messages.write_outputs import leave_files

    if not workspace_root:
        return ""
    judgement = invalid(JudgeRequest(), mistake, SystemClock(None).now())
    try:
        folder = OutputFolder(OUTPUT_FOLDER, workspace_root, workspace_root)
        leave_files(judgement, folder)
    except InvalidInput:
        return ""
    return f"{OUTPUT_FOLDER}/{RESULTS}"
