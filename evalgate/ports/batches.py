"""Traces in batches: what a worker reads at a time, described compactly and judged in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import FoundFile
    from evalgate.suite.models import CustomMapping


class LineRange(NamedTuple):
    """Lines of a file that holds one trace a line: bytes `start` to `end`, and the first line's number.

    `format` was detected from the file's first lines; `duration` is set if its first runs all took equally
    long, which makes their clock doubtful.
    """

    start: int
    end: int
    first_line: int
    lines: int
    format: str
    duration: float | None


class TracePart(NamedTuple):
    """A file that holds part of a trace: the keys it shares with others, its size and hash when read."""

    file: FoundFile
    format: str
    keys: frozenset[str]
    size: int
    sha256: str
    is_heading: bool


class Batch(NamedTuple):
    """Whole files, or lines of one file, or groups of files that are read as one."""

    files: tuple[FoundFile, ...] = ()
    line_range: LineRange | None = None
    groups: tuple[tuple[TracePart, ...], ...] = ()


class BatchReader(Protocol):
    """Reads the traces of one batch."""

    @property
    def parts(self) -> Sequence[TracePart]:
        """Files that must be grouped with others, once all is read."""

    @property
    def size(self) -> int:
        """Bytes read so far, unpacked."""

    def __iter__(self) -> Iterator[TraceRecord]:
        """The traces, in order."""


class BatchSource(Protocol):
    """Where traces come from, a batch at a time.

    All batches together hold the traces that `TraceSource.read` gives, in the same order, provided that the
    parts of multi-file traces are grouped once all batches are read.
    """

    def find_files(self, patterns: Sequence[str], base: str) -> Sequence[FoundFile]:
        """The files, in reading order; raises like `TraceSource.read`."""

    def size(self, files: Sequence[FoundFile]) -> int:
        """Total size of the files on disk, in bytes."""

    def batches(self, files: Sequence[FoundFile], form: str | CustomMapping, size: int) -> Iterator[Batch]:
        """Splits the files into batches of about `size` bytes."""

    def group_parts(self, parts: Sequence[TracePart], size: int) -> Iterator[Batch]:
        """Groups the parts of multi-file traces into batches."""

    def open_batch(self, batch: Batch, form: str | CustomMapping) -> BatchReader:
        """Opens a batch for reading."""

    def find_parts(self, batch: Batch, form: str | CustomMapping) -> Sequence[TracePart]:
        """The batch's files that hold only part of a trace; reads no more than needed to know."""

    @property
    def max_bytes(self) -> int | None:
        """Size limit for all traces of a run together; None without a limit."""
