"""Finds a trusted baseline: of the commit, of its nearest ancestor, or the latest of the branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from msgspec import Struct

from evalgate.adapters.github.client import Client, ListTooLong, RequestRefused
from evalgate.adapters.github.reports import download_artifact
from evalgate.adapters.github.responses import Artifact, as_int, as_sha, as_text, objects
from evalgate.errors import Forbidden, NotFound, Unreachable
from evalgate.measures.values.dig import dig
from evalgate.models.comparison.comparison import BaselineInfo, BaselineStatus
from evalgate.models.github import BASELINE_EVENTS
from evalgate.ports import FoundBaseline

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from evalgate.ports import Clock


ANCESTOR_STATUSES = ("ahead", "identical")
"""Status of GitHub's comparison of A with B if A is in the history of B."""


class Reference(Struct, frozen=True):
    """How to find the commit to compare with.

    `sha` is that commit, or a commit whose first parent or whose fork point from the branch is that commit.
    `fallback` is used if GitHub no longer knows `sha`.
    """

    kind: Literal["parent", "commit", "fork_point"]
    sha: str
    fallback: str | None = None


class Ancestry:
    """Asks GitHub about commits."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def resolve(self, reference: Reference, branch: str) -> str | None:
        """The commit that the reference leads to, None if unknown."""
        try:
            if reference.kind == "parent":
                commit = self._client.get(f"/commits/{reference.sha}")
                parents = [as_sha(parent.get("sha")) for parent in objects(commit, "parents")]
                return (parents[0] if parents else None) or reference.fallback
            if reference.kind == "fork_point":
                return as_sha(dig(self._compare(branch, reference.sha), "merge_base_commit", "sha"))
        except (NotFound, RequestRefused):
            return reference.fallback
        return reference.sha

    def distance(self, older: str, newer: str) -> int | None:
        """How many commits `newer` is ahead of `older`; None if `older` is not in its history."""
        try:
            comparison = self._compare(older, newer)
        except (NotFound, RequestRefused):
            return None
        return as_int(dig(comparison, "ahead_by")) if dig(comparison, "status") in ANCESTOR_STATUSES else None

    def _compare(self, older: str, newer: str) -> object:
        span = f"{quote(older, safe='')}...{quote(newer, safe='')}"
        return self._client.get(f"/compare/{span}", per_page=1)


ARTIFACTS_PER_ROUND = 10
"""How many artifacts are located in the branch's history per round; each takes one or two requests."""
MAX_ROUNDS = 3
UNKNOWN_COMMIT = "its commit is unknown"
MAX_REFUSALS_SHOWN = 10
"""How many refused artifacts are listed; the others are only counted."""


class BaselineRequest(Struct, frozen=True):
    """Which baseline to find: artifact name, branch, the workflow that creates it, and the commit."""

    artifact: str
    branch: str
    default_branch: str
    workflow: str
    reference: Reference


