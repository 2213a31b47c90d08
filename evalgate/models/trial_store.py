"""The trials of a run, kept small: figures in columns, everything else as the document that tells of it.

A run may judge millions of traces and needs nearly all of them only once more, when its results are written.
So a trial is told at once, its document is put on a shelf, and what is counted over all trials stays at hand
in a few bytes each.
"""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Protocol

from evalgate.models.column import UNKNOWN, Column, figure
from evalgate.models.told_trials import Checked, Lost, ToldTrial, checked_of, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.models.run import Outcome, TrialResult, TrialStatus
    from evalgate.models.told_trials import Marks


_AMOUNTS = ("score", "cost_usd", "latency_seconds")
_COUNTS = ("total_tokens", "input_tokens", "output_tokens")
_nan = float("nan")
_TRACE = b'"trace":{'


Packed = tuple[Any, ...]
"""The trials of a store as bytes and tuples, see `TrialStore.packed`."""


class Shelf(Protocol):
    """A place for bytes, from which any of them can be had again."""

    def put(self, content: bytes) -> int:
        """Keeps the bytes; where they begin."""

    def get(self, start: int, size: int) -> bytes:
        """So many bytes that were put there."""


class Memory:
    """A shelf for a few trials."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept = bytearray()

    def put(self, content: bytes) -> int:
        """See Shelf."""
        start = len(self._kept)
        self._kept += content
        return start

    def get(self, start: int, size: int) -> bytes:
        """See Shelf."""
        return bytes(self._kept[start : start + size])


class TrialStore:
    """Every trial of a suite, in the order in which they were judged; `restore` makes one of its document."""

    def __init__(self, shelf: Shelf, restore: Callable[[bytes], TrialResult]) -> None:
        self._shelf, self._restore = shelf, restore
        self._starts, self._sizes = array("Q"), array("I")
        self._amounts = tuple(array("d") for _ in _AMOUNTS)
        self._counts = tuple(array("q") for _ in _COUNTS)
        self._priced = bytearray()
        self._checked, self._numbers, self._known = array("I"), dict[Checked, int](), list[Checked]()
        self.numbers = array("q")
        self._figures: dict[str, Sequence[float]] = {
            "trial": self.numbers,
            **dict(zip(_AMOUNTS, self._amounts, strict=True)),
            **dict(zip(_COUNTS, self._counts, strict=True)),
        }
        self._marks: dict[int, Marks] = {}
        self.stale: dict[int, str] = {}

    def take(self, told: ToldTrial) -> int:
        """Keeps a trial, whose number is still to come; its place."""
        document, checked, score, cost, seconds, tokens, given, answered, is_priced, marks = told
        place = len(self._sizes)
        self._starts.append(self._shelf.put(document))
        self._sizes.append(len(document))
        self._checked.append(self._number(checked))
        scores, costs, latencies = self._amounts
        scores.append(_nan if score is None else score)
        costs.append(_nan if cost is None else cost)
        latencies.append(_nan if seconds is None else seconds)
        total, inputs, outputs = self._counts
        total.append(UNKNOWN if tokens is None else tokens)
        inputs.append(UNKNOWN if given is None else given)
        outputs.append(UNKNOWN if answered is None else answered)
        self._priced.append(is_priced)
        self.numbers.append(0)
        if marks is not None:
            self._marks[place] = marks
        return place

    def packed(self) -> Packed:
        """All trials of a store that was only ever told by `take`, as plain values for another's `extend`."""
        return (
            self._shelf.get(0, sum(self._sizes)),
            *(self._sizes.tobytes(), bytes(self._priced)),
            tuple(each.tobytes() for each in self._arrays()),
            *(tuple(map(plain, self._known)), self._checked.tobytes()),
            self._marks,
        )

    def extend(self, packed: Packed) -> range:
        """Keeps the trials that another store packed, whose numbers are still to come; their places."""
        documents, sizes, priced, figures, known, checked, marks = packed
        first, each_size = len(self._sizes), array("I", sizes)
        starts = accumulate(each_size, initial=self._shelf.put(documents))
        self._starts.extend(islice(starts, len(each_size)))
        self._sizes.extend(each_size)
        self._priced += priced
        for mine, theirs in zip(self._arrays(), figures, strict=True):
            mine.frombytes(theirs)
        self.numbers.frombytes(bytes(len(each_size) * self.numbers.itemsize))
        numbers = [self._number(checked_of(each)) for each in known]
        self._checked.extend(map(numbers.__getitem__, array("I", checked)))
        self._marks.update((first + place, mark) for place, mark in marks.items())
        return range(first, len(self._sizes))

    def _arrays(self) -> tuple[array[Any], ...]:
        return *self._amounts, *self._counts

    def document(self, place: int) -> bytes:
        """The whole document of a trial."""
        told = self._shelf.get(self._starts[place], self._sizes[place])
        end = self._known[self._checked[place]].end
        why = self.stale.get(place) if self.stale else None
        if why is not None:
            import orjson

            told = _TRACE + b'"stale":%b,' % orjson.dumps(why) + told[len(_TRACE) :]
        return b'{"trial":%d,%b%b' % (self.numbers[place], told, end)

    def trial(self, place: int) -> TrialResult:
        """A trial as its document tells of it, of a recording as it is."""
        found = self._restore(self.document(place))
        marks = self._marks.get(place)
        if marks is not None:
            trace = found.trace
            trace.path, trace.commit, trace.agent_hash, trace.recorded_at = marks
        return found

    def statuses(self, places: Sequence[int]) -> list[TrialStatus]:
        """How some trials ended."""
        known = self._known
        return [known[number].status for number in self._checks(places)]

    def columns(self, names: Sequence[str], places: Sequence[int]) -> list[Sequence[Any]]:
        """Some figures of some trials, by the names they have in a trial."""
        if len(places) > 1:
            return [Column(self._figures[name], places) for name in names]
        return [[figure(self._figures[name][place]) for place in places] for name in names]

    def priced(self, places: Sequence[int]) -> list[bool]:
        """Whether the cost was to be computed, of some trials."""
        return [bool(self._priced[place]) for place in places]

    def outcomes(self, places: Iterable[int]) -> Counter[Outcome]:
        """How often checks ended how in some trials."""
        found: Counter[Outcome] = Counter()
        for number, often in Counter(self._checks(places)).items():
            for outcome in self._known[number].outcomes:
                found[outcome] += often
        return found

    def lost_and_often(self, places: Iterable[int]) -> Iterator[tuple[Sequence[Lost], int]]:
        """What checks did not pass in some trials, each with in how many; the same may come again."""
        counted = Counter(self._checks(places))
        return ((self._known[number].lost, often) for number, often in counted.items())

    def lost(self, places: Sequence[int]) -> Iterator[Sequence[Lost]]:
        """The checks that did not pass, of each of some trials."""
        return (self._known[number].lost for number in self._checks(places))

    def _checks(self, places: Iterable[int]) -> Iterator[int]:
        return map(self._checked.__getitem__, places)

    def _number(self, checked: Checked) -> int:
        """What stands in the column for what was found; anything new gets the next number."""
        number = self._numbers.get(checked)
        if number is None:
            number = self._numbers[checked] = len(self._known)
            self._known.append(checked)
        return number
