"""Joins files that hold parts of the same traces: spans in several files, logs and their spans."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.plausibility import compare_durations
from evalgate.adapters.formats.core.builder.trace_builder import read_records
from evalgate.adapters.formats.core.builder.trace_naming import name_damaged_record
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.adapters.formats.core.format import Format
    from evalgate.adapters.formats.open.trace_file import FilePart
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import FoundFile

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
    digest = hashes[0] if len(group) == 1 else hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    source = TraceLocation(first.file.path, first.format.name, sha256=digest)
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
