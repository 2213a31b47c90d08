"""One run of the gate in a workflow: baseline, verdict, outputs, summary, annotations, comment, artifact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from evalgate.application.leave_files import leave_files
from evalgate.application.step_outputs import comment_outputs, outputs_of
from evalgate.errors import Forbidden, Unreachable
from evalgate.models.annotation import Annotation

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.application.request import Judgement, JudgeRequest
    from evalgate.models.results import ResultsDoc
    from evalgate.ports import ArtifactStore, BaselineSource, NamedFile, OutputFolder, PullRequest, StepOutput

CommentMode = Literal["auto", "always", "on-change", "on-failure", "off"]
CHANGES = ("regressed", "broken", "improved", "fixed", "new", "removed")
UPLOAD_STEP = "actions/upload-artifact"
MOST_REASONS = 20
MOST_DAMAGED = 2
TITLE = "EvalGate"


@dataclass(frozen=True, slots=True)
class Task:
    """What this run is to do. `shown_folder` is the output folder as later steps see it."""

    request: JudgeRequest
    shown_folder: str
    comment: CommentMode = "auto"
    from_fork: bool = False
    artifact: str | None = None  # the name under which this run's baseline is uploaded
    annotate: bool = True
    summarise: bool = True


@dataclass(frozen=True, slots=True)
class World:
    """What the run acts through. None: there is no such thing in this run."""

    judge: Callable[[JudgeRequest], Judgement]
    folder: OutputFolder
    step: StepOutput
    baselines: BaselineSource | None = None
    pull_request: PullRequest | None = None
    artifacts: ArtifactStore | None = None
    junit: NamedFile | None = None


def gate_in_action(task: Task, world: World) -> int:
    """Runs the gate and returns the exit code, which is the decision's and nothing else's.

    Everything after the verdict may fail without changing it: what GitHub refuses becomes a warning.
    """
    judgement = _judged(task.request, world)
    _leave(task, world, judgement)
    _comment(task, world, judgement)
    _upload(task, world, judgement)
    return judgement.exit_code


def _judged(request: JudgeRequest, world: World) -> Judgement:
    """The verdict against the best baseline that can be read: one that is damaged gives way to the next."""
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


def _leave(task: Task, world: World, judgement: Judgement) -> None:
    """Files and outputs first: they stand even where the run is ended early."""
    leave_files(judgement, world.folder)
    if world.junit is not None and "junit.xml" in judgement.files:
        world.junit.write(judgement.files["junit.xml"])
    world.step.outputs(outputs_of(judgement.results, _paths(task, judgement)))
    if task.summarise and "summary.md" in judgement.files:
        world.step.summary(judgement.files["summary.md"].decode())
    for line in _told(judgement):
        world.step.log(line)
    for warning in judgement.warnings:
        _say(world, "warning", warning)
    if task.annotate:
        world.step.annotate(judgement.annotations)


def _paths(task: Task, judgement: Judgement) -> dict[str, str]:
    written = {"results-path": "results.json", "report-path": "comment.md"}
    paths = {
        name: f"{task.shown_folder}/{file}" if file in judgement.files else ""
        for name, file in written.items()
    }
    return {**paths, "baseline-path": f"{task.shown_folder}/baseline.zip" if judgement.baseline_zip else ""}


def _told(judgement: Judgement) -> list[str]:
    """The verdict for the log."""
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


def _comment(task: Task, world: World, judgement: Judgement) -> None:
    body = judgement.files.get("comment.md")
    if body is None or world.pull_request is None or task.comment == "off":
        return
    if task.comment == "auto" and task.from_fork:
        _say(world, "notice", "no comment: on a fork's pull request the token may not write; see the summary")
        return
    create = worth_a_comment(task.comment, judgement.results)
    try:
        comment = world.pull_request.upsert_comment(task.request.comment_key, body.decode(), create=create)
    except Forbidden as refusal:
        _say(world, "warning", f"the comment was not posted: {refusal}. It needs `pull-requests: write`")
    except Unreachable as trouble:
        _say(world, "warning", f"the comment was not posted: {trouble}")
    else:
        if comment is not None:
            world.step.outputs(comment_outputs(comment))


def worth_a_comment(mode: CommentMode, results: ResultsDoc) -> bool:
    """Whether to begin a comment; one that is there is kept true in any case."""
    failed = results["verdict"] != "pass"
    if mode == "on-failure":
        return failed
    summary = results["summary"]
    changed = summary is not None and any(dict(summary)[kind] for kind in CHANGES)
    return mode != "on-change" or failed or changed


def _upload(task: Task, world: World, judgement: Judgement) -> None:
    if task.artifact is None or world.artifacts is None or judgement.baseline_zip is None:
        return
    try:
        number = world.artifacts.upload(task.artifact, judgement.baseline_zip)
    except Unreachable as trouble:
        path = f"{task.shown_folder}/baseline.zip"
        _say(
            world,
            "warning",
            f"the baseline was not uploaded: {trouble}. Add a step after this one: uses: {UPLOAD_STEP}, "
            f"if: always(), with name: {task.artifact}, path: {path}, include-hidden-files: true",
        )
    else:
        world.step.log(f"The baseline was uploaded as artifact {task.artifact} ({number}).")


def _say(world: World, level: str, message: str) -> None:
    world.step.annotate([Annotation(level, TITLE, message)])
