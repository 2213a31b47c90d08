"""What a run in GitHub Actions was told: the only place that reads the environment.

Nothing here is heavy: the process that holds the token imports it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalgate.errors import Problem, SettingError
from evalgate.settings.event import Event, read_event
from evalgate.settings.inputs import Inputs, read_inputs
from evalgate.settings.job import Job, read_job

if TYPE_CHECKING:
    from collections.abc import Mapping

CommitKind = Literal["parent", "commit", "fork_point"]
UNSAFE_EVENTS = {
    "pull_request_target": "use `on: pull_request`; on forks the verdict is in the job summary",
    "workflow_run": "use `on: pull_request` and `on: push`",
}
"""Events that hold a writing token while the workspace may be a stranger's, and what to use instead."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Inputs, job and event of one run. `notes` are mistakes that do not stop it."""

    inputs: Inputs
    job: Job
    event: Event
    notes: tuple[str, ...] = ()

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Settings:
        """Reads everything there is to read; raises one SettingError with every mistake."""
        problems: list[Problem] = []
        inputs, notes = read_inputs(environ, problems)
        job = read_job(environ, problems)
        event = read_event(job.event_name, job.event_path, problems)
        if job.event_name in UNSAFE_EVENTS:
            problems.append(
                Problem(
                    f"evalgate reads no files on the event `{job.event_name}`: they may be a stranger's",
                    hint=UNSAFE_EVENTS[job.event_name],
                )
            )
        if problems:
            raise SettingError(*problems)
        return cls(inputs, job, event, tuple(notes))

    @property
    def baseline_branch(self) -> str:
        """The branch whose baseline counts: as given, the pull request's base, else the default branch."""
        if self.inputs.baseline_branch:
            return self.inputs.baseline_branch
        pull_request = self.event.pull_request
        return pull_request.base_ref if pull_request else self.event.default_branch

    @property
    def baseline_workflow(self) -> str:
        """Path of the workflow file whose runs make baselines."""
        given = self.inputs.baseline_workflow
        if not given:
            return self.job.workflow_path
        return given if "/" in given else f".github/workflows/{given}"

    @property
    def comment_key(self) -> str:
        """What tells this gate's comment from another gate's."""
        default = f"{self.job.workflow_path.rpartition('/')[2]}/{self.job.job}".strip("/")
        return self.inputs.comment_key or default or "evalgate"

    @property
    def makes_baseline(self) -> bool:
        """Whether this run's result is to become a baseline, whoever uploads it."""
        return self.inputs.upload_baseline == "true" or self._on_baseline_branch

    @property
    def uploads_baseline(self) -> bool:
        """Whether we upload it; `false` leaves that to a step of the workflow's own."""
        return self.makes_baseline and self.inputs.upload_baseline != "false"

    @property
    def compared_commit(self) -> tuple[CommitKind, str, str | None]:
        """The commit to compare with: how it follows from a known one, that one, and what else would do.

        A pull request is tested as merged into its base: the merge commit's first parent says which. A push
        to the baseline's branch is held against the commit before, any other run against where it left the
        branch.
        """
        pull_request, queued = self.event.pull_request, self.event.queue_base_sha
        if pull_request:
            return "parent", self.job.sha, pull_request.base_sha or None
        if queued:
            return "commit", queued, None
        return ("parent" if self._on_baseline_branch else "fork_point"), self.job.sha, None

    @property
    def _on_baseline_branch(self) -> bool:
        return self.event.name == "push" and self.job.ref == f"refs/heads/{self.baseline_branch}"

    @property
    def commit(self) -> str:
        """The commit that people see as judged: a pull request's head, else the one checked out."""
        pull_request = self.event.pull_request
        return pull_request.head_sha if pull_request else self.job.sha
