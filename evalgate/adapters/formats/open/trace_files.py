"""Reads traces from files one at a time; joins files that hold parts of the same traces."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.trace_builder import compare_durations, name_damaged_record, read_records
from evalgate.adapters.formats.core.format import ReadBudget, TraceLimits
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.open.detect import FormatChoice, choose
from evalgate.adapters.formats.open.raw_file import RawFile
from evalgate.adapters.formats.open.trace_file import FilePart, TraceFile, join_digests
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.adapters.formats.core.format import BesideRule, Format
    from evalgate.adapters.formats.open.beside import BesideFiles
    from evalgate.adapters.formats.open.trace_file import BesideParts
    from evalgate.models.trace.trace import Trace, TraceRecord
    from evalgate.ports import Files, FoundFile, NearbyTraces
    from evalgate.suite.models import Form

    PartReader = Callable[[FoundFile, Format], FilePart | None]


class FilePartCollector:
    """Collects parts until all files are read; keeps their documents in memory up to `kept_bytes`."""

    def __init__(self, kept_bytes: int) -> None:
        self._left = kept_bytes
        self._parts: list[FilePart] = []

    def add(self, part: FilePart) -> None:
        """Adds the part of one file."""
        self._left -= part.size
        if self._left < 0:
            part.documents = None
        self._parts.append(part)

    def read_records(self, read_part: PartReader) -> Iterator[TraceRecord]:
        """The traces of each group of files with a common key, in the order of the groups' first files."""
        for group in group_by_key(self._parts):
            yield from read_group(group, read_part)


def read_group(group: list[FilePart], read_part: PartReader) -> Iterator[TraceRecord]:
    """The traces of a group of files; documents that were dropped are read again."""
    read_records = _read_joined_records if group[0].format.reader.heading_rule is None else _read_records_with_heading
    return compare_durations(read_records(group, read_part))


def group_by_key(parts: list[FilePart]) -> list[list[FilePart]]:
    """Groups parts that share a key, directly or through other parts."""
    group_of: dict[tuple[str, str], list[FilePart]] = {}
    groups: list[list[FilePart]] = []
    for part in parts:
        current = [part]
        for key in part.keys:
            other = group_of.get((part.format.name, key))
            if other is not None and other is not current:
                small, large = sorted((current, other), key=len)
                large += small
                small.clear()
                current = large
                for moved in current:
                    group_of.update(((moved.format.name, known), current) for known in moved.keys)
            group_of[part.format.name, key] = current
        groups.append(current)
    unique = {id(group): group for group in groups if group}
    return sorted(
        (sorted(group, key=lambda part: part.file.path) for group in unique.values()),
        key=lambda group: group[0].file.path,
    )


def _read_joined_records(group: list[FilePart], read_part: PartReader) -> Iterator[TraceRecord]:
    first = group[0]
    hashes = [part.sha256 for part in group]
    source = TraceLocation(first.file.path, first.format.name, sha256=join_digests(hashes))
    documents: list[Any] = []
    try:
        for part in group:
            documents += _take_documents(part, read_part)
        yield from read_records(first.format.reader, documents, source, first.file.below)
    except TraceError as error:
        yield DamagedTrace(str(error), source, name_damaged_record(first.file.below, source))


def _read_records_with_heading(group: list[FilePart], read_part: PartReader) -> Iterator[TraceRecord]:
    """Reads each file with the headings before it; a heading without other files is read as a trace."""
    headings = [part for part in group if part.is_heading]
    others = [part for part in group if not part.is_heading]
    try:
        heading_documents = [document for part in headings for document in _take_documents(part, read_part)]
    except TraceError as error:
        source = TraceLocation(headings[0].file.path, headings[0].format.name, sha256=headings[0].sha256)
        yield DamagedTrace(str(error), source, name_damaged_record(headings[0].file.below, source))
        heading_documents = []
    for part in others or headings[:1]:
        source = TraceLocation(part.file.path, part.format.name, sha256=part.sha256)
        try:
            documents = [*heading_documents, *(_take_documents(part, read_part) if others else ())]
            yield from read_records(part.format.reader, documents, source, part.file.below)
        except TraceError as error:
            yield DamagedTrace(str(error), source, name_damaged_record(part.file.below, source))


def _take_documents(part: FilePart, read_part: PartReader) -> list[Any]:
    if part.documents is not None:
        documents, part.documents = part.documents, None
        return documents
    found = read_part(part.file, part.format)
    if found is None or found.sha256 != part.sha256 or found.documents is None:
        raise TraceError("the file changed while it was read")
    return found.documents


