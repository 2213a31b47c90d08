"""Spools redacted traces in a temporary file until the baseline is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from evalgate.errors import build_temp_folder_error
from evalgate.measures.redaction.redact import remove_exact_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.adapters.archives.baseline_limits import ZipLimits
    from evalgate.models.trace.trace import Trace, TraceLocation


class BaselineTraceSpool:
    """Redacted traces in a temporary file, one per line; those beyond a baseline's limit are only counted."""

    def __init__(self, limits: ZipLimits, encode: Callable[[Trace], bytes]) -> None:
        import tempfile  # slow to import, so only for runs that write a baseline

        self._limits, self._encode = limits, encode
        try:
            self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  (lives until the run has ended)
        except OSError as error:
            raise build_temp_folder_error(error) from None
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
            self._append(self._encode(trace))

    def add_line(self, source: TraceLocation, line: bytes | None) -> None:
        """Adds a line encoded elsewhere; None counts a trace that did not fit."""
        if self._is_new(source):
            self._append(line if line is None else remove_exact_secrets(line))

    def _is_new(self, source: TraceLocation) -> bool:
        key = (source.path, source.line, source.record)
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def _append(self, line: bytes | None) -> None:
        if line is None or self.left_out or self._size + len(line) > self._limits.unpacked:
            self.left_out += 1  # and all later ones: only the end is left out
            return
        self._size += len(line)
        try:
            self._file.write(line)
        except OSError as error:
            raise build_temp_folder_error(error) from None

    def lines(self) -> Iterator[bytes]:
        """The lines that were added, in order."""
        self._file.seek(0)
        yield from self._file

    def close(self) -> None:
        """Deletes the temporary file."""
        self._file.close()
