"""Reads the records of one file: a JSON document, JSON lines, or a binary file."""

from __future__ import annotations

import hashlib
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from evalgate.adapters.formats.core.builder.run import add_warning
from evalgate.adapters.formats.core.builder.trace_builder import name_damaged_record, read_records
from evalgate.adapters.formats.core.fields import describe_shape
from evalgate.adapters.formats.core.strict_json import (
    DecodedText,
    decode_leniently,
    decode_repaired,
    is_complete,
)
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.open.detect import leave_out
from evalgate.adapters.formats.open.raw_file import BOM, RawFile, RawLine
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, Trace, TraceLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.adapters.formats.core.format import BesideRule, Format, Identity, TraceLimits
    from evalgate.adapters.formats.open.detect import FormatChoice
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import FoundFile

    ReadBeside = Callable[[BesideRule, list[Any], int], "BesideParts"]

LOOK_AHEAD_LINES = 50


class FilePart(Struct):
    """A file that may hold only a part of a trace: its documents, their size, the keys shared with others.

    `documents` is None if they were dropped to save memory. A heading describes other files and is not a trace.
    """

    file: FoundFile
    format: Format
    documents: list[Any] | None
    keys: frozenset[str]
    size: int
    sha256: str
    is_heading: bool = False


class BesideParts(NamedTuple):
    """The documents of a file with those of the parts beside it, and the digests of these."""

    documents: list[Any]
    digests: list[str]


