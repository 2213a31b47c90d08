"""Reads traces from files: finds and unpacks them, detects formats, splits records, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.build.plausibility import compare_durations
from evalgate.adapters.formats.core.build.trace_naming import name_of_damaged
from evalgate.adapters.formats.core.read_limits import ReadBudget, TraceLimits
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.open.multi_file import Joined
from evalgate.adapters.formats.open.raw_file import RawFile
from evalgate.adapters.formats.open.trace_file import FilePart, TraceFile
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.core.format import Format
    from evalgate.models.trace.trace import Trace, TraceRecord
    from evalgate.ports import Files, FoundFile
    from evalgate.suite.custom_format import Custom

DEFAULTS = TraceLimits()


class TraceFiles:
    """Reads traces from files; a record that can't be read becomes a DamagedTrace and reading goes on."""

    def __init__(self, files: Files, limits: TraceLimits = DEFAULTS) -> None:
        self._files = files
        self._limits = limits
        self._budget = ReadBudget(limits.total_bytes)

    def formats(self) -> Sequence[str]:
        """Names of the formats, in the order of detection."""
        return [known.name for known in detect.FORMATS]

    def restored(self, line: bytes) -> Trace | None:
        """The trace of a line of a baseline; None if it can't be read."""
        from evalgate.adapters.formats.core.strict_json import decode
        from evalgate.adapters.formats.native import reader

        try:
            return reader.build(decode(line))
        except TraceError:
            return None

    def read(
        self, patterns: Sequence[str], base: str, form: str | Custom = detect.AUTO
    ) -> Iterator[TraceRecord]:
        """Traces in the order of their files' paths, then in file order.

        Files that have to be joined come last. Raises SettingError for a format that does not exist,
        RefusedPath for a path that may not be read and OverLimit if all files together are too large.
        """
        known = detect.named(form) if isinstance(form, str) else _format_of(form)
        found = {file.real: file for pattern in patterns for file in self._files.expand(pattern, base)}
        return self._read(sorted(found.values(), key=lambda file: file.path), known)

    def _read(self, files: Sequence[FoundFile], known: Format | None) -> Iterator[TraceRecord]:
        joined = Joined(self._limits.kept_bytes)
        for file in files:
            for found in compare_durations(self._opened(file, known, self._budget)):
                if isinstance(found, FilePart):
                    joined.add(found)
                else:
                    yield self._bounded(found)
        yield from map(self._bounded, joined.records(self._again))

    def _bounded(self, found: TraceRecord) -> TraceRecord:
        """The trace, or a DamagedTrace if it has more messages or tool calls than the limit."""
        if isinstance(found, DamagedTrace):
            return found
        most, glance = self._limits.messages, found.glance
        if glance is not None and glance.messages + len(glance.called) <= most:
            return found
        for what, count in (("messages", len(found.messages)), ("tool calls", len(found.tool_calls))):
            if count > most:
                reason = f"the recording has {count:,} {what}; at most {most:,} are judged"
                name = found.scenario_id
                return DamagedTrace(reason, found.source, name or "", name, found.trial)
        return found

    def _again(self, file: FoundFile, known: Format) -> FilePart | None:
        """Reads a file's part again; None if the file no longer holds one."""
        parts = self._opened(file, known, ReadBudget(None))
        return next((found for found in parts if isinstance(found, FilePart)), None)

    def _opened(
        self, file: FoundFile, known: Format | None, budget: ReadBudget
    ) -> Iterator[TraceRecord | FilePart]:
        with self._files.open(file) as raw:
            try:
                yield from TraceFile(file, known, self._limits).records(RawFile(raw, self._limits, budget))
            except TraceError as error:
                source = TraceLocation(path=file.path)
                yield DamagedTrace(str(error), source, name_of_damaged(file.below, source))


def _format_of(custom: Custom) -> Format:
    from evalgate.adapters.formats.custom.reader import format_of

    return format_of(custom)
