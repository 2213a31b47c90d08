"""Fits rows, sections and conversations of a run into a page of limited size, the worst scenarios first."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from evalgate.features.page.reporting.build_page import (
    MAX_CHOICES,
    Held,
    build_page,
    describe_conversations,
    find_filters,
    place_of,
)
from evalgate.features.page.reporting.history_view import list_rulings
from evalgate.features.page.reporting.kept_blocks import KeptBlocks
from evalgate.features.page.reporting.page_view import PageParts
from evalgate.features.page.reporting.render_page import render_page, render_row, render_section
from evalgate.features.page.reporting.scenario_order import acts_differently, order_scenarios
from evalgate.features.page.reporting.scenario_view import (
    MAX_TRIALS,
    RunStatements,
    Shown,
    build_row,
    build_scenario_view,
    find_compared,
    order_trials,
)
from evalgate.features.page.reporting.short_scenario import build_short_scenario
from evalgate.features.page.reporting.trace_details import NO_DETAILS, RecordedPair
from evalgate.models.comparison.comparison import IMPROVEMENTS, CallsDiff
from evalgate.reporting.markdown.header_lines import find_agent_changes
from evalgate.reporting.text import wording
from evalgate.reporting.text.commands import may_approve
from evalgate.reporting.text.escaping import encode_script_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.features.page.reporting.build_page import TracePlace
    from evalgate.features.page.reporting.page_view import PageView, RowView
    from evalgate.features.page.reporting.trace_details import TraceDetails
    from evalgate.models.results.results import ResultsDoc
    from evalgate.reporting.text.scenario_sections import SuiteScenario

MAX_SECTIONS = 200
"""Scenarios with a section: more make the page slow, and a person reads fewer."""
MOST_WITH_SOURCES, LONGEST_WITH_SOURCES = 100, 200_000
"""Conversations, and bytes of one, in which the page names the sources of arguments; 0.5 s a megabyte."""
ROWS_SHARE, BLOCKS_SHARE, SECTIONS_SHARE = 0.5, 0.6, 0.75
"""The rows' part of the space, the conversations' part of what is left then, and the sections' part of the rest."""
SHORT_BYTES = 12
"""Bytes of a short scenario beside its JSON."""


class RunPage(NamedTuple):
    """A page, and the numbers of conversations that it holds and that its size left out."""

    html: str
    held: int
    left_out: int


class ComparedTrial(NamedTuple):
    """The baseline's trial that a scenario was compared with, and where the page keeps its conversation.

    `trial` is None if their calls were not compared: then any trial serves, and only what it records is shown.
    `is_open` is whether the page compares arguments and answers itself.
    """

    item: SuiteScenario
    trial: int | None
    place: TracePlace
    is_open: bool


