"""Stores the trials of a run compactly: figures in columns, everything else as encoded documents.

A run may judge millions of traces and needs nearly all of them only once more, when its results are written.
So each trial is encoded immediately, its document goes to a spool, and the values that are aggregated stay in
memory in a few bytes each, or go to the spool too if there are very many. At the end the trials of each
scenario are grouped.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain, islice, pairwise, starmap
from math import isnan
from operator import le
from typing import TYPE_CHECKING, Any, TypeVar, overload

from evalgate.models.run.long_column import LongColumn
from evalgate.models.run.trial_record import (
    AssertionSummary,
    FailedAssertion,
    TrialRecord,
    decode_summary,
    encode_summary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalgate.models.run.run import Outcome, TrialResult, TrialStatus
    from evalgate.models.run.spool import Spool
    from evalgate.models.run.trial_record import TraceInfo

MOST = 1 << 17
"""Maximum number of trials with figures in memory."""
_AMOUNTS = ("score", "cost_usd", "latency_seconds")
_COUNTS = ("total_tokens", "input_tokens", "output_tokens")
_nan = float("nan")
_TRACE = b'"trace":{'


Packed = tuple[Any, ...]
"""The trials of a store as bytes and tuples, see `TrialStore.packed`."""


class TrialStore:
    """All trials of a suite; `restore` decodes one from its document.

    They are in the order of judging until `arrange` groups those of each scenario: methods that take places
    are called after it. Once `most` trials have figures in memory, the figures go to the spool.
    """

    def __init__(self, spool: Spool, restore: Callable[[bytes], TrialResult], most: int = MOST) -> None:
        self._spool, self._restore, self._most = spool, restore, most
        self._starts, self._checked, self._owners = (LongColumn(spool, code) for code in "QII")
        self._sizes = LongColumn(spool, "I")
        self._priced, self._recorded = LongColumn(spool, "B"), LongColumn(spool, "q")
        self._named, self._content = LongColumn(spool, "q"), LongColumn(spool, "q")
        self._figures = {
            **{name: LongColumn(spool, "d") for name in _AMOUNTS},
            **{name: LongColumn(spool, "q") for name in _COUNTS},
        }
        identity = self._named, self._content
        self._plain = self._sizes, self._priced, self._recorded, *identity, *self._figures.values()
        self._started: list[str | None] = []  # empty if no trial has a start time
        self._count = 0
        self._number_of, self._known = dict[AssertionSummary, int](), list[AssertionSummary]()
        self._statuses: list[TrialStatus] = []  # of all that is known
        self._infos: dict[int, TraceInfo] = {}
        self.stale: dict[int, str] = {}

    def take(self, record: TrialRecord, owner: int, recorded: int | None, started_at: str | None) -> None:
        """Adds a trial of the scenario number `owner`, with the trial's number and time if recorded."""
        document, checked, score, cost, seconds, tokens, input_tokens, output_tokens, is_priced, info, *names = record
        place = self._count
        self._starts.recent.append(self._spool.put(document))
        self._checked.recent.append(self._number(checked))
        self._owners.recent.append(owner)
        sizes, priced, own_numbers, named, content, scores, costs, latencies, totals, inputs, outputs = self._plain
        sizes.recent.append(len(document))
        priced.recent.append(is_priced)
        own_numbers.recent.append(UNKNOWN if recorded is None else recorded)
        for column, digest in zip((named, content), names, strict=True):
            column.recent.append(UNKNOWN if digest is None else digest)
        scores.recent.append(_nan if score is None else score)
        costs.recent.append(_nan if cost is None else cost)
        latencies.recent.append(_nan if seconds is None else seconds)
        totals.recent.append(UNKNOWN if tokens is None else tokens)
        inputs.recent.append(UNKNOWN if input_tokens is None else input_tokens)
        outputs.recent.append(UNKNOWN if output_tokens is None else output_tokens)
        if info is not None:
            self._infos[place] = info
        if started_at is not None:
            self._start((started_at,))
        self._grow(1)

    def pack(self) -> Packed:
        """Packs the trials, all in memory, of a store filled by `take` only, for the `extend` of another store."""
        return (
            self._spool.get(0, sum(self._sizes.recent)),
            tuple(each.recent.tobytes() for each in self._plain),
            *(tuple(map(encode_summary, self._known)), self._checked.recent.tobytes()),
            *(self._owners.recent.tobytes(), self._started, self._infos),
        )

    def extend(self, packed: Packed, owners: Sequence[int]) -> int:
        """Adds the trials that another store packed, with their owners here; returns their number."""
        documents, columns, known, checked, their_owners, started, marks = packed
        first, sizes = self._count, array("I", columns[0])
        starts = accumulate(sizes, initial=self._spool.put(documents))
        self._starts.recent.extend(islice(starts, len(sizes)))
        for mine, theirs in zip(self._plain, columns, strict=True):
            mine.recent.frombytes(theirs)
        checks = [self._number(decode_summary(each)) for each in known]
        self._checked.recent.extend(map(checks.__getitem__, array("I", checked)))
        self._owners.recent.extend(map(owners.__getitem__, array("I", their_owners)))
        self._infos.update((first + place, mark) for place, mark in marks.items())
        if started:
            self._start(started)
        self._grow(len(sizes))
        return len(sizes)

    def _start(self, started: Sequence[str | None]) -> None:
        if started or self._started:
            self._started += [None] * (self._count - len(self._started))
            self._started += started

    def _grow(self, count: int) -> None:
        self._count += count
        if len(self._sizes.recent) >= self._most:
            for column in self._columns():
                column.spill()

    def _columns(self) -> Iterator[LongColumn]:
        return iter((self._starts, self._checked, self._owners, *self._plain))

    def arrange(self, owners: int) -> list[range]:
        """Groups the trials by owner, keeping their order, and returns the places of each owner's."""
        found: array[int] = array("I", self._owners.get_many(range(self._count)))
        often = Counter(found)
        ends = [0, *accumulate(often[owner] for owner in range(owners))]
        self._start(())
        if not all(starmap(le, pairwise(found))):
            self._rearrange(_side_by_side(found, ends))
        return [range(start, end) for start, end in pairwise(ends)]

    def _rearrange(self, order: Sequence[int]) -> None:
        for column in self._columns():
            column.arrange(order)
            if len(order) >= self._most:
                column.spill()
        if self._started:
            self._started = list(map(self._started.__getitem__, order))
        if self._infos:
            marks = self._infos
            self._infos = {new: marks[old] for new, old in enumerate(order) if old in marks}

    def recorded(self, places: Sequence[int]) -> Column:
        """The recorded numbers of some trials."""
        return Column(self._recorded, places)

    def identities(self, places: Sequence[int]) -> tuple[Sequence[int | None], Sequence[int | None]]:
        """Digests of some trials: of the trace's own id or bytes, and of its conversation."""
        named, content = ([figure(each) for each in column.get_many(places)] for column in (self._named, self._content))
        return named, content

    def started(self, places: Sequence[int]) -> Sequence[str | None]:
        """The start times of some trials; empty if no trial of the store has one."""
        return [self._started[place] for place in places] if self._started else []

    def document(self, place: int, number: int) -> bytes:
        """The whole document of a trial, with this number."""
        return next(self.documents([place], [number]))

    def documents(self, places: Sequence[int], numbers: Iterable[int]) -> Iterator[bytes]:
        """The whole documents of some trials, each with its number."""
        get, known = self._spool.get, self._known
        parts = (column.get_many(places) for column in (self._starts, self._sizes, self._checked))
        for place, number, start, size, checked in zip(places, numbers, *parts, strict=True):
            document = get(start, size)
            if place in self.stale:
                document = _add_stale(document, self.stale[place])
            yield b'{"trial":%d,%b%b' % (number, document, known[checked].end)

    def trial(self, place: int, number: int) -> TrialResult:
        """A trial decoded from its document, with the raw values of its trace."""
        found = self._restore(self.document(place, number))
        marks = self._infos.get(place)
        if marks is not None:
            trace = found.trace
            trace.path, trace.commit, trace.agent_hash, trace.recorded_at = marks
        return found

    def statuses(self, places: Sequence[int]) -> list[TrialStatus]:
        """The statuses of some trials."""
        return list(map(self._statuses.__getitem__, self._checked.get_many(places)))

    def column(self, name: str, places: Sequence[int]) -> Sequence[Any]:
        """A figure of some trials, by its name in a trial."""
        values = self._figures[name]
        return Column(values, places) if len(places) > 1 else [figure(values[place]) for place in places]

    def list_priced(self, places: Sequence[int]) -> list[bool]:
        """Whether the cost had to be computed, for some trials."""
        return list(map(bool, self._priced.get_many(places)))

    def outcomes(self, several: Iterable[Sequence[int]]) -> Counter[Outcome]:
        """Counts the outcomes of assertions in some trials."""
        found: Counter[Outcome] = Counter()
        counted = Counter(chain.from_iterable(map(self._checked.get_many, several)))
        for number, often in counted.items():
            for outcome in self._known[number].outcomes:
                found[outcome] += often
        return found

    def count_failed(self, places: Sequence[int]) -> Iterator[tuple[Sequence[FailedAssertion], int]]:
        """Failed assertions with the number of trials that have them; equal ones may be repeated."""
        counted = Counter(self._checked.get_many(places))
        return ((self._known[number].failed, often) for number, often in counted.items())

    def list_failed(self, places: Sequence[int]) -> Iterator[Sequence[FailedAssertion]]:
        """The failed assertions of each of some trials."""
        return (self._known[number].failed for number in self._checked.get_many(places))

    def _number(self, checked: AssertionSummary) -> int:
        """The number of a summary in the column; a new one gets the next number."""
        number = self._number_of.get(checked)
        if number is None:
            number = self._number_of[checked] = len(self._known)
            self._known.append(checked)
            self._statuses.append(checked.status)
        return number


