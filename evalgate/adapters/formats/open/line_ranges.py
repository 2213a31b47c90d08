"""Splits a file of lines into ranges; read separately, they give the same traces as the whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from evalgate.adapters.formats.core.build.plausibility import EQUAL_DURATIONS, MIN_EQUAL_RUNS
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.adapters.formats.open.trace_file import FilePart
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports.batches import LineRange

BLOCK_BYTES = 1 << 18
"""Bytes searched at once: few enough to stay in the CPU cache between reading and searching."""
LONG_LINE_BYTES = 256
"""From this line length on, finding each line end is faster than counting line ends in all bytes."""


def cut_at_line_ends(stream: BinaryIO, whole: LineRange, size: int) -> Iterator[LineRange]:
    """Splits the lines of `whole` into ranges of at least `size` bytes; the last one may be smaller.

    Only searches for line ends and keeps nothing of what it reads.
    """
    start, first_line = whole.start, whole.first_line
    while start < whole.end:
        end, lines = _find_line_end(stream, start, min(start + size, whole.end), whole.end)
        if end == start:
            return
        yield whole._replace(start=start, end=end, first_line=first_line, lines=lines)
        start, first_line = end, first_line + lines


def _find_line_end(stream: BinaryIO, start: int, target: int, limit: int) -> tuple[int, int]:
    """The end of the line that `target` is in or ends, and the number of lines up to it."""
    stream.seek(start)
    position, lines = start, 0
    while position < limit:
        block = stream.read(min(BLOCK_BYTES, (target if position < target else limit) - position))
        if not block:
            break
        if position < target:
            lines += count_line_ends(block)
            position += len(block)
            if position >= target and block.endswith(b"\n"):
                return position, lines
        else:
            cut = block.find(b"\n") + 1
            if cut:
                return position + cut, lines + 1
            position += len(block)
    return position, lines + 1  # the last line has no line end


def count_line_ends(block: bytes) -> int:
    """The number of line ends in a block; finds them one by one while lines are long, to skip most bytes."""
    position = -1
    for found in range(len(block) // LONG_LINE_BYTES):
        position = block.find(b"\n", position + 1)
        if position < 0:
            return found
    return len(block) // LONG_LINE_BYTES + block.count(b"\n", position + 1)


def find_equal_duration(records: Iterable[TraceRecord | FilePart]) -> float | None:
    """The duration of a file's first runs if all are equal, else None; see plausibility.compare_durations."""
    runs: list[float | None] = []
    for record in records:
        if isinstance(record, Trace):
            runs.append(record.latency["total_ms"])
            if runs[-1] is None or runs[-1] != runs[0]:
                return None
            if len(runs) == MIN_EQUAL_RUNS:
                return runs[0]
    return None


def warn_of_duration(record: TraceRecord, duration: float | None) -> None:
    """Warns that the clock may be made up if the run took exactly as long as the first ones of its file."""
    if duration is not None and isinstance(record, Trace) and record.latency["total_ms"] == duration:
        codes = {warning["code"] for warning in record.warnings}
        if "suspicious_latency" not in codes:
            new_warning = {"code": "suspicious_latency", "message": EQUAL_DURATIONS, "where": "latency"}
            record.warnings = [*record.warnings, new_warning]  # type: ignore[list-item]
