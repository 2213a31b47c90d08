"""Splits traces into batches: whole files, line ranges of a large file, or files read as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.build.plausibility import compare_durations
from evalgate.adapters.formats.core.build.trace_naming import name_of_damaged
from evalgate.adapters.formats.core.read_limits import ReadBudget
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.open.line_ranges import cut_at_line_ends, same_duration, tell_duration
from evalgate.adapters.formats.open.multi_file import groups_of, records_of_group
from evalgate.adapters.formats.open.raw_file import RawFile
from evalgate.adapters.formats.open.trace_file import FilePart, TraceFile
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.errors import InvalidInput, TraceError
from evalgate.models.trace.trace import Trace, TraceLocation
from evalgate.ports.batches import Batch, PartOfTrace, Stretch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.core.format import Format
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import FoundFile
    from evalgate.suite.custom_format import Custom

OF_A_FILE = 2_000
"""The cost of opening a file, as the number of bytes that could be read instead."""
MOST_FILES = 200
PIECES = 8
"""The number of smaller batches that replace a batch whose worker was lost."""


class BatchedTraces(TraceFiles):
    """Reads the traces of TraceFiles in batches; see ports.batches.BatchSource."""

    @property
    def most_bytes(self) -> int | None:
        """The maximum of bytes for all traces together; None without a limit."""
        return self._limits.total_bytes

    def found(self, patterns: Sequence[str], base: str) -> Sequence[FoundFile]:
        """The files that match, in the order they are read."""
        found = {file.real: file for pattern in patterns for file in self._files.expand(pattern, base)}
        return sorted(found.values(), key=lambda file: file.path)

    def size(self, files: Sequence[FoundFile]) -> int:
        """Bytes of all files together, before unpacking."""
        return sum(map(self._files.size, files))

    def batches(self, files: Sequence[FoundFile], form: str | Custom, size: int) -> Iterator[Batch]:
        """The files in batches of about `size` bytes; larger files of lines are cut at line ends."""
        known = _known(form)
        waiting: list[FoundFile] = []
        together = 0
        for file in files:
            length = self._files.size(file)
            whole = self._as_stretch(file, known) if length > 2 * size else None
            if waiting and (whole is not None or together + length > size or len(waiting) >= MOST_FILES):
                yield Batch(tuple(waiting))
                waiting, together = [], 0
            if whole is None:
                waiting.append(file)
                together += length + OF_A_FILE
            else:
                yield from (Batch((file,), stretch) for stretch in self._cut(file, whole, size))
        if waiting:
            yield Batch(tuple(waiting))

    def grouped(self, parts: Sequence[PartOfTrace], size: int) -> Iterator[Batch]:
        """The parts that waited for other files, in batches."""
        waiting: list[tuple[PartOfTrace, ...]] = []
        together = 0
        for group in groups_of(list(map(_part_of, parts))):
            waiting.append(tuple(map(_told, group)))
            together += sum(part.size + OF_A_FILE for part in group)
            if together > size:
                yield Batch(groups=tuple(waiting))
                waiting, together = [], 0
        if waiting:
            yield Batch(groups=tuple(waiting))

    def pieces(self, batch: Batch, form: str | Custom) -> Sequence[Batch]:
        """A batch split into smaller ones; only itself if it can't be split any further."""
        if len(batch.groups) > 1:
            return [Batch(groups=(group,)) for group in batch.groups]
        if len(batch.files) > 1:
            step = -(-len(batch.files) // PIECES)
            return [Batch(batch.files[start : start + step]) for start in range(0, len(batch.files), step)]
        if batch.files:
            file = batch.files[0]
            whole = batch.stretch or self._as_stretch(file, _known(form))
            if whole is not None and (whole.lines > 1 or batch.stretch is None):
                size = max(1, (whole.end - whole.start) // PIECES)
                cut = list(self._cut(file, whole, size))
                if len(cut) == 1:  # one line holds nearly all bytes
                    cut = list(self._cut(file, whole, 1))
                return [Batch((file,), stretch) for stretch in cut]
        return [batch]

    def open_batch(self, batch: Batch, form: str | Custom) -> OpenBatch:
        """A reader for the traces of a batch."""
        return OpenBatch(self, batch, _known(form))

    def parts(self, batch: Batch, form: str | Custom) -> Sequence[PartOfTrace]:
        """The parts of a batch's files that wait for other files; a file that yields a trace has none."""
        known, found = _known(form), list[PartOfTrace]()
        for file in batch.files:
            for record in self._opened(file, known, ReadBudget(None)):
                if isinstance(record, FilePart):
                    found.append(_told(record))
                elif isinstance(record, Trace):
                    break
        return found

    def name_of(self, batch: Batch) -> tuple[FoundFile, int | None, str]:
        """File, first line and id of a batch that can't be judged."""
        file = batch.files[0] if batch.files else batch.groups[0][0].file
        line = None if batch.stretch is None else batch.stretch.first_line
        return file, line, name_of_damaged(file.below, TraceLocation(file.path, line=line))

    def records(
        self, batch: Batch, known: Format | None, budget: ReadBudget, waiting: list[PartOfTrace]
    ) -> Iterator[TraceRecord]:
        """The traces of a batch; parts that have to wait for other files are added to `waiting`."""
        if batch.stretch is not None:
            yield from map(self._bounded, self._of_stretch(batch.files[0], batch.stretch, known, budget))
        elif batch.groups:
            for group in batch.groups:
                parts = list(map(_part_of, group))
                yield from map(self._bounded, records_of_group(parts, self._again))
        else:
            for file in batch.files:
                for found in compare_durations(self._opened(file, known, budget)):
                    if isinstance(found, FilePart):
                        waiting.append(_told(found))
                    else:
                        yield self._bounded(found)

    def _of_stretch(
        self, file: FoundFile, stretch: Stretch, known: Format | None, budget: ReadBudget
    ) -> Iterator[TraceRecord]:
        found = TraceFile(file, known or detect.named(stretch.format), self._limits)
        with self._files.open(file) as raw:
            recording = RawFile(raw, self._limits, budget, stretch)
            for record in found.records_of_lines(recording):
                if not isinstance(record, FilePart):
                    tell_duration(record, stretch.duration)
                    yield record

    def _cut(self, file: FoundFile, whole: Stretch, size: int) -> Iterator[Stretch]:
        with self._files.open(file) as raw:
            yield from cut_at_line_ends(raw, whole, size)

    def _as_stretch(self, file: FoundFile, known: Format | None) -> Stretch | None:
        """The range of all lines of a file; None for a file that has to be read whole."""
        try:
            with self._files.open(file) as raw:
                recording = RawFile(raw, self._limits, ReadBudget(None))
                known = TraceFile(file, known, self._limits).format_of_lines(recording)
            if known is None:
                return None
            duration = same_duration(self._opened(file, known, ReadBudget(None)))
        except (TraceError, InvalidInput):
            return None  # reading the file will report why
        return Stretch(0, self._files.size(file), 1, 0, known.name, duration)


class OpenBatch:
    """Iterates over the traces of a batch; see ports.batches.ReadBatch."""

    def __init__(self, source: BatchedTraces, batch: Batch, known: Format | None) -> None:
        self._source, self._batch, self._known = source, batch, known
        self._budget = ReadBudget(source.most_bytes)
        self.parts: list[PartOfTrace] = []

    @property
    def size(self) -> int:
        """Bytes read so far, unpacked."""
        return self._budget.used

    def __iter__(self) -> Iterator[TraceRecord]:
        return self._source.records(self._batch, self._known, self._budget, self.parts)


def _known(form: str | Custom) -> Format | None:
    if isinstance(form, str):
        return detect.named(form)
    from evalgate.adapters.formats.custom.reader import format_of

    return format_of(form)


def _told(part: FilePart) -> PartOfTrace:
    return PartOfTrace(part.file, part.format.name, part.keys, part.size, part.sha256, part.is_heading)


def _part_of(told: PartOfTrace) -> FilePart:
    known = next(each for each in detect.FORMATS if each.name == told.format)
    return FilePart(told.file, known, None, told.keys, told.size, told.sha256, told.is_heading)
