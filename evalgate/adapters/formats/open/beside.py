"""Reads files that hold parts of another file's run, such as those of sub-agents, wherever that file is read."""

from __future__ import annotations

import hashlib
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.format import ReadBudget
from evalgate.adapters.formats.core.strict_json import decode_leniently, decode_repaired
from evalgate.adapters.formats.open.raw_file import RawFile
from evalgate.adapters.formats.open.trace_file import BesideParts
from evalgate.errors import InvalidInput, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.core.format import BesideRule, TraceLimits
    from evalgate.ports import Files, FoundFile

LOOK_AT = 20
"""Lines at the start of a file of which one names its run."""
MAX_OWNERS = 8
"""Runs of one file that have parts beside it."""
PREFIX = "agent-"
"""Begins the name of every part."""


class BesideFiles:
    """Finds and reads parts; what was seen of a folder is kept."""

    def __init__(self, files: Files, limits: TraceLimits) -> None:
        self._files = files
        self._limits = limits
        self._owners: dict[str, list[str]] = {}
        self._folders: dict[str, list[FoundFile]] = {}

    def read_parts(
        self, file: FoundFile, budget: ReadBudget, rule: BesideRule, documents: list[Any], size: int
    ) -> BesideParts:
        """The documents of a file and its parts; raises TraceError for a part that can't be read."""
        found: list[tuple[str, list[Any]]] = []
        digests: list[str] = []
        for part in self._find_parts(file, rule, documents):
            lines, digest, size = self._read_lines(part, budget, size)
            found.append((_split(part.real)[1], lines))
            digests.append(digest)
        return BesideParts(rule.join(documents, found) if found else documents, digests)

    def _find_parts(self, file: FoundFile, rule: BesideRule, documents: list[Any]) -> Iterator[FoundFile]:
        folder, name = _split(file.real)
        owners = rule.find_owners(documents)[:MAX_OWNERS]
        if rule.is_part(name) or not owners:
            return
        for place in rule.list_places(_stem(name), owners):
            for part in self._list_parts(f"{folder}/{place}" if place else folder, rule):
                if place or self._is_owned(part, owners, rule):
                    yield part

    def leave_out_parts(self, found: Sequence[FoundFile]) -> Sequence[FoundFile]:
        """The files without those that are read as parts of another one of them."""
        from evalgate.adapters.formats.claude_code.sub_agent_files import BESIDE as rule  # noqa: N811

        by_folder: dict[str, list[FoundFile]] = {}
        for file in found:
            folder, name = _split(file.real)
            if not rule.is_part(name):
                by_folder.setdefault(folder, []).append(file)
        return [
            file
            for file in found
            if not rule.is_part(_split(file.real)[1]) or not self._has_reader(file, by_folder, rule)
        ]

    def _has_reader(self, part: FoundFile, by_folder: dict[str, list[FoundFile]], rule: BesideRule) -> bool:
        """Whether one of the files reads the part."""
        folder = _split(part.real)[0]
        outer = rule.find_outer(folder)
        for file in by_folder.get(outer, ()):
            owners = self._find_owners(file, rule)
            if folder == outer and self._is_owned(part, owners, rule):
                return True
            places = rule.list_places(_stem(_split(file.real)[1]), owners) if owners else []
            if folder != outer and folder.removeprefix(f"{outer}/") in places:
                return True
        return False

    def _is_owned(self, part: FoundFile, owners: Sequence[str], rule: BesideRule) -> bool:
        """Whether a part in a folder of several runs is of one of these; a description is of its agent's."""
        lines = part._replace(real=re.sub(r"\.meta\.json$", ".jsonl", part.real))
        return any(owner in owners for owner in self._find_owners(lines, rule))

    def _find_owners(self, file: FoundFile, rule: BesideRule) -> list[str]:
        """The runs that the first lines of a file name; none if it can't be read."""
        if file.real not in self._owners:
            try:
                self._owners[file.real] = rule.find_owners(self._read_head(file))[:MAX_OWNERS]
            except (TraceError, InvalidInput):
                self._owners[file.real] = []
        return self._owners[file.real]

    def _read_head(self, file: FoundFile) -> list[Any]:
        with self._files.open(file) as raw:
            lines = islice(RawFile(raw, self._limits, ReadBudget(None)).read_lines(), LOOK_AT)
            return [decode_leniently(line.data) for line in lines if line.data is not None]

    def _list_parts(self, folder: str, rule: BesideRule) -> list[FoundFile]:
        if folder not in self._folders:
            listed = self._files.expand(f"{PREFIX}*", folder)
            self._folders[folder] = [file for file in listed if rule.is_part(_split(file.real)[1])]
        return self._folders[folder]

    def _read_lines(self, part: FoundFile, budget: ReadBudget, size: int) -> tuple[list[Any], str, int]:
        """The documents of a part, its digest, and `size`, the bytes read before, with its own added."""
        digest, found = hashlib.sha256(), []
        with self._files.open(part) as raw:
            for number, data in RawFile(raw, self._limits, budget).read_lines():
                if data is None:
                    raise TraceError(f"line {number} of {part.path} is larger than the limit `record`")
                size += len(data)
                if size > self._limits.whole_file_bytes:
                    most = f"{self._limits.whole_file_bytes:,} bytes (raise limit `together`)"
                    raise TraceError(f"the file and those of its sub-agents are larger than {most}")
                try:
                    found.append(decode_repaired(data).value)
                except TraceError as error:
                    raise TraceError(f"line {number} of {part.path}: {error}") from None
                digest.update(data)
        return found, digest.hexdigest(), size


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _stem(name: str) -> str:
    return name.partition(".")[0]
