"""Settings of a run in GitHub Actions, read from the environment only here.

It imports no slow module, because the process that holds the token imports it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from evalgate.adapters.http import find_bundle_fault
from evalgate.errors import Problem, SettingError
from evalgate.models.github import BASELINE_ARTIFACT, BASELINE_EVENTS, Pages
from evalgate.settings.inputs import Inputs
from evalgate.settings.job import Job, TriggerEvent, read_event, read_job
from evalgate.settings.read_inputs import read_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.settings.setting import Setting

CommitKind = Literal["parent", "commit", "fork_point"]
BASELINE_RUNS = "push, schedule and workflow_dispatch runs"
UNSAFE_EVENTS = {
    "pull_request_target": "use `on: pull_request`; docs/github.md, Forks, shows how forks get a comment",
    "workflow_run": "use `on: pull_request`, or `mode: publish` to post the report of another run",
}
"""Events with a write token while the workspace may be untrusted, and what to use instead."""
INVALID_KEY_CHARS = re.compile(r"(?:[^A-Za-z0-9._/-]|-)+")
PUBLISHING_EVENT = "workflow_run"
APPROVING_EVENT = "issue_comment"
WELL_KNOWN_ONLY = "so only well-known certificates are trusted: put a PEM file below the workspace or RUNNER_TEMP"


NO_REPOSITORY_ID = (
    "there is no baseline: GITHUB_REPOSITORY_ID is not set, as under `act`, and without it an artifact of this "
    "repository can't be distinguished from one of a fork; `baseline` may name a file"
)

OWN_RULES = (
    "`policy-from: base` holds on pull requests and in the merge queue only: this run of another branch was judged by "
    "the rules of its own commit"
)


class Settings(Struct, frozen=True):
    """Inputs, job and event of one run. `notes` are problems that don't stop it."""

    inputs: Inputs
    job: Job
    event: TriggerEvent
    notes: tuple[str, ...] = ()

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], declared: Sequence[Setting[Any]]) -> Settings:
        """Reads all declared settings; raises one SettingError with every error."""
        problems: list[Problem] = []
        values, notes = read_values(declared, environ, problems)
        inputs = Inputs(values)
        job = read_job(environ, problems)
        event = read_event(job.event_name, job.event_path, problems)
        problems += _check_event(inputs, job)
        problems += filter(None, (each.find_problem(values, job.temp, job.workspace) for each in declared))
        if problems:
            raise SettingError(*problems)
        if fault := find_bundle_fault(job.ca_bundle):
            notes.append(f"{fault}, {WELL_KNOWN_ONLY}")
        if inputs.baseline == "auto" and not job.repository_id:
            notes.append(NO_REPOSITORY_ID)
        made = cls(inputs, job, event, tuple(notes))
        return replace(made, notes=(*notes, OWN_RULES)) if made._ignores_base_rules else made

    @property
    def logs_details(self) -> bool:
        """Whether requests and other details are logged."""
        return self.inputs.debug or self.job.debug

    @property
    def finds_baseline(self) -> bool:
        """Whether to look for the baseline among the repository's artifacts; its id rules out those of forks."""
        return self.inputs.baseline == "auto" and self.job.repository_id > 0

    @property
    def is_approving(self) -> bool:
        """Whether this run only handles a comment that may approve something, and judges nothing."""
        return self.event.name == APPROVING_EVENT

    @property
    def reads_comments(self) -> bool:
        """Whether comments may hold approvals: not in the first attempt, as they follow a verdict."""
        if self.event.pull_request is None or self.inputs.approvals_from != "comments":
            return False
        return self.job.attempt > 1

    @property
    def baseline_branch(self) -> str:
        """The branch of the baseline: the input, else the pull request's base, else the default branch.

        A run on another branch that uploads a baseline of it is compared within that branch, as the pull requests
        into it are.
        """
        if self.inputs.baseline_branch:
            return self.inputs.baseline_branch
        pull_request = self.event.pull_request
        base = pull_request.base_ref if pull_request else self.event.queue_base_branch
        return base or self._uploading_branch or self.event.default_branch

    @property
    def _uploading_branch(self) -> str:
        """The branch that this run uploads a baseline of because it was asked to; empty if it wasn't, or on a tag."""
        branch = self.job.ref.removeprefix("refs/heads/")
        is_asked = self.inputs.upload_baseline == "true" and self.event.name in BASELINE_EVENTS
        return branch if is_asked and branch != self.job.ref else ""

    @property
    def baseline_workflow(self) -> str:
        """Path of the workflow file whose runs create baselines."""
        given = self.inputs.baseline_workflow
        if not given:
            return self.job.workflow_path
        return given if "/" in given else f".github/workflows/{given}"

    @property
    def comment_key(self) -> str:
        """The key that distinguishes this gate's comment from another gate's.

        By default it has the workflow that runs, which is the caller of a reusable one, the job and the matrix leg.
        """
        names = (self.job.workflow_path.rpartition("/")[2], self.job.job, self.leg_slug)
        default = "/".join(filter(None, names))
        return self.inputs.comment_key or INVALID_KEY_CHARS.sub("-", default) or "evalgate"

    @property
    def baseline_artifact(self) -> str:
        """The name of the artifact with the baseline; by default each matrix leg has its own."""
        default = "-".join(filter(None, (BASELINE_ARTIFACT, self.leg_slug)))
        return self.inputs.baseline_artifact or default

    @property
    def leg_label(self) -> str:
        """What people read of the job's matrix leg; empty if the job has no matrix."""
        return self.inputs.matrix.label if self.inputs.matrix else ""

    @property
    def step_names(self) -> tuple[str, ...]:
        """What distinguishes this step from the others of its run, in every attempt."""
        return self.job.job, self.leg_slug, self.job.step

    @property
    def shares_comment(self) -> bool:
        """Whether this leg writes a section of one comment: in a matrix by default, unless its key is given."""
        if self.inputs.matrix is None:
            return False
        return self.inputs.comment == "combined" or (self.inputs.comment == "auto" and not self.inputs.comment_key)

    @property
    def shared_comment_key(self) -> str:
        """The key of the comment that all legs of a matrix share."""
        default = "/".join(filter(None, (self.job.workflow_path.rpartition("/")[2], self.job.job)))
        return self.inputs.comment_key or INVALID_KEY_CHARS.sub("-", default) or "evalgate"

    @property
    def leg_slug(self) -> str:
        """The values of the job's matrix as a part of names; empty if the job has no matrix."""
        return self.inputs.matrix.slug if self.inputs.matrix else ""

    @property
    def template_commit(self) -> str:
        """The commit that the comment's template is read from; empty if the workspace is trusted.

        It is the base of a pull request, or the default branch's commit for a run that publishes or approves.
        """
        if self.event.pull_request is not None:
            return self.event.pull_request.base_sha or self.event.pull_request.base_ref
        return self.job.sha if self.event.triggering_run is not None or self.is_approving else ""

    @property
    def allows_approvals(self) -> bool:
        """Whether any approval counts, of a file, a comment or a store."""
        return self.inputs.approvals_from != "none"

    @property
    def approvals_commit(self) -> str:
        """The commit whose approvals count; empty if those of the workspace do, or none.

        A pull request must not approve its own failures, also not in the merge queue.
        """
        if self.inputs.approvals_from in {"head", "none"}:
            return ""
        if self.event.pull_request is not None:
            return self.event.pull_request.base_sha or self.event.pull_request.base_ref
        return self.event.queue_base_sha or ""

    @property
    def uses_base_rules(self) -> bool:
        """Whether the base branch's suites and policy decide: for pull requests and merge groups."""
        proposes = self.event.pull_request is not None or self.event.queue_base_sha is not None
        return self.inputs.policy_from == "base" and proposes

    @property
    def _ignores_base_rules(self) -> bool:
        """Whether a run of another branch than the baseline's is judged by its own rules, although base's are asked."""
        judges = not self.is_approving and self.inputs.mode != "publish"
        return judges and self.inputs.policy_from == "base" and not (self.uses_base_rules or self._on_baseline_branch)

    @property
    def report_artifact(self) -> str:
        """The name of the artifact in which a run that may not comment leaves its report for publishing."""
        return f"evalgate-report-{self.comment_key.replace('/', '-')}"

    @property
    def is_from_fork(self) -> bool:
        """Whether this is a pull request from a fork: GitHub gives it a token that can write nothing.

        Dependabot's token can write what the workflow's `permissions:` allow, as any other branch's.
        """
        pull_request = self.event.pull_request
        return pull_request is not None and pull_request.from_fork

    @property
    def may_upload_report(self) -> bool:
        """Whether this run uploads its report for a publishing workflow, if it can't comment."""
        return self.event.pull_request is not None and self.inputs.upload_report != "false"

    @property
    def uploads_report(self) -> bool:
        """Whether this run uploads its report in any case."""
        is_needed = self.inputs.mode == "evaluate" or self.inputs.approvals_from == "comments"
        is_chosen = self.inputs.upload_report == "true" or is_needed or self.is_from_fork
        return self.may_upload_report and is_chosen

    @property
    def stored_branch(self) -> str:
        """The branch name under which a store records this run.

        The head branch of a pull request may have the name of a branch of this repository: its runs don't
        count as runs of that branch.
        """
        pull_request = self.event.pull_request
        if pull_request is None:
            return self.job.ref.removeprefix("refs/heads/")
        refs = {self.baseline_branch, self.event.default_branch, pull_request.base_ref}
        is_plain = pull_request.head_ref and not pull_request.from_fork and pull_request.head_ref not in refs
        return pull_request.head_ref if is_plain else f"pull/{pull_request.number}"

    @property
    def makes_baseline(self) -> bool:
        """Whether this run writes a baseline, whichever step uploads it."""
        is_of_branch = self.event.name in BASELINE_EVENTS and self._on_baseline_branch
        return self.inputs.upload_baseline == "true" or is_of_branch

    @property
    def uploads_baseline(self) -> bool:
        """Whether EvalGate uploads it; `false` leaves that to another step of the workflow."""
        return self.makes_baseline and self.inputs.upload_baseline != "false" and not self.upload_refusal

    @property
    def upload_refusal(self) -> str:
        """Why a baseline that `upload-baseline: true` asks for is not uploaded: every pull request would refuse it."""
        if self.inputs.upload_baseline != "true":
            return ""
        branch, given = self.job.ref.removeprefix("refs/heads/"), self.inputs.baseline_branch
        if self.event.name not in BASELINE_EVENTS:
            return f"pull requests use only those of {BASELINE_RUNS}, and this is a run of `{self.event.name}`"
        if branch == self.job.ref:
            return f"pull requests use only those of branches, and this is a run of `{self.job.ref}`"
        if given and branch not in {given, self.event.default_branch}:
            return f"`baseline-branch` is `{given}`, and this is a run of `{branch}`"
        return ""

    @property
    def baseline_reference(self) -> tuple[CommitKind, str, str | None]:
        """The commit to compare with: how to derive it, the commit to derive it from, and a fallback.

        A pull request is tested as merged into its base, so its merge commit's first parent is used. A push
        to the baseline branch is compared with its parent, any other run with its fork point.
        """
        pull_request, queued = self.event.pull_request, self.event.queue_base_sha
        if pull_request:
            return "parent", self.job.sha, pull_request.base_sha or None
        if queued:
            return "commit", queued, None
        is_push = self.event.name == "push" and self._on_baseline_branch
        return ("parent" if is_push else "fork_point"), self.job.sha, None

    @property
    def _on_baseline_branch(self) -> bool:
        return self.job.ref == f"refs/heads/{self.baseline_branch}"

    @property
    def commit(self) -> str:
        """The commit to report as judged: a pull request's head, otherwise the checked-out commit."""
        pull_request = self.event.pull_request
        return pull_request.head_sha if pull_request else self.job.sha

    @property
    def pages(self) -> Pages:
        """Where GitHub shows the judged commit: for a pull request its head, as a merge commit is replaced."""
        job, pull_request = self.job, self.event.pull_request
        head = pull_request.head_repository if pull_request else ""
        return Pages(job.server_url, job.repository, head or job.repository, self.commit, job.attempt)


