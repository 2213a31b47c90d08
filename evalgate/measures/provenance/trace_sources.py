"""The sources of each argument of a trace's calls; worked out only when asked, from an index built once."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.measures.provenance.dates import CalendarDay, read_moment
from evalgate.measures.provenance.held_texts import HeldText, keep_first
from evalgate.measures.provenance.languages import is_foreign
from evalgate.measures.provenance.leaves import Leaf, is_trivial
from evalgate.measures.provenance.normal_form import normalize, read_written_number, split_tokens, squash, write_number
from evalgate.measures.provenance.opened import list_texts
from evalgate.measures.provenance.relative_days import (
    RelativeDays,
    list_anchors,
    read_date,
    read_lengths,
    read_relative_days,
)
from evalgate.measures.provenance.sources import KINDS, ArgumentSource, FoundSources
from evalgate.measures.provenance.sums import find_total, list_sums
from evalgate.measures.provenance.text_index import TextIndex
from evalgate.measures.provenance.trace_texts import (
    MAX_RESULT,
    MissingText,
    SourceText,
    find_lacks,
    list_trace_texts,
    measure_result,
    number_groups,
    read_result_value,
)
from evalgate.measures.provenance.values import find_texts, is_identifier, split_value
from evalgate.models.trace.trace import list_arguments
from evalgate.models.trace.trace_view import ARGUMENT_SOURCES, get_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalgate.models.trace.trace import Trace

MAX_SUMS = 300_000
"""Sums of a trace that are known; numbers without a source are unknown if there are more."""
LONG_ID = 6
"""Letters and digits from which on an id does not stand inside of another text by chance."""
MAX_PASSED = 10_000
"""Characters of a text that a call passed, in which ids in another form are looked for."""
FOREIGN = "the user writes in a language whose dates, numbers and words are not read"
EXHAUSTED = "the texts of the trace are too long to be searched"


def find_argument_sources(trace: Trace) -> ArgumentSources:
    """The sources of a trace's arguments; built once, when first asked for."""
    cache = get_view(trace).cache
    found: ArgumentSources | None = cache.get(ARGUMENT_SOURCES)
    if found is None:
        found = cache[ARGUMENT_SOURCES] = ArgumentSources(trace)
    return found


