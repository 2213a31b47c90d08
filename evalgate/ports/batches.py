"""Traces in batches, described compactly and judged in any order, and the engines that judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.trace.trace import Trace, TraceRecord
    from evalgate.ports import FoundFile
    from evalgate.suite.models import Form

    PendingResult = Callable[[], Any]  # waits for the result of a task; raises WorkerLostError


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

    def digest(self, file: FoundFile) -> str:
        """SHA-256 of a file, as `Files` has it."""

    def batches(self, files: Sequence[FoundFile], form: Form, size: int) -> Iterator[Batch]:
        """Splits the files into batches of about `size` bytes."""

    def group_parts(self, parts: Sequence[TracePart], size: int) -> Iterator[Batch]:
        """Groups the parts of multi-file traces into batches."""

    def open_batch(self, batch: Batch, form: Form) -> BatchReader:
        """Opens a batch for reading."""

    def find_parts(self, batch: Batch, form: Form) -> Sequence[TracePart]:
        """The batch's files that hold only part of a trace; reads no more than needed to know."""

    @property
    def max_bytes(self) -> int | None:
        """Size limit for all traces of a run together; None without a limit."""


class WorkerLostError(Exception):
    """A worker died before its batch was done; the message describes how."""


class Engine(Protocol):
    """Workers that all run the same function on one batch after another."""

    @property
    def workers(self) -> int:
        """The number of workers, as far as known."""

    def begin(self, work: Callable[[Any], Any]) -> None:
        """Starts the workers with the function to run."""

    def submit(self, task: Any) -> PendingResult:
        """Submits one task."""

    def close(self) -> None:
        """Stops the workers, even if they are busy."""


class EvaluationPool(NamedTuple):
    """Workers, their source of traces, and the encoder of a trace's line in a baseline."""

    source: BatchSource
    engine: Engine
    encode_line: Callable[[Trace], bytes]


class EvaluationPools(Protocol):
    """Chooses who judges, depending on how much there is to judge."""

    def open(self, traces: Sequence[tuple[Sequence[str], str]]) -> EvaluationPool | None:
        """Workers for these patterns, each with its start folder; None: this process judges."""

    def open_in_process(self) -> EvaluationPool:
        """A pool of only this process, which judges batch by batch."""
