"""Wires the gate in a job: its options, its judge request and its ports."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalgate.bootstrap.approving import build_review
from evalgate.bootstrap.job import build_site, choose_approvals, choose_template, local_approvals
from evalgate.bootstrap.judge_context import OUTPUT_FOLDER, make_judge_context
from evalgate.bootstrap.run_recording import open_job_recorder
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


def build_gate_options(settings: Settings) -> GateOptions:
    """The gate's options, from the job's inputs and event."""
    from evalgate.application.action.run_gate import GateOptions

    inputs = settings.inputs
    return GateOptions(
        request=build_judge_request(settings),
        shown_folder=posixpath.normpath(f"{inputs.working_directory}/{OUTPUT_FOLDER}"),
        comment="off" if inputs.mode == "evaluate" else inputs.comment,
        is_read_only=settings.has_read_only_token,
        artifact=inputs.baseline_artifact if settings.uploads_baseline else None,
        report_artifact=settings.report_artifact if settings.uploads_report else None,
        annotate=inputs.annotations,
        summarise=inputs.job_summary,
        allow_self=inputs.allow_self_approval,
    )


def build_judge_request(settings: Settings) -> JudgeRequest:
    """The request to the judge, without the baseline, which is found later."""
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.models.comparison.comparison import BaselineInfo

    inputs, job, pull_request = settings.inputs, settings.job, settings.event.pull_request
    is_given = inputs.baseline not in {"auto", "none"}
    return JudgeRequest(
        configs=inputs.config,
        traces=inputs.traces or None,
        form=None if inputs.format in {"", "auto"} else inputs.format,
        baseline=BaselineInfo("given", path=inputs.baseline) if is_given else None,
        baseline_required=is_given,
        fail_on=inputs.fail_on or None,
        on_weakening=inputs.on_weakening,
        report_only=inputs.mode == "report-only",
        by_rules_of_base=settings.uses_base_rules,
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


def build_gate_ports(
    settings: Settings, step: StepOutput, judge: JobJudge, downloads: str, deadline: RequestDeadline | None = None
) -> GatePorts:
    """The gate's ports in a job; `downloads` is a private folder, `deadline` the time for GitHub."""
    from functools import partial
    from pathlib import Path

    from evalgate.adapters import github
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.files.output_folder import NamedFile, OutputFolder
    from evalgate.application.action.run_gate import GatePorts

    inputs, job, pull_request = settings.inputs, settings.job, settings.event.pull_request
    context = make_judge_context(settings)
    github_site, trace = build_site(settings), step.log if inputs.debug or job.debug else None
    client = partial(github.Client, github_site, trace=trace)
    request = github.BaselineRequest(
        inputs.baseline_artifact,
        settings.baseline_branch,
        settings.event.default_branch,
        settings.baseline_workflow,
        github.Reference(*settings.baseline_reference),
    )
    searches_baseline = inputs.baseline == "auto"
    run_deadline = deadline or github.RequestDeadline()
    before_verdict = run_deadline.take_half()
    folder = Path(downloads)
    return GatePorts(
        judge=judge.judge,
        folder=OutputFolder(context.folder, context.cwd, context.root),
        step=step,
        template=choose_template(settings, client(before_verdict)),
        approvals=choose_approvals(settings, client(before_verdict)),
        proposed=local_approvals(job.workspace) if settings.approvals_commit else None,
        review=build_review(settings, client(before_verdict), pull_request.number, downloads)
        if pull_request and settings.reads_comments
        else None,
        baselines=github.Baselines(client(before_verdict), request, folder, SystemClock(None))
        if searches_baseline
        else None,
        pull_request=github.Comments(client(run_deadline), pull_request.number) if pull_request else None,
        checks=github.CheckRuns(client(run_deadline)) if inputs.check_run else None,
        artifacts=github.Artifacts(github_site, run_deadline)
        if settings.uploads_baseline or settings.uploads_report
        else None,
        reports=_report_zips(folder) if settings.uploads_report or settings.reads_comments else None,
        recorder=open_job_recorder(settings) if inputs.store_url else None,
        copies={
            name: NamedFile(posixpath.join(inputs.working_directory, path), job.workspace)
            for name, path in (("junit.xml", inputs.junit_path), ("results.sarif", inputs.sarif_path))
            if path
        },
    )


def _report_zips(folder: Path) -> ReportFiles:
    from evalgate.adapters.archives.report_zip import ReportZips

    return ReportZips(folder)


def write_invalid_results(workspace_root: str, error: InvalidInput) -> str:
    """Writes results.json for invalid settings; returns its path, empty if it can't be written."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.application.judge.report import render_invalid
    from evalgate.application.messages.request import JudgeRequest, write_outputs

    if not workspace_root:
        return ""
    judgement = render_invalid(JudgeRequest(), error, SystemClock(None).now())
    try:
        folder = OutputFolder(OUTPUT_FOLDER, workspace_root, workspace_root)
        write_outputs(judgement, folder)
    except InvalidInput:
        return ""
    return f"{OUTPUT_FOLDER}/{RESULTS}"
