"""Splits traces into batches: whole files, line ranges of a large file, or files read as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from evalgate.adapters.formats.core.builder.trace_builder import (
    compare_durations,
    find_equal_duration,
    warn_of_duration,
)
from evalgate.adapters.formats.core.format import ReadBudget
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.open.detect import FormatChoice, choose, leave_out
from evalgate.adapters.formats.open.raw_file import RawFile
from evalgate.adapters.formats.open.trace_file import FilePart, TraceFile
from evalgate.adapters.formats.open.trace_files import TraceFiles, group_by_key, read_group
from evalgate.errors import InvalidInput, TraceError
from evalgate.models.trace.trace import Trace
from evalgate.ports.batches import Batch, LineRange, TracePart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import FoundFile
    from evalgate.suite.models import Form, Ignored

FILE_OVERHEAD = 2_000
"""The cost of opening a file, as the number of bytes that could be read instead."""
MAX_FILES = 200


class BatchedTraces(TraceFiles):
    """Reads the traces of TraceFiles in batches; see ports.batches.BatchSource."""

    @property
    def max_bytes(self) -> int | None:
        """The maximum of bytes for all traces together; None without a limit."""
        return self._limits.total_bytes

    def size(self, files: Sequence[FoundFile]) -> int:
        """Bytes of all files together, before unpacking."""
        return sum(map(self._files.size, files))

    def digest(self, file: FoundFile) -> str:
        """SHA-256 of a file."""
        return self._files.digest(file)

    def batches(self, files: Sequence[FoundFile], form: Form, size: int) -> Iterator[Batch]:
        """The files in batches of about `size` bytes; larger files of lines are cut at line ends."""
        choice = choose(form)
        waiting: list[FoundFile] = []
        total = 0
        for file in files:
            length = self._files.size(file)
            whole = self._find_line_range(file, choice) if length > 2 * size else None
            if waiting and (whole is not None or total + length > size or len(waiting) >= MAX_FILES):
                yield Batch(tuple(waiting))
                waiting, total = [], 0
            if whole is None:
                waiting.append(file)
                total += length + FILE_OVERHEAD
            else:
                yield from (Batch((file,), stretch) for stretch in self._cut_lines(file, whole, size))
        if waiting:
            yield Batch(tuple(waiting))

    def group_parts(self, parts: Sequence[TracePart], size: int) -> Iterator[Batch]:
        """The parts that waited for other files, in batches."""
        waiting: list[tuple[TracePart, ...]] = []
        total = 0
        for group in group_by_key(list(map(_decode_part, parts))):
            waiting.append(tuple(map(_encode_part, group)))
            total += sum(part.size + FILE_OVERHEAD for part in group)
            if total > size:
                yield Batch(groups=tuple(waiting))
                waiting, total = [], 0
        if waiting:
            yield Batch(groups=tuple(waiting))

    def open_batch(self, batch: Batch, form: Form) -> FileBatchReader:
        """A reader for the traces of a batch."""
        return FileBatchReader(self, batch, choose(form))

    def find_parts(self, batch: Batch, form: Form) -> Sequence[TracePart]:
        """The parts of a batch's files that wait for other files; a file that yields a trace has none."""
        choice, found = choose(form), list[TracePart]()
        for file in batch.files:
            for record in self._read_file(file, choice, ReadBudget(None)):
                if isinstance(record, FilePart):
                    found.append(_encode_part(record))
                elif isinstance(record, Trace):
                    break
        return found

    def read_records(
        self, batch: Batch, choice: FormatChoice, budget: ReadBudget, waiting: list[TracePart]
    ) -> Iterator[TraceRecord]:
        """The traces of a batch; parts that have to wait for other files are added to `waiting`."""
        if batch.line_range is not None:
            yield from map(
                self._limit_length,
                self._read_line_range(batch.files[0], batch.line_range, choice, budget),
            )
        elif batch.groups:
            for group in batch.groups:
                parts = [_decode_part(part, choice.ignored) for part in group]
                yield from map(self._limit_length, read_group(parts, self._read_part_again))
        else:
            for file in batch.files:
                for found in compare_durations(self._read_file(file, choice, budget)):
                    if isinstance(found, FilePart):
                        waiting.append(_encode_part(found))
                    else:
                        yield self._limit_length(found)

    def _read_line_range(
        self, file: FoundFile, line_range: LineRange, choice: FormatChoice, budget: ReadBudget
    ) -> Iterator[TraceRecord]:
        if choice.format is None:
            choice = FormatChoice(detect.find_format(line_range.format), choice.ignored)
        trace_file = TraceFile(file, choice, self._limits)
        with self._files.open(file) as raw:
            raw_file = RawFile(raw, self._limits, budget, line_range)
            for record in trace_file.read_line_records(raw_file):
                if not isinstance(record, FilePart):
                    warn_of_duration(record, line_range.duration)
                    yield record

    def _cut_lines(self, file: FoundFile, whole: LineRange, size: int) -> Iterator[LineRange]:
        with self._files.open(file) as raw:
            yield from cut_at_line_ends(raw, whole, size)

    def _find_line_range(self, file: FoundFile, choice: FormatChoice) -> LineRange | None:
        """The range of all lines of a file; None for a file that has to be read whole."""
        try:
            with self._files.open(file) as raw:
                raw_file = RawFile(raw, self._limits, ReadBudget(None))
                trace_format = TraceFile(file, choice, self._limits).find_format_of_lines(raw_file)
            if trace_format is None:
                return None
            duration = find_equal_duration(self._read_file(file, FormatChoice(trace_format), ReadBudget(None)))
        except (TraceError, InvalidInput):
            return None  # reading the file will report why
        return LineRange(0, self._files.size(file), 1, 0, trace_format.name, duration)


