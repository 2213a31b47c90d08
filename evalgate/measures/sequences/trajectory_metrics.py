"""How close a list of calls comes to a reference, in [0, 1], and where a list repeats itself.

Calls count as a bag in `precision`, `recall` and `f1` (C. van Rijsbergen, "Information retrieval", 1979):
with m = the sum over names of min(times called, times in the reference), they are m / calls, m / references
and 2m / (calls + references). `lcs` is the length of the longest common subsequence over the longer of both
lists (D. Bakkelund, "An LCS-based string metric", 2009), so that missing and extra calls both lower it.
`exact`, `in_order` and `any_order` are 1 or 0: the same list, the reference as a subsequence, as a bag. `*` in a
name of the reference matches any characters.

Calls of one message of a model are made in parallel and have no order: `order_alike` gives them that of another run.
"""

from __future__ import annotations

from collections import Counter, deque
from itertools import groupby
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.sequences.bipartite import BipartiteMatching
from evalgate.measures.text.globs import matches_id

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    Metric = Callable[[Sequence[str], Sequence[str]], float]


def precision(reference: Sequence[str], called: Sequence[str]) -> float:
    """Share of the calls that are in the reference; 0 without calls."""
    return _count_common(reference, called) / len(called) if called else 0.0


def recall(reference: Sequence[str], called: Sequence[str]) -> float:
    """Share of the reference (not empty) that was called."""
    return _count_common(reference, called) / len(reference)


def f1(reference: Sequence[str], called: Sequence[str]) -> float:
    """Harmonic mean of precision and recall."""
    return 2 * _count_common(reference, called) / (len(reference) + len(called))


def _count_common(reference: Sequence[str], called: Sequence[str]) -> int:
    """Counts the most calls that can be assigned to entries: exact names first, which leaves as many to globs."""
    left = Counter(called)
    exact_names = Counter(name for name in reference if "*" not in name) & left
    globs = [name for name in reference if "*" in name]
    return exact_names.total() + (_count_by_globs(globs, left - exact_names) if globs else 0)


def _count_by_globs(globs: Sequence[str], left: Counter[str]) -> int:
    names, kinds = list(left), list(dict.fromkeys(globs))
    places = [[at for at, name in enumerate(names) if matches_id(glob, name)] for glob in kinds]
    pairs = BipartiteMatching(places.__getitem__, lambda *_: True, dict(enumerate(left.values())))
    kind_numbers = {glob: number for number, glob in enumerate(kinds)}
    return sum(pairs.add(number, kind_numbers[glob]) for number, glob in enumerate(globs))


