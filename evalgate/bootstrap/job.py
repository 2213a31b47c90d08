"""Wires a job on GitHub: the gate, publishing the report of another run, or handling a comment that may approve."""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.bootstrap.features import all_settings
from evalgate.bootstrap.judge_context import make_judge_context
from evalgate.bootstrap.sources import build_workspace
from evalgate.errors import InvalidInput, SettingError, Unreachable
from evalgate.features.coding_agent.feature import CodingAgentInputs
from evalgate.features.learn.feature import LearnInputs
from evalgate.features.store.feature import StoreInputs
from evalgate.models.results.document_names import OUTPUT_FOLDER, RESULTS_PATH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from evalgate.adapters.github.client import Client
    from evalgate.adapters.github.connection import Site
    from evalgate.adapters.http import RequestDeadline
    from evalgate.application.action.combined_comment import Leg
    from evalgate.application.action.comment_origin import CommentOrigin
    from evalgate.application.action.run_gate import GateOptions, GatePorts
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.bootstrap.judge_context import JobJudge
    from evalgate.errors import EvalGateError
    from evalgate.models.approvals.approval import Approval
    from evalgate.models.approvals.review import TriggeringRun
    from evalgate.models.results.results_sections import InputsDoc
    from evalgate.ports import ApprovalSource, ReportFiles, StepOutput, TemplateSource
    from evalgate.ports.outputs import AskedOutput, RenderOptions
    from evalgate.ports.review import Review
    from evalgate.ports.store import ApprovalStore
    from evalgate.settings.settings import Settings

SECRET_INPUTS = frozenset({"github-token", "store-url"})
"""Inputs that outputs don't get."""


def run_job(
    settings: Settings,
    step: StepOutput,
    judge: JobJudge,
    downloads: str,
    environ: Mapping[str, str],
    deadline: RequestDeadline | None = None,
) -> int:
    """Runs the job in its mode; returns the exit code.

    `downloads` is a private folder, `deadline` the time for GitHub; `environ` holds the keys of trackers.
    """
    from evalgate.adapters.http import RequestDeadline

    job = _Job(settings, step, judge, Path(downloads), environ, deadline or RequestDeadline())
    if settings.is_approving:
        return job.approve()
    return job.publish() if settings.inputs.mode == "publish" else job.run_gate()


def report_failure(
    error: EvalGateError,
    settings: Settings,
    step: StepOutput,
    downloads: str,
    environ: Mapping[str, str],
    deadline: RequestDeadline | None = None,
) -> None:
    """Reports on the pull request why a job judged nothing."""
    from evalgate.adapters.http import RequestDeadline

    judge = make_judge_context(settings)
    _Job(settings, step, judge, Path(downloads), environ, deadline or RequestDeadline()).report_failure(error)


