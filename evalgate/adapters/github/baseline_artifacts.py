"""Lists the artifacts that may hold a baseline: page by page, newest first, or those of one commit's runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec import Struct

from evalgate.adapters.github.client import PER_PAGE, Client, ListTooLong
from evalgate.adapters.github.commit_files import read_file_in_commit
from evalgate.adapters.github.provenance import ArtifactProvenance, find_origin_problem, find_run_problem
from evalgate.adapters.github.responses import Artifact, as_int, as_sha, objects
from evalgate.errors import OverLimit, Unreachable
from evalgate.measures.values.dig import dig
from evalgate.models.github import BASELINE_ARTIFACT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator


MAX_RUNS_ASKED = 3
"""How many runs of one commit are asked for artifacts that no page read so far lists."""


class RunArtifact(Struct, frozen=True):
    """An artifact and its run as GitHub describes it; None if GitHub was not asked."""

    artifact: Artifact
    run: Any = None


class BaselineArtifacts:
    """The artifacts of one name, read as far as needed.

    `refuse` is called with each that is not from this repository, and with the reason. Those of `own_run` are left out.
    """

    def __init__(
        self, client: Client, name: str, workflow: str, refuse: Callable[[Artifact, str], None], own_run: int | None
    ) -> None:
        self._client, self._name, self._workflow, self._refuse = client, name, workflow, refuse
        self._own_run = own_run
        self._pages = client.pages("/actions/artifacts", name=name)
        self._latest: dict[int | None, Artifact] = {}
        self._last_id: int | None = None  # of the last artifact read
        self.may_have_more = True  # judged by the size of the last page
        self.cut: ListTooLong | None = None  # if there are more artifacts than are read

    @property
    def known(self) -> list[Artifact]:
        """The artifacts found so far from this repository, newest first, one per run."""
        return sorted(self._latest.values(), key=lambda artifact: -artifact.id)

    def read_page(self) -> bool:
        """Reads the next page; False if none is left.

        GitHub lists newer artifacts first without promising it: if they come otherwise, all pages are read.
        """
        is_ordered = self._read_one()
        while is_ordered is False and self._read_one() is not None:
            pass
        return is_ordered is not None

    def of_commit(self, branch: str, sha: str) -> Iterator[RunArtifact]:
        """The artifacts of a commit on a branch that have not expired: the push's first, then those of newer runs.

        If there may be unread pages, or several artifacts, GitHub is asked for the commit's runs; if they don't
        answer it, pages are read until one has an artifact of the commit.
        """
        is_complete, tried = False, set[int]()
        if self.may_have_more or len(self._known_of(branch, sha)) > 1:
            is_complete = yield from self._of_runs(branch, sha, tried)
        while not is_complete and not self._known_of(branch, sha) and self.read_page():
            pass
        rest = [artifact for artifact in self._known_of(branch, sha) if artifact.id not in tried]
        yield from map(RunArtifact, sorted(rest, key=lambda artifact: -(artifact.run_id or 0)))

    def _of_runs(self, branch: str, sha: str, tried: set[int]) -> Generator[RunArtifact, None, bool]:
        """Yields the artifacts of the commit's runs, adding their ids to `tried`; returns whether these are all."""
        runs = self._list_runs(branch, sha)
        if runs is None:
            return False
        provenance = ArtifactProvenance(self._client.site.repository_id, branch, self._workflow)
        asked = 0
        for run in runs:
            number = as_int(dig(run, "id"))
            if number not in self._latest and self.may_have_more and not find_run_problem(run, number, sha, provenance):
                asked += 1
                if asked > MAX_RUNS_ASKED or not self._read_artifacts_of(number):
                    return False
            artifact = self._latest.get(number)
            if artifact is not None and not artifact.expired:
                tried.add(artifact.id)
                yield RunArtifact(artifact, run)
        return True

    def _known_of(self, branch: str, sha: str) -> list[Artifact]:
        return [each for each in self.known if (each.head_branch, each.head_sha) == (branch, sha) and not each.expired]

    def _read_one(self) -> bool | None:
        """Reads one more page: whether it is in order, None without one left."""
        try:
            page = next(self._pages)
        except ListTooLong as error:
            self.cut = error
        except StopIteration:
            pass
        else:
            return self._add_page(page)
        self.may_have_more = False
        return None

    def _add_page(self, page: Any) -> bool:
        """Adds the artifacts of a page; returns whether it is in order."""
        if not isinstance(dig(page, "artifacts"), list):
            raise Unreachable("unexpected response from GitHub to the list of artifacts")
        entries = objects(page, "artifacts")
        self.may_have_more = len(entries) >= PER_PAGE
        artifacts = list(filter(None, map(Artifact.from_entry, entries)))
        self._add(artifacts)
        ids = [*filter(None, [self._last_id]), *(artifact.id for artifact in artifacts)]
        self._last_id = ids[-1] if ids else None
        return ids == sorted(ids, reverse=True)

    def _add(self, artifacts: Iterable[Artifact]) -> None:
        for artifact in artifacts:
            if artifact.run_id is not None and artifact.run_id == self._own_run:
                continue
            reason = find_origin_problem(artifact, self._client.site.repository_id)
            if reason:
                self._refuse(artifact, reason)
                continue
            newest = self._latest.get(artifact.run_id)
            if newest is None or newest.id < artifact.id:  # a job that was run again leaves two of one name
                self._latest[artifact.run_id] = artifact

    def _list_runs(self, branch: str, sha: str) -> list[dict[str, Any]] | None:
        """The runs of a commit, the push's first, then newer ones first; None if GitHub does not list just these."""
        file = quote(self._workflow.rpartition("/")[2], safe="")
        if not file:
            return None
        try:
            page = self._client.get(f"/actions/workflows/{file}/runs", branch=branch, head_sha=sha, per_page=PER_PAGE)
        except Unreachable:
            return None
        runs = objects(page, "workflow_runs")
        is_complete = len(runs) < PER_PAGE and as_int(dig(page, "total_count")) == len(runs)
        if not is_complete or any(dig(run, "head_sha") != sha for run in runs):
            return None
        return sorted(runs, key=lambda run: (dig(run, "event") != "push", -(as_int(dig(run, "id")) or 0)))

    def _read_artifacts_of(self, run_id: int | None) -> bool:
        """Adds the artifacts of one run; False if GitHub does not list them."""
        try:
            page = self._client.get(f"/actions/runs/{run_id}/artifacts", name=self._name, per_page=PER_PAGE)
        except Unreachable:
            return False
        entries = [entry for entry in objects(page, "artifacts") if entry.get("name") == self._name]
        self._add(filter(None, map(Artifact.from_entry, entries)))
        return isinstance(dig(page, "artifacts"), list)