class ArgumentSources:
    """The sources of one trace's arguments."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._calls = trace.agent_calls
        self._groups = number_groups(self._calls)
        self._index = TextIndex()
        self._texts: list[SourceText] = []
        self._spoken: list[tuple[int, RelativeDays]] = []
        self._lengths: list[tuple[int, int]] = []
        self._foreign: list[int] = []
        self._held: dict[Any, list[HeldText]] = {}
        self._squashed: dict[int, set[str]] = {}
        self._sums: dict[str, dict[str, int]] | None = None
        for text, pieces in list_trace_texts(trace, self._groups):
            self._texts.append(text)
            self._index.add(pieces)
            if text.kind == "user":
                self._hear(text, normalize(" ".join(pieces)))
        self._lacks = list(find_lacks(trace, self._groups))

    def _hear(self, text: SourceText, normal: str) -> None:
        spoken = read_relative_days(normal)
        if spoken is not None:
            self._spoken.append((text.turn, spoken))
        self._lengths += ((text.turn, minutes) for minutes in sorted(read_lengths(normal)))
        if is_foreign(normal):
            self._foreign.append(text.turn)

    def find(self, number: int, leaf: Leaf) -> FoundSources:
        """The sources of a value in the arguments of a call (from 1 among the agent's own)."""
        found = self._list_sources(number, leaf.value)
        if not _has_source(found):
            found = _sort([*found, *self._list_of_parts(number, leaf.value), *self._list_of_total(number, leaf.value)])
        return FoundSources(tuple(found), None if _has_source(found) else self.find_unknown(number, leaf.value))

    def list_holding(self, number: int, value: Any) -> list[ArgumentSource]:
        """The texts before a call that hold a value, in the order of their kinds."""
        return _sort(self._list_texts(number, value))

    def list_tokens(self) -> Iterable[str]:
        """Every token of the texts, in the order in which they first stand."""
        return self._index.list_tokens()

    def find_missing_text(self, number: int) -> str | None:
        """Why a text before a call is not known, None if all are."""
        call = self._calls[number - 1]
        for lack in self._lacks:
            if lack.group <= self._groups[number - 1] and lack.turn <= call["turn"]:
                return lack.reason
        return EXHAUSTED if self._index.is_exhausted else None

    def find_unknown(self, number: int, value: Any) -> str | None:
        """Why a value may have a source that is not recorded or not read, None if it can't."""
        missing = self.find_missing_text(number)
        turn = self._calls[number - 1]["turn"]
        is_foreign_here = not is_identifier(value) and any(each <= turn for each in self._foreign)
        return missing or (FOREIGN if is_foreign_here else None)

    def is_between(self, first: int, middle: int, last: int) -> bool:
        """Whether a call was made after one had its result, and had its own before another was made."""
        return self._groups[first - 1] < self._groups[middle - 1] < self._groups[last - 1]

    def _list_of_parts(self, number: int, value: Any) -> list[ArgumentSource]:
        """The sources of a list in a text, of which each part that is not trivial has one."""
        parts = [self._list_sources(number, each) for each in split_value(value) if not is_trivial(each)]
        return [each for part in parts for each in part] if parts and all(map(_has_source, parts)) else []

    def _list_of_total(self, number: int, value: Any) -> list[ArgumentSource]:
        """The sources of the total of a payment that the call splits, of which the value is a share."""
        total = None if isinstance(value, str) else find_total(self._calls[number - 1]["arguments"], value)
        found = [] if total is None else list(self._list_texts(number, total))
        return [each._replace(kind="sum") if each.kind == "result" else each for each in found if each.kind != "own"]

    def _list_sources(self, number: int, value: Any) -> list[ArgumentSource]:
        moment = read_moment(normalize(value)) if isinstance(value, str) else None
        found = list(self._list_texts(number, value))
        if moment is not None:
            found += self._list_moment(number, moment.days, moment.minutes)
        if not _has_source(found):
            found += self._list_sums(number, value)
        return _sort(found)

    def _list_texts(self, number: int, value: Any) -> Iterator[ArgumentSource]:
        """The texts that hold a value. What looks like an id gets no source from results after the agent passed it."""
        is_id = is_identifier(value)
        is_strict = is_id or not isinstance(value, str)
        echoes = squash(value) if is_id else ""
        for held in self._hold(("value", type(value), value), lambda: find_texts(self._index, value), echoes):
            text = held.text
            if not self._is_earlier(text, number) or (text.kind == "schema" and text.tool != self._tool(number)):
                continue
            if not (held.is_own_answer and (is_strict or text.is_failure)) and not (is_id and held.was_written):
                yield ArgumentSource(text.kind, text.call, text.tool if text.call else "", held.is_echo)

    def _hold(
        self, key: tuple[Any, ...], find_numbers: Callable[[], Iterable[int]], echoes: str = ""
    ) -> list[HeldText]:
        """The texts that are found for a key; of those that differ in nothing but their place the first.

        `echoes` is an id without its signs: a result of a call that passed the same in another form is its own answer.
        """
        if key not in self._held:
            texts = [self._texts[number] for number in find_numbers()]
            passed = {text.call for text in texts if text.call and echoes and self._has_passed(text.call, echoes)}
            self._held[key] = list(keep_first(texts, passed))
        return self._held[key]

    def _has_passed(self, number: int, squashed: str) -> bool:
        """Whether a call passed an id without its signs: as a value, or, unless it is short, inside of a text."""
        passed = self._list_squashed(number)
        return squashed in passed or (len(squashed) >= LONG_ID and any(squashed in text for text in passed))

    def _list_squashed(self, number: int) -> set[str]:
        """The texts that a call passed, and the name that the agent called, each without its signs."""
        if number not in self._squashed:
            passed = [*list_arguments(self._calls[number - 1]), self._tool(number)]
            self._squashed[number] = {squash(text[:MAX_PASSED]) for text in list_texts(passed)}
        return self._squashed[number]

    def _is_earlier(self, text: SourceText, number: int) -> bool:
        if text.call:
            return text.group < self._groups[number - 1]
        return text.turn <= self._calls[number - 1]["turn"]

    def _tool(self, number: int) -> str:
        return self._calls[number - 1]["name"]

    def _list_moment(self, number: int, days: Iterable[CalendarDay], minutes: int | None) -> Iterator[ArgumentSource]:
        """The sources of a date, of a time of day, or of both, each of which needs its own."""
        dated = [source for day in days for source in self._list_day(number, day)]
        if minutes is None:
            yield from dated
            return
        timed = list(self._list_named(number, ("time", minutes), lambda: self._index.find_time(minutes)))
        timed += [] if timed else self._list_end(number, minutes)
        is_whole_day = minutes in (0, 23 * 60 + 59)
        if (timed or is_whole_day) and (dated or not tuple(days)):
            yield from (*dated, *timed)

    def _list_end(self, number: int, minutes: int) -> list[ArgumentSource]:
        """The calendar, where a time of day is as long after one that a person named as the user says."""
        turn = self._calls[number - 1]["turn"]
        for begun in {minutes - length for heard, length in self._lengths if heard <= turn and length <= minutes}:
            texts = self._list_named(number, ("time", begun), partial(self._index.find_time, begun))
            if any(each.kind in ("user", "system") for each in texts):
                return [ArgumentSource("calendar")]
        return []

    def _list_day(self, number: int, day: CalendarDay) -> Iterator[ArgumentSource]:
        yield from self._list_named(number, ("day", day), lambda: self._index.find_day(day))
        spoken = [each for turn, each in self._spoken if turn <= self._calls[number - 1]["turn"]]
        exact = read_date(day)
        if exact is None or not spoken:
            return
        started = self._read_start()
        for anchor, is_anywhere in list_anchors(exact, spoken):
            named = CalendarDay(anchor.month, anchor.day, anchor.year)
            texts = self._list_named(number, ("day", named), partial(self._index.find_day, named))
            if anchor == started or any(is_anywhere or each.kind in ("user", "system") for each in texts):
                yield ArgumentSource("calendar")
                return

    def _read_start(self) -> date | None:
        started = self._trace.started_at
        return None if started is None else date.fromisoformat(started[:10])

    def _list_named(
        self, number: int, key: tuple[Any, ...], find_numbers: Callable[[], Iterable[int]]
    ) -> Iterator[ArgumentSource]:
        """The texts of others that name a date or a time of day before a call."""
        for text, is_echo, _, _ in self._hold(key, find_numbers):
            if text.kind not in ("own", "schema") and self._is_earlier(text, number):
                yield ArgumentSource(text.kind, text.call, text.tool if text.call else "", is_echo)

    def _list_sums(self, number: int, value: Any) -> Iterator[ArgumentSource]:
        token = _read_amount(value)
        if token is None:
            return
        for tool, call in self._find_sums().get(token, {}).items():
            if self._groups[call - 1] < self._groups[number - 1]:
                yield ArgumentSource("sum", call, tool)

    def _find_sums(self) -> dict[str, dict[str, int]]:
        """The first call of each tool in whose result a sum stands, by the sum."""
        if self._sums is None:
            self._sums = {}
            left = MAX_SUMS
            for number, call in enumerate(self._calls, 1):
                if measure_result(call) > MAX_RESULT:
                    continue
                for token in list_sums(read_result_value(call)):
                    self._sums.setdefault(token, {}).setdefault(call["name"], number)
                    left -= 1
                    if left < 0:
                        self._lacks.append(MissingText(self._groups[number - 1] + 1, 0, EXHAUSTED))
                        return self._sums
        return self._sums


def _has_source(found: Iterable[ArgumentSource]) -> bool:
    return any(each.kind != "own" for each in found)


def _read_amount(value: Any) -> str | None:
    """The token of a value that is a number, None for any other."""
    if not isinstance(value, str):
        return write_number(value)
    normal = normalize(value)
    tokens = split_tokens(normal.strip(" $\u20ac\u00a3\u00a5"))
    if len(tokens) == 1 and tokens[0].replace(".", "", 1).isdigit():
        return tokens[0]
    return read_written_number(normal)


def _sort(sources: Iterable[ArgumentSource]) -> list[ArgumentSource]:
    """Each source once, in the order of their kinds."""
    return sorted(dict.fromkeys(sources), key=lambda each: (KINDS.index(each.kind), each.call, each.tool))
