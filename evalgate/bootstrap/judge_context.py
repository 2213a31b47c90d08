"""Where a job's judge sits: what it may read, and by which bounds."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Protocol

from evalgate.records import dataclass, replace
from evalgate.settings.limits import IN_ACTION, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.judge.judge import Tools
    from evalgate.application.messages.request import (
        ApprovedReport,
        Judgement,
        JudgeRequest,
        RenderedReport,
        RenderOptions,
    )
    from evalgate.models.approvals.comment_approval import CommentApproval
    from evalgate.models.approvals.triggering_run import TriggeringRun
    from evalgate.ports import Progress
    from evalgate.settings.settings import Settings

OUTPUT_FOLDER = ".evalgate"


class JobJudge(Protocol):
    """Who judges in a job, wherever that happens."""

    def judge(self, request: JudgeRequest, /) -> Judgement:
        """The answer to a request."""

    def write(self, path: str, run: TriggeringRun, form: RenderOptions, /) -> RenderedReport:
        """The report in a zip that a stranger's run left, in our own words; raises InvalidInput."""

    def approve(
        self,
        content: bytes,
        run: TriggeringRun,
        consents: Sequence[CommentApproval],
        form: RenderOptions,
        notes: Sequence[str],
        /,
    ) -> ApprovedReport:
        """The report that a run left, decided anew with what people approved; raises InvalidInput."""


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """A job's workspace, the folder that paths start from, and where files are left.

    `folder` lies inside the workspace, unless the judge is apart and leaves its files elsewhere.
    """

    root: str
    cwd: str
    folder: str
    limits: Limits = IN_ACTION
    source_date_epoch: str | None = None
    is_apart: bool = False

    def judge(self, request: JudgeRequest, progress: Progress | None = None) -> Judgement:
        """Judges in this very process."""
        from evalgate.application.judge.judge import judge

        return judge(request, self.tools(named_baseline=request.baseline_required, progress=progress))

    def write(self, path: str, run: TriggeringRun, form: RenderOptions) -> RenderedReport:
        """Writes anew the report in a zip that a stranger's run left, in this very process."""
        from pathlib import Path

        from evalgate.adapters.archives.report_zip import ReportZips
        from evalgate.application.documents.untrusted_report import write_anew

        return write_anew(ReportZips(Path(path).parent).unpack(path), run, form)

    def approve(
        self,
        content: bytes,
        run: TriggeringRun,
        consents: Sequence[CommentApproval],
        form: RenderOptions,
        notes: Sequence[str],
    ) -> ApprovedReport:
        """Decides a finished run anew with what people approved, in this very process."""
        from evalgate.adapters.clock import SystemClock
        from evalgate.application.judge.approved_report import approve_report

        today = SystemClock(self.source_date_epoch).now().date()
        return approve_report(content, run, consents, form, notes, today)

    def tools(self, *, named_baseline: bool, progress: Progress | None = None) -> Tools:
        """What the judge works with in a job: nothing outside the workspace, no symbolic links.

        A baseline that was found lies in the runner's own folder; one that an input names must lie inside.
        """
        from evalgate.adapters.clock import SystemClock
        from evalgate.adapters.files.disk_spool import DiskSpool
        from evalgate.adapters.files.output_folder import OutputFolder
        from evalgate.adapters.progress import Quiet
        from evalgate.application.judge.judge import Tools
        from evalgate.bootstrap.process import reading
        from evalgate.bootstrap.sources import (
            baseline_files,
            fingerprints,
            price_list,
            suite_files,
            trace_files,
        )

        return Tools(
            suite_files(self.cwd, self.root, self.limits),
            trace_files(self.cwd, self.root, self.limits),
            baseline_files(self.cwd, self.root if named_baseline else None),
            OutputFolder(self.folder, self.cwd, None if self.is_apart else self.root),
            SystemClock(self.source_date_epoch),
            reading.on(progress or Quiet()),
            price_list(),
            fingerprints(self.cwd, self.root),
            shelf=DiskSpool,
        )

    def moved_to(self, folder: str) -> JudgeContext:
        """The same for a judge apart, which leaves its files in a folder of its own."""
        return replace(self, folder=folder, is_apart=True)


def make_judge_context(settings: Settings) -> JudgeContext:
    """Where the job's judge sits."""
    job, inputs = settings.job, settings.inputs
    cwd = posixpath.normpath(f"{job.workspace}/{inputs.working_directory}")
    return JudgeContext(job.workspace, cwd, f"{cwd}/{OUTPUT_FOLDER}", inputs.limits, job.source_date_epoch)