class _Job:
    """Builds the options and the ports of a job, in one of three modes."""

    def __init__(
        self,
        settings: Settings,
        step: StepOutput,
        judge: JobJudge,
        downloads: Path,
        environ: Mapping[str, str],
        deadline: RequestDeadline,
    ) -> None:
        self._settings, self._step, self._judge = settings, step, judge
        self._downloads, self._environ, self._deadline = downloads, environ, deadline
        self._site = _build_site(settings)

    def run_gate(self) -> int:
        """Judges the traces of the workspace."""
        from evalgate.adapters.clock import SystemClock
        from evalgate.adapters.files.output_folder import NamedFile
        from evalgate.adapters.github.ancestry import Reference
        from evalgate.adapters.github.baselines import BaselineRequest, Baselines
        from evalgate.application.action.run_gate import run_gate
        from evalgate.bootstrap.named_store import open_job_store
        from evalgate.bootstrap.outputs import options_for_judge

        settings, workspace = self._settings, self._settings.job.workspace
        pull_request = settings.event.pull_request
        early, late = self._connect(self._deadline.take_half()), self._connect()  # before and after the verdict
        baseline = BaselineRequest(
            settings.baseline_artifact,
            settings.baseline_branch,
            settings.event.default_branch,
            settings.baseline_workflow,
            Reference(*settings.baseline_reference),
            int(settings.job.run_id) if settings.job.run_id.isdecimal() else None,
            explains_none=not settings.makes_baseline,
        )
        outputs = self._prepare_outputs()
        request = replace(_build_judge_request(settings), outputs=options_for_judge(outputs))
        reads_comments = pull_request is not None and settings.reads_comments
        ports = replace(
            self._build_ports(late),
            template=self._choose_template(early),
            approvals=self._choose_approvals(early) if settings.allows_approvals else None,
            proposed=_local_approvals(workspace) if settings.approvals_commit else None,
            review=self._build_review(early, pull_request.number) if pull_request and reads_comments else None,
            baselines=Baselines(early, baseline, self._downloads, SystemClock(None))
            if settings.finds_baseline
            else None,
            reports=self._build_report_zips() if settings.may_upload_report or reads_comments else None,
            store=open_job_store(settings),
            outputs=outputs,
            copies=lambda path: NamedFile(path, workspace),
        )
        return run_gate(_build_gate_options(settings, request), ports)

    def report_failure(self, error: EvalGateError) -> None:
        """Reports in summary, comment and check run that nothing was judged, and in what a fork leaves."""
        from evalgate.adapters.clock import SystemClock
        from evalgate.application.action.run_gate import report_failed
        from evalgate.application.judge.report import render_invalid

        request = _build_judge_request(self._settings)
        judgement = render_invalid(request, error, SystemClock(None).now())
        report_failed(_build_gate_options(self._settings, request), self._build_ports(self._connect()), judgement)

    def _build_ports(self, client: Client) -> GatePorts:
        """The ports that report how the run ended."""
        from evalgate.adapters.files.output_folder import OutputFolder
        from evalgate.adapters.github.artifacts import Artifacts
        from evalgate.adapters.github.check_runs import CheckRuns
        from evalgate.adapters.github.pull_requests import Comments
        from evalgate.application.action.run_gate import GatePorts

        settings, pull_request = self._settings, self._settings.event.pull_request
        context = make_judge_context(settings)
        return GatePorts(
            judge=self._judge.judge,
            folder=OutputFolder(context.folder, context.cwd, context.root),
            step=self._step,
            pull_request=Comments(client, pull_request.number) if pull_request else None,
            checks=CheckRuns(client) if settings.inputs.check_run else None,
            artifacts=Artifacts(self._site, self._deadline, settings.job.attempt)
            if (settings.uploads_baseline or settings.may_upload_report) and not settings.job.uploads_by_step
            else None,
            reports=self._build_report_zips() if settings.may_upload_report else None,
        )

    def _prepare_outputs(self, report_of: TriggeringRun | None = None) -> list[AskedOutput]:
        """What this run leaves besides its standard files, or what the report of another run does."""
        from evalgate.application.action.post_comment import add_annotation
        from evalgate.bootstrap.outputs import prepare_outputs
        from evalgate.ports.outputs import OutputSettings

        settings = self._settings
        given = {
            each.name.replace("-", "_"): settings.inputs.values.get(each.name, each.default)
            for each in all_settings()
            if each.name not in SECRET_INPUTS
        }
        outputs = OutputSettings(
            given,
            settings.job.workspace,
            partial(add_annotation, self._step),
            branch=_find_branch(settings),
            folder=settings.inputs.working_directory,
            is_from_fork=settings.is_from_fork,
            report_of=report_of,
        )
        return prepare_outputs(outputs, self._environ)

    def publish(self) -> int:
        """Posts the report of the run that triggered this job."""
        from evalgate.adapters.clock import SystemClock
        from evalgate.adapters.github.pull_requests import Comments, Pulls
        from evalgate.adapters.github.reports import Reports
        from evalgate.application.action.publish import PublishOptions, PublishPorts, publish
        from evalgate.application.documents.untrusted_report import render_missing_report
        from evalgate.bootstrap.outputs import load_output

        settings, inputs, run = self._settings, self._settings.inputs, self._settings.event.triggering_run
        if run is None:
            raise SettingError("the event payload (GITHUB_EVENT_PATH) contains no valid workflow run")
        client = self._connect()
        render_options = self._render_options(str(run.id))
        options = PublishOptions(
            run=run,
            artifact=settings.report_artifact,
            render_options=render_options,
            comment=inputs.comment,
            summarise=inputs.job_summary,
        )
        ports = PublishPorts(
            pulls=Pulls(client),
            reports=Reports(client, self._downloads),
            render=self._judge.render_report,
            render_missing=partial(render_missing_report, now=SystemClock(None).now(), load=load_output),
            pull_request=partial(Comments, client),
            step=self._step,
            template=self._choose_template(client),
            outputs=[each for each in self._prepare_outputs(run) if each.output.is_late],
        )
        return publish(options, ports)

    def approve(self) -> int:
        """Handles the comment that triggered this job, which may approve something in its pull request."""
        from evalgate.adapters.github.check_runs import CheckRuns
        from evalgate.adapters.github.pull_requests import Comments
        from evalgate.application.action.approve_from_comment import (
            ApproveOptions,
            ApprovePorts,
            TriggeringComment,
            approve,
        )

        settings, inputs, comment = self._settings, self._settings.inputs, self._settings.event.comment
        if comment is None:
            raise SettingError("the event payload (GITHUB_EVENT_PATH) contains no comment")
        client = self._connect()
        options = ApproveOptions(
            comment=TriggeringComment(
                comment.id,
                comment.body,
                is_new=comment.action == "created",
                is_on_pull_request=comment.is_on_pull_request,
            ),
            render_options=self._render_options(None),
            run_url=settings.job.runs_url,
            allow_self=inputs.allow_self_approval,
            keeps_comment=inputs.comment != "off",
            summarise=inputs.job_summary,
        )
        ports = ApprovePorts(
            review=self._build_review(client, comment.number),
            files=self._build_report_zips(),
            decide=self._judge.approve,
            pull_request=Comments(client, comment.number),
            step=self._step,
            template=self._choose_template(client),
            checks=CheckRuns(client) if inputs.check_run else None,
            record=partial(_record_approvals, settings) if inputs.of(StoreInputs).store_url else None,
        )
        return approve(options, ports)

    def _connect(self, deadline: RequestDeadline | None = None) -> Client:
        from evalgate.adapters.github.client import Client

        log = self._step.log if self._settings.logs_details else None
        return Client(self._site, deadline or self._deadline, log)

    def _render_options(self, run_id: str | None) -> RenderOptions:
        """How to render the report of a run; without its id no link to its page is rendered."""
        settings = self._settings
        url = "" if run_id is None else f"{settings.job.runs_url}{run_id}"
        return _build_render_options(settings, url)

    def _build_review(self, client: Client, number: int) -> Review:
        """The pull request's review data. For a comment event the gate is another workflow than this one."""
        from evalgate.adapters.github.pull_request_review import PullRequestReview
        from evalgate.adapters.github.reports import Reports

        settings, reports = self._settings, Reports(client, self._downloads)
        workflow = settings.baseline_workflow if settings.is_approving else settings.job.workflow_path
        return PullRequestReview(client, number, workflow, settings.report_artifact, reports)

    def _build_report_zips(self) -> ReportFiles:
        from evalgate.adapters.archives.report_zip import ReportZips

        return ReportZips(self._downloads)

    def _choose_template(self, client: Client) -> TemplateSource | None:
        """The source of the template; for a pull request its base commit, so that it can't change its comment."""
        from evalgate.adapters.files.project_files import LocalTemplate
        from evalgate.adapters.github.commit_files import TemplateInCommit

        inputs, workspace = self._settings.inputs, self._settings.job.workspace
        if not inputs.template:
            return None
        if self._settings.template_commit:
            path = posixpath.normpath(posixpath.join(inputs.working_directory, inputs.template))
            return TemplateInCommit(client, path, self._settings.template_commit)
        cwd = posixpath.normpath(f"{workspace}/{inputs.working_directory}")
        return LocalTemplate(build_workspace(cwd, workspace), inputs.template)

    def _choose_approvals(self, client: Client) -> ApprovalSource:
        """The source of the approvals that count; for a pull request its base commit, not itself."""
        from evalgate.adapters.github.commit_files import ApprovalsInCommit

        if self._settings.approvals_commit:
            return ApprovalsInCommit(client, self._settings.approvals_commit)
        return _local_approvals(self._settings.job.workspace)


