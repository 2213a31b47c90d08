"""Selects the conversations that fit into a page: those of the worst scenarios."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.features.page.reporting.build_page import TracePlace

ELEMENT_BYTES = 60
"""Bytes of a block's element, beside its JSON."""


class KeptBlocks:
    """The blocks that fit into `limit` bytes, the first by rank; the last ones are dropped for earlier ones."""

    def __init__(self, ranks: Mapping[TracePlace, int], limit: float) -> None:
        self._ranks, self._limit = ranks, limit
        self._blocks: dict[int, tuple[TracePlace, str, int]] = {}
        self._last_first: list[int] = []
        self._first_dropped = len(ranks)
        self.bytes = 0
        self.left_out = 0

    def wants(self, place: TracePlace) -> bool:
        """Whether the trace is one of the run's and not there yet; counts one that comes after a dropped one."""
        rank = self._ranks.get(place)
        if rank is None or rank in self._blocks:
            return False
        if rank > self._first_dropped:
            self.left_out += 1
            return False
        return True

    def is_among_first(self, place: TracePlace, count: int) -> bool:
        """Whether the trace is one of the first by rank."""
        return self._ranks[place] < count

    def add(self, place: TracePlace, block: str) -> None:
        """Keeps a block, and drops the last ones while all are too large."""
        rank = self._ranks[place]
        self._blocks[rank] = place, block, len(block.encode()) + ELEMENT_BYTES
        self.bytes += self._blocks[rank][2]
        heappush(self._last_first, -rank)
        while self.bytes > self._limit:
            self._first_dropped = min(self._first_dropped, -self._last_first[0])
            self.bytes -= self._blocks.pop(-heappop(self._last_first))[2]
            self.left_out += 1

    def list_blocks(self) -> list[tuple[TracePlace, str]]:
        """The kept blocks by rank."""
        return [self._blocks[rank][:2] for rank in sorted(self._blocks)]
