"""Runs the gate in a workflow: baseline, verdict, outputs, summary, annotations, comment, artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from evalgate.application.action.deliver import LatePorts, apply_late
from evalgate.application.action.post_comment import (
    READ_ONLY,
    REQUIRE_THE_JOB,
    CommentText,
    PostResult,
    add_annotation,
    is_comment_wanted,
    load_template,
    name_copies,
    post_check,
    post_comment,
)
from evalgate.application.action.step_outputs import outputs_of
from evalgate.application.approvals.approvals import with_approvals
from evalgate.application.messages.request import with_history, write_outputs
from evalgate.errors import ArtifactExists, Unreachable
from evalgate.models.run.chunks import join_chunks
from evalgate.ports.outputs import AskedOutput, deliver, list_unkept

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from evalgate.application.action.combined_comment import Leg
    from evalgate.application.action.comment_origin import CommentOrigin
    from evalgate.application.action.post_comment import CommentMode
    from evalgate.application.messages.request import Judgement, JudgeRequest
    from evalgate.ports import (
        ApprovalSource,
        ArtifactStore,
        BaselineSource,
        CheckRuns,
        NamedFile,
        OutputFolder,
        PullRequest,
        ReportFiles,
        StepOutput,
        TemplateSource,
    )
    from evalgate.ports.review import Review
    from evalgate.ports.store import RunStore

UPLOAD_STEP = "actions/upload-artifact"
UNLESS_PROPOSED = """ && contains(fromJSON('["push", "schedule", "workflow_dispatch"]'), github.event_name)"""
"""In which events a run leaves a baseline."""
OLDER_SERVER = "GitHub Enterprise Server needs its version v3-node20 (docs/enterprise.md)"
MOST_REASONS = 20
MOST_DAMAGED = 2


class GateOptions(Struct, frozen=True):
    """What this run does. `shown_folder` is what later steps see, from the workspace."""

    request: JudgeRequest
    shown_folder: str
    comment: CommentMode = "auto"
    is_from_fork: bool = False  # a pull request for which GitHub gives no token that can write
    artifact: str | None = None  # name of the artifact to upload this run's baseline as
    report_artifact: str | None = None  # the same for its report, for a publishing workflow
    always_uploads_report: bool = False  # otherwise only if GitHub refuses the comment to this token
    expires_at: datetime | None = None  # when GitHub deletes the baseline; None for the repository's setting
    report_expires_at: datetime | None = None
    upload_refusal: str = ""  # why the baseline that was asked for is not uploaded
    annotate: bool = True
    summarise: bool = True
    allow_self: bool = False  # whether people may approve changes they contributed to
    origin: CommentOrigin | None = None  # which step of which run this is
    leg: Leg | None = None  # if all legs of a matrix share a comment

    @property
    def writes_to_pull_request(self) -> bool:
        """Whether to try to write comment and check run: for a fork, only if asked to."""
        return not self.is_from_fork or self.comment == "always"


class GatePorts(Struct, frozen=True):
    """The ports that the run needs; None if this run has no such port."""

    judge: Callable[[JudgeRequest], Judgement]
    folder: OutputFolder
    step: StepOutput
    template: TemplateSource | None = None
    approvals: ApprovalSource | None = None  # the approvals that count
    proposed: ApprovalSource | None = None  # those of the pull request, if another commit's count
    review: Review | None = None  # if comments may approve: set on reruns
    baselines: BaselineSource | None = None
    pull_request: PullRequest | None = None
    checks: CheckRuns | None = None
    artifacts: ArtifactStore | None = None
    reports: ReportFiles | None = None
    store: RunStore | None = None  # has the history, if one was named
    outputs: Sequence[AskedOutput] = ()
    copies: Callable[[str], NamedFile] | None = None  # a file at a path the user named


def run_gate(options: GateOptions, ports: GatePorts) -> int:
    """Runs the gate and returns the exit code, which the decision alone determines.

    Everything after the verdict may fail without changing it: what GitHub refuses becomes a warning.
    """
    template = load_template(ports.template, ports.step)
    render = replace(options.request.render, template=template)
    request = with_approvals(replace(options.request, render=render), ports.approvals, ports.proposed)
    if ports.store is not None:
        request = with_history(request, ports.store)
    judgement = _judge_against_baseline(_with_consents(request, options, ports), ports)
    _write_outputs(options, ports, judgement)
    posted = _update_comment(options, ports, judgement)
    _post_check_run(options, ports, judgement)
    _upload_baseline(options, ports, judgement)
    if options.always_uploads_report or posted.is_refused:
        _upload_report(options, ports, judgement)
    late = deliver(_list_outputs(ports), judgement.files, judgement.results, is_late=True)
    apply_late(late, LatePorts(ports.step, ports.folder, ports.pull_request, posted.comment, options.summarise))
    return judgement.exit_code


def report_failed(options: GateOptions, ports: GatePorts, judgement: Judgement) -> None:
    """Posts the report of a run that judged nothing, in place of an older one."""
    if options.summarise:
        ports.step.summary(join_chunks(judgement.files["summary.md"]).decode())
    posted = _update_comment(options, ports, judgement)
    _post_check_run(options, ports, judgement)
    if options.always_uploads_report or posted.is_refused:
        _upload_report(options, ports, judgement)


def _list_outputs(ports: GatePorts) -> list[AskedOutput]:
    """The store saves the run first, and late, so that its failure affects nothing else."""
    return [*([] if ports.store is None else [AskedOutput(ports.store)]), *ports.outputs]


def _with_consents(request: JudgeRequest, options: GateOptions, ports: GatePorts) -> JudgeRequest:
    if ports.review is None or ports.reports is None:
        return request
    from evalgate.application.approvals.comment_approvals import with_consents

    return with_consents(request, ports.review, ports.reports, ports.step, allow_self=options.allow_self)


def _judge_against_baseline(request: JudgeRequest, ports: GatePorts) -> Judgement:
    """Judges against the best readable baseline: a damaged one is replaced by the next best."""
    if ports.baselines is None:
        return ports.judge(request)
    damaged: list[str] = []
    while True:
        found = ports.baselines.find(damaged)
        plan = replace(request.baseline, info=found.info, refused=found.refused)
        judgement = ports.judge(replace(request, baseline=plan))
        compared = judgement.results["baseline"]
        unread = found.info.path is not None and compared is not None and compared["status"] == "refused"
        if not unread or len(damaged) == MOST_DAMAGED:
            return judgement
        damaged.append(str(found.info.path))


def _write_outputs(options: GateOptions, ports: GatePorts, judgement: Judgement) -> None:
    """Writes files and outputs first, so that they exist even if the run is cancelled later."""
    write_outputs(judgement, ports.folder, omit=list_unkept(ports.outputs))
    delivered = deliver(ports.outputs, judgement.files, judgement.results, is_late=False)
    for path, content in [copy for each in delivered for copy in each.copies.items()]:
        if ports.copies is not None:
            ports.copies(path).write(join_chunks(content))
    named = {name: value for each in delivered for name, value in each.outputs.items()}
    ports.step.outputs(outputs_of(judgement.results, {**_paths(options, judgement), **named}))
    if options.summarise and "summary.md" in judgement.files:
        ports.step.summary(join_chunks(judgement.files["summary.md"]).decode())
    for line in _verdict_lines(judgement):
        ports.step.log(line)
    for warning in judgement.warnings:
        add_annotation(ports.step, "warning", warning)
    if options.annotate:
        ports.step.annotate(judgement.annotations)


def _paths(options: GateOptions, judgement: Judgement) -> dict[str, str]:
    written = {"results-path": "results.json", "report-path": "comment.md"}
    paths = {
        name: f"{options.shown_folder}/{file}" if file in judgement.files else "" for name, file in written.items()
    }
    return {
        **paths,
        "baseline-path": f"{options.shown_folder}/baseline.zip" if judgement.baseline_zip else "",
    }


def _verdict_lines(judgement: Judgement) -> list[str]:
    results = judgement.results
    summary = results["summary"]
    count = f", {summary['passed']} of {summary['scenarios']} scenarios pass" if summary else ""
    reasons = [_reason(reason) for reason in map(dict, results["reasons"])]
    more = len(reasons) - MOST_REASONS
    return [
        f"EvalGate: {results['verdict']} (exit code {results['exit_code']}){count}",
        *reasons[:MOST_REASONS],
        *([f"{more} more reasons are in results.json"] if more > 0 else []),
    ]


def _reason(reason: dict[str, object]) -> str:
    place = " / ".join(str(reason[key]) for key in ("suite", "scenario") if reason.get(key))
    return f"- {place}: {reason['message']}" if place else f"- {reason['message']}"


def _update_comment(options: GateOptions, ports: GatePorts, judgement: Judgement) -> PostResult:
    """Posts the comment, if one is wanted."""
    body = judgement.files.get("comment.md")
    if body is None or ports.pull_request is None or options.comment == "off":
        return PostResult()
    places = [*(["the job summary"] if options.summarise else []), f"{options.shown_folder}/comment.md"]
    comment = CommentText(
        options.request.render.comment_key,
        join_chunks(body).decode(),
        options.request.subject.commit,
        create=is_comment_wanted(options.comment, judgement.results),
        copy=" and ".join(places),
        is_from_fork=options.is_from_fork,
        origin=options.origin and replace(options.origin, passed=judgement.results["verdict"] == "pass"),
        leg=options.leg and replace(options.leg, passed=judgement.results["verdict"] == "pass"),
    )
    if not options.writes_to_pull_request:
        verdict = f"EvalGate {judgement.heading}; no comment" if judgement.heading else "no comment"
        add_annotation(ports.step, "notice", f"{verdict}: {READ_ONLY}{name_copies(comment)}")
        return PostResult(is_refused=True)
    return post_comment(comment, ports.pull_request, ports.step)


def _post_check_run(options: GateOptions, ports: GatePorts, judgement: Judgement) -> None:
    if ports.checks is None:
        return
    if not options.writes_to_pull_request:
        add_annotation(ports.step, "notice", f"no check run: {READ_ONLY}; {REQUIRE_THE_JOB}")
        return
    post_check(options.request, judgement, ports.checks, ports.step, is_from_fork=options.is_from_fork)


def _upload_baseline(options: GateOptions, ports: GatePorts, judgement: Judgement) -> None:
    """Uploads the baseline for later runs."""
    if options.upload_refusal:
        add_annotation(ports.step, "notice", f"the baseline was not uploaded: {options.upload_refusal}")
    if options.artifact is not None and judgement.baseline_zip is not None:
        path = f"{options.shown_folder}/baseline.zip"
        upload = _Upload("baseline", options.artifact, judgement.baseline_zip, options.expires_at)
        if failure := _upload_zip(ports, upload, path):
            add_annotation(ports.step, "warning", failure)


def _upload_report(options: GateOptions, ports: GatePorts, judgement: Judgement) -> None:
    """Uploads the report for the workflow that can comment."""
    if options.report_artifact is not None and ports.reports is not None and "comment.md" in judgement.files:
        path = f"{options.shown_folder}/results.json"
        packed = ports.reports.pack(join_chunks(judgement.files["results.json"]))
        upload = _Upload("report", options.report_artifact, packed, options.report_expires_at)
        if failure := _upload_zip(ports, upload, path):
            add_annotation(ports.step, "notice", failure)


class _Upload(Struct, frozen=True):
    what: str
    name: str
    path: str
    expires_at: datetime | None


def _upload_zip(ports: GatePorts, upload: _Upload, shown: str) -> str:
    """Uploads one zip, or names it for the step that does; returns why that failed, empty if it succeeded.

    Where another step can upload the file, which later steps see as `shown`, that is said.
    """
    if ports.artifacts is None:
        ports.step.outputs({f"{upload.what}-artifact": upload.name})
        return ""
    try:
        number = ports.artifacts.upload(upload.name, upload.path, upload.expires_at)
    except ArtifactExists as trouble:
        return f"the {upload.what} was not uploaded: {trouble}"
    except Unreachable as trouble:
        return f"the {upload.what} was not uploaded: {trouble}. {_build_upload_hint(upload, shown)}"
    kept = f", kept until {upload.expires_at:%Y-%m-%d}" if upload.expires_at else ""
    ports.step.log(f"The {upload.what} was uploaded as artifact {upload.name} ({number}){kept}.")
    return ""


def _build_upload_hint(upload: _Upload, path: str) -> str:
    """Which step a workflow can add to upload the file itself."""
    condition = UNLESS_PROPOSED if upload.what == "baseline" else ""
    return (
        f"Add a step after this one: uses: {UPLOAD_STEP}, if: always(){condition}, with name: {upload.name}, "
        f"path: {path}, include-hidden-files: true. {OLDER_SERVER}"
    )
