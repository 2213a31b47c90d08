"""Runs the gate in a workflow: baseline, verdict, outputs, summary, annotations, comment, artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.action.post_check_run import post_check
from evalgate.application.action.post_comment import (
    CommentText,
    keep_comment,
    say,
    template_from,
    worth_a_comment,
)
from evalgate.application.action.step_outputs import outputs_of
from evalgate.application.approvals.approvals import with_approvals
from evalgate.application.messages.write_outputs import leave_files
from evalgate.errors import Unreachable
from evalgate.models.run.chunks import whole
from evalgate.records import dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.application.action.post_comment import CommentMode
    from evalgate.application.history.run_recorder import RunRecorder
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

UPLOAD_STEP = "actions/upload-artifact"
NO_COMMENT = (
    "no comment: on pull requests of forks and of Dependabot the token may not write; see the summary"
)
NO_CHECK = "no check run: on pull requests of forks and of Dependabot the token may not write"
NOTHING_STORED = (
    "Nothing is stored of this run: `store-url` is empty, as a secret is on pull requests of forks."
)
MOST_REASONS = 20
MOST_DAMAGED = 2


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What this run does. `shown_folder` is the output folder as later steps see it."""

    request: JudgeRequest
    shown_folder: str
    comment: CommentMode = "auto"
    only_reads: bool = False  # a pull request for which GitHub gives no token that can write
    artifact: str | None = None  # name of the artifact to upload this run's baseline as
    report_artifact: str | None = None  # the same for its report, for a publishing workflow
    annotate: bool = True
    summarise: bool = True
    allow_self: bool = False  # whether people may approve changes they contributed to


@dataclass(frozen=True, slots=True)
class GatePorts:
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
    memory: RunRecorder | None = None  # saves runs to the store, if one was named
    copies: Mapping[str, NamedFile] = field(default_factory=dict)  # of output files, at paths the user named


def run_gate(task: GateOptions, world: GatePorts) -> int:
    """Runs the gate and returns the exit code, which the decision alone determines.

    Everything after the verdict may fail without changing it: what GitHub refuses becomes a warning.
    """
    template = template_from(world.template, world.step)
    request = with_approvals(replace(task.request, template=template), world.approvals, world.proposed)
    if world.memory is not None:
        request = world.memory.load(request)
    judgement = _judged(_with_consents(request, task, world), world)
    _leave(task, world, judgement)
    _comment(task, world, judgement)
    _check(task, world, judgement)
    _upload(task, world, judgement)
    _remember(task, world, judgement)
    return judgement.exit_code


def _remember(task: GateOptions, world: GatePorts, judgement: Judgement) -> None:
    """Saves the run to the store. It comes last, so that its failure affects nothing else."""
    if world.memory is None:
        if task.only_reads:
            world.step.log(NOTHING_STORED)
        return
    said = world.memory.save(judgement)
    if said:
        world.step.log(f"The run was {said}.")
    for warning in world.memory.warnings:
        say(world.step, "warning", warning)


def _with_consents(request: JudgeRequest, task: GateOptions, world: GatePorts) -> JudgeRequest:
    """Adds the approvals given in comments to the request."""
    if world.review is None or world.reports is None:
        return request
    from evalgate.application.action.rerun_approvals import with_consents

    return with_consents(request, world.review, world.reports, world.step, allow_self=task.allow_self)


def _judged(request: JudgeRequest, world: GatePorts) -> Judgement:
    """Judges against the best readable baseline: a damaged one is replaced by the next best."""
    if world.baselines is None:
        return world.judge(request)
    damaged: list[str] = []
    while True:
        found = world.baselines.find(damaged)
        notes = [*request.notes, *found.refused]
        judgement = world.judge(replace(request, baseline=found.info, notes=notes))
        compared = judgement.results["baseline"]
        unread = found.info.path is not None and compared is not None and compared["status"] == "none"
        if not unread or len(damaged) == MOST_DAMAGED:
            return judgement
        damaged.append(str(found.info.path))


def _leave(task: GateOptions, world: GatePorts, judgement: Judgement) -> None:
    """Writes files and outputs first, so that they exist even if the run is cancelled later."""
    leave_files(judgement, world.folder)
    for name, copy in world.copies.items():
        if name in judgement.files:
            copy.write(whole(judgement.files[name]))
    world.step.outputs(outputs_of(judgement.results, _paths(task, judgement)))
    if task.summarise and "summary.md" in judgement.files:
        world.step.summary(whole(judgement.files["summary.md"]).decode())
    for line in _told(judgement):
        world.step.log(line)
    for warning in judgement.warnings:
        say(world.step, "warning", warning)
    if task.annotate:
        world.step.annotate(judgement.annotations)


def _paths(task: GateOptions, judgement: Judgement) -> dict[str, str]:
    written = {"results-path": "results.json", "report-path": "comment.md"}
    paths = {
        name: f"{task.shown_folder}/{file}" if file in judgement.files else ""
        for name, file in written.items()
    }
    return {**paths, "baseline-path": f"{task.shown_folder}/baseline.zip" if judgement.baseline_zip else ""}


def _told(judgement: Judgement) -> list[str]:
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


def _comment(task: GateOptions, world: GatePorts, judgement: Judgement) -> None:
    body = judgement.files.get("comment.md")
    if body is None or world.pull_request is None or task.comment == "off":
        return
    if task.only_reads and task.comment != "always":
        say(world.step, "notice", NO_COMMENT)
        return
    comment = CommentText(
        task.request.comment_key,
        whole(body).decode(),
        task.request.commit,
        create=worth_a_comment(task.comment, judgement.results),
    )
    keep_comment(comment, world.pull_request, world.step)


def _check(task: GateOptions, world: GatePorts, judgement: Judgement) -> None:
    if world.checks is None:
        return
    if task.only_reads:
        say(world.step, "notice", NO_CHECK)
        return
    post_check(task.request, judgement, world.checks, world.step)


def _upload(task: GateOptions, world: GatePorts, judgement: Judgement) -> None:
    """Uploads the baseline for later runs, and the report for the workflow that can comment."""
    if task.artifact is not None and judgement.baseline_zip is not None:
        path = f"{task.shown_folder}/baseline.zip"
        lost = _stored(world, "baseline", task.artifact, judgement.baseline_zip)
        if lost:
            say(world.step, "warning", f"{lost}. {_instead(task.artifact, path)}")
    if task.report_artifact is not None and world.reports is not None and "comment.md" in judgement.files:
        path = f"{task.shown_folder}/results.json"
        packed = world.reports.pack(whole(judgement.files["results.json"]))
        lost = _stored(world, "report", task.report_artifact, packed)
        if lost:
            say(world.step, "notice", f"{lost}. {_instead(task.report_artifact, path)}")


def _stored(world: GatePorts, what: str, name: str, path: str) -> str:
    """Uploads one zip; returns why that failed, empty if it succeeded."""
    if world.artifacts is None:
        return ""
    try:
        number = world.artifacts.upload(name, path)
    except Unreachable as trouble:
        return f"the {what} was not uploaded: {trouble}"
    world.step.log(f"The {what} was uploaded as artifact {name} ({number}).")
    return ""


def _instead(name: str, path: str) -> str:
    """Which step a workflow can add to upload the file itself."""
    return (
        f"Add a step after this one: uses: {UPLOAD_STEP}, if: always(), with name: {name}, path: {path}, "
        "include-hidden-files: true"
    )
