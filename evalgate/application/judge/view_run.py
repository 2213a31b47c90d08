"""Makes the HTML page of a finished run: its results, and the conversations that fit into the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from evalgate.application.evaluation.trajectories import source_of
from evalgate.application.judge.compare_finished import read_own_traces
from evalgate.application.messages.request import PAGE
from evalgate.reporting.html.page_builder import PageBuilder
from evalgate.reporting.html.trace_block import encode_trace_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evalgate.application.messages.request import Judgement
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.trace.trace import Trace
    from evalgate.ports import BaselineFiles, TraceArchive
    from evalgate.reporting.html.page_builder import RunPage


class PageOptions(NamedTuple):
    """The most bytes of a page, None without a limit; `summary` leaves out all conversations."""

    max_bytes: int | None = 10_000_000
    summary: bool = False


def view_run(files: BaselineFiles, traces: TraceArchive, source: str, options: PageOptions) -> RunPage:
    """The page of the run at `source`, a results.json or a baseline.zip; raises InvalidInput if it can't be read."""
    document = files.load(source).results
    return build_run_page(document, read_own_traces(files, source), traces.restore_trace, options)


def add_page(judgement: Judgement, lines: Iterable[bytes], restore: Callable[[bytes], Trace | None]) -> Judgement:
    """The judgement with the page of its run among its files."""
    page = build_run_page(judgement.results, lines, restore, PageOptions())
    return replace(judgement, files={**judgement.files, PAGE: page.html.encode()})


def build_run_page(
    document: ResultsDoc, lines: Iterable[bytes], restore: Callable[[bytes], Trace | None], options: PageOptions
) -> RunPage:
    """The page of a run whose traces are stored as `lines`.

    Conversations of failing scenarios come first, then changed ones; what passes the limit is left out and counted.
    """
    builder = PageBuilder(document, options.max_bytes)
    has_traces = options.summary
    for line in () if options.summary else lines:
        place = source_of(line)
        has_traces = True
        if place is not None and builder.wants(place) and (trace := restore(line)) is not None:
            builder.add(place, encode_trace_block(trace))
    return builder.build(has_traces=has_traces)
