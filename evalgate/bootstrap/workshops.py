"""Who judges the traces of a run in a shell: this process, copies of it, or a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.trace_formats.limits import TraceLimits
    from evalgate.ports import Files
    from evalgate.ports.engines import Workshop

BREAK_EVEN = 80_000_000
"""Bytes of traces, about 10,000 of them, below which workers cost more than they save."""


@dataclass(frozen=True, slots=True)
class LocalWorkshops:
    """Processes of this machine: `jobs` of them, or where that is None as many as there are cores.

    Without a number of jobs there are none for less than the break-even.
    """

    files: Files
    limits: TraceLimits
    jobs: int | None = None

    def open(self, traces: Sequence[tuple[Sequence[str], str]]) -> Workshop | None:
        """Workers, where they are worth it."""
        if self.jobs is None and self._size(traces) < BREAK_EVEN:
            return None
        from evalgate.adapters.engines.cores import usable_cores

        workers = self.jobs or usable_cores()
        if workers == 1:
            return None
        from evalgate.adapters.baseline_zip import line_of
        from evalgate.adapters.engines.crew import Crew
        from evalgate.adapters.trace_formats.batches import BatchedTraces
        from evalgate.ports.engines import Workshop

        return Workshop(BatchedTraces(self.files, self.limits), Crew(workers), line_of)

    def _size(self, traces: Sequence[tuple[Sequence[str], str]]) -> int:
        """Bytes of the traces, as far as it takes to see that there are enough."""
        size, seen = 0, set[str]()
        for patterns, folder in traces:
            for pattern in patterns:
                for file in self.files.expand(pattern, folder):
                    if file.real not in seen:
                        seen.add(file.real)
                        size += self.files.size(file)
                    if size >= BREAK_EVEN:
                        return size
        return size
