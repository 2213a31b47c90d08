"""Reads the records of one file: a JSON document, JSON lines, or a binary file."""

from __future__ import annotations

import hashlib
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.trace_builder import record_of, records_of
from evalgate.adapters.formats.core.build.trace_naming import name_of_damaged
from evalgate.adapters.formats.core.fields import keys_of
from evalgate.adapters.formats.core.strict_json import decode, decode_leniently, is_complete
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.open.raw_file import BOM, RawFile, RawLine
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.adapters.formats.core.format import Format, Identity
    from evalgate.adapters.formats.core.read_limits import TraceLimits
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import FoundFile

LOOK_AHEAD = 50


@dataclass(slots=True)
class FilePart:
    """A file that may hold only a part of a trace: its documents, their size, the keys shared with others.

    `documents` is None if they were dropped to save memory. A heading describes other files and is no trace.
    """

    file: FoundFile
    format: Format
    documents: list[Any] | None
    keys: frozenset[str]
    size: int
    sha256: str
    is_heading: bool = False


class TraceFile:
    """Reads one file, of a given format or of one that is detected first."""

    def __init__(self, file: FoundFile, known: Format | None, limits: TraceLimits) -> None:
        self._file = file
        self._format = known
        self._limits = limits

    def records(self, recording: RawFile) -> Iterator[TraceRecord | FilePart]:
        """Every record, or the file's part of joined traces; raises TraceError if the file can't be read."""
        packed = detect.packed(recording.head())
        if packed is not None and self._format in (None, packed):
            yield from self._packed(packed, recording)
            return
        recording.require_text()
        lines = recording.lines()
        first = next(lines, None)
        if first is None:
            raise TraceError("the file is empty")
        if first.data is not None and not is_complete(first.data.removeprefix(BOM)):
            yield from self._document_or_lines(recording)
            return
        second = next(lines, None)
        if second is not None:
            yield from self._lines(chain([first, second], lines))
        else:
            yield from self._document(recording.whole())

    def format_of_lines(self, recording: RawFile) -> Format | None:
        """The format of a file whose lines are separate records; None for any other file.

        Such a file can be read in line ranges, each with `read_line_records`.
        """
        if recording.is_packed or detect.packed(recording.head()) is not None:
            return None
        recording.require_text()
        lines = recording.lines()
        first, second = next(lines, None), next(lines, None)
        if first is None or second is None:
            return None
        if first.data is not None and not is_complete(first.data.removeprefix(BOM)):
            return None
        known = self._format
        if known is None:
            values = self._decoded_ahead(self._look_ahead(chain([first, second], lines)))
            known = detect.detect(values)
        return None if known.together else known

    def records_of_lines(self, recording: RawFile) -> Iterator[TraceRecord | FilePart]:
        """The records of a range of lines; the format of the file is known."""
        return self._lines(recording.lines())

    def _packed(self, packed: Format, recording: RawFile) -> Iterator[TraceRecord | FilePart]:
        self._format = packed
        data = recording.whole(self._limits.together_bytes)
        if len(data) > self._limits.together_bytes:
            raise TraceError(self._file_too_large())
        unpack = packed.reader.unpack
        if unpack is None:
            raise TraceError(f"{packed.name} is read as text only")
        yield from self._together(
            packed, list(unpack(data, self._limits)), len(data), hashlib.sha256(data).hexdigest()
        )

    def _document_or_lines(self, recording: RawFile) -> Iterator[TraceRecord | FilePart]:
        """Reads a file whose first line is no JSON: a document of many lines, or lines, the first damaged."""
        data = recording.whole()
        if not (self._fits(data) and is_complete(data.removeprefix(BOM))):
            lines = recording.lines()
            ahead = self._look_ahead(lines)
            if any(self._claims(line) for line in ahead):
                yield from self._lines(chain(ahead, lines))
                return
        yield from self._document(data)

    def _claims(self, line: RawLine) -> bool:
        value = None if line.data is None else decode_leniently(line.data)
        if value is None:
            return False
        return detect.claimed_by(value) is not None if self._format is None else self._format.claims(value)

    def _document(self, data: bytes) -> Iterator[TraceRecord | FilePart]:
        if not self._fits(data):
            raise TraceError(self._too_large())
        source = TraceLocation(self._file.path, sha256=hashlib.sha256(data).hexdigest())
        try:
            value = decode(data.removeprefix(BOM))
        except TraceError as error:
            yield self._damaged(error, source, decode_leniently(data.removeprefix(BOM)))
            return
        yield from self._of_value(value, source, len(data))

    def _lines(self, lines: Iterator[RawLine]) -> Iterator[TraceRecord | FilePart]:
        if self._format is None:
            ahead = self._look_ahead(lines)
            self._format = detect.detect(self._decoded_ahead(ahead))
            lines = chain(ahead, lines)
        known = self._format
        return self._lines_together(known, lines) if known.together else self._each_line(known, lines)

    def _each_line(self, known: Format, lines: Iterable[RawLine]) -> Iterator[TraceRecord | FilePart]:
        path, name, below, at_once = self._file.path, known.name, self._file.below, known.reader.at_once
        for number, data in lines:
            if data is None:
                yield self._decoded(number, data)
                continue
            source = TraceLocation(path, name, number, None, hashlib.sha256(data).hexdigest())
            try:
                value = decode(data)
            except TraceError as error:
                yield self._damaged(error, source, decode_leniently(data))
                continue
            trace = None if at_once is None else at_once(value, source, below)
            if trace is None:
                yield from self._of_line(known, value, source, len(data))
            else:
                yield trace

    def _lines_together(self, known: Format, lines: Iterable[RawLine]) -> Iterator[TraceRecord | FilePart]:
        """Reads all lines as one trace; each damaged line is yielded as its own record and left out."""
        documents, size, whole = [], 0, hashlib.sha256()
        for number, data in lines:
            value = self._decoded(number, data)
            if isinstance(value, DamagedTrace):
                yield value
                continue
            size += len(data or b"")
            if size > self._limits.together_bytes:
                raise TraceError(self._file_too_large())
            whole.update(data or b"")
            documents.append(value)
        if documents:
            yield from self._together(known, documents, size, whole.hexdigest())

    def _decoded(self, number: int, data: bytes | None) -> Any:
        name = "" if self._format is None else self._format.name
        if data is None:
            source = TraceLocation(self._file.path, name, number)
            return self._damaged(TraceError(self._too_large()), source, None)
        try:
            return decode(data)
        except TraceError as error:
            source = TraceLocation(self._file.path, name, number, None, hashlib.sha256(data).hexdigest())
            return self._damaged(error, source, decode_leniently(data))

    def _look_ahead(self, lines: Iterator[RawLine]) -> list[RawLine]:
        """Enough lines to detect the format, up to about the bytes that one record may have."""
        ahead: list[RawLine] = []
        size = 0
        for line in islice(lines, LOOK_AHEAD):
            ahead.append(line)
            size += len(line.data or b"")
            if size > self._limits.record_bytes:
                break
        return ahead

    def _decoded_ahead(self, ahead: Iterable[RawLine]) -> Iterator[Any]:
        values = (_readable(line.data) for line in ahead if line.data is not None)
        return (value for value in values if value is not None)

    def _of_line(
        self, known: Format, value: Any, source: TraceLocation, size: int
    ) -> Iterable[TraceRecord | FilePart]:
        """Like `_read_value`, but faster for a line that is one record, as nearly all are."""
        reader = known.reader
        if known.claims(value) and (record := reader.only_record(value)) is not None:
            return (record_of(reader, record, source, self._file.below),)
        return self._of_value(value, source, size)

    def _of_value(self, value: Any, source: TraceLocation, size: int) -> Iterator[TraceRecord | FilePart]:
        try:
            known = self._format or detect.detect([value])
            if not known.claims(value):
                raise TraceError(f"this is {keys_of(value)}; {known.name} needs {known.needs}")
            source.format = known.name
            if known.together:
                yield from self._together(known, [value], size, source.sha256 or "")
            else:
                yield from records_of(known.reader, value, source, self._file.below)
        except TraceError as error:
            yield self._damaged(error, source, value)

    def _together(
        self, known: Format, documents: list[Any], size: int, sha256: str
    ) -> Iterator[TraceRecord | FilePart]:
        reader = known.reader
        if reader.headed is not None:
            keys = frozenset([reader.headed.folder(self._file.path)])
            is_heading = reader.headed.is_heading(documents[0])
            yield FilePart(self._file, known, documents, keys, size, sha256, is_heading)
            return
        if reader.join_keys is not None:
            yield FilePart(self._file, known, documents, frozenset(reader.join_keys(documents)), size, sha256)
            return
        source = TraceLocation(self._file.path, known.name, sha256=sha256)
        yield from records_of(reader, documents, source, self._file.below)

    def _damaged(self, error: TraceError, source: TraceLocation, value: Any) -> DamagedTrace:
        """A damaged record, with the scenario id and trial that can still be read."""
        known = self._format or detect.claimed_by(value)
        identity: Identity = (None, None)
        if known is not None and known.claims(value):
            source.format = known.name
            if not known.together:
                identity = _identity(known, value)
        return DamagedTrace(str(error), source, name_of_damaged(self._file.below, source), *identity)

    def _fits(self, data: bytes) -> bool:
        return len(data) <= self._limits.record_bytes

    def _too_large(self) -> str:
        return f"the record is larger than {self._limits.record_bytes:,} bytes"

    def _file_too_large(self) -> str:
        return f"the file is read whole and is larger than {self._limits.together_bytes:,} bytes"


def _readable(data: bytes) -> Any:
    """The value of a line; tries the strict decoder first, which takes a third of the time."""
    try:
        return decode(data)
    except TraceError:
        return decode_leniently(data)


def _identity(known: Format, value: Any) -> Identity:
    """Scenario id and trial of a value that holds exactly one record."""
    try:
        records = known.reader.split(value)
    except TraceError:
        return None, None
    return known.reader.identify(records[0]) if len(records) == 1 else (None, None)
