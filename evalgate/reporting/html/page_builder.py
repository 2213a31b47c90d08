"""Fits rows, sections and conversations of a run into a page of limited size, the worst scenarios first."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.html.build_page import (
    build_page,
    describe_conversations,
    find_filters,
    place_of,
)
from evalgate.reporting.html.history_view import list_rulings
from evalgate.reporting.html.kept_blocks import KeptBlocks
from evalgate.reporting.html.page_view import PageParts
from evalgate.reporting.html.render_page import render_page, render_row, render_section
from evalgate.reporting.html.scenario_order import order_scenarios
from evalgate.reporting.html.scenario_view import build_row, build_scenario_view
from evalgate.reporting.html.short_scenario import build_short_scenario
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import encode_script_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.results.results import ResultsDoc
    from evalgate.reporting.html.build_page import TracePlace
    from evalgate.reporting.html.page_view import PageView, RowView

MAX_SECTIONS = 200
"""Scenarios with a section: more make the page slow, and a person reads fewer."""
ROWS_SHARE, BLOCKS_SHARE, SECTIONS_SHARE = 0.5, 0.6, 0.75
"""The rows' part of the space, the conversations' part of what is left then, and the sections' part of the rest."""
SHORT_BYTES = 12
"""Bytes of a short scenario beside its JSON."""


class RunPage(NamedTuple):
    """A page, and the numbers of conversations that it holds and that its size left out."""

    html: str
    held: int
    left_out: int


class PageBuilder:
    """The page of a finished run, at most `max_bytes` long (None: any size); conversations are added one by one."""

    def __init__(self, document: ResultsDoc, max_bytes: int | None) -> None:
        self._document = document
        self._items = order_scenarios(document)
        self._filters = find_filters(document)
        trials = (place_of(trial["trace"]) for item in self._items for trial in item.scenario["trials"])
        self._ranks = {place: rank for rank, place in enumerate(trials)}
        space = inf
        if max_bytes is not None:
            frame = self._build_frame(len(self._ranks), has_traces=True, rows=0)
            space = max_bytes - _count_bytes(render_page(frame, PageParts([])))
        self._rows, self._row_texts = self._fit_rows(space * ROWS_SHARE)
        self._space = space - sum(map(_count_bytes, self._row_texts))
        self._blocks = KeptBlocks(self._ranks, self._space * BLOCKS_SHARE)

    def wants(self, place: TracePlace) -> bool:
        """Whether the conversation of this trace may be in the page; counts one that has no space."""
        return self._blocks.wants(place)

    def add(self, place: TracePlace, block: str) -> None:
        """Adds a conversation, from `encode_trace_block`."""
        self._blocks.add(place, block)

    def build(self, *, has_traces: bool) -> RunPage:
        """The page. Without `has_traces` it says that the run's traces were not there."""
        blocks = self._blocks.list_blocks()
        numbers = {place: number for number, (place, _) in enumerate(blocks)}
        space = self._space - self._blocks.bytes
        sections = self._fit_sections(numbers, space * SECTIONS_SHARE, has_traces=has_traces)
        space -= sum(map(_count_bytes, sections.values()))
        short = self._fit_short(sections, numbers, space, has_traces=has_traces)
        frame = self._build_frame(len(blocks), has_traces=has_traces, rows=len(self._rows))
        parts = PageParts(self._row_texts, list(sections.values()), short, [block for _, block in blocks])
        return RunPage(render_page(frame, parts), len(blocks), self._blocks.left_out)

    def _build_frame(self, held: int, *, has_traces: bool, rows: int) -> PageView:
        conversations = describe_conversations(held, len(self._ranks), has_traces=has_traces)
        left = len(self._items) - rows
        left_out = f"{wording.pluralize(left, 'more scenario')} in results.json" if left else ""
        return build_page(self._document, self._items, self._filters, conversations, left_out)

    def _fit_rows(self, space: float) -> tuple[list[RowView], list[str]]:
        suites = {name: number for number, name in enumerate(self._filters.suites)}
        variants = {name: number for number, name in enumerate(self._filters.variants, 1)}
        rows: list[RowView] = []
        texts: list[str] = []
        for number, item in enumerate(self._items):
            row = build_row(number, item)
            text = render_row(row, suites[item.suite["suite"]], variants.get(item.scenario["variant"] or ""))
            space -= _count_bytes(text)
            if space < 0:
                break
            rows.append(row)
            texts.append(text)
        return rows, texts

    def _fit_sections(self, blocks: Mapping[TracePlace, int], space: float, *, has_traces: bool) -> dict[int, str]:
        """The sections of the first scenarios by number, without those that are too large."""
        sections: dict[int, str] = {}
        command = self._document.get("command")
        for row, item in zip(self._rows[:MAX_SECTIONS], self._items, strict=False):
            rulings = list_rulings(self._document, item.suite, item.scenario)
            view = build_scenario_view(row, item, rulings, blocks, command, has_traces=has_traces)
            text = render_section(view, is_open=not sections)
            if (size := _count_bytes(text)) <= space:
                sections[row.number] = text
                space -= size
        return sections

    def _fit_short(
        self, sections: Mapping[int, str], blocks: Mapping[TracePlace, int], space: float, *, has_traces: bool
    ) -> str:
        """The scenarios without a section, as JSON by number, as far as they fit."""
        texts: list[str] = []
        for row, item in zip(self._rows, self._items, strict=False):
            if row.number in sections:
                continue
            short = encode_script_json(build_short_scenario(item, blocks, has_traces=has_traces))
            space -= _count_bytes(short) + SHORT_BYTES
            if space < 0:
                break
            texts.append(f'"{row.number}":{short}')
        return "{" + ",".join(texts) + "}"


def _count_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