class FileBatchReader:
    """Iterates over the traces of a batch; see ports.batches.ReadBatch."""

    def __init__(self, source: BatchedTraces, batch: Batch, choice: FormatChoice) -> None:
        self._source, self._batch, self._choice = source, batch, choice
        self._budget = ReadBudget(source.max_bytes)
        self.parts: list[TracePart] = []

    @property
    def size(self) -> int:
        """Bytes read so far, unpacked."""
        return self._budget.used

    def __iter__(self) -> Iterator[TraceRecord]:
        return self._source.read_records(self._batch, self._choice, self._budget, self.parts)


def _encode_part(part: FilePart) -> TracePart:
    return TracePart(part.file, part.format.name, part.keys, part.size, part.sha256, part.is_heading)


def _decode_part(part: TracePart, ignored: Ignored | None = None) -> FilePart:
    trace_format = leave_out(next(each for each in detect.FORMATS if each.name == part.format), ignored)
    return FilePart(part.file, trace_format, None, part.keys, part.size, part.sha256, part.is_heading)


BLOCK_BYTES = 1 << 18
"""Bytes searched at once: few enough to stay in the CPU cache between reading and searching."""


def cut_at_line_ends(stream: BinaryIO, whole: LineRange, size: int) -> Iterator[LineRange]:
    """Splits the lines of `whole` into ranges of at least `size` bytes; the last one may be smaller.

    Only searches for line ends and keeps nothing of what it reads.
    """
    start, first_line = whole.start, whole.first_line
    while start < whole.end:
        end, lines = _find_line_end(stream, start, min(start + size, whole.end), whole.end)
        if end == start:
            return
        yield whole._replace(start=start, end=end, first_line=first_line, lines=lines)
        start, first_line = end, first_line + lines


def _find_line_end(stream: BinaryIO, start: int, target: int, limit: int) -> tuple[int, int]:
    """The end of the line that `target` is in or ends, and the number of lines up to it."""
    stream.seek(start)
    position, lines = start, 0
    while position < limit:
        block = stream.read(min(BLOCK_BYTES, (target if position < target else limit) - position))
        if not block:
            break
        if position < target:
            lines += block.count(b"\n")
            position += len(block)
            if position >= target and block.endswith(b"\n"):
                return position, lines
        else:
            cut = block.find(b"\n") + 1
            if cut:
                return position + cut, lines + 1
            position += len(block)
    return position, lines + 1  # the last line has no line end
