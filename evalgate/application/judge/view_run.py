"""Makes the HTML page of a finished run: its results, and the conversations that fit into the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.evaluation.trajectories import source_of
from evalgate.application.judge.compare_finished import read_own_traces
from evalgate.reporting.html.build_page import build_page, order_scenarios, place_of
from evalgate.reporting.html.render_page import render_page
from evalgate.reporting.html.trace_block import encode_trace_block

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.ports import BaselineFiles, TraceArchive
    from evalgate.reporting.html.build_page import TracePlace


class PageOptions(NamedTuple):
    """The most bytes of a page, None without a limit; `summary` leaves out all conversations."""

    max_bytes: int | None = 10_000_000
    summary: bool = False


class RunPage(NamedTuple):
    """A page, and the numbers of conversations that it holds and that the limit left out."""

    html: str
    held: int
    left_out: int


def view_run(files: BaselineFiles, traces: TraceArchive, source: str, options: PageOptions) -> RunPage:
    """The page of the run at `source`, a results.json or a baseline.zip; raises InvalidInput if it can't be read.

    Conversations of failing scenarios come first, then changed ones; what passes the limit is left out and counted.
    """
    document = files.load(source).results
    trials = (trial for item in order_scenarios(document) for trial in item.scenario["trials"])
    ranks = {place_of(trial["trace"]): rank for rank, trial in enumerate(trials)}
    if options.summary:
        return RunPage(render_page(build_page(document, [], has_traces=True)), 0, 0)
    limit = options.max_bytes
    if limit is not None:
        limit -= len(render_page(build_page(document, [], has_traces=True)).encode())
    kept = _KeptBlocks(ranks, limit)
    for line in read_own_traces(files, source):
        place = source_of(line)
        trace = traces.restore_trace(line) if place is not None and kept.wants(place) else None
        if trace is not None and place is not None:
            kept.add(place, encode_trace_block(trace))
    blocks = kept.list_blocks()
    page = build_page(document, blocks, has_traces=bool(blocks or kept.left_out))
    return RunPage(render_page(page), len(blocks), kept.left_out)


ELEMENT_BYTES = 400
"""Bytes of a block's element, and of the link to it, beside its JSON."""


class _KeptBlocks:
    """The blocks that fit into `limit` bytes, the first by rank; the last ones are dropped for earlier ones."""

    def __init__(self, ranks: Mapping[TracePlace, int], limit: int | None) -> None:
        self._ranks, self._limit = ranks, limit
        self._blocks: dict[int, tuple[TracePlace, str, int]] = {}
        self._size = 0
        self.left_out = 0

    def wants(self, place: TracePlace) -> bool:
        """Whether the trace is one of the run's, and not there yet."""
        rank = self._ranks.get(place)
        return rank is not None and rank not in self._blocks

    def add(self, place: TracePlace, block: str) -> None:
        """Keeps a block, and drops the last ones while all are too large."""
        size = len(block.encode()) + ELEMENT_BYTES
        self._blocks[self._ranks[place]] = place, block, size
        self._size += size
        while self._limit is not None and self._size > self._limit and self._blocks:
            self._size -= self._blocks.pop(max(self._blocks))[2]
            self.left_out += 1

    def list_blocks(self) -> list[tuple[TracePlace, str]]:
        """The kept blocks by rank."""
        return [self._blocks[rank][:2] for rank in sorted(self._blocks)]