def _side_by_side(owners: Sequence[int], ends: Sequence[int]) -> Sequence[int]:
    """The places of trials ordered by owner; `ends` has the start of each owner's."""
    free, order = array("I", ends), array("I", bytes(len(owners) * array("I").itemsize))
    for place, owner in enumerate(owners):
        at = free[owner]
        order[at] = place
        free[owner] = at + 1
    return order


def _add_stale(document: bytes, why: str) -> bytes:
    import orjson

    return _TRACE + b'"stale":%b,' % orjson.dumps(why) + document[len(_TRACE) :]


UNKNOWN = -(2**63)
"""The unknown value in a column of integers; in columns of floats it is NaN."""
_AT_ONCE = 10_000

Number = TypeVar("Number", int, float)


class Column(Sequence[Any]):
    """One figure of some trials, without copying the store's values; None is unknown."""

    __slots__ = ("_places", "_values")

    def __init__(self, values: LongColumn, places: Sequence[int]) -> None:
        self._values, self._places = values, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Column: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Column(self._values, self._places[index])
        return figure(self._values[self._places[index]])

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(map(self._block, range(0, len(self._places), _AT_ONCE)))

    def _block(self, start: int) -> list[Any]:
        """The next block of values: small enough to copy, large enough to be fast."""
        values = list(self._values.get_many(self._places[start : start + _AT_ONCE]))
        all_known = not isnan(sum(values)) if type(values[0]) is float else min(values) != UNKNOWN
        return values if all_known else list(map(figure, values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return id(self)


def figure(value: Number) -> Number | None:
    """The figure for a value of a column; None if unknown."""
    return value if value == value and value != UNKNOWN else None  # noqa: PLR0124  (NaN is not)
