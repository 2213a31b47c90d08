"""Splits a file of lines into ranges; read separately, they give the same traces as the whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from evalgate.adapters.formats.core.build.plausibility import ENOUGH, MADE_UP
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.adapters.formats.open.trace_file import FilePart
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.ports.batches import Stretch

BLOCK = 1 << 18
"""Bytes searched at once: few enough to stay in the CPU cache between reading and searching."""
LONG = 256
"""From this line length on, finding each line end is faster than counting line ends in all bytes."""


def cut_at_line_ends(stream: BinaryIO, whole: Stretch, size: int) -> Iterator[Stretch]:
    """Splits the lines of `whole` into ranges of at least `size` bytes; the last one may be smaller.

    Only searches for line ends and keeps nothing of what it reads.
    """
    start, first_line = whole.start, whole.first_line
    while start < whole.end:
        end, lines = _after(stream, start, min(start + size, whole.end), whole.end)
        if end == start:
            return
        yield whole._replace(start=start, end=end, first_line=first_line, lines=lines)
        start, first_line = end, first_line + lines


def _after(stream: BinaryIO, start: int, wanted: int, last: int) -> tuple[int, int]:
    """The end of the line that `target` is in or ends, and the number of lines up to it."""
    stream.seek(start)
    place, lines = start, 0
    while place < last:
        block = stream.read(min(BLOCK, (wanted if place < wanted else last) - place))
        if not block:
            break
        if place < wanted:
            lines += ends_in(block)
            place += len(block)
            if place >= wanted and block.endswith(b"\n"):
                return place, lines
        else:
            cut = block.find(b"\n") + 1
            if cut:
                return place + cut, lines + 1
            place += len(block)
    return place, lines + 1  # the last line has no line end


def ends_in(block: bytes) -> int:
    """The number of line ends in a block; finds them one by one while lines are long, to skip most bytes."""
    at = -1
    for found in range(len(block) // LONG):
        at = block.find(b"\n", at + 1)
        if at < 0:
            return found
    return len(block) // LONG + block.count(b"\n", at + 1)


def same_duration(records: Iterable[TraceRecord | FilePart]) -> float | None:
    """The duration of a file's first runs if all are equal, else None; see plausibility.compare_durations."""
    runs: list[float | None] = []
    for record in records:
        if isinstance(record, Trace):
            runs.append(record.latency["total_ms"])
            if runs[-1] is None or runs[-1] != runs[0]:
                return None
            if len(runs) == ENOUGH:
                return runs[0]
    return None


def tell_duration(record: TraceRecord, duration: float | None) -> None:
    """Warns that the clock may be made up if the run took exactly as long as the first ones of its file."""
    if duration is not None and isinstance(record, Trace) and record.latency["total_ms"] == duration:
        known = {warning["code"] for warning in record.warnings}
        if "suspicious_latency" not in known:
            said = {"code": "suspicious_latency", "message": MADE_UP, "where": "latency"}
            record.warnings = [*record.warnings, said]  # type: ignore[list-item]
