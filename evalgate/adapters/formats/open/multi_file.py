"""Joins files that hold parts of the same traces: spans in several files, logs and their spans."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.plausibility import compare_durations
from evalgate.adapters.formats.core.build.trace_builder import records_of
from evalgate.adapters.formats.core.build.trace_naming import name_of_damaged
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.adapters.formats.core.format import Format
    from evalgate.adapters.formats.open.trace_file import FilePart
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports import FoundFile

    Again = Callable[[FoundFile, Format], FilePart | None]


class Joined:
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

    def records(self, again: Again) -> Iterator[TraceRecord]:
        """The traces of each group of files with a common key, in the order of the groups' first files."""
        for group in groups_of(self._parts):
            yield from records_of_group(group, again)


def records_of_group(group: list[FilePart], again: Again) -> Iterator[TraceRecord]:
    """The traces of a group of files; documents that were dropped are read again."""
    read = _records if group[0].format.reader.headed is None else _headed_records
    return compare_durations(read(group, again))


def groups_of(parts: list[FilePart]) -> list[list[FilePart]]:
    """Groups parts that share a key, directly or through other parts."""
    group_of: dict[tuple[str, str], list[FilePart]] = {}
    groups: list[list[FilePart]] = []
    for part in parts:
        mine = [part]
        for key in part.keys:
            other = group_of.get((part.format.name, key))
            if other is not None and other is not mine:
                small, large = sorted((mine, other), key=len)
                large += small
                small.clear()
                mine = large
                for moved in mine:
                    group_of.update(((moved.format.name, known), mine) for known in moved.keys)
            group_of[part.format.name, key] = mine
        groups.append(mine)
    once = {id(group): group for group in groups if group}
    return sorted(
        (sorted(group, key=lambda part: part.file.path) for group in once.values()),
        key=lambda group: group[0].file.path,
    )


def _records(group: list[FilePart], again: Again) -> Iterator[TraceRecord]:
    first = group[0]
    hashes = [part.sha256 for part in group]
    whole = hashes[0] if len(group) == 1 else hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    source = TraceLocation(first.file.path, first.format.name, sha256=whole)
    documents: list[Any] = []
    try:
        for part in group:
            documents += _documents(part, again)
        yield from records_of(first.format.reader, documents, source, first.file.below)
    except TraceError as error:
        yield DamagedTrace(str(error), source, name_of_damaged(first.file.below, source))


def _headed_records(group: list[FilePart], again: Again) -> Iterator[TraceRecord]:
    """Reads each file with the headings before it; a heading without other files is read as a trace."""
    headings = [part for part in group if part.is_heading]
    others = [part for part in group if not part.is_heading]
    try:
        said = [document for part in headings for document in _documents(part, again)]
    except TraceError as error:
        source = TraceLocation(headings[0].file.path, headings[0].format.name, sha256=headings[0].sha256)
        yield DamagedTrace(str(error), source, name_of_damaged(headings[0].file.below, source))
        said = []
    for part in others or headings[:1]:
        source = TraceLocation(part.file.path, part.format.name, sha256=part.sha256)
        try:
            documents = [*said, *(_documents(part, again) if others else ())]
            yield from records_of(part.format.reader, documents, source, part.file.below)
        except TraceError as error:
            yield DamagedTrace(str(error), source, name_of_damaged(part.file.below, source))


def _documents(part: FilePart, again: Again) -> list[Any]:
    if part.documents is not None:
        documents, part.documents = part.documents, None
        return documents
    found = again(part.file, part.format)
    if found is None or found.sha256 != part.sha256 or found.documents is None:
        raise TraceError("the file changed while it was read")
    return found.documents
