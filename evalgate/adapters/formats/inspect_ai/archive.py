"""Reads Inspect's `.eval` archives: a zip with the settings of a run and one member per sample."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.strict_json import decode
from evalgate.adapters.safe_zip import SafeZip, ZipRefusedError
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.adapters.formats.core.format import TraceLimits


HEADER = "header.json"
START = "_journal/start.json"
SAMPLE = re.compile(r"samples/(.{1,600})_epoch_(\d{1,9})\.json", re.DOTALL)
CHUNKED = re.compile(r"samples/.+/sample\.json", re.DOTALL)
MAX_ENTRIES = 20_000
ZSTANDARD = 93
DUMP_HINT = "convert it to JSON with `inspect log dump` and pass that"


class PackedSample(NamedTuple):
    """A sample that is not unpacked yet; at most `max_bytes` are read."""

    archive: SafeZip
    name: str
    id: str
    epoch: int
    max_bytes: int

    def read(self) -> Any:
        """Unpacks the sample; raises TraceError. Only one sample at a time is in memory."""
        try:
            data = self.archive.read(self.name, self.max_bytes)
        except ZipRefusedError as error:
            raise TraceError(f"the archive: {_shorten_error(error)}") from None
        return decode(data)


class Archive(NamedTuple):
    """A log whose samples are read only when their traces are built."""

    header: Any
    members: list[PackedSample]


def unpack(data: bytes, limits: TraceLimits) -> Iterator[Archive]:
    """Yields the file's one log; raises TraceError if it can't be read."""
    try:
        archive = SafeZip(data, limits.unpacked_file_bytes, MAX_ENTRIES)
        names = archive.names()
        if ZSTANDARD in archive.compression_methods():
            raise TraceError(f"the archive is compressed with Zstandard, which is not supported: {DUMP_HINT}")
        if any(CHUNKED.fullmatch(name) for name in names):
            raise TraceError(f"the samples of the archive are split into chunks, which is not supported: {DUMP_HINT}")
        header = decode(archive.read(HEADER if HEADER in names else START, limits.record_bytes))
    except ZipRefusedError as error:
        raise TraceError(f"the archive: {_shorten_error(error)}") from None
    found = ((name, SAMPLE.fullmatch(name)) for name in dict.fromkeys(names))
    members = [
        PackedSample(archive, name, match[1], int(match[2]), limits.record_bytes)
        for name, match in found
        if match is not None
    ]
    yield Archive(header, sorted(members, key=_sort_key))


def _sort_key(member: PackedSample) -> tuple[bool, int, str, int]:
    """Sorts numeric ids as numbers; the archive holds samples in the order in which they ended."""
    is_number = member.id.isascii() and member.id.isdigit()
    return not is_number, int(member.id) if is_number else 0, member.id, member.epoch


def _shorten_error(error: ZipRefusedError) -> str:
    text = "".join(char if char.isprintable() else "?" for char in str(error))
    return text if len(text) <= 200 else f"...{text[-200:]}"  # noqa: PLR2004
