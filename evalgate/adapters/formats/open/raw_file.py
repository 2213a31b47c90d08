"""Reads one trace file as bytes: unpacks it, splits lines, keeps one record at a time in memory."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.adapters.formats.core.read_limits import ReadBudget, TraceLimits
    from evalgate.ports.batches import Stretch

GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
HEAD = 512
OTHER_MAGIC = {
    b"PK\x03\x04": "a zip archive of no format that is known; unpack it first",
    b"PAR1": "a Parquet file; write JSON or JSON lines instead",
    b"\xff\xfe": "UTF-16 text; write it as UTF-8",
    b"\xfe\xff": "UTF-16 text; write it as UTF-8",
}
CHUNK = 1 << 16
INFINITE = 1 << 63


class RawLine(NamedTuple):
    """A line of a file, numbered from 1; `data` is None if the line exceeds the limit of a record."""

    number: int
    data: bytes | None


class RawFile:
    """Reads a file by line or whole; damaged gzip data raises TraceError, exceeding the budget OverLimit.

    With a `line_range`, reads only those lines; the file must be text and not packed.
    """

    def __init__(
        self, raw: BinaryIO, limits: TraceLimits, budget: ReadBudget, stretch: Stretch | None = None
    ) -> None:
        self._limits = limits
        self._budget = budget
        self._start, self._end, self._lines_before = 0, INFINITE, 0
        if stretch is not None:
            self._start, self._end = stretch.start, stretch.end
            self._lines_before = stretch.first_line - 1
        self._position = self._counted = self._start  # bytes read twice count once
        self._largest: int | None = None
        self._stream = self._unpacked(raw) if stretch is None else _sought(raw, stretch.start)

    @property
    def is_packed(self) -> bool:
        """Whether the file has to be unpacked, so it can't be read from an offset."""
        return self._largest is not None

    def head(self) -> bytes:
        """The first bytes, unpacked."""
        self._rewind()
        return self._take(self._stream.read, HEAD)

    def require_text(self) -> None:
        """Raises TraceError for known binary formats and UTF-16."""
        head = self.head()
        for known, what in OTHER_MAGIC.items():
            if head.startswith(known):
                raise TraceError(f"the file is {what}")

    def lines(self) -> Iterator[RawLine]:
        """The lines that are not blank, from the start of the file or the range."""
        self._rewind()
        most = self._limits.record_bytes + 2  # a record and its line end
        number = self._lines_before
        while self._position < self._end and (data := self._take(self._stream.readline, most + 1)):
            number += 1
            stripped = data.strip()
            if number == 1:
                stripped = stripped.removeprefix(BOM).strip()
            if len(data) > most:
                self._skip_line(data)
                yield RawLine(number, None)
            elif stripped:
                yield RawLine(number, stripped)

    def whole(self, most: int | None = None) -> bytes:
        """The file's content, at most `limit` + 1 bytes; the default limit is that of a record."""
        self._rewind()
        return self._take(self._stream.read, (self._limits.record_bytes if most is None else most) + 1)

    def _unpacked(self, raw: BinaryIO) -> BinaryIO:
        magic = raw.read(len(GZIP))
        raw.seek(0)
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
            read = self._take(self._stream.readline, CHUNK)

    def _take(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            data = read(size)
        except (OSError, EOFError, zlib.error):
            raise TraceError("the file is damaged: it can't be unpacked or read to its end") from None
        self._position += len(data)
        if self._largest is not None and self._position > self._largest:
            raise TraceError(f"the file unpacks to more than {self._largest:,} bytes")
        if self._position > self._counted:
            self._budget.take(self._position - self._counted)
            self._counted = self._position
        return data


def _sought(raw: BinaryIO, start: int) -> BinaryIO:
    raw.seek(start)
    return raw
