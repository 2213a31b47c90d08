"""Finds a trusted baseline: of the commit, of its nearest ancestor, or the latest of a branch."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.adapters.github.ancestry import Ancestry
from evalgate.adapters.github.baseline_artifacts import BaselineArtifacts, count_gate_runs, find_other_names
from evalgate.adapters.github.provenance import (
    LARGEST_BASELINE,
    NAMED_BY,
    ArtifactProvenance,
    find_run_problem,
    find_size_problem,
)
from evalgate.adapters.github.reports import download_artifact
from evalgate.adapters.http import NetworkRefused
from evalgate.errors import Forbidden, NotFound, TokenRejected, Unreachable
from evalgate.models.comparison.comparison import BaselineInfo, BaselineStatus
from evalgate.ports import FoundBaseline

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from evalgate.adapters.github.ancestry import Reference
    from evalgate.adapters.github.baseline_artifacts import RunArtifact
    from evalgate.adapters.github.client import Client
    from evalgate.adapters.github.responses import Artifact
    from evalgate.ports import Clock


COMMITS_PER_ROUND = 10
"""How many commits are located in the branch's history per round; each takes one or two requests."""
MAX_ROUNDS = 3
MAX_ARTIFACTS_PER_COMMIT = 10
NEAREST = 1
"""The distance in commits than which no other commit's is smaller."""
UNKNOWN_COMMIT = "its commit is unknown"
MAX_REFUSALS_SHOWN = 10
"""How many refused artifacts are listed; the others are only counted."""


class BaselineRequest(Struct, frozen=True):
    """Which baseline to find: artifact name, branch, the workflow that creates it, and the commit.

    `run` is the run that asks: what an earlier attempt of it left is not its baseline.
    `explains_none`: find out why there is none; a run that creates one need not say it.
    """

    artifact: str
    branch: str
    default_branch: str
    workflow: str
    reference: Reference
    run: int | None = None
    explains_none: bool = True


class BaselineCandidate(Struct, frozen=True):
    """A trusted artifact, its branch, and its distance in commits to the requested commit."""

    artifact: Artifact
    branch: str
    status: BaselineStatus
    distance: int | None = None


