"""An artifact being downloaded, and whether it is what was uploaded."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from evalgate.adapters.github.client import Gone
from evalgate.adapters.github.http import TooLarge
from evalgate.adapters.github.responses import DIGEST

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    from evalgate.adapters.github.client import Client
    from evalgate.adapters.github.responses import Artifact

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
MAGIC_LENGTH = 4


def fetch(client: Client, artifact: Artifact, path: Path, most: int) -> str | None:
    """Downloads to `path` an artifact of at most `most` bytes.

    Says why there is no such file now, None where it is there and whole. Raises Unreachable.
    """
    damage = None
    for _ in range(2):  # a second time only where bytes were damaged on the way
        download = Download(path)
        try:
            client.download(f"/actions/artifacts/{artifact.id}/zip", download.begin, most)
        except Gone:
            return "it has expired"
        except TooLarge:
            return f"it is larger than {most // 1024**2} MB"
        finally:
            download.close()
        damage = download.damage(artifact.digest)
        if damage is None:
            break
    return damage


class Download:
    """Takes a body in pieces and keeps its digest."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._hash = hashlib.sha256()
        self._start = b""

    def begin(self) -> Download:
        """Itself, emptied: each attempt begins anew."""
        self.close()
        self._file = self._path.open("wb")
        self._hash = hashlib.sha256()
        self._start = b""
        return self

    def write(self, data: bytes, /) -> None:
        """Keeps the next piece."""
        if self._file is None:
            return
        self._start += data[: MAGIC_LENGTH - len(self._start)]
        self._hash.update(data)
        self._file.write(data)

    def close(self) -> None:
        """Ends the file; what a thread left behind still sends goes nowhere."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def damage(self, digest: str | None) -> str | None:
        """Why this is not what was uploaded, None where it is.

        Some of GitHub's servers in companies' own houses give no digest; then the first bytes must do.
        """
        if digest is not None:
            known = DIGEST.fullmatch(digest) is not None
            if not known or digest != f"sha256:{self._hash.hexdigest()}":
                return "its bytes are not those of its digest"
        return None if self._start in ZIP_MAGIC else "it is no zip file"
