"""Writes `baseline.zip`: spools its traces, packs them, and redacts an archive that the judge wrote.

The same parts give the same bytes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from io import BufferedWriter
from typing import IO, TYPE_CHECKING, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from evalgate.adapters.safe_zip import SafeZip, ZipRefusedError
from evalgate.errors import JudgeCrashed, report_full_temp_folder
from evalgate.measures.redaction.redact import remove_exact_secrets
from evalgate.models.run.chunks import iter_chunks

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Callable, Iterator

    from evalgate.models.trace.trace import Trace, TraceLocation
    from evalgate.ports import BaselineParts


MANIFEST = "manifest.json"
RESULTS = "results.json"
SUITES = "suites.json"
TRACES = "traces.jsonl"
BUFFER = 1 << 18
"""Bytes that are written together."""


class ZipLimits(Struct, frozen=True):
    """Limits in bytes. `slack` is reserved for what is still buffered, and for the archive's directory."""

    packed: int = 64 * 1024 * 1024
    unpacked: int = 256 * 1024 * 1024
    slack: int = 2 * 1024 * 1024


class BaselineTraceSpool:
    """Redacted traces in a temporary file, one per line; those beyond a baseline's limit are only counted."""

    def __init__(self, limits: ZipLimits, encode: Callable[[Trace], bytes]) -> None:
        import tempfile  # slow to import, so only for runs that write a baseline

        self._limits, self._encode = limits, encode
        with report_full_temp_folder():
            self._file: IO[bytes] = tempfile.TemporaryFile(buffering=BUFFER)  # noqa: SIM115  (lives until the run ends)
        self._size = 0
        self._seen: set[tuple[str, int | None, int | None]] = set()
        self.left_out = 0

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return self.left_out > 0

    def add(self, trace: Trace) -> None:
        """Adds a trace; a trace that two suites read is added once."""
        if self._is_new(trace.source):
            self._append(self._encode(trace))

    def add_line(self, source: TraceLocation, line: bytes | None) -> None:
        """Adds a line encoded elsewhere; None counts a trace that did not fit."""
        if self._is_new(source):
            self._append(line if line is None else remove_exact_secrets(line))

    def _is_new(self, source: TraceLocation) -> bool:
        key = (source.path, source.line, source.record)
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def _append(self, line: bytes | None) -> None:
        if line is None or self.left_out or self._size + len(line) > self._limits.unpacked:
            self.left_out += 1  # and all later ones: only the end is left out
            return
        self._size += len(line)
        with report_full_temp_folder():
            self._file.write(line)

    def lines(self) -> Iterator[bytes]:
        """The lines that were added, in order."""
        with report_full_temp_folder():
            self._file.seek(0)  # writes what is buffered
        for line in self._file:  # noqa: UP028  (`yield from` would close the file where a reader stops)
            yield line

    def close(self) -> None:
        """Deletes the temporary file; what is still buffered may not fit on the disk."""
        with suppress(OSError):
            self._file.close()


FASTEST = 1
"""Deflate's level: a higher one takes three times as long to save a fifth."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_archive(stream: BinaryIO, parts: BaselineParts, limits: ZipLimits) -> int:
    """Writes the archive to a stream; returns how many traces had to be left out."""
    import zipfile

    import orjson

    spool = parts.traces if isinstance(parts.traces, BaselineTraceSpool) else None
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        with BufferedWriter(archive.open(build_entry(RESULTS), "w"), BUFFER) as member:
            member.writelines(iter_chunks(parts.results))
        archive.writestr(build_entry(SUITES), parts.suites)
        unpacked = sum(entry.file_size for entry in archive.infolist()) + limits.slack
        kept, left_out = _write_traces(archive, spool, replace(limits, unpacked=limits.unpacked - unpacked))
        manifest = {**parts.manifest, "traces": {"kept": kept, "left_out": left_out}}
        archive.writestr(build_entry(MANIFEST), orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS))
    return left_out


def _write_traces(archive: zipfile.ZipFile, spool: BaselineTraceSpool | None, limits: ZipLimits) -> tuple[int, int]:
    """Returns how many traces were kept and left out. A line may not compress at all."""
    if spool is None:
        return 0, 0
    kept, unpacked, full = 0, 0, False
    left_out = spool.left_out
    with BufferedWriter(archive.open(build_entry(TRACES), "w"), limits.slack // 8) as member:
        for line in spool.lines():
            packed = archive.fp.tell() if archive.fp else 0
            unpacked += len(line)
            full = full or packed + len(line) > limits.packed - limits.slack or unpacked > limits.unpacked
            if full:
                left_out += 1
                continue
            member.write(line)
            kept += 1
    return kept, left_out


def build_entry(name: str) -> zipfile.ZipInfo:
    """The entry of a member, with nothing that depends on time or machine."""
    import zipfile

    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    # ZipFile's own level is only for members that are named by text.
    entry._compresslevel = FASTEST  # type: ignore[attr-defined]  # noqa: SLF001
    entry.create_system = 3
    entry.external_attr = 0o100644 << 16
    return entry


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
                with archive.open(build_entry(name), "w") as member:
                    for _, _, clean in lines:
                        member.write(clean)
        file.flush()
        handle = os.dup(file.fileno())
    os.lseek(handle, 0, os.SEEK_SET)
    return handle
