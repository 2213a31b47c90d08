"""Downloads the reports that a finished run, possibly untrusted, left as artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.github.download import download_artifact
from evalgate.adapters.github.responses import Artifact, objects
from evalgate.errors import Unreachable

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.adapters.github.client import Client
    from evalgate.models.approvals.review import TriggeringRun

LARGEST_REPORT = 32 * 1024 * 1024


class Reports:
    """Downloads into `folder`; implements `ReportSource`."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self._folder = folder

    def fetch(self, run: TriggeringRun, name: str) -> str | None:
        """The run's artifact of that name, the newest if a job that was run again left two."""
        newest = max(self.artifacts(run, name), key=lambda artifact: artifact.id, default=None)
        return None if newest is None else self.download(newest)

    def artifacts(self, run: TriggeringRun, name: str) -> list[Artifact]:
        """All artifacts of that name that this run left."""
        pages = self._client.pages(f"/actions/runs/{run.id}/artifacts", name=name)
        entries = [entry for page in pages for entry in objects(page, "artifacts")]
        artifacts = [Artifact.from_entry(entry) for entry in entries if entry.get("name") == name]
        return [artifact for artifact in artifacts if artifact is not None and _is_left_by(artifact, run)]

    def download(self, artifact: Artifact) -> str:
        """Downloads an artifact; returns the zip's path. Raises Unreachable with the reason if that fails."""
        path = self._folder / f"report-{artifact.id}.zip"
        if artifact.expired:
            raise _refusal(artifact, "it has expired")
        if artifact.size > LARGEST_REPORT:
            raise _refusal(artifact, f"it is larger than {LARGEST_REPORT // 1024**2} MB")
        reason = download_artifact(self._client, artifact, path, LARGEST_REPORT)
        if reason:
            raise _refusal(artifact, reason)
        return str(path)


def _is_left_by(artifact: Artifact, run: TriggeringRun) -> bool:
    """Whether the artifact's record names this run as its origin."""
    return (
        artifact.run_id == run.id
        and artifact.head_repository_id == run.head_repository_id
        and artifact.head_sha == run.head_sha
    )


def _refusal(artifact: Artifact, reason: str) -> Unreachable:
    return Unreachable(f"artifact {artifact.id} is refused: {reason}")
