"""Spools redacted traces in a temporary file until the baseline is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import orjson

from evalgate.errors import no_room
from evalgate.measures.memory_limit import is_tight
from evalgate.measures.redaction.redact import redact_value, without_hidden
from evalgate.models.trace.trace_document import to_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.adapters.archives.baseline_limits import ZipLimits
    from evalgate.models.trace.trace import Trace, TraceLocation


class BaselineTraceSpool:
    """Redacted traces in a temporary file, one per line; those beyond a baseline's limit are only counted."""

    def __init__(self, limits: ZipLimits) -> None:
        import tempfile  # slow to import, so only for runs that write a baseline

        self._limits = limits
        try:
            self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  (lives until the run has ended)
        except OSError as error:
            raise no_room(error) from None
        self._size = 0
        self._seen: set[tuple[str, int | None, int | None]] = set()
        self.left_out = 0

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return self.left_out > 0

    def add(self, trace: Trace) -> None:
        """Adds a trace; a trace that two suites read is added once."""
        if self._is_new(trace.source):
            self._keep(line_of(trace))

    def take(self, source: TraceLocation, line: bytes | None) -> None:
        """Adds a line encoded elsewhere; None counts a trace that did not fit."""
        if self._is_new(source):
            self._keep(line if line is None else without_hidden(line))

    def _is_new(self, source: TraceLocation) -> bool:
        place = (source.path, source.line, source.record)
        is_new = place not in self._seen
        self._seen.add(place)
        return is_new

    def _keep(self, line: bytes | None) -> None:
        if line is None or self.left_out or self._size + len(line) > self._limits.unpacked:
            self.left_out += 1  # and all later ones: only the end is left out
            return
        self._size += len(line)
        try:
            self._file.write(line)
        except OSError as error:
            raise no_room(error) from None

    def lines(self) -> Iterator[bytes]:
        """The lines that were added, in order."""
        self._file.seek(0)
        yield from self._file

    def close(self) -> None:
        """Deletes the temporary file."""
        self._file.close()


def line_of(trace: Trace) -> bytes:
    """Encodes a trace as a line of a baseline, redacted."""
    document = redact_value(to_document(trace))
    if is_tight():
        from evalgate.measures.values.json_stream import in_parts  # rarely needed

        return in_parts(document) + b"\n"
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