def _build_site(settings: Settings) -> Site:
    """The GitHub server and repository of the job."""
    from evalgate.adapters.github.connection import Site
    from evalgate.adapters.http import Network

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


def _make_origin(settings: Settings) -> CommentOrigin:
    """The origin of this step's comment. The runner names the job's id only in its token for artifacts."""
    from evalgate.adapters.github.artifacts import BackendIds
    from evalgate.application.action.comment_origin import make_origin

    job_id = ""
    with suppress(Unreachable):
        job_id = BackendIds.from_token(settings.job.runtime_token).job
    return make_origin(settings.job.run_id, settings.job.attempt, settings.step_names, job_id)


def _expiry_time(days: int | None, most: int | None) -> datetime | None:
    """When an artifact kept for `days` expires, at most as late as the repository allows; None without `days`."""
    from datetime import timedelta

    from evalgate.adapters.clock import SystemClock

    return None if days is None else SystemClock(None).now() + timedelta(days=min(days, most or days))


def _local_approvals(root: str) -> ApprovalSource:
    """The approvals in the job's checkout."""
    from evalgate.adapters.files.project_files import LocalApprovals

    return LocalApprovals(build_workspace(root, root))


def _record_approvals(settings: Settings, approvals: Sequence[Approval]) -> None:
    """Records approvals in the store for information only: the comment is what counts."""
    from evalgate.bootstrap.features import load_port

    job = settings.job
    store: ApprovalStore = load_port("approval_store")(
        settings.inputs.of(StoreInputs).store_url, job.temp, job.source_date_epoch, job.repository
    )
    store.record(approvals, None, None)


def _find_branch(settings: Settings) -> str:
    pull_request = settings.event.pull_request
    return pull_request.head_ref if pull_request else settings.job.ref.removeprefix("refs/heads/")


