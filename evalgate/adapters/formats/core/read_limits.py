"""Limits on the size of traces and of files."""

from __future__ import annotations

from evalgate.errors import OverLimit, Problem
from evalgate.records import dataclass

MEGABYTE = 1_000_000
GIGABYTE = 1000 * MEGABYTE


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """Bytes, after unpacking. `total_bytes` is for all files of a run; None means no limit.

    `whole_file_bytes` is for binary files and files whose lines form one trace: they are read whole.
    At most `kept_bytes` of such files stay in memory until the files they are joined with are read; the
    rest is read twice. `messages` is a number: the maximum of messages, and of tool calls, in a trace.
    """

    record_bytes: int = 25 * MEGABYTE
    whole_file_bytes: int = 100 * MEGABYTE
    kept_bytes: int = 50 * MEGABYTE
    unpacked_file_bytes: int = 2 * GIGABYTE
    total_bytes: int | None = None
    messages: int = 100_000


class ReadBudget:
    """Counts the bytes read by a run and refuses more than its total."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self.used = 0

    def take(self, size: int) -> None:
        """Counts `size` bytes; raises OverLimit if the total is exceeded."""
        self.used += size
        if self._total is not None and self.used > self._total:
            message = f"the traces are larger than {self._total:,} bytes in total"
            raise OverLimit(Problem(message, None, "raise limit `traces`"))
