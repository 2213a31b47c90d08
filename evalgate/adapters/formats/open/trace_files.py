"""Reads traces from files: finds and unpacks them, detects formats, splits records, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.builder.plausibility import compare_durations
from evalgate.adapters.formats.core.builder.trace_naming import name_damaged_record
from evalgate.adapters.formats.core.read_limits import ReadBudget, TraceLimits
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.open.multi_file import FilePartCollector
from evalgate.adapters.formats.open.raw_file import RawFile
from evalgate.adapters.formats.open.trace_file import FilePart, TraceFile
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.core.format import Format
    from evalgate.models.trace.trace import Trace, TraceRecord
    from evalgate.ports import Files, FoundFile
    from evalgate.suite.custom_format import CustomMapping

DEFAULT_LIMITS = TraceLimits()


class TraceFiles:
    """Reads traces from files; a record that can't be read becomes a DamagedTrace and reading goes on."""

    def __init__(self, files: Files, limits: TraceLimits = DEFAULT_LIMITS) -> None:
        self._files = files
        self._limits = limits
        self._budget = ReadBudget(limits.total_bytes)

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

    def read(
        self, patterns: Sequence[str], base: str, form: str | CustomMapping = detect.AUTO
    ) -> Iterator[TraceRecord]:
        """Traces in the order of their files' paths, then in file order.

        Files that have to be joined come last. Raises SettingError for a format that does not exist,
        RefusedPath for a path that may not be read and OverLimit if all files together are too large.
        """
        trace_format = detect.find_format(form) if isinstance(form, str) else _make_custom_format(form)
        return self._read_files(self.find_files(patterns, base), trace_format)

    def find_files(self, patterns: Sequence[str], base: str) -> Sequence[FoundFile]:
        """The files that match, in the order they are read."""
        found = {file.real: file for pattern in patterns for file in self._files.expand(pattern, base)}
        return sorted(found.values(), key=lambda file: file.path)

    def _read_files(self, files: Sequence[FoundFile], trace_format: Format | None) -> Iterator[TraceRecord]:
        collector = FilePartCollector(self._limits.kept_bytes)
        for file in files:
            for found in compare_durations(self._read_file(file, trace_format, self._budget)):
                if isinstance(found, FilePart):
                    collector.add(found)
                else:
                    yield self._limit_length(found)
        yield from map(self._limit_length, collector.read_records(self._read_part_again))

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
        parts = self._read_file(file, trace_format, ReadBudget(None))
        return next((found for found in parts if isinstance(found, FilePart)), None)

    def _read_file(
        self, file: FoundFile, trace_format: Format | None, budget: ReadBudget
    ) -> Iterator[TraceRecord | FilePart]:
        with self._files.open(file) as raw:
            try:
                yield from TraceFile(file, trace_format, self._limits).read_records(RawFile(raw, self._limits, budget))
            except TraceError as error:
                source = TraceLocation(path=file.path)
                yield DamagedTrace(str(error), source, name_damaged_record(file.below, source))


def _make_custom_format(custom: CustomMapping) -> Format:
    from evalgate.adapters.formats.custom.reader import make_format

    return make_format(custom)
