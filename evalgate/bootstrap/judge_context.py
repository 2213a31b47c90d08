"""The context of a job's judge: its folders, its limits and its tools."""

from __future__ import annotations

import posixpath
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from evalgate.models.results.document_names import OUTPUT_FOLDER
from evalgate.settings.limits import IN_ACTION, Limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.application.judge.judge import Tools
    from evalgate.application.messages.request import (
        ApprovedReport,
        Judgement,
        JudgeRequest,
        RenderedReport,
    )
    from evalgate.models.approvals.review import CommentApproval, TriggeringRun
    from evalgate.ports import Progress
    from evalgate.ports.outputs import RenderOptions
    from evalgate.settings.settings import Settings


class JobJudge(Protocol):
    """The judge of a job, in this process or in the sandbox."""

    def judge(self, request: JudgeRequest, /) -> Judgement:
        """Judges a request."""

    def render_report(
        self, path: str, run: TriggeringRun, options: RenderOptions, outputs: Mapping[str, Any], /
    ) -> RenderedReport:
        """Renders the report from the zip of an untrusted run, and outputs of it; raises InvalidInput."""

    def approve(
        self,
        content: bytes,
        run: TriggeringRun,
        approvals: Sequence[CommentApproval],
        options: RenderOptions,
        notes: Sequence[str],
        /,
    ) -> ApprovedReport:
        """Decides the report of a run again with the approvals; raises InvalidInput."""


class JudgeContext(Struct, frozen=True):
    """A job's workspace, the folder that paths are relative to, and the output folder.

    `folder` lies inside the workspace, unless the judge is sandboxed and writes elsewhere.
    """

    root: str
    cwd: str
    folder: str
    limits: Limits = IN_ACTION
    source_date_epoch: str | None = None
    is_apart: bool = False

    def judge(self, request: JudgeRequest, progress: Progress | None = None) -> Judgement:
        """Judges in this process."""
        from evalgate.application.judge.judge import judge

        return judge(request, self.build_tools(named_baseline=request.baseline.is_required, progress=progress))

    def render_report(
        self, path: str, run: TriggeringRun, options: RenderOptions, outputs: Mapping[str, Any]
    ) -> RenderedReport:
        """Renders the report from the zip of an untrusted run, in this process."""
        from pathlib import Path

        from evalgate.adapters.archives.report_zip import ReportZips
        from evalgate.application.documents.untrusted_report import render_untrusted_report
        from evalgate.bootstrap.outputs import load_output

        content = ReportZips(Path(path).parent).unpack(path)
        return render_untrusted_report(content, run, options, outputs, load_output)

    def approve(
        self,
        content: bytes,
        run: TriggeringRun,
        approvals: Sequence[CommentApproval],
        options: RenderOptions,
        notes: Sequence[str],
    ) -> ApprovedReport:
        """Decides a finished run again with the approvals, in this process."""
        from evalgate.adapters.clock import SystemClock
        from evalgate.application.documents.untrusted_report import render_report
        from evalgate.application.judge.approved_report import approve_report
        from evalgate.bootstrap.outputs import load_output

        render = partial(render_report, options=options, asked={}, load=load_output)
        today = SystemClock(self.source_date_epoch).now().date()
        return approve_report(content, run, approvals, render, notes, today)

    def build_tools(self, *, named_baseline: bool, progress: Progress | None = None) -> Tools:
        """The judge's tools in a job: nothing outside the workspace, no symbolic links.

        A downloaded baseline lies in the runner's folder; one named by an input must lie in the workspace.
        """
        from evalgate.adapters.clock import SystemClock
        from evalgate.adapters.files.disk_spool import DiskSpool
        from evalgate.adapters.files.output_folder import OutputFolder
        from evalgate.adapters.progress import SilentProgress
        from evalgate.application.judge.judge import Tools
        from evalgate.bootstrap.outputs import load_output
        from evalgate.bootstrap.process import current_file
        from evalgate.bootstrap.sources import (
            build_baseline_files,
            build_fingerprints,
            build_suite_files,
            build_trace_files,
            calibrate_history,
            find_price_list,
            make_mutation_comparer,
        )

        return Tools(
            build_suite_files(self.cwd, self.root, self.limits),
            build_trace_files(self.cwd, self.root, self.limits),
            build_baseline_files(self.cwd, self.root if named_baseline else None),
            OutputFolder(self.folder, self.cwd, None if self.is_apart else self.root),
            SystemClock(self.source_date_epoch),
            current_file.wrap_progress(progress or SilentProgress()),
            DiskSpool,
            load_output,
            make_mutation_comparer,
            find_price_list(),
            build_fingerprints(self.cwd, self.root),
            calibrate=calibrate_history,
        )

    def with_folder(self, folder: str) -> JudgeContext:
        """A copy for a sandboxed judge, which writes its files to another folder."""
        return replace(self, folder=folder, is_apart=True)


def make_judge_context(settings: Settings) -> JudgeContext:
    """The context of the job's judge."""
    job, inputs = settings.job, settings.inputs
    cwd = posixpath.normpath(f"{job.workspace}/{inputs.working_directory}")
    return JudgeContext(job.workspace, cwd, f"{cwd}/{OUTPUT_FOLDER}", inputs.limits, job.source_date_epoch)