class Baselines:
    """Finds and downloads a baseline; implements `BaselineSource`."""

    def __init__(self, client: Client, request: BaselineRequest, folder: Path, clock: Clock) -> None:
        self._client = client
        self._ancestry = Ancestry(client)
        self._request = request
        self._folder = folder
        self._clock = clock
        self._refused: list[str] = []
        self._excluded_paths: Collection[str] = ()

    def find(self, without: Collection[str] = ()) -> FoundBaseline:
        """The best trusted baseline, except the files in `without`, which turned out not to be baselines.

        A failure is returned as a status; the reason is listed in `refused`.
        """
        self._refused, self._excluded_paths = [], without
        try:
            info = self._search()
        except Unreachable as error:
            again = "" if isinstance(error, Forbidden | TokenRejected | NetworkRefused) else "; run the job again"
            info = BaselineInfo("unreachable", problem=f"{error}{again}")
            self._refused.insert(0, f"the baseline could not be looked up: {error}")
        more = len(self._refused) - MAX_REFUSALS_SHOWN
        rest = [f"{more} more artifacts were refused"] if more > 0 else []
        return FoundBaseline(info, [*self._refused[:MAX_REFUSALS_SHOWN], *rest])

    def _search(self) -> BaselineInfo:
        request = self._request
        artifacts = BaselineArtifacts(self._client, request.artifact, request.workflow, self._refuse, request.run)
        while artifacts.read_page() and not artifacts.known and not artifacts.may_have_more:
            pass
        is_any = artifacts.known or artifacts.may_have_more
        commit = self._ancestry.resolve(request.reference, request.branch) if is_any else None
        branches = tuple(dict.fromkeys((request.branch, request.default_branch)))
        for candidate in self._find_candidates(artifacts, branches, commit):
            info = self._download(candidate)
            if info is not None:
                return info
        while artifacts.read_page():
            pass
        if artifacts.cut is not None:  # anyone who can start runs can fill the list: that must not let a gate pass
            problem = f"only the newest artifacts were searched: {artifacts.cut}"
            self._refused.insert(0, problem)
            return BaselineInfo("unreachable", problem=problem)
        if self._refused:
            of_workflow = (each for each in self._refused if NAMED_BY in each)
            return BaselineInfo("refused", problem=next(of_workflow, self._refused[0]))
        has_expired = any(artifact.expired and artifact.head_branch in branches for artifact in artifacts.known)
        if has_expired:
            return BaselineInfo("expired", target=request.branch)
        info = BaselineInfo("none", target=request.branch, artifact=request.artifact)
        if request.explains_none:
            info.others = find_other_names(self._client, request.artifact, request.branch)
            info.runs = 0 if info.others else count_gate_runs(self._client, request.workflow, request.branch)
        return info

    def _find_candidates(
        self, artifacts: BaselineArtifacts, branches: tuple[str, ...], commit: str | None
    ) -> Iterator[BaselineCandidate]:
        """Yields trusted artifacts: those of the commit and its ancestors on each branch, then each branch's latest.

        Lazy: no request for the second if the first is usable.
        """
        latest: dict[str, list[_Location]] = {branch: [] for branch in branches}
        for branch in branches:
            for location in self._find_locations(artifacts, branch, commit):
                if location.status == "latest":
                    latest[branch].append(location)
                else:
                    yield from self._screen(artifacts, branch, location)
        for branch, locations in latest.items():
            for location in locations:
                yield from self._screen(artifacts, branch, location)

    def _find_locations(self, artifacts: BaselineArtifacts, branch: str, commit: str | None) -> Iterator[_Location]:
        """Yields the commits of a branch that may have a usable artifact, nearest first.

        On a branch other than the requested one the point where the commit left it comes first.
        """
        done: set[str | None] = set()
        if commit:
            done.add(commit)
            yield _Location(commit, "exact")
            fork = self._ancestry.fork_point(branch, commit) if branch != self._request.branch else None
            if fork and fork not in done:
                done.add(fork)
                yield _Location(fork, "ancestor", self._ancestry.distance(fork, commit))
        for _ in range(MAX_ROUNDS):
            newest = self._next_commits(artifacts, branch, done)
            yield from self._locate_all(newest, branch, commit)

    def _next_commits(self, artifacts: BaselineArtifacts, branch: str, done: set[str | None]) -> list[Artifact]:
        """The newest artifact of each of the next commits on the branch, which it adds to `done`; reads more pages."""
        while True:
            usable = [each for each in artifacts.known if each.head_branch == branch and not each.expired]
            newest = {each.head_sha: each for each in reversed(usable) if each.head_sha not in done}
            if len(newest) >= COMMITS_PER_ROUND or not artifacts.read_page():
                break
        chosen = sorted(newest.values(), key=lambda artifact: -artifact.id)[:COMMITS_PER_ROUND]
        done.update(artifact.head_sha for artifact in chosen)
        return chosen

    def _locate_all(self, newest: list[Artifact], branch: str, commit: str | None) -> Iterator[_Location]:
        """Yields where the commits of these artifacts are, nearest first; at once one than which none is better."""
        located = []
        for artifact in newest:
            location = self._locate(artifact, branch, commit)
            if location is not None and (commit is None or location.distance == NEAREST):
                yield location
            elif location is not None:
                located.append(location)
        yield from sorted(located, key=_preference)

    def _screen(self, artifacts: BaselineArtifacts, branch: str, location: _Location) -> Iterator[BaselineCandidate]:
        """Yields the trusted artifacts of a commit, the best first."""
        provenance = ArtifactProvenance(self._client.site.repository_id, branch, self._request.workflow)
        for found in islice(artifacts.of_commit(branch, location.sha), MAX_ARTIFACTS_PER_COMMIT):
            reason = find_size_problem(found.artifact) or self._find_run_problem(found, provenance)
            if reason:
                self._refuse(found.artifact, reason)
            else:
                yield BaselineCandidate(found.artifact, branch, location.status, location.distance)

    def _find_run_problem(self, found: RunArtifact, provenance: ArtifactProvenance) -> str | None:
        artifact = found.artifact
        if found.run and not find_run_problem(found.run, artifact.run_id, artifact.head_sha, provenance):
            return None
        try:  # a list of runs may be a little older than the run
            run = self._client.get(f"/actions/runs/{artifact.run_id}")
        except NotFound:
            return "its workflow run no longer exists"
        return find_run_problem(run, artifact.run_id, artifact.head_sha, provenance)

    def _locate(self, artifact: Artifact, branch: str, commit: str | None) -> _Location | None:
        """Locates the artifact's commit; one outside the branch's history is refused (tags share names)."""
        sha = artifact.head_sha
        if sha is None:
            self._refuse(artifact, UNKNOWN_COMMIT)
            return None
        distance = self._ancestry.distance(sha, commit) if commit else None
        if distance is not None:
            return _Location(sha, "ancestor", distance, artifact.id)
        if self._ancestry.distance(sha, branch) is not None:
            return _Location(sha, "latest", None, artifact.id)
        self._refuse(artifact, f"its commit is not in the history of {branch}")
        return None

    def _download(self, candidate: BaselineCandidate) -> BaselineInfo | None:
        """Downloads the baseline; None if this artifact is unusable."""
        artifact = candidate.artifact
        path = self._folder / f"baseline-{artifact.id}.zip"
        reason = (
            "it contains no baseline"
            if str(path) in self._excluded_paths
            else download_artifact(self._client, artifact, path, LARGEST_BASELINE)
        )
        if reason:
            self._refuse(artifact, reason)
            path.unlink(missing_ok=True)
            return None
        return BaselineInfo(
            candidate.status,
            sha=artifact.head_sha,
            branch=candidate.branch,
            target=self._request.branch if candidate.branch != self._request.branch else "",
            age_seconds=self._age(artifact),
            path=str(path),
            distance=candidate.distance,
            run_id=artifact.run_id,
            artifact=self._request.artifact,
        )

    def _age(self, artifact: Artifact) -> int | None:
        made = artifact.created_at
        return max(0, int((self._clock.now() - made).total_seconds())) if made else None

    def _refuse(self, artifact: Artifact, reason: str) -> None:
        run = f" of run {artifact.run_id}" if artifact.run_id else ""
        self._refused.append(f"artifact {artifact.id}{run} was refused as a baseline: {reason}")


class _Location(Struct, frozen=True):
    """Where a commit with artifacts is, seen from the requested commit."""

    sha: str
    status: BaselineStatus
    distance: int | None = None
    newest_id: int = 0


def _preference(location: _Location) -> tuple[bool, int, int]:
    """Sort key: ancestors first, then nearer, then newer."""
    return location.status != "ancestor", location.distance or 0, -location.newest_id
