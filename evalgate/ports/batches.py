"""Traces in batches: as much as a worker reads at a time, said in few words, judged in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import FoundFile
    from evalgate.suite.custom_format import Custom


class Stretch(NamedTuple):
    """Some lines of a file whose lines are traces: from byte `start` up to `end`, the first one's number.

    `format` is what the file's first lines were found to be; `duration` what its first runs all took, where
    they took equally long, which makes the clock doubtful.
    """

    start: int
    end: int
    first_line: int
    lines: int
    format: str
    duration: float | None


class PartOfTrace(NamedTuple):
    """A file that tells a part of a trace: what it shares with others, and what it was when it was seen."""

    file: FoundFile
    format: str
    keys: frozenset[str]
    size: int
    sha256: str
    is_heading: bool


class Batch(NamedTuple):
    """Whole files, or lines of one file, or groups of files that are read as one."""

    files: tuple[FoundFile, ...] = ()
    stretch: Stretch | None = None
    groups: tuple[tuple[PartOfTrace, ...], ...] = ()


class ReadBatch(Protocol):
    """The traces of a batch while they are read."""

    @property
    def parts(self) -> Sequence[PartOfTrace]:
        """Files that have to wait for others, once all is read."""

    @property
    def size(self) -> int:
        """Bytes read so far, unpacked."""

    def __iter__(self) -> Iterator[TraceRecord]:
        """The traces, in order."""


class BatchSource(Protocol):
    """Where recorded traces come from, a batch at a time.

    The batches of a source hold the traces that `TraceSource.read` gives, in the same order, as long as what
    waits for other files is put into groups when all batches were read.
    """

    def found(self, patterns: Sequence[str], base: str) -> Sequence[FoundFile]:
        """The files, in the order they are read; raises as `TraceSource.read` does."""

    def size(self, files: Sequence[FoundFile]) -> int:
        """Bytes of the files together, as they lie there."""

    def batches(self, files: Sequence[FoundFile], form: str | Custom, size: int) -> Iterator[Batch]:
        """The files in batches of about `size` bytes."""

    def grouped(self, parts: Sequence[PartOfTrace], size: int) -> Iterator[Batch]:
        """What waited for other files, in batches."""

    def pieces(self, batch: Batch, form: str | Custom) -> Sequence[Batch]:
        """A batch in smaller ones; just itself where it can't be told apart any further."""

    def open_batch(self, batch: Batch, form: str | Custom) -> ReadBatch:
        """What a batch holds."""

    def parts(self, batch: Batch, form: str | Custom) -> Sequence[PartOfTrace]:
        """Which of a batch's files wait for others; no more is read than it takes to know."""

    def name_of(self, batch: Batch) -> tuple[FoundFile, int | None, str]:
        """Of a batch that can't be told apart: its file, line and the id of a damaged record there."""

    @property
    def most_bytes(self) -> int | None:
        """What all traces of a run may have together, None without a limit."""