def lcs(reference: Sequence[str], called: Sequence[str]) -> float:
    """Longest common subsequence over the longer of both."""
    return lcs_length(reference, called) / max(len(reference), len(called))


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence; `*` in texts of the first matches any characters.

    H. Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): a column of the table is one number of
    len(first) bits, in which a zero marks a row where the length grows.
    """
    everything = (1 << len(first)) - 1
    places: dict[str, int] = {}
    for index, name in enumerate(first):
        places[name] = places.get(name, 0) | 1 << index
    if any("*" in name for name in places):
        rows = places
        places = {name: sum(rows[text] for text in rows if matches_id(text, name)) for name in set(second)}
    column = everything
    for name in second:
        matching = column & places.get(name, 0)
        column = ((column + matching) | (column - matching)) & everything
    return len(first) - column.bit_count()


def exact(reference: Sequence[str], called: Sequence[str]) -> float:
    """1 if both lists are equal, else 0."""
    return float(
        list(reference) == list(called) or (len(reference) == len(called) and all(map(matches_id, reference, called)))
    )


def in_order(reference: Sequence[str], called: Sequence[str]) -> float:
    """1 if the reference is a subsequence of the calls, else 0."""
    rest = iter(called)
    return float(
        all(any(matches_id(name, each) for each in rest) if "*" in name else name in rest for name in reference)
    )


def any_order(reference: Sequence[str], called: Sequence[str]) -> float:
    """1 if each name was called at least as often as it is in the reference, else 0."""
    return float(_count_common(reference, called) == len(reference))


METRICS: dict[str, Metric] = {
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "lcs": lcs,
    "exact": exact,
    "in_order": in_order,
    "any_order": any_order,
}

MAX_CYCLE = 1_000
"""Entries of the longest block that is searched: keeps the search linear in the length of the list."""


class Repeat(NamedTuple):
    """A block of `length` entries from `start` (counted from 0) that occurs `times` times in a row."""

    start: int
    length: int
    times: int


def find_repeat(entries: Sequence[Hashable], most: int) -> Repeat | None:
    """Finds the first of the shortest blocks that occur more than `most` (>= 1) times in a row, or None.

    A block of p entries occurs k times in a row exactly if (k - 1) * p entries in a row equal the entry p
    positions later. One byte per entry is compared for all positions at once; if those agree, the entries.
    """
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(entry, len(numbers)) for entry in entries]
    size = len(codes)
    low = int.from_bytes(bytes(code & 255 for code in codes), "little")
    for length in range(1, min(size // (most + 1), MAX_CYCLE) + 1):
        apart = (low ^ (low >> (8 * length))).to_bytes(size, "little")
        if apart.find(bytes(most * length)) < 0:
            continue
        same = bytes(map(eq, codes, codes[length:]))
        start = same.find(b"\1" * (most * length))
        if start >= 0:
            end = same.find(b"\0", start)
            run = (len(same) if end < 0 else end) - start
            return Repeat(start, length, run // length + 1)
    return None


def json_key(value: Any) -> Hashable:
    """Returns a key that two JSON values share exactly if they are equal in JSON: 1 is 1.0, true is not 1."""
    if isinstance(value, dict):
        return ("object", frozenset((name, json_key(each)) for name, each in value.items()))
    if isinstance(value, list):
        return ("list", tuple(map(json_key, value)))
    if isinstance(value, bool):
        return ("boolean", value)
    key: Hashable = value
    return key


class OrderedCall(NamedTuple):
    """A call: the number of its message, 0 if that is unknown, its name, and its arguments as JSON."""

    step: int
    name: str
    arguments: Any


def order_alike(baseline: Sequence[OrderedCall], current: Sequence[OrderedCall]) -> tuple[Sequence[int], Sequence[int]]:
    """The places of both sides' calls in the order in which they are compared: that of the baseline, if it has one.

    Where the baseline makes in one message what this run makes one by one, the order is that of this run.
    """
    now = order_like(baseline, current)
    before = order_like([current[at] for at in now], baseline)
    return before, now


def order_like(other: Sequence[OrderedCall], calls: Sequence[OrderedCall]) -> Sequence[int]:
    """The places of calls, those of one message in the order of the same calls in `other`, else as recorded.

    Calls are the same if they are equal, else if they have the same name.
    """
    messages = [list(group) for _, group in groupby(range(len(calls)), key=lambda at: calls[at].step or -at - 1)]
    if len(messages) == len(calls):
        return range(len(calls))
    partners = _find_partners(other, calls)
    return [at for message in messages for at in _sort_message(message, partners)]


def _sort_message(message: Sequence[int], partners: Sequence[int | None]) -> Sequence[int]:
    """A call without a partner stays behind the call before it."""
    keys: dict[int, int] = {}
    last = -1
    for at in message:
        partner = partners[at]
        last = keys[at] = last if partner is None else partner
    return sorted(message, key=keys.__getitem__)


def _find_partners(other: Sequence[OrderedCall], calls: Sequence[OrderedCall]) -> Sequence[int | None]:
    """The place in `other` of each call, every place once."""
    partners: list[int | None] = [None] * len(calls)
    _match(partners, map(_build_key, other), list(map(_build_key, calls)))
    taken = {*partners}
    names = (None if at in taken else each.name for at, each in enumerate(other))
    _match(partners, names, [each.name for each in calls])
    return partners


def _build_key(call: OrderedCall) -> Hashable:
    return call.name, json_key(call.arguments)


def _match(partners: list[int | None], other: Iterable[Hashable], keys: Sequence[Hashable]) -> None:
    places: dict[Hashable, deque[int]] = {}
    for at, key in enumerate(other):
        places.setdefault(key, deque()).append(at)
    for at in _list_without(partners):
        found = places.get(keys[at])
        if found:
            partners[at] = found.popleft()


def _list_without(partners: Sequence[int | None]) -> Iterator[int]:
    return (at for at, partner in enumerate(partners) if partner is None)
