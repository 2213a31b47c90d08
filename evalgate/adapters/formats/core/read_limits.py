"""How much of a recording is read before it is refused."""

from __future__ import annotations

from evalgate.errors import OverLimit, Problem
from evalgate.records import dataclass

MEGABYTE = 1_000_000
GIGABYTE = 1000 * MEGABYTE


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """Bytes, after unpacking. `total_bytes` holds for all files of a run together; None is no limit.

    `together_bytes` holds for a file whose lines are one recording, and for a file that is no text: they are
    read whole. `kept_bytes` of such files may wait in memory for others that they are joined with; more are
    read twice. `messages` is a number: a trace has at most so many, and as many tool calls.
    """

    record_bytes: int = 25 * MEGABYTE
    together_bytes: int = 100 * MEGABYTE
    kept_bytes: int = 50 * MEGABYTE
    unpacked_file_bytes: int = 2 * GIGABYTE
    total_bytes: int | None = None
    messages: int = 100_000


class ReadBudget:
    """What is left of a run's total."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self.used = 0

    def take(self, size: int) -> None:
        """Uses up some of it; raises OverLimit when there is no more."""
        self.used += size
        if self._total is not None and self.used > self._total:
            raise OverLimit(Problem(f"the traces are larger than {self._total:,} bytes together"))