class BaselineCandidate(Struct, frozen=True):
    """A trusted artifact and its distance in commits to the requested commit."""

    artifact: Artifact
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
        self._list_problem = ""  # why there may be more artifacts than were listed

    def find(self, without: Collection[str] = ()) -> FoundBaseline:
        """The best trusted baseline, except the files in `without`, which turned out not to be baselines.

        A failure is returned as a status; the reason is listed in `refused`.
        """
        self._refused, self._excluded_paths, self._list_problem = [], without, ""
        try:
            info = self._search()
        except Unreachable as error:
            again = "" if isinstance(error, Forbidden) else "; run the job again"
            info = BaselineInfo("unreachable", problem=f"{error}{again}")
            self._refused.insert(0, f"the baseline could not be looked up: {error}")
        more = len(self._refused) - MAX_REFUSALS_SHOWN
        rest = [f"{more} more artifacts were refused"] if more > 0 else []
        return FoundBaseline(info, [*self._refused[:MAX_REFUSALS_SHOWN], *rest])

    def _search(self) -> BaselineInfo:
        request = self._request
        artifacts = list(self._find_artifacts())
        commit = self._ancestry.resolve(request.reference, request.branch) if artifacts else None
        for branch in dict.fromkeys((request.branch, request.default_branch)):
            on_branch = [artifact for artifact in artifacts if artifact.head_branch == branch]
            usable = [artifact for artifact in on_branch if not artifact.expired]
            on_base = branch == request.branch
            for candidate in self._rank_candidates(usable, branch, commit if on_base else None):
                info = self._download(candidate)
                if info is not None:
                    return info
        branches = {request.branch, request.default_branch}
        has_expired = any(artifact.expired and artifact.head_branch in branches for artifact in artifacts)
        if self._list_problem:  # anyone who can start runs can fill the list: that must not let a gate pass
            return BaselineInfo("unreachable", problem=self._list_problem)
        return BaselineInfo("expired" if has_expired else "none")

    def _find_artifacts(self) -> Iterator[Artifact]:
        """Artifacts of the requested name from this repository, newest first, one per run."""
        latest: dict[int | None, Artifact] = {}
        provenance = ArtifactProvenance(self._client.site.repository_id, self._request.branch, self._request.workflow)
        for artifact in self._list_artifacts():
            reason = find_origin_problem(artifact, provenance)
            if reason:
                self._refuse(artifact, reason)
                continue
            newest = latest.get(artifact.run_id)
            if newest is None or newest.id < artifact.id:  # a job that was run again leaves two of one name
                latest[artifact.run_id] = artifact
        yield from sorted(latest.values(), key=lambda artifact: -artifact.id)

    def _list_artifacts(self) -> Iterator[Artifact]:
        try:
            for page in self._client.pages("/actions/artifacts", name=self._request.artifact):
                yield from filter(None, map(Artifact.from_entry, objects(page, "artifacts")))
        except ListTooLong as error:
            self._list_problem = f"only the newest artifacts were searched: {error}"
            self._refused.append(self._list_problem)

    def _rank_candidates(
        self, artifacts: list[Artifact], branch: str, commit: str | None
    ) -> Iterator[BaselineCandidate]:
        """Yields trusted artifacts, best first. Lazy: no request for the second if the first is usable."""
        exact = [artifact for artifact in artifacts if commit and artifact.head_sha == commit]
        others = [artifact for artifact in artifacts if artifact not in exact]
        yield from self._screen((BaselineCandidate(artifact, "exact") for artifact in exact), branch)
        for start in range(0, MAX_ROUNDS * ARTIFACTS_PER_ROUND, ARTIFACTS_PER_ROUND):
            newest = others[start : start + ARTIFACTS_PER_ROUND]
            placed = (self._locate(artifact, branch, commit) for artifact in newest)
            yield from self._screen(sorted(filter(None, placed), key=_preference), branch)

    def _screen(self, candidates: Iterable[BaselineCandidate], branch: str) -> Iterator[BaselineCandidate]:
        provenance = ArtifactProvenance(self._client.site.repository_id, branch, self._request.workflow)
        for candidate in candidates:
            artifact = candidate.artifact
            reason = find_size_problem(artifact) or self._find_run_problem(artifact, provenance)
            if reason:
                self._refuse(artifact, reason)
            else:
                yield candidate

    def _find_run_problem(self, artifact: Artifact, provenance: ArtifactProvenance) -> str | None:
        try:
            run = self._client.get(f"/actions/runs/{artifact.run_id}")
        except NotFound:
            return "its workflow run no longer exists"
        return find_run_problem(run, artifact, provenance)

    def _locate(self, artifact: Artifact, branch: str, commit: str | None) -> BaselineCandidate | None:
        """Locates the artifact's commit; one outside the branch's history is refused (tags share names)."""
        if artifact.head_sha is None:
            self._refuse(artifact, UNKNOWN_COMMIT)
            return None
        distance = self._ancestry.distance(artifact.head_sha, commit) if commit else None
        if distance is not None:
            return BaselineCandidate(artifact, "ancestor", distance)
        if self._ancestry.distance(artifact.head_sha, branch) is not None:
            return BaselineCandidate(artifact, "latest")
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
            age_seconds=self._age(artifact),
            path=str(path),
            distance=candidate.distance,
        )

    def _age(self, artifact: Artifact) -> int | None:
        made = artifact.created_at
        return max(0, int((self._clock.now() - made).total_seconds())) if made else None

    def _refuse(self, artifact: Artifact, reason: str) -> None:
        run = f" of run {artifact.run_id}" if artifact.run_id else ""
        self._refused.append(f"artifact {artifact.id}{run} was refused as a baseline: {reason}")


def _preference(candidate: BaselineCandidate) -> tuple[bool, int, int]:
    """Sort key: ancestors first, then nearer, then newer."""
    return candidate.status != "ancestor", candidate.distance or 0, -candidate.artifact.id


LARGEST_BASELINE = 64 * 1024 * 1024
FINISHED = ("success", "failure")
"""Conclusions of a run that was not cancelled. A failed run of the main branch may be a baseline too."""


class ArtifactProvenance(Struct, frozen=True):
    """Repository, branch and workflow that a baseline must come from."""

    repository_id: int
    branch: str
    workflow: str  # path of the workflow's file


def find_origin_problem(artifact: Artifact, origin: ArtifactProvenance) -> str | None:
    """Why the artifact is not from this repository, by its entry in the artifact list; None if it is."""
    if artifact.run_id is None:
        return "its workflow run is unknown"
    if artifact.head_repository_id != origin.repository_id:
        return "it was made by a fork"
    if artifact.repository_id != origin.repository_id:
        return "it was made in another repository"
    return None


def find_size_problem(artifact: Artifact) -> str | None:
    """Why the artifact is too large, None if it is not."""
    if artifact.size > LARGEST_BASELINE:
        return f"it is larger than {LARGEST_BASELINE // 1024**2} MB"
    return None


def find_run_problem(run: Any, artifact: Artifact, origin: ArtifactProvenance) -> str | None:
    """Why the run that made the artifact is not trusted, None if it is."""
    is_here = as_int(dig(run, "repository", "id")) == origin.repository_id
    branch, commit = dig(run, "head_branch"), dig(run, "head_sha")
    must_hold = (
        (is_here and as_int(dig(run, "id")) == artifact.run_id, "its run belongs to another repository"),
        (dig(run, "event") in BASELINE_EVENTS, "it was not made by a push, a schedule or workflow_dispatch"),
        (dig(run, "status") == "completed", "its run has not finished"),
        (dig(run, "conclusion") in FINISHED, "its run was cancelled or did not complete"),
        (as_text(dig(run, "path")).partition("@")[0] == origin.workflow, "it was made by another workflow"),
        (as_int(dig(run, "head_repository", "id")) == origin.repository_id, "it was made by a fork"),
        (
            (branch, commit) == (origin.branch, artifact.head_sha),
            "its run belongs to another branch or commit",
        ),
    )
    return next((reason for holds, reason in must_hold if not holds), None)
