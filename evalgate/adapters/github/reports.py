"""Downloads artifacts, checks that they are what was uploaded, and finds the reports that a finished run left."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from evalgate.adapters.github.client import ResourceExpired
from evalgate.adapters.github.responses import DIGEST, Artifact, objects
from evalgate.adapters.http import AnswerTooLarge
from evalgate.errors import Unreachable

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    from evalgate.adapters.github.client import Client
    from evalgate.models.approvals.review import TriggeringRun


ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
MAGIC_LENGTH = 4


def download_artifact(client: Client, artifact: Artifact, path: Path, max_bytes: int) -> str | None:
    """Downloads an artifact of at most `max_bytes` to `path`.

    Returns the reason if that failed, None if the file is complete. Raises Unreachable.
    """
    damage = None
    for _ in range(2):  # retried only if bytes were damaged in transit
        download = DownloadSink(path)
        try:
            client.download(f"/actions/artifacts/{artifact.id}/zip", download.begin, max_bytes)
        except ResourceExpired:
            return "it has expired"
        except AnswerTooLarge:
            return f"it is larger than {max_bytes // 1024**2} MB"
        finally:
            download.close()
        damage = download.find_damage(artifact.digest)
        if damage is None:
            break
    return damage


class DownloadSink:
    """Writes a response body to a file and computes its digest."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._hash = hashlib.sha256()
        self._start = b""

    def begin(self) -> DownloadSink:
        """Empties the file for another attempt; returns itself."""
        self.close()
        self._file = self._path.open("wb")
        self._hash = hashlib.sha256()
        self._start = b""
        return self

    def write(self, data: bytes, /) -> None:
        """Writes the next piece."""
        if self._file is None:
            return
        self._start += data[: MAGIC_LENGTH - len(self._start)]
        self._hash.update(data)
        self._file.write(data)

    def close(self) -> None:
        """Closes the file; what an abandoned thread still writes is dropped."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def find_damage(self, digest: str | None) -> str | None:
        """Why this is not what was uploaded, None if it is.

        Some GitHub Enterprise Servers send no digest; then only the first bytes are checked.
        """
        if digest is not None:
            is_sha256 = DIGEST.fullmatch(digest) is not None
            if not is_sha256 or digest != f"sha256:{self._hash.hexdigest()}":
                return "its content does not match its digest"
        return None if self._start in ZIP_MAGIC else "it is not a zip file"


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