def _check_event(inputs: Inputs, job: Job) -> list[Problem]:
    mode, event = inputs.mode, job.event_name
    if not job.repository_id and (mode == "publish" or event == APPROVING_EVENT):
        return [Problem(f"variable GITHUB_REPOSITORY_ID is not set, and `mode: {mode}` needs it on `{event}`")]
    if mode == "publish":
        text = f"`mode: publish` belongs in a workflow that runs on `{PUBLISHING_EVENT}`, not on `{event}`"
        hint = "docs/github.md, Forks, shows both workflows"
        return [] if event == PUBLISHING_EVENT else [Problem(text, hint=hint)]
    if mode == "approve" or event == APPROVING_EVENT:
        return _check_approving(inputs, event)
    if event not in UNSAFE_EVENTS:
        return _check_policy_source(inputs)
    text = f"evalgate reads no files on the event `{event}`: they may be untrusted"
    return [Problem(text, hint=UNSAFE_EVENTS[event])]


def _check_policy_source(inputs: Inputs) -> list[Problem]:
    """Base rules need a baseline that a run of the base branch made: a file in the checkout is untrusted."""
    if inputs.policy_from != "base" or inputs.baseline == "auto":
        return []
    text = "`policy-from: base` takes the rules from the baseline of the base branch, so it needs `baseline: auto`"
    return [Problem(text, hint="docs/security.md, Main's rules")]


def _check_approving(inputs: Inputs, event: str) -> list[Problem]:
    """Requires mode `approve` on comment events only, and the path of the gate's workflow."""
    hint = "docs/approvals.md, In a comment, shows the workflow"
    if event != APPROVING_EVENT:
        text = f"`mode: approve` belongs in a workflow that runs on `{APPROVING_EVENT}`, not on `{event}`"
        return [Problem(text, hint=hint)]
    if inputs.mode not in {"auto", "approve"}:
        return [Problem(f"on the event `{event}` only `mode: approve` or `auto` is possible", hint=hint)]
    if not inputs.baseline_workflow:
        text = "`baseline-workflow` must name the workflow file that runs the gate, such as evalgate.yml"
        return [Problem(text, hint=hint)]
    return []
