"""Finds a trusted baseline: of the commit, of its nearest ancestor, or the latest of the branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.github.ancestry import Ancestry, Reference
from evalgate.adapters.github.artifact_trust import (
    LARGEST_BASELINE,
    ArtifactProvenance,
    foreign,
    run_refused,
    unsuitable,
)
from evalgate.adapters.github.client import Client, TooMany
from evalgate.adapters.github.download import fetch
from evalgate.adapters.github.responses import Artifact, listed
from evalgate.errors import NotFound, Unreachable
from evalgate.models.comparison.comparison import BaselineInfo, BaselineStatus
from evalgate.ports import FoundBaseline
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from evalgate.ports import Clock

LOOKED_AT = 10
"""How many artifacts are located in the branch's history per round; each takes one or two requests."""
TIMES_LOOKED = 3
UNPLACED = "its commit is not known"
NAMED = 10
"""How many refused artifacts are listed; the others are only counted."""


@dataclass(frozen=True, slots=True)
class BaselineRequest:
    """Which baseline to find: artifact name, branch, the workflow that creates it, and the commit."""

    artifact: str
    branch: str
    default_branch: str
    workflow: str
    reference: Reference


@dataclass(frozen=True, slots=True)
class BaselineCandidate:
    """A trusted artifact and its distance in commits to the requested commit."""

    artifact: Artifact
    status: BaselineStatus
    distance: int | None = None


class Baselines:
    """Finds and downloads a baseline; implements `BaselineSource`."""

    def __init__(self, client: Client, wanted: BaselineRequest, folder: Path, clock: Clock) -> None:
        self._client = client
        self._lineage = Ancestry(client)
        self._wanted = wanted
        self._folder = folder
        self._clock = clock
        self._refused: list[str] = []
        self._without: Collection[str] = ()
        self._overlooked = False  # there are more artifacts than were listed

    def find(self, without: Collection[str] = ()) -> FoundBaseline:
        """The best trusted baseline, except the files in `without`, which turned out not to be baselines.

        A failure is returned as a status; the reason is listed in `refused`.
        """
        self._refused, self._without, self._overlooked = [], without, False
        try:
            info = self._search()
        except Unreachable as trouble:
            info = BaselineInfo("unreachable")
            self._refused.append(f"the baseline could not be looked up: {trouble}")
        more = len(self._refused) - NAMED
        rest = [f"{more} more artifacts were refused"] if more > 0 else []
        return FoundBaseline(info, [*self._refused[:NAMED], *rest])

    def _search(self) -> BaselineInfo:
        wanted = self._wanted
        ours = list(self._ours())
        commit = self._lineage.resolve(wanted.reference, wanted.branch) if ours else None
        for branch in dict.fromkeys((wanted.branch, wanted.default_branch)):
            here = [artifact for artifact in ours if artifact.head_branch == branch]
            usable = [artifact for artifact in here if not artifact.expired]
            on_base = branch == wanted.branch
            for candidate in self._candidates(usable, branch, commit if on_base else None):
                info = self._fetched(candidate)
                if info is not None:
                    return info
        branches = {wanted.branch, wanted.default_branch}
        gone = any(artifact.expired and artifact.head_branch in branches for artifact in ours)
        if self._overlooked:  # anyone who can start runs can fill the list: that must not let a gate pass
            return BaselineInfo("unreachable")
        return BaselineInfo("expired" if gone else "none")

    def _ours(self) -> Iterator[Artifact]:
        """Artifacts of the requested name from this repository, newest first, one per run."""
        latest: dict[int | None, Artifact] = {}
        origin = ArtifactProvenance(
            self._client.site.repository_id, self._wanted.branch, self._wanted.workflow
        )
        for artifact in self._listed():
            reason = foreign(artifact, origin)
            if reason:
                self._refuse(artifact, reason)
                continue
            known = latest.get(artifact.run_id)
            if known is None or known.id < artifact.id:  # a job that was run again leaves two of one name
                latest[artifact.run_id] = artifact
        yield from sorted(latest.values(), key=lambda artifact: -artifact.id)

    def _listed(self) -> Iterator[Artifact]:
        try:
            for page in self._client.pages("/actions/artifacts", name=self._wanted.artifact):
                yield from filter(None, map(Artifact.read, listed(page, "artifacts")))
        except TooMany as cut:
            self._refused.append(f"only the newest artifacts were looked at: {cut}")
            self._overlooked = True

    def _candidates(
        self, ours: list[Artifact], branch: str, commit: str | None
    ) -> Iterator[BaselineCandidate]:
        """Yields trusted artifacts, best first. Lazy: no request for the second if the first is usable."""
        exact = [artifact for artifact in ours if commit and artifact.head_sha == commit]
        others = [artifact for artifact in ours if artifact not in exact]
        yield from self._trusted((BaselineCandidate(artifact, "exact") for artifact in exact), branch)
        for start in range(0, TIMES_LOOKED * LOOKED_AT, LOOKED_AT):
            newest = others[start : start + LOOKED_AT]
            placed = (self._placed(artifact, branch, commit) for artifact in newest)
            yield from self._trusted(sorted(filter(None, placed), key=_preference), branch)

    def _trusted(self, candidates: Iterable[BaselineCandidate], branch: str) -> Iterator[BaselineCandidate]:
        provenance = ArtifactProvenance(self._client.site.repository_id, branch, self._wanted.workflow)
        for candidate in candidates:
            artifact = candidate.artifact
            reason = unsuitable(artifact) or self._run_refused(artifact, provenance)
            if reason:
                self._refuse(artifact, reason)
            else:
                yield candidate

    def _run_refused(self, artifact: Artifact, provenance: ArtifactProvenance) -> str | None:
        try:
            run = self._client.get(f"/actions/runs/{artifact.run_id}")
        except NotFound:
            return "the run that made it is gone"
        return run_refused(run, artifact, provenance)

    def _placed(self, artifact: Artifact, branch: str, commit: str | None) -> BaselineCandidate | None:
        """Locates the artifact's commit; one outside the branch's history is refused (tags share names)."""
        if artifact.head_sha is None:
            self._refuse(artifact, UNPLACED)
            return None
        distance = self._lineage.distance(artifact.head_sha, commit) if commit else None
        if distance is not None:
            return BaselineCandidate(artifact, "ancestor", distance)
        if self._lineage.distance(artifact.head_sha, branch) is not None:
            return BaselineCandidate(artifact, "latest")
        self._refuse(artifact, f"its commit is not in the history of {branch}")
        return None

    def _fetched(self, candidate: BaselineCandidate) -> BaselineInfo | None:
        """Downloads the baseline; None if this artifact is unusable."""
        artifact = candidate.artifact
        path = self._folder / f"baseline-{artifact.id}.zip"
        reason = (
            "it holds no baseline"
            if str(path) in self._without
            else fetch(self._client, artifact, path, LARGEST_BASELINE)
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
        self._refused.append(f"artifact {artifact.id}{run} was refused as baseline: {reason}")


def _preference(candidate: BaselineCandidate) -> tuple[bool, int, int]:
    """Sort key: ancestors first, then nearer, then newer."""
    return candidate.status != "ancestor", candidate.distance or 0, -candidate.artifact.id
