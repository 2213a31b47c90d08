"""Redacts the judge's archive: only this process, not the judge, knows the secret values."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evalgate.adapters.archives.baseline_limits import MANIFEST, RESULTS, SUITES, TRACES
from evalgate.adapters.safe_zip import SafeZip, ZipRefusedError
from evalgate.errors import JudgeCrashed
from evalgate.measures.redaction.redact import remove_exact_secrets

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator

MEMBERS = frozenset({MANIFEST, RESULTS, SUITES, TRACES})
MAX_PACKED = 80_000_000
MAX_UNPACKED = 300_000_000
"""Bytes, somewhat more than the limit of a baseline."""


def redact_archive(handle: int) -> int:
    """The same open file if it holds no secret, otherwise a redacted copy; JudgeCrashed if it is not a zip."""
    with os.fdopen(os.dup(handle), "rb") as stream:
        content = stream.read(MAX_PACKED + 1)
    os.lseek(handle, 0, os.SEEK_SET)
    if len(content) > MAX_PACKED:
        raise JudgeCrashed("UnfitAnswer", ["the judge wrote a baseline that is too large"])
    try:
        if all(line == clean for _, line, clean in _redacted_lines(content)):
            return handle
        cleaned = _rewrite_archive(content)
    except ZipRefusedError:
        raise JudgeCrashed("UnfitAnswer", ["the judge wrote a baseline that is not valid"]) from None
    os.close(handle)
    return cleaned


def _redacted_lines(content: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """Yields for each line of each member: the member's name, the line, and the redacted line."""
    archive = SafeZip(content, MAX_UNPACKED)
    if not MEMBERS.issuperset(archive.names()):
        raise ZipRefusedError("it has members that no baseline has")
    for name in archive.names():
        for line in archive.lines(name):
            yield name, line, remove_exact_secrets(line)


def _rewrite_archive(content: bytes) -> int:
    """Copies the archive without secrets."""
    import tempfile
    import zipfile
    from itertools import groupby

    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, lines in groupby(_redacted_lines(content), key=lambda found: found[0]):
                with archive.open(_build_entry(name), "w") as member:
                    for _, _, clean in lines:
                        member.write(clean)
        file.flush()
        handle = os.dup(file.fileno())
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _build_entry(name: str) -> zipfile.ZipInfo:
    import zipfile

    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system, entry.external_attr = 3, 0o100644 << 16
    return entry
