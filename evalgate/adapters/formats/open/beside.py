"""Reads files that hold parts of another file's run, such as those of sub-agents, wherever that file is read."""

from __future__ import annotations

import hashlib
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.format import ReadBudget, RunOfFile
from evalgate.adapters.formats.core.strict_json import decode, decode_leniently, decode_repaired
from evalgate.adapters.formats.open.raw_file import RawFile
from evalgate.adapters.formats.open.trace_file import BesideParts
from evalgate.errors import InvalidInput, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.core.format import BesideRule, PartFolder, TraceLimits
    from evalgate.ports import Files, FoundFile

MOST_OF_HEAD = 1_000_000
"""Bytes at the start of a file after which no further line is read to find its run."""


def list_rules() -> tuple[BesideRule, ...]:
    """The rules of all formats that have one."""
    from evalgate.adapters.formats.claude_code.sub_agent_files import BESIDE as OF_CLAUDE_CODE
    from evalgate.adapters.formats.codex.sub_agent_files import BESIDE as OF_CODEX

    return OF_CLAUDE_CODE, OF_CODEX


class BesideFiles:
    """Finds and reads parts; what was seen of a folder is kept."""

    def __init__(self, files: Files, limits: TraceLimits) -> None:
        self._files = files
        self._limits = limits
        self._runs: dict[tuple[str, str], RunOfFile] = {}
        self._folders: dict[tuple[str, str], list[FoundFile]] = {}
        self._by_run: dict[tuple[str, str], dict[str, list[FoundFile]]] = {}
        self._starts: dict[tuple[str, str], dict[str, list[FoundFile]]] = {}

    def read_parts(
        self, file: FoundFile, budget: ReadBudget, rule: BesideRule, documents: list[Any], size: int
    ) -> BesideParts:
        """The documents of a file and its parts; raises TraceError for a part that can't be read."""
        found: list[tuple[str, list[Any]]] = []
        digests: list[str] = []
        run = self._runs[rule.prefix, file.real] = rule.describe(documents)
        if rule.mark_copies is not None and (twins := self._find_twins(file, rule, run)):
            documents = rule.mark_copies(documents, [self._read_readable(twin, budget) for twin in twins])
        for part in self._find_parts(file, rule, run):
            lines, digest, size = self._read_lines(part, budget, size)
            found.append((part.real, lines))
            digests.append(digest)
        return BesideParts(rule.join(documents, found) if found else documents, digests)

    def leave_out_parts(self, found: Sequence[FoundFile]) -> Sequence[FoundFile]:
        """The files without those that are read as parts of another one of them."""
        for rule in list_rules():
            folders = {_split(file.real)[0] for file in found if rule.is_part(_split(file.real)[1])}
            outer = set(map(rule.find_outer, folders))
            owners = [file for file in found if _split(file.real)[0] in outer]
            read = {
                part.real for file in owners for part in self._find_parts(file, rule, self._find_run_of(file, rule))
            }
            found = [file for file in found if file.real not in read]
        return found

    def _find_parts(self, file: FoundFile, rule: BesideRule, run: RunOfFile) -> Iterator[FoundFile]:
        """The parts of a run, and their parts, in the order of their folders and names."""
        folder, name = _split(file.real)
        if not run.runs or (rule.is_part(name) and not run.is_whole):
            return
        places = rule.list_folders(folder, _stem(name), run.runs)
        yield from (part for place in places if place.is_of_run for part in self._list_all(place.path, rule))
        taken, runs = {file.real}, list(run.runs)
        for known in runs:  # grows by the parts that have parts
            for part in (each for place in places if not place.is_of_run for each in self._list_of(known, place, rule)):
                if part.real not in taken:
                    taken.add(part.real)
                    runs += filter(None, [self._find_run_of(part, rule).own])
                    yield part

    def _list_of(self, run: str, place: PartFolder, rule: BesideRule) -> list[FoundFile]:
        """The parts of a run in a folder of several; a description is of its agent's run."""
        key = rule.prefix, place.path
        if key not in self._by_run:
            found: dict[str, list[FoundFile]] = {}
            for part in self._list_parts(place.path, rule):
                lines = part._replace(real=re.sub(r"\.meta\.json$", ".jsonl", part.real))
                named = self._find_run_of(lines, rule)
                for each in () if named.is_whole else dict.fromkeys(named.runs):
                    found.setdefault(each, []).append(part)
            self._by_run[key] = found
        return self._by_run[key].get(run, [])

    def _find_twins(self, file: FoundFile, rule: BesideRule, run: RunOfFile) -> list[FoundFile]:
        """Other files of the folder whose runs begin with the same message."""
        folder, name = _split(file.real)
        if run.start is None or rule.is_part(name):
            return []
        pattern = f"*.{name.rpartition('.')[2]}"
        if (pattern, folder) not in self._starts:
            self._starts[pattern, folder] = self._list_starts(pattern, folder, rule)
        return [each for each in self._starts[pattern, folder].get(run.start, ()) if each.real != file.real]

    def _list_starts(self, pattern: str, folder: str, rule: BesideRule) -> dict[str, list[FoundFile]]:
        """The files of a folder by the first messages of their runs; none where they may not be read."""
        found: dict[str, list[FoundFile]] = {}
        try:
            listed = self._files.expand(pattern, folder)
        except InvalidInput:
            return found
        for each in listed:
            start = None if rule.is_part(_split(each.real)[1]) else self._find_run_of(each, rule).start
            if start is not None:
                found.setdefault(start, []).append(each)
        return found

    def _read_readable(self, file: FoundFile, budget: ReadBudget) -> list[Any]:
        """The lines of a file that can be read."""
        with self._files.open(file) as raw:
            lines = RawFile(raw, self._limits, budget).read_lines()
            return [_decode_readable(line.data) for line in lines if line.data is not None]

    def _find_run_of(self, file: FoundFile, rule: BesideRule) -> RunOfFile:
        """The run that the first lines of a file name; none if it can't be read."""
        key = rule.prefix, file.real
        if key not in self._runs:
            try:
                self._runs[key] = rule.describe(self._read_head(file, rule))
            except (TraceError, InvalidInput):
                self._runs[key] = RunOfFile()
        return self._runs[key]

    def _read_head(self, file: FoundFile, rule: BesideRule) -> list[Any]:
        found, size = [], 0
        with self._files.open(file) as raw:
            for line in islice(RawFile(raw, self._limits, ReadBudget(None)).read_lines(), rule.head_lines):
                size += len(line.data or b"")
                found.append(None if line.data is None else _decode_readable(line.data))
                if size > MOST_OF_HEAD:
                    break
        return found

    def _list_parts(self, folder: str, rule: BesideRule) -> list[FoundFile]:
        key = f"{rule.prefix}*", folder
        if key not in self._folders:
            self._folders[key] = [file for file in self._files.expand(*key) if rule.is_part(_split(file.real)[1])]
        return self._folders[key]

    def _list_all(self, folder: str, rule: BesideRule) -> list[FoundFile]:
        """The parts in a run's own folder, and the journals beside them."""
        key = "**/*", folder
        if key not in self._folders:
            found = [(file, _split(file.real)[1]) for file in self._files.expand(*key)]
            self._folders[key] = [file for file, name in found if rule.is_part(name) or name == rule.journal]
        return self._folders[key]

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


def _decode_readable(data: bytes) -> Any:
    """What can be read of a line; tries the strict decoder first, which takes a third of the time."""
    try:
        return decode(data)
    except TraceError:
        return decode_leniently(data)


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _stem(name: str) -> str:
    return name.partition(".")[0]
