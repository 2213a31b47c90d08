"""How much of a recording is read before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.errors import OverLimit, Problem

MEGABYTE = 1_000_000
GIGABYTE = 1000 * MEGABYTE


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """Bytes, after unpacking. `total_bytes` holds for all files of a run together; None is no limit."""

    record_bytes: int = 25 * MEGABYTE
    unpacked_file_bytes: int = 2 * GIGABYTE
    total_bytes: int | None = None


class Budget:
    """What is left of a run's total."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._used = 0

    def take(self, size: int) -> None:
        """Uses up some of it; raises OverLimit when there is no more."""
        self._used += size
        if self._total is not None and self._used > self._total:
            raise OverLimit(Problem(f"the traces are larger than {self._total:,} bytes together"))