class PageBuilder:
    """The page of a finished run, at most `max_bytes` long (None: any size); conversations are added one by one."""

    def __init__(self, document: ResultsDoc, max_bytes: int | None) -> None:
        self._document, self._max_bytes = document, max_bytes
        self._items = order_scenarios(document)
        self._filters = find_filters(document)
        self._details: dict[TracePlace, TraceDetails] = {}
        self._first: dict[int, TracePlace] = {}
        self._compared = {id(each.item.scenario): each for each in _list_compared(self._items[:MAX_SECTIONS])}
        ranks = {place: rank for rank, place in enumerate(dict.fromkeys(self._list_places()))}
        self._trials = len(ranks) - len(self._compared)
        space = self._measure_space(Held(self._trials, len(self._compared)))
        texts = self._fit_rows(space * ROWS_SHARE, len(self._items)).values()
        self._row_count = len(texts)
        self._blocks = KeptBlocks(ranks, (space - sum(map(_count_bytes, texts))) * BLOCKS_SHARE)

    @property
    def compared(self) -> Sequence[ComparedTrial]:
        """The trials of the baseline whose conversations the page shows, if they are added."""
        return list(self._compared.values())

    def wants(self, place: TracePlace) -> bool:
        """Whether the conversation of this trace may be in the page; counts one that has no space."""
        return self._blocks.wants(place)

    def has_sources(self, place: TracePlace, size: int) -> bool:
        """Whether the page shows where the arguments in a conversation of this size came from."""
        return size <= LONGEST_WITH_SOURCES and self._blocks.is_among_first(place, MOST_WITH_SOURCES)

    def add(self, place: TracePlace, block: str, details: TraceDetails = NO_DETAILS) -> None:
        """Adds a conversation, from `encode_trace_block`."""
        self.add_details(place, details)
        self._blocks.add(place, block)

    def add_details(self, place: TracePlace, details: TraceDetails) -> None:
        """Adds what a trace records beside its conversation."""
        self._details[place] = details

    def build(self, *, has_traces: bool, has_baseline: bool = False) -> RunPage:
        """The page. It says so if the run's traces were not there, or the baseline's."""
        recorded = {id(item.scenario): self._find_recorded(item) for item in self._items}
        self._items = order_scenarios(self._document, recorded)
        tags = sorted({tag for each in self._details.values() for tag in each.tags})[:MAX_CHOICES]
        self._filters = self._filters._replace(tags=tags)
        blocks = self._blocks.list_blocks()
        numbers = {place: number for number, (place, _) in enumerate(blocks)}
        baseline = sum(each.place in numbers for each in self._compared.values())
        held = Held(len(blocks) - baseline, baseline)
        space = self._measure_space(held) - self._blocks.bytes
        rows = self._fit_rows(space, self._row_count)
        space -= sum(map(_count_bytes, rows.values()))
        shown = Shown(numbers, has_traces=has_traces, has_baseline=has_baseline)
        sections = self._fit_sections(list(rows), shown, space * SECTIONS_SHARE)
        space -= sum(map(_count_bytes, sections.values()))
        short = self._fit_short(list(rows), sections, shown, space)
        frame = self._build_frame(held, has_traces=has_traces, rows=len(rows))
        parts = PageParts(list(rows.values()), list(sections.values()), short, [block for _, block in blocks])
        return RunPage(render_page(frame, parts), len(blocks), self._blocks.left_out)

    def _list_places(self) -> Iterator[TracePlace]:
        """The conversations by importance: of each scenario the compared trial, the baseline's, then the others."""
        for item in self._items:
            trials = order_trials(item.scenario)[:MAX_TRIALS]
            places = [place_of(trial.trace) for trial in trials]
            if places:
                self._first[id(item.scenario)] = places[0]
            yield from places[:1]
            if (compared := self._compared.get(id(item.scenario))) is not None:
                yield compared.place
            yield from places[1:]
            if len(trials) < len(item.scenario["trials"]):
                yield from (place_of(trial.trace) for trial in item.scenario["trials"])

    def _measure_space(self, held: Held) -> float:
        """Bytes beside the frame of a page that holds so many conversations."""
        if self._max_bytes is None:
            return inf
        frame = self._build_frame(held, has_traces=True, rows=0)
        return self._max_bytes - _count_bytes(render_page(frame, PageParts([])))

    def _build_frame(self, held: Held, *, has_traces: bool, rows: int) -> PageView:
        conversations = describe_conversations(held, self._trials, has_traces=has_traces)
        left = len(self._items) - rows
        left_out = f"{wording.pluralize(left, 'more scenario')} in results.json" if left else ""
        return build_page(self._document, self._items, self._filters, conversations, left_out)

    def _find_recorded(self, item: SuiteScenario) -> RecordedPair:
        """What the traces of the compared trial and of the baseline's record."""
        first, compared = self._first.get(id(item.scenario)), self._compared.get(id(item.scenario))
        now = NO_DETAILS if first is None else self._details.get(first, NO_DETAILS)
        return RecordedPair(now, self._details.get(compared.place) if compared else None)

    def _fit_rows(self, space: float, most: int) -> dict[RowView, str]:
        suites = {name: number for number, name in enumerate(self._filters.suites)}
        variants = {name: number for number, name in enumerate(self._filters.variants, 1)}
        tags = {name: number for number, name in enumerate(self._filters.tags, 1)}
        rows: dict[RowView, str] = {}
        for number, item in enumerate(self._items[:most]):
            recorded = self._find_recorded(item)
            numbers = sorted({tags[tag] for tag in recorded.now.tags if tag in tags})
            row = build_row(number, item, numbers, recorded)
            text = render_row(row, suites[item.suite["suite"]], variants.get(item.scenario["variant"] or ""))
            space -= _count_bytes(text)
            if space < 0:
                break
            rows[row] = text
        return rows

    def _fit_sections(self, rows: Sequence[RowView], shown: Shown, space: float) -> dict[int, str]:
        """The sections of the first scenarios by number, without those that are too large."""
        sections: dict[int, str] = {}
        causes = find_agent_changes(self._document).of_all
        stated = RunStatements(causes, self._document.get("command"), may_approve(self._document))
        for row, item in zip(rows[:MAX_SECTIONS], self._items, strict=False):
            rulings = list_rulings(self._document, item.suite, item.scenario)
            compared = self._compared.get(id(item.scenario))
            block = None if compared is None else shown.blocks.get(compared.place)
            recorded = self._find_recorded(item)
            view = build_scenario_view(row, item, rulings, recorded, shown._replace(baseline=block), stated)
            text = render_section(view, is_open=not sections)
            if (size := _count_bytes(text)) <= space:
                sections[row.number] = text
                space -= size
        return sections

    def _fit_short(self, rows: Sequence[RowView], sections: Mapping[int, str], shown: Shown, space: float) -> str:
        """The scenarios without a section, as JSON by number, as far as they fit."""
        texts: list[str] = []
        for row, item in zip(rows, self._items, strict=False):
            if row.number in sections:
                continue
            short = encode_script_json(build_short_scenario(item, shown.blocks, has_traces=shown.has_traces))
            space -= _count_bytes(short) + SHORT_BYTES
            if space < 0:
                break
            texts.append(f'"{row.number}":{short}')
        return "{" + ",".join(texts) + "}"


def _list_compared(items: Sequence[SuiteScenario]) -> Iterator[ComparedTrial]:
    for number, item in enumerate(items):
        compared, acts = find_compared(item.scenario), acts_differently(item)
        if compared is not None or item.kind in IMPROVEMENTS or acts:
            is_open = compared is None or (acts and isinstance(compared, CallsDiff))
            yield ComparedTrial(item, compared.trial_before if compared else None, ("", number, None), is_open)


def _count_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
