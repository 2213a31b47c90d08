"""Writes `baseline.zip` member by member; deterministic: same parts, same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from evalgate.adapters.archives.baseline_limits import MANIFEST, RESULTS, SUITES, TRACES
from evalgate.adapters.archives.baseline_traces import BaselineTraceSpool
from evalgate.models.run.chunks import iter_chunks
from evalgate.records import replace

if TYPE_CHECKING:
    import zipfile
    from typing import BinaryIO

    from evalgate.adapters.archives.baseline_limits import ZipLimits
    from evalgate.ports import BaselineParts

FASTEST = 1
"""Deflate's level: a higher one takes three times as long to save a fifth."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_archive(stream: BinaryIO, parts: BaselineParts, limits: ZipLimits) -> int:
    """Writes the archive to a stream; returns how many traces had to be left out."""
    import zipfile

    spool = parts.traces if isinstance(parts.traces, BaselineTraceSpool) else None
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open(build_entry(RESULTS), "w") as member:
            for piece in iter_chunks(parts.results):
                member.write(piece)
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
    with archive.open(build_entry(TRACES), "w") as member:
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
