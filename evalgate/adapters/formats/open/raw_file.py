"""Reads one trace file as bytes: unpacks it, splits lines, keeps one record at a time in memory."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.adapters.formats.core.format import ReadBudget, TraceLimits
    from evalgate.ports.batches import LineRange

GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
HEAD_BYTES = 512
OTHER_MAGIC = {
    b"PK\x03\x04": "a zip archive of an unknown format; unpack it first (a baseline is for `evalgate run --baseline`)",
    b"PAR1": "a Parquet file; write JSON or JSON lines instead",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8",
}
CHUNK_BYTES = 1 << 16
SMALL_BYTES = 1 << 17
"""Of a file that is read without the memory of the largest, which takes as long as reading it."""
NO_END = 1 << 63


class RawLine(NamedTuple):
    """A line of a file, numbered from 1; `data` is None if the line exceeds the limit of a record."""

    number: int
    data: bytes | None


class RawFile:
    """Reads a file by line or whole; damaged gzip data raises TraceError, exceeding the budget OverLimit.

    With a `line_range`, reads only those lines; the file must be text and not packed.
    """

    def __init__(
        self, raw: BinaryIO, limits: TraceLimits, budget: ReadBudget, line_range: LineRange | None = None
    ) -> None:
        self._limits = limits
        self._budget = budget
        self._start, self._end, self._lines_before = 0, NO_END, 0
        if line_range is not None:
            self._start, self._end = line_range.start, line_range.end
            self._lines_before = line_range.first_line - 1
        self._position = self._counted = self._start  # bytes read twice count once
        self._largest: int | None = None
        self._stream = self._unpack(raw) if line_range is None else _seek(raw, line_range.start)

    @property
    def is_packed(self) -> bool:
        """Whether the file has to be unpacked, so it can't be read from an offset."""
        return self._largest is not None

    def read_head(self) -> bytes:
        """The first bytes, unpacked."""
        self._rewind()
        return self._read_counted(self._stream.read, HEAD_BYTES)

    def require_text(self) -> None:
        """Raises TraceError for known binary formats and UTF-16."""
        head = self.read_head()
        for magic, description in OTHER_MAGIC.items():
            if head.startswith(magic):
                raise TraceError(f"the file is {description}")

    def read_lines(self) -> Iterator[RawLine]:
        """The lines that are not blank, from the start of the file or the range."""
        self._rewind()
        limit = self._limits.record_bytes + 2  # a record and its line end
        number = self._lines_before
        while self._position < self._end and (data := self._read_counted(self._stream.readline, limit + 1)):
            number += 1
            stripped = data.strip()
            if number == 1:
                stripped = stripped.removeprefix(BOM).strip()
            if len(data) > limit:
                self._skip_line(data)
                yield RawLine(number, None)
            elif stripped:
                yield RawLine(number, stripped)

    def read_whole(self, limit: int | None = None) -> bytes:
        """The file's content, at most `limit` + 1 bytes; the default limit is that of a record."""
        most = (self._limits.record_bytes if limit is None else limit) + 1
        self._rewind()
        data = self._read_counted(self._stream.read, min(most, SMALL_BYTES))
        if len(data) < min(most, SMALL_BYTES):
            return data
        self._rewind()
        return self._read_counted(self._stream.read, most)

    def _unpack(self, raw: BinaryIO) -> BinaryIO:
        try:
            magic = raw.read(len(GZIP))
            raw.seek(0)
        except OSError:  # as will reading it later, which is an error of this file
            return raw
        if not magic.startswith(GZIP):
            return raw
        import gzip

        self._largest = self._limits.unpacked_file_bytes
        return gzip.open(raw)  # type: ignore[return-value]

    def _rewind(self) -> None:
        if self._position != self._start:
            self._position = self._start
            self._stream.seek(self._start)

    def _skip_line(self, read: bytes) -> None:
        while read and not read.endswith(b"\n"):
            read = self._read_counted(self._stream.readline, CHUNK_BYTES)

    def _read_counted(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            data = read(size)
        except (OSError, EOFError, zlib.error):
            raise TraceError("the file is damaged: it can't be unpacked or read to the end") from None
        self._position += len(data)
        if self._largest is not None and self._position > self._largest:
            raise TraceError(f"the file unpacks to more than {self._largest:,} bytes (raise limit `unpacked`)")
        if self._position > self._counted:
            self._budget.take(self._position - self._counted)
            self._counted = self._position
        return data


def _seek(raw: BinaryIO, start: int) -> BinaryIO:
    raw.seek(start)
    return raw
