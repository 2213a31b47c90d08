"""Finds the folders below the working directory that hold traces, for suites whose `traces` match no file."""

from __future__ import annotations

import posixpath
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.adapters.formats.core.format import TraceLimits
from evalgate.adapters.formats.open.detect import AUTO
from evalgate.errors import InvalidInput
from evalgate.models.trace.trace import Trace
from evalgate.ports import NearbyTraces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.ports import Files, FoundFile, TraceSource

PATTERNS = [f"{'*/' * depth}*.json*" for depth in range(5)]
"""Where `record` writes is the deepest: folder, suite, scenario and trial."""
MOST_FILES, MOST_SEARCHED, MOST_BYTES, MOST_FOLDERS = 200, 400, 1 << 23, 3
"""Files of a folder that are read, files and bytes of all of them, and folders that are named."""
LEFT_OUT = ("node_modules/", "venv/")
LIMITS = replace(TraceLimits(), total_bytes=MOST_BYTES)


def find_nearby_traces(files: Files, open_reader: Callable[[Files, TraceLimits], TraceSource]) -> list[NearbyTraces]:
    """The folders with the most traces; of one with more files than are read, `is_all` is false."""
    groups: dict[str, list[FoundFile]] = {}
    wanted = (each for each in _find_files(files) if not each.path.startswith(LEFT_OUT))
    for file in islice(wanted, MOST_SEARCHED):
        groups.setdefault(file.path.partition("/")[0] if "/" in file.path else ".", []).append(file)
    reader = open_reader(files, LIMITS)
    found = [each for each in (_count(reader, group) for group in groups.values()) if each is not None]
    if sum(map(len, groups.values())) == MOST_SEARCHED:
        found = [each._replace(is_all=False) for each in found]
    return sorted(found, key=lambda each: -each.traces)[:MOST_FOLDERS]


def _find_files(files: Files) -> Iterator[FoundFile]:
    """JSON files, the nearest first, until there are too many to search, or one that may not be read."""
    for pattern in PATTERNS:
        try:
            yield from files.expand(pattern, "")
        except InvalidInput:
            return


def _count(reader: TraceSource, group: Sequence[FoundFile]) -> NearbyTraces | None:
    """The traces of files in one folder, and the folder below it that has all of them; None without one."""
    traces, folders, is_all = 0, set[str](), len(group) <= MOST_FILES
    for file in group[:MOST_FILES]:
        try:
            number = sum(isinstance(each, Trace) for each in reader.read([file.path], "", AUTO))
        except InvalidInput:  # too large, or it may not be read
            is_all = False
            continue
        traces += number
        folders |= {posixpath.dirname(file.path)} if number else set()
    return NearbyTraces(posixpath.commonpath(folders) or ".", traces, is_all) if traces else None
