"""Traces out of files: found, unpacked, recognised, split into records and read, one at a time."""

from __future__ import annotations

import hashlib
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from evalgate.adapters.trace_formats import detect
from evalgate.adapters.trace_formats.fields import keys_of
from evalgate.adapters.trace_formats.limits import Budget, TraceLimits
from evalgate.adapters.trace_formats.naming import name_of_damaged, scenario_of
from evalgate.adapters.trace_formats.recording import BOM, Line, Recording
from evalgate.adapters.trace_formats.strict_json import decode, decode_leniently
from evalgate.errors import TraceError
from evalgate.models.trace import DamagedTrace, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.trace_formats.shapes import Reader
    from evalgate.models.trace import TraceRecord
    from evalgate.ports import Files, FoundFile

LOOK_AHEAD = 50
DEFAULTS = TraceLimits()


class TraceFiles:
    """Reads recordings from files; what can't be read is a value that says why, and the others go on."""

    def __init__(self, files: Files, limits: TraceLimits = DEFAULTS) -> None:
        self._files = files
        self._limits = limits
        self._budget = Budget(limits.total_bytes)

    def formats(self) -> Sequence[str]:
        """Names of the formats, in the order they are asked."""
        return [reader.name for reader in detect.READERS]

    def read(self, patterns: Sequence[str], base: str, form: str = detect.AUTO) -> Iterator[TraceRecord]:
        """Traces in the order of their files' paths, then of the file.

        Raises SettingError for a format that does not exist, RefusedPath for a path that may not be read and
        OverLimit where all files together are too large.
        """
        reader = detect.named(form)
        found = {file.real: file for pattern in patterns for file in self._files.expand(pattern, base)}
        ordered = sorted(found.values(), key=lambda file: file.path)
        return chain.from_iterable(self._records(file, reader) for file in ordered)

    def _records(self, file: FoundFile, reader: Reader | None) -> Iterator[TraceRecord]:
        with self._files.open(file) as raw:
            try:
                recording = Recording(raw, self._limits, self._budget)
                yield from TraceFile(file, reader, self._limits).records(recording)
            except TraceError as error:
                source = Source(path=file.path)
                yield DamagedTrace(str(error), source, name_of_damaged(file.below, source))


class TraceFile:
    """The records of one file: a JSON document of one or many, or JSON lines."""

    def __init__(self, file: FoundFile, reader: Reader | None, limits: TraceLimits) -> None:
        self._file = file
        self._reader = reader
        self._limits = limits

    def records(self, recording: Recording) -> Iterator[TraceRecord]:
        """Every record; raises TraceError where the file as a whole can't be read."""
        lines = recording.lines()
        first = next(lines, None)
        if first is None:
            raise TraceError("the file is empty")
        if first.data is not None and not _is_complete(first.data):
            yield from self._document_or_lines(recording)
            return
        second = next(lines, None)
        if second is not None:
            yield from self._lines(chain([first, second], lines))
        else:
            yield from self._document(recording.whole())

    def _document_or_lines(self, recording: Recording) -> Iterator[TraceRecord]:
        """The first line is no JSON by itself: a document of many lines, or lines with the first damaged."""
        data = recording.whole()
        if not (self._fits(data) and _is_complete(data)):
            lines = recording.lines()
            ahead = self._look_ahead(lines)
            if any(self._claims(line) for line in ahead):
                yield from self._lines(chain(ahead, lines))
                return
        yield from self._document(data)

    def _claims(self, line: Line) -> bool:
        value = None if line.data is None else decode_leniently(line.data)
        readers = detect.READERS if self._reader is None else [self._reader]
        return value is not None and any(reader.claims(value) for reader in readers)

    def _document(self, data: bytes) -> Iterator[TraceRecord]:
        if not self._fits(data):
            raise TraceError(self._too_large())
        source = Source(self._file.path, sha256=hashlib.sha256(data).hexdigest())
        try:
            value = decode(data.removeprefix(BOM))
        except TraceError as error:
            yield self._damaged(error, source, decode_leniently(data.removeprefix(BOM)))
            return
        yield from self._of_value(value, source)

    def _lines(self, lines: Iterator[Line]) -> Iterator[TraceRecord]:
        if self._reader is None:
            ahead = self._look_ahead(lines)
            values = (decode_leniently(line.data) for line in ahead if line.data is not None)
            self._reader = detect.detect(value for value in values if value is not None)
            lines = chain(ahead, lines)
        for number, data in lines:
            if data is None:
                source = Source(self._file.path, self._reader.name, number)
                yield self._damaged(TraceError(self._too_large()), source, None)
                continue
            source = Source(
                self._file.path, self._reader.name, number, None, hashlib.sha256(data).hexdigest()
            )
            try:
                value = decode(data)
            except TraceError as error:
                yield self._damaged(error, source, decode_leniently(data))
                continue
            yield from self._of_value(value, source)

    def _look_ahead(self, lines: Iterator[Line]) -> list[Line]:
        """Enough lines to know the format by, and no more bytes than one record may have."""
        ahead: list[Line] = []
        size = 0
        for line in islice(lines, LOOK_AHEAD):
            ahead.append(line)
            size += len(line.data or b"")
            if size > self._limits.record_bytes:
                break
        return ahead

    def _of_value(self, value: Any, source: Source) -> Iterator[TraceRecord]:
        try:
            reader = self._reader or detect.detect([value])
            if not reader.claims(value):
                raise TraceError(f"this is {keys_of(value)}; {reader.name} needs {reader.needs}")
            records = reader.split(value)
            if not records:
                raise TraceError("there is no trace in it")
        except TraceError as error:
            yield self._damaged(error, source, value)
            return
        source.format = reader.name
        if len(records) == 1:
            yield self._build(reader, records[0], source)
            return
        for number, record in enumerate(records):
            yield self._build(
                reader, record, Source(source.path, reader.name, source.line, number, source.sha256)
            )

    def _build(self, reader: Reader, record: Any, source: Source) -> TraceRecord:
        is_one_of_several = source.line is not None or source.record is not None
        try:
            trace = reader.build(record)
        except TraceError as error:
            known = reader.identify(record)
            return DamagedTrace(str(error), source, name_of_damaged(self._file.below, source), *known)
        trace.source = source
        if not trace.trace_id:
            suffix = "" if source.record is None else f"-{source.record}"
            trace.trace_id = f"{(source.sha256 or '')[:32]}{suffix}"
        if trace.scenario_id is None:
            trace.scenario_id = scenario_of(trace, self._file.below, is_one_of_several=is_one_of_several)
        return trace

    def _damaged(self, error: TraceError, source: Source, value: Any) -> DamagedTrace:
        """A record that is no trace; what can still be read of its ids is kept."""
        reader = self._reader
        if reader is None:
            reader = next((one for one in detect.READERS if one.claims(value)), None)
        known: tuple[str | None, int | None] = (None, None)
        if reader is not None and reader.claims(value):
            records = reader.split(value)
            known = reader.identify(records[0]) if len(records) == 1 else known
            source.format = reader.name
        return DamagedTrace(str(error), source, name_of_damaged(self._file.below, source), *known)

    def _fits(self, data: bytes) -> bool:
        return len(data) <= self._limits.record_bytes

    def _too_large(self) -> str:
        return f"the record is larger than {self._limits.record_bytes:,} bytes"


def _is_complete(data: bytes) -> bool:
    """True for a whole JSON value; whether it keeps the stricter rules is told later, by `decode`."""
    import orjson

    try:
        orjson.loads(data.removeprefix(BOM))
    except orjson.JSONDecodeError:
        return False
    return True