def find_other_names(client: Client, name: str, branch: str) -> list[str]:
    """The names under which a branch has baselines, but for `name`, among the newest artifacts of the repository.

    Only what a report says depends on it: without an answer there are none.
    """
    try:
        page = client.get("/actions/artifacts", per_page=PER_PAGE)
    except Unreachable:
        return []
    artifacts = filter(None, map(Artifact.from_entry, objects(page, "artifacts")))
    repository = client.site.repository_id
    found = {
        each.name
        for each in artifacts
        if each.name.startswith(BASELINE_ARTIFACT) and each.head_branch == branch and not each.expired
        if find_origin_problem(each, repository) is None
    }
    return sorted(found - {name})


GATE = b"evalgate"
"""A workflow that has the gate names it: the action, or the workflow that it calls."""
LARGEST_WORKFLOW = 512 * 1024


def count_gate_runs(client: Client, workflow: str, branch: str) -> int:
    """How many runs of a workflow for pushes to a branch succeeded, if the newest of them had the gate.

    Only what a report says depends on it: without an answer there is none.
    """
    file = quote(workflow.rpartition("/")[2], safe="")
    try:
        runs = f"/actions/workflows/{file}/runs"
        page = client.get(runs, branch=branch, event="push", status="success", per_page=1)
        commits = [as_sha(dig(run, "head_sha")) for run in objects(page, "workflow_runs")]
        if not commits or commits[0] is None:
            return 0
        text = read_file_in_commit(client, workflow, commits[0], limit=LARGEST_WORKFLOW, what="the workflow")
    except (Unreachable, OverLimit):
        return 0
    return max(1, as_int(dig(page, "total_count")) or 0) if GATE in text.lower() else 0