def _build_gate_options(settings: Settings, request: JudgeRequest) -> GateOptions:
    """What a run in this mode does, whatever its verdict."""
    from evalgate.application.action.run_gate import GateOptions

    inputs, most = settings.inputs, settings.job.max_retention_days
    return GateOptions(
        request=request,
        shown_folder=posixpath.normpath(f"{inputs.working_directory}/{OUTPUT_FOLDER}"),
        comment="off" if inputs.mode == "evaluate" else inputs.comment,
        is_from_fork=settings.is_from_fork,
        artifact=settings.baseline_artifact if settings.uploads_baseline else None,
        report_artifact=settings.report_artifact if settings.may_upload_report else None,
        always_uploads_report=settings.uploads_report,
        expires_at=_expiry_time(inputs.retention_days, most),
        report_expires_at=_expiry_time(inputs.report_retention_days, most),
        upload_refusal=settings.upload_refusal,
        annotate=inputs.annotations,
        summarise=inputs.job_summary,
        allow_self=inputs.allow_self_approval,
        origin=_make_origin(settings),
        leg=_make_leg(settings),
    )


def _make_leg(settings: Settings) -> Leg | None:
    """The leg of a matrix that shares a comment with the others; None if it has one by itself."""
    from evalgate.application.action.combined_comment import Leg

    if not settings.shares_comment or not settings.job.run_id.isdigit():
        return None
    job, most = settings.job, settings.inputs.max_comment_chars
    return Leg(
        settings.shared_comment_key,
        settings.leg_slug,
        int(job.run_id),
        job.attempt,
        passed=False,
        max_chars=most,
        of=settings.inputs.legs or 0,
    )


def _build_judge_request(settings: Settings) -> JudgeRequest:
    """The request to the judge, without the baseline, which is found later."""
    from evalgate.application.messages.request import (
        ApprovalInputs,
        BaselinePlan,
        JudgeRequest,
        RuleOptions,
        SourceChoice,
    )
    from evalgate.models.comparison.comparison import BaselineInfo
    from evalgate.ports.outputs import RunSubject

    inputs, job, pull_request = settings.inputs, settings.job, settings.event.pull_request
    found = {"auto": BaselineInfo("none"), "none": BaselineInfo("off", off_by="baseline: none")}
    is_given = inputs.baseline not in found
    return JudgeRequest(
        SourceChoice(
            inputs.config,
            inputs.traces or None,
            form=None if inputs.format in {"", "auto"} else inputs.format,
        ),
        RuleOptions(
            inputs.fail_on or None,
            inputs.on_weakening,
            report_only=inputs.mode == "report-only",
            by_rules_of_base=settings.uses_base_rules,
        ),
        ApprovalInputs(is_off=not settings.allows_approvals),
        subject=RunSubject(
            settings.commit,
            _find_branch(settings),
            job.run_id,
            merge_commit=job.sha,
            event=job.event_name or None,
            makes_baseline=settings.makes_baseline,
            legs=inputs.legs or 0,
            attempt=job.attempt,
        ),
        baseline=BaselinePlan(
            BaselineInfo("given", path=inputs.baseline) if is_given else found[inputs.baseline],
            is_required=is_given,
            makes_zip=settings.makes_baseline,
        ),
        render=_build_render_options(settings, job.run_url),
        inputs=_list_deciding_inputs(settings),
        mutation_score=inputs.of(LearnInputs).mutation_score and pull_request is not None,
        leg=settings.leg_label,
        folder="" if inputs.working_directory == "." else posixpath.normpath(inputs.working_directory),
        notes=settings.notes,
    )


def _list_deciding_inputs(settings: Settings) -> InputsDoc:
    """The inputs that decide in place of suites and policies.

    Paths are relative to the workspace; an id of the run, or its commit, is `*` in them, as each run has its own.
    """
    from evalgate.reporting.results.clean_values import clean_text

    inputs = settings.inputs
    found: InputsDoc = {"approvals_from": inputs.approvals_from}
    if inputs.traces:
        root, own = f"{settings.job.workspace}/", (settings.job.run_id, settings.job.sha, settings.commit)
        of_run = re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(each) for each in own if each)})(?!\w)")
        found["traces"] = sorted(clean_text(of_run.sub("*", each.removeprefix(root))) for each in inputs.traces)
    if inputs.fail_on:
        found["fail_on"] = list(inputs.fail_on)
    if inputs.on_weakening:
        found["on_weakening"] = inputs.on_weakening
    return found


def _build_render_options(settings: Settings, run_url: str | None) -> RenderOptions:
    from evalgate.ports.outputs import RenderOptions

    inputs = settings.inputs
    for_agent = inputs.of(CodingAgentInputs).for_agent
    most = inputs.max_comment_chars
    return RenderOptions(settings.comment_key, most, run_url, pages=settings.pages, for_agent=for_agent)


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
    return RESULTS_PATH