def join_digests(digests: Sequence[str]) -> str:
    """The digest of files that are read as one."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


class TraceFile:
    """Reads one file, of a given format or of one that is detected first."""

    def __init__(
        self, file: FoundFile, choice: FormatChoice, limits: TraceLimits, read_beside: ReadBeside | None = None
    ) -> None:
        self._file = file
        self._ignored = choice.ignored
        self._format = None if choice.format is None else leave_out(choice.format, choice.ignored)
        self._limits = limits
        self._read_beside = read_beside
        self._decoded: dict[int, DecodedText] = {}

    def read_records(self, raw_file: RawFile) -> Iterator[TraceRecord | FilePart]:
        """Every record, or the file's part of joined traces; raises TraceError if the file can't be read."""
        packed_format = detect.find_packed_format(raw_file.read_head())
        if packed_format is not None and (self._format is None or self._format.name == packed_format.name):
            yield from self._read_packed(leave_out(packed_format, self._ignored), raw_file)
            return
        raw_file.require_text()
        lines = raw_file.read_lines()
        first = next(lines, None)
        if first is None:
            raise TraceError("the file is empty")
        found = None if first.data is None else _decode_whole(first.data)
        if first.data is not None and isinstance(found, TraceError) and not is_complete(first.data.removeprefix(BOM)):
            yield from self._read_document_or_lines(raw_file)
            return
        if isinstance(found, DecodedText):
            self._decoded[first.number] = found
        second = next(lines, None)
        if second is not None:
            yield from self._read_lines(chain([first, second], lines))
        else:
            yield from self._read_document(raw_file.read_whole(), self._decoded.get(first.number))

    def find_format_of_lines(self, raw_file: RawFile) -> Format | None:
        """The format of a file whose lines are separate records; None for any other file.

        Such a file can be read in line ranges, each with `read_line_records`.
        """
        if raw_file.is_packed or detect.find_packed_format(raw_file.read_head()) is not None:
            return None
        raw_file.require_text()
        lines = raw_file.read_lines()
        first, second = next(lines, None), next(lines, None)
        if first is None or second is None:
            return None
        if first.data is not None and not is_complete(first.data.removeprefix(BOM)):
            return None
        trace_format = self._format
        if trace_format is None:
            values = self._decode_ahead(self._look_ahead(chain([first, second], lines)))
            trace_format = detect.detect_format(values)
        return None if trace_format.joins_lines else trace_format

    def read_line_records(self, raw_file: RawFile) -> Iterator[TraceRecord | FilePart]:
        """The records of a range of lines; the format of the file is known."""
        return self._read_lines(raw_file.read_lines())

    def _detect(self, values: Iterable[Any]) -> Format:
        return leave_out(detect.detect_format(values), self._ignored)

    def _read_packed(self, packed_format: Format, raw_file: RawFile) -> Iterator[TraceRecord | FilePart]:
        self._format = packed_format
        data = raw_file.read_whole(self._limits.whole_file_bytes)
        if len(data) > self._limits.whole_file_bytes:
            raise TraceError(self._describe_file_limit())
        unpack = packed_format.reader.unpack
        if unpack is None:
            raise TraceError(f"{packed_format.name} can only be read from text files")
        yield from self._read_joined(
            packed_format, list(unpack(data, self._limits)), len(data), hashlib.sha256(data).hexdigest()
        )

    def _read_document_or_lines(self, raw_file: RawFile) -> Iterator[TraceRecord | FilePart]:
        """Reads a file whose first line is not JSON: one document, or lines of which the first is damaged."""
        data = raw_file.read_whole()
        found = _decode_whole(data) if self._fits_record(data) else None
        if found is None or (isinstance(found, TraceError) and not is_complete(data.removeprefix(BOM))):
            lines = raw_file.read_lines()
            ahead = self._look_ahead(lines)
            if any(self._is_claimed(line) for line in ahead):
                yield from self._read_lines(chain(ahead, lines))
                return
        yield from self._read_document(data, found)

    def _is_claimed(self, line: RawLine) -> bool:
        value = None if line.data is None else decode_leniently(line.data)
        if value is None:
            return False
        return detect.find_claiming_format(value) is not None if self._format is None else self._format.claims(value)

    def _read_document(
        self, data: bytes, decoded: DecodedText | TraceError | None = None
    ) -> Iterator[TraceRecord | FilePart]:
        if not self._fits_record(data):
            raise TraceError(self._describe_record_limit())
        source = TraceLocation(self._file.path, sha256=hashlib.sha256(data).hexdigest())
        found = decoded or _decode_whole(data)
        if isinstance(found, TraceError):
            yield self._build_damaged(_name_text(found, data), source, decode_leniently(data.removeprefix(BOM)))
            return
        records = self._read_value(found.value, source, len(data))
        yield from map(warn_of_halves, records) if found.has_halves else records

    def _read_lines(self, lines: Iterator[RawLine]) -> Iterator[TraceRecord | FilePart]:
        if self._format is None:
            ahead = self._look_ahead(lines)
            self._format = self._detect(self._decode_ahead(ahead))
            lines = chain(ahead, lines)
        trace_format = self._format
        return (
            self._read_joined_lines(trace_format, lines)
            if trace_format.joins_lines
            else self._read_each_line(trace_format, lines)
        )

    def _read_each_line(self, trace_format: Format, lines: Iterable[RawLine]) -> Iterator[TraceRecord | FilePart]:
        for number, data in lines:
            if data is None:
                yield self._decode_line(number, data).value
                continue
            source = TraceLocation(self._file.path, trace_format.name, number, None, hashlib.sha256(data).hexdigest())
            try:
                value, has_halves = self._decode(number, data)
            except TraceError as error:
                yield self._build_damaged(error, source, decode_leniently(data))
                continue
            records = self._read_value(value, source, len(data))
            yield from map(warn_of_halves, records) if has_halves else records

    def _read_joined_lines(self, trace_format: Format, lines: Iterable[RawLine]) -> Iterator[TraceRecord | FilePart]:
        """Reads all lines as one trace; each damaged line is yielded as its own record and left out."""
        documents, size, digest = [], 0, hashlib.sha256()
        has_halves = False
        for number, data in lines:
            value, is_repaired = self._decode_line(number, data)
            if isinstance(value, DamagedTrace):
                yield value
                continue
            has_halves = has_halves or is_repaired
            size += len(data or b"")
            if size > self._limits.whole_file_bytes:
                raise TraceError(self._describe_file_limit())
            digest.update(data or b"")
            documents.append(value)
        if documents:
            records = self._read_joined(trace_format, documents, size, digest.hexdigest())
            yield from map(warn_of_halves, records) if has_halves else records

    def _decode_line(self, number: int, data: bytes | None) -> DecodedText:
        name = "" if self._format is None else self._format.name
        if data is None:
            source = TraceLocation(self._file.path, name, number)
            return DecodedText(self._build_damaged(TraceError(self._describe_record_limit()), source, None))
        try:
            return self._decode(number, data)
        except TraceError as error:
            source = TraceLocation(self._file.path, name, number, None, hashlib.sha256(data).hexdigest())
            return DecodedText(self._build_damaged(error, source, decode_leniently(data)))

    def _look_ahead(self, lines: Iterator[RawLine]) -> list[RawLine]:
        """Enough lines to detect the format, up to about the bytes that one record may have."""
        ahead: list[RawLine] = []
        size = 0
        for line in islice(lines, LOOK_AHEAD_LINES):
            ahead.append(line)
            size += len(line.data or b"")
            if size > self._limits.record_bytes:
                break
        return ahead

    def _decode_ahead(self, ahead: Iterable[RawLine]) -> Iterator[Any]:
        values = (self._decode_early(number, data) for number, data in ahead if data is not None)
        return (value for value in values if value is not None)

    def _decode_early(self, number: int, data: bytes) -> Any:
        """What can be read of a line; a valid one is kept, so that it is decoded once."""
        if number not in self._decoded:
            found = _decode_whole(data)
            if isinstance(found, TraceError):
                return decode_leniently(data)
            self._decoded[number] = found
        return self._decoded[number].value

    def _decode(self, number: int, data: bytes) -> DecodedText:
        """The value of a line; raises TraceError."""
        return self._decoded.pop(number, None) or decode_repaired(data)

    def _read_value(self, value: Any, source: TraceLocation, size: int) -> Iterator[TraceRecord | FilePart]:
        try:
            trace_format = self._format or self._detect([value])
            if not trace_format.claims(value):
                raise TraceError(f"this is {describe_shape(value)}; {trace_format.name} needs {trace_format.needs}")
            source.format = trace_format.name
            if trace_format.joins_lines:
                yield from self._read_joined(trace_format, [value], size, source.sha256 or "")
            else:
                yield from read_records(trace_format.reader, value, source, self._file.below)
        except TraceError as error:
            yield self._build_damaged(error, source, value)

    def _read_joined(
        self, trace_format: Format, documents: list[Any], size: int, sha256: str
    ) -> Iterator[TraceRecord | FilePart]:
        reader = trace_format.reader
        if reader.heading_rule is not None:
            keys = frozenset([reader.heading_rule.folder(self._file.path)])
            is_heading = reader.heading_rule.is_heading(documents[0])
            yield FilePart(self._file, trace_format, documents, keys, size, sha256, is_heading)
            return
        if reader.join_keys is not None:
            yield FilePart(self._file, trace_format, documents, frozenset(reader.join_keys(documents)), size, sha256)
            return
        if reader.beside is not None and self._read_beside is not None:
            parts = self._read_beside(reader.beside, documents, size)
            documents = parts.documents
            sha256 = join_digests([sha256, *parts.digests])
        source = TraceLocation(self._file.path, trace_format.name, sha256=sha256)
        yield from read_records(reader, documents, source, self._file.below)

    def _build_damaged(self, error: TraceError, source: TraceLocation, value: Any) -> DamagedTrace:
        """A damaged record, with the scenario id and trial that can still be read."""
        trace_format = self._format or detect.find_claiming_format(value)
        identity: Identity = (None, None)
        if trace_format is not None and trace_format.claims(value):
            source.format = trace_format.name
            if not trace_format.joins_lines:
                identity = _identify_value(trace_format, value)
        name = name_damaged_record(self._file.below, source)
        return DamagedTrace(str(error), source, name, *identity, nearest=error.nearest)

    def _fits_record(self, data: bytes) -> bool:
        return len(data) <= self._limits.record_bytes

    def _describe_record_limit(self) -> str:
        return f"the record is larger than {self._limits.record_bytes:,} bytes (raise limit `record`)"

    def _describe_file_limit(self) -> str:
        most = f"{self._limits.whole_file_bytes:,} bytes (raise limit `together`)"
        return f"the file must be read as a whole and is larger than {most}"


def warn_of_halves(record: Any) -> Any:
    """The record; a trace of it with the warning that a text held half a character."""
    if isinstance(record, Trace):
        add_warning(record, "half_character", "a half of a surrogate pair is shown as U+FFFD", "messages")
    return record


def _name_text(error: TraceError, data: bytes) -> TraceError:
    """The error of a file that is not JSON, with what it looks like."""
    from evalgate.adapters.formats.open.foreign import describe_text  # only where a trace can't be read

    text = describe_text(data.removeprefix(BOM))
    return error if text is None else TraceError(f"{error}: {text}")


def _decode_whole(data: bytes) -> DecodedText | TraceError:
    """The value of a document, or why it has none."""
    try:
        return decode_repaired(data.removeprefix(BOM))
    except TraceError as error:
        return error


def _identify_value(trace_format: Format, value: Any) -> Identity:
    """Scenario id and trial of a value that holds exactly one record."""
    try:
        records = trace_format.reader.split(value)
    except TraceError:
        return None, None
    return trace_format.reader.identify(records[0]) if len(records) == 1 else (None, None)
