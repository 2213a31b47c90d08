"""Matches expected steps to calls: whether they fit exactly, in order or as a bag, and their alignment."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from heapq import merge
from itertools import groupby, repeat, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct, field

from evalgate.measures.sequences.bipartite import BipartiteMatching

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.measures.sequences.bipartite import WorkBudget

MAX_CELLS = 100_000
"""Steps times calls up to which the reported alignment is the best one; beyond it, a greedy one."""


class Slot(NamedTuple):
    """One expected call: its kind (equal steps share a kind), and whether it may be missing."""

    kind: int
    optional: bool = False


class StepPlan(Struct, frozen=True):
    """Slots in listed order; `segments` are their numbers, those of one segment in any order."""

    slots: Sequence[Slot]
    segments: Sequence[Sequence[int]]

    def required_slots(self, segment: Iterable[int]) -> list[int]:
        """Returns the slots of a segment that need a call."""
        return [slot for slot in segment if not self.slots[slot].optional]


class Calls(Protocol):
    """The calls of one trace, by position from 0. Once `budget` runs out, no further call is accepted."""

    @property
    def count(self) -> int:
        """The number of calls."""

    @property
    def budget(self) -> WorkBudget:
        """The work that may still be done."""

    def candidates(self, kind: int) -> Sequence[int]:
        """Returns the positions, ascending, that a kind of slot may accept."""

    def accepts(self, kind: int, at: int) -> bool:
        """Returns whether the call is what this kind of slot demands."""


class Alignment(Struct):
    """Which call is matched to which slot, as rows of (slot or None, position or None).

    `missing` are required slots without a call, `extra` are calls without a slot.
    """

    rows: list[tuple[int | None, int | None]] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    extra: list[int] = field(default_factory=list)


def fits_exactly(plan: StepPlan, calls: Calls) -> bool:
    """Returns whether calls and slots are the same in order and number; optional slots may be empty."""
    least = len(plan.required_slots(range(len(plan.slots))))
    if not least <= calls.count <= len(plan.slots):
        return False
    reached = {0}
    for segment in plan.segments:
        if not calls.budget.spend_lookups(len(reached)):
            return False
        reached = {end for start in reached for end in _segment_ends(plan, segment, calls, start)}
    return calls.count in reached


def _segment_ends(plan: StepPlan, segment: Sequence[int], calls: Calls, start: int) -> Iterable[int]:
    """Yields where a segment can end, if all its calls have a slot and each required slot has a call."""
    required = plan.required_slots(segment)
    if not required:
        yield start
    if len(segment) == 1:
        if start < calls.count and calls.accepts(plan.slots[segment[0]].kind, start):
            yield start + 1
        return
    whole, needed = _GroupMatching(plan, segment, calls), _GroupMatching(plan, required, calls)
    stop = start + len(segment)
    for expected, (at, kinds) in zip(range(start, stop), _candidates(whole, calls, start), strict=False):
        if at != expected or not whole.add(at, kinds):
            return
        # If all calls can be matched, and all required slots can, then one matching does both.
        needed.add(at, kinds)
        if len(needed) == len(required):
            yield at + 1


class _GroupMatching:
    """Matches calls, added one by one, to the slots of a group; slots of one kind share a capacity."""

    def __init__(self, plan: StepPlan, slots: Sequence[int], calls: Calls) -> None:
        self.capacity = Counter(plan.slots[slot].kind for slot in slots)
        self._kinds_by_call: dict[int, Sequence[int]] = {}
        self._pairs = BipartiteMatching(
            self._kinds_by_call.__getitem__, lambda at, kind: calls.accepts(kind, at), self.capacity, calls.budget
        )

    def __len__(self) -> int:
        """Returns the number of slots that have a call."""
        return len(self._pairs)

    def add(self, at: int, kinds: Iterable[int]) -> bool:
        """Adds a call that may be of these kinds; False if not all calls so far can have a slot."""
        self._kinds_by_call[at] = [kind for kind in kinds if kind in self.capacity]
        return self._pairs.add(at, at)


def _candidates(group: _GroupMatching, calls: Calls, start: int) -> Iterator[tuple[int, list[int]]]:
    """Yields in order the calls that may fill a slot of the group, each with the kinds it may be of."""
    if not calls.budget.spend_lookups(len(group.capacity)):
        return
    waiting = (zip(_positions_from(calls.candidates(kind), start), repeat(kind)) for kind in group.capacity)
    for at, kinds in groupby(merge(*waiting), key=itemgetter(0)):
        yield at, [kind for _, kind in kinds]


def _match_slots(pairs: BipartiteMatching, plan: StepPlan, slots: Sequence[int]) -> bool:
    """Matches the slots, required ones first, as a match is never undone; False if one of those has none."""
    found = [pairs.add(slot, plan.slots[slot].kind) for slot in plan.required_slots(slots)]
    for slot in slots:
        if plan.slots[slot].optional:
            pairs.add(slot, plan.slots[slot].kind)
    return all(found)


def fits_in_order(plan: StepPlan, calls: Calls) -> bool:
    """Returns whether the required slots are a subsequence; ends each segment as early as possible."""
    position: int | None = 0
    for segment in plan.segments:
        required = plan.required_slots(segment)
        if position is None:
            return False
        if len(required) == 1:
            at = _find_first(plan.slots[required[0]].kind, calls, position)
            position = None if at is None else at + 1
        elif required:
            position = _find_group_end(plan, required, calls, position)
    return position is not None


def _find_first(kind: int, calls: Calls, start: int) -> int | None:
    for at in _positions_from(calls.candidates(kind), start):
        if calls.accepts(kind, at):
            return at
        if calls.budget.ran_out:
            return None
    return None


def _find_group_end(plan: StepPlan, required: Sequence[int], calls: Calls, start: int) -> int | None:
    """Finds the first position by which every slot of a group can have a separate call."""
    group = _GroupMatching(plan, required, calls)
    for at, kinds in _candidates(group, calls, start):
        if group.add(at, kinds) and len(group) == len(required):
            return at + 1
        if calls.budget.ran_out:
            return None
    return None


def _positions_from(places: Sequence[int], start: int) -> Iterator[int]:
    return (places[index] for index in range(bisect_left(places, start), len(places)))


def fits_as_bag(plan: StepPlan, calls: Calls, *, closed: bool) -> bool:
    """Returns whether each required slot has a separate call; if `closed`, also each call a slot."""
    pairs, everything = _build_matching(calls), range(len(plan.slots))
    if not closed:
        return all(pairs.add(slot, plan.slots[slot].kind) for slot in plan.required_slots(everything))
    return _match_slots(pairs, plan, everything) and len(pairs) == calls.count


def _build_matching(calls: Calls) -> BipartiteMatching:
    return BipartiteMatching(calls.candidates, calls.accepts, budget=calls.budget)


def align_bag(plan: StepPlan, calls: Calls) -> Alignment:
    """Aligns as many slots and calls as possible, in any order."""
    return _build_alignment(plan, _match_bag(plan, calls), range(len(plan.slots)), calls.count, ordered=False)


def _match_bag(plan: StepPlan, calls: Calls) -> dict[int, int]:
    pairs = _build_matching(calls)
    _match_slots(pairs, plan, range(len(plan.slots)))
    return pairs.right_of


def align_in_order(plan: StepPlan, calls: Calls) -> Alignment:
    """Aligns as many slots and calls in order as possible, so that as few as possible are missing."""
    order = list(range(len(plan.slots)))
    if len(plan.segments) < len(order):
        bag = _match_bag(plan, calls)
        order = [
            slot
            for segment in plan.segments
            for slot in sorted(segment, key=lambda slot: (bag.get(slot, calls.count), slot))
        ]
    return _build_alignment(plan, _match_in_order(plan, order, calls), order, calls.count, ordered=True)


def _match_in_order(plan: StepPlan, order: Sequence[int], calls: Calls) -> dict[int, int]:
    """Matches equal ends first, which some best alignment contains; then aligns what is between them."""

    def is_match(index: int, at: int) -> bool:
        slot = plan.slots[order[index]]
        return not slot.optional and calls.accepts(slot.kind, at)

    pairs: dict[int, int] = {}
    low, steps, end = 0, len(order), calls.count
    while low < steps and low < end and is_match(low, low):
        pairs[order[low]] = low
        low += 1
    while steps > low and end > low and is_match(steps - 1, end - 1):
        steps, end = steps - 1, end - 1
        pairs[order[steps]] = end
    middle, places = order[low:steps], range(low, end)
    find = _match_best if len(middle) * len(places) <= MAX_CELLS else _match_greedily
    return pairs | find(plan, middle, calls, places)


def _match_best(plan: StepPlan, order: Sequence[int], calls: Calls, places: range) -> dict[int, int]:
    """Returns a longest common subsequence in which one required slot outweighs all optional ones."""
    gains = [1 if plan.slots[slot].optional else len(order) + 1 for slot in order]
    fitting = {kind: _find_accepted(places, kind, calls) for kind in {plan.slots[slot].kind for slot in order}}
    fits = [fitting[plan.slots[slot].kind] for slot in order]
    best = [[0] * (len(places) + 1) for _ in range(len(order) + 1)]
    for i in range(len(order) - 1, -1, -1):
        row, below, gain, fit = best[i], best[i + 1], gains[i], fits[i]
        for j in range(len(places) - 1, -1, -1):
            most = below[j] if below[j] > row[j + 1] else row[j + 1]  # noqa: FURB136  (a call takes longer)
            if places[j] in fit and gain + below[j + 1] > most:
                most = gain + below[j + 1]
            row[j] = most
    pairs, i, j = {}, 0, 0
    while i < len(order) and j < len(places):
        if places[j] in fits[i] and best[i][j] == gains[i] + best[i + 1][j + 1]:
            pairs[order[i]] = places[j]
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _find_accepted(places: range, kind: int, calls: Calls) -> set[int]:
    near = takewhile(places.__contains__, _positions_from(calls.candidates(kind), places.start))
    return {at for at in near if calls.accepts(kind, at)}


def _match_greedily(plan: StepPlan, order: Sequence[int], calls: Calls, places: range) -> dict[int, int]:
    """Matches each slot to the first call that fits; skips slots without one."""
    pairs, position = {}, places.start
    for slot in plan.required_slots(order):
        at = _find_first(plan.slots[slot].kind, calls, position)
        if at is not None and at < places.stop:
            pairs[slot] = at
            position = at + 1
    return pairs


def _build_alignment(
    plan: StepPlan, pairs: dict[int, int], order: Sequence[int], count: int, *, ordered: bool
) -> Alignment:
    """Builds rows in the order of the slots; extra calls are in their place if `ordered`, else at the end."""
    taken = set(pairs.values())
    found = Alignment(extra=[at for at in range(count) if at not in taken])
    left = iter([*found.extra, count])
    waiting = next(left)
    for slot in order:
        at = pairs.get(slot)
        while ordered and at is not None and waiting < at:
            found.rows.append((None, waiting))
            waiting = next(left)
        if at is not None:
            found.rows.append((slot, at))
        elif not plan.slots[slot].optional:
            found.missing.append(slot)
            found.rows.append((slot, None))
    if waiting < count:
        found.rows.extend((None, at) for at in (waiting, *left) if at < count)
    return found
