"""Downloads an artifact and checks that it is what was uploaded."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from evalgate.adapters.github.client import ResourceExpired
from evalgate.adapters.github.http import AnswerTooLarge
from evalgate.adapters.github.responses import DIGEST

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    from evalgate.adapters.github.client import Client
    from evalgate.adapters.github.responses import Artifact

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