DEFAULT_LIMITS = TraceLimits()
PART_PREFIXES = ("/agent-", "/rollout-")
"""Begin the names of files that may be parts of another one."""


class TraceFiles:
    """Reads traces from files; a record that can't be read becomes a DamagedTrace and reading goes on."""

    def __init__(self, files: Files, limits: TraceLimits = DEFAULT_LIMITS) -> None:
        self._files = files
        self._limits = limits
        self._budget = ReadBudget(limits.total_bytes)
        self._beside: BesideFiles | None = None

    def formats(self) -> Sequence[str]:
        """Names of the formats, in the order of detection."""
        return [known.name for known in detect.FORMATS]

    def encode_trace(self, trace: Trace) -> bytes:
        """Encodes a trace as a line of a baseline, redacted."""
        from evalgate.adapters.formats.open.stored_traces import encode_stored_trace

        return encode_stored_trace(trace)

    def restore_trace(self, line: bytes) -> Trace | None:
        """The trace of a line of a baseline; None if it can't be read."""
        from evalgate.adapters.formats.open.stored_traces import read_stored_trace

        try:
            return read_stored_trace(line)
        except TraceError:
            return None

    def read(self, patterns: Sequence[str], base: str, form: Form = detect.AUTO) -> Iterator[TraceRecord]:
        """Traces in the order of their files' paths, then in file order.

        Files that have to be joined come last. Raises SettingError for a format that does not exist,
        RefusedPath for a path that may not be read and OverLimit if all files together are too large.
        """
        choice = choose(form)
        return self._read_files(self.find_files(patterns, base), choice)

    def find_files(self, patterns: Sequence[str], base: str) -> Sequence[FoundFile]:
        """The files that match, in the order they are read, without those that are parts of another one."""
        found = {file.real: file for pattern in patterns for file in self._files.expand(pattern, base)}
        ordered = sorted(found.values(), key=lambda file: file.path)
        if not any(prefix in file.real for file in ordered for prefix in PART_PREFIXES):
            return ordered
        return self._open_beside().leave_out_parts(ordered)

    def find_nearby(self) -> Sequence[NearbyTraces]:
        """The folders that hold traces."""
        from evalgate.adapters.formats.open.nearby import find_nearby_traces  # only for suites that find none

        return find_nearby_traces(self._files, TraceFiles)

    def _open_beside(self) -> BesideFiles:
        """What finds files beside others: made once one is needed."""
        if self._beside is None:
            from evalgate.adapters.formats.open.beside import BesideFiles

            self._beside = BesideFiles(self._files, self._limits)
        return self._beside

    def _read_files(self, files: Sequence[FoundFile], choice: FormatChoice) -> Iterator[TraceRecord]:
        collector = FilePartCollector(self._limits.kept_bytes)
        for file in files:
            for found in compare_durations(self._read_file(file, choice, self._budget)):
                if isinstance(found, FilePart):
                    collector.add(found)
                else:
                    yield self._limit_length(found)
        yield from map(self._limit_length, collector.read_records(self._read_part_again))

    def _read_beside(
        self, file: FoundFile, budget: ReadBudget, rule: BesideRule, documents: list[Any], size: int
    ) -> BesideParts:
        return self._open_beside().read_parts(file, budget, rule, documents, size)

    def _limit_length(self, found: TraceRecord) -> TraceRecord:
        """The trace, or a DamagedTrace if it has more messages or tool calls than the limit."""
        if isinstance(found, DamagedTrace):
            return found
        limit = self._limits.messages
        for noun, count in (("messages", len(found.messages)), ("tool calls", len(found.tool_calls))):
            if count > limit:
                reason = f"the trace has {count:,} {noun}; at most {limit:,} are allowed (raise limit `messages`)"
                name = found.scenario_id
                return DamagedTrace(reason, found.source, name or "", name, found.trial)
        return found

    def _read_part_again(self, file: FoundFile, trace_format: Format) -> FilePart | None:
        """Reads a file's part again; None if the file no longer holds one."""
        parts = self._read_file(file, FormatChoice(trace_format), ReadBudget(None))
        return next((found for found in parts if isinstance(found, FilePart)), None)

    def _read_file(self, file: FoundFile, choice: FormatChoice, budget: ReadBudget) -> Iterator[TraceRecord | FilePart]:
        with self._files.open(file) as raw:
            try:
                trace_file = TraceFile(file, choice, self._limits, partial(self._read_beside, file, budget))
                yield from trace_file.read_records(RawFile(raw, self._limits, budget))
            except TraceError as error:
                source = TraceLocation(path=file.path)
                yield DamagedTrace(str(error), source, name_damaged_record(file.below, source), nearest=error.nearest)
