"""Maximum bipartite matching, built incrementally and bounded: the order of adding does not change its size."""

from __future__ import annotations

from sys import maxsize
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LOOKUPS_PER_COMPARISON = 16
"""Lookups that take about as long as one comparison."""


class WorkBudget:
    """The comparisons left. `ran_out` is true once more were needed, so that the result may be incomplete."""

    __slots__ = ("left", "ran_out")

    def __init__(self, most: int) -> None:
        self.left = most
        self.ran_out = False

    def spend(self, comparisons: int) -> bool:
        """Spends comparisons; False if none are left, and the work must not be done."""
        if self.left <= 0:
            self.ran_out = True
            return False
        self.left -= comparisons
        return True

    def spend_lookups(self, count: int) -> bool:
        """Spends lookups, which cost less than comparisons; False as in `spend`."""
        return self.spend(count // LOOKUPS_PER_COMPARISON + 1)


class BipartiteMatching:
    """Pairs of a left and a right, extended by one left at a time along augmenting paths.

    A matched left stays matched, but its partner may change; after every `add` the matching is maximal for
    the lefts added so far. Lefts of one kind accept the same rights: `candidates` lists the rights that a
    kind may accept, in the order they are tried; `accepts` decides. A right has one partner, or as many as
    `capacity` allows. If `budget` runs out, the matching may be smaller.
    """

    __slots__ = (
        "_accepts",
        "_budget",
        "_candidates",
        "_capacity",
        "_dead",
        "_hopeless",
        "_kind",
        "_next",
        "lefts_of",
        "right_of",
    )

    def __init__(
        self,
        candidates: Callable[[int], Sequence[int]],
        accepts: Callable[[int, int], bool],
        capacity: Mapping[int, int] | None = None,
        budget: WorkBudget | None = None,
    ) -> None:
        self.lefts_of: dict[int, dict[int, None]] = {}
        self.right_of: dict[int, int] = {}
        self._candidates = candidates
        self._accepts = accepts
        self._capacity = capacity
        self._budget = WorkBudget(maxsize) if budget is None else budget
        self._kind: dict[int, int] = {}
        self._next: dict[int, int] = {}  # by kind: all candidates before it are full or refused, permanently
        self._dead: set[int] = set()
        self._hopeless: set[int] = set()

    def __len__(self) -> int:
        """Returns the number of pairs so far."""
        return len(self.right_of)

    def add(self, left: int, kind: int) -> bool:
        """Finds a partner for one more left; False if no change of other pairs gives it one."""
        if kind in self._hopeless or self._budget.ran_out:
            return False
        self._kind[left] = kind
        return self._take_free(left, kind) or self._augment(left)

    def _is_full(self, right: int) -> bool:
        return len(self.lefts_of.get(right, ())) >= (1 if self._capacity is None else self._capacity[right])

    def _take_free(self, left: int, kind: int) -> bool:
        rights, start = self._candidates(kind), self._next.get(kind, 0)
        for index in range(start, len(rights)):
            right = rights[index]
            if not self._is_full(right) and self._accepts(kind, right):
                self._next[kind] = index
                self._budget.spend_lookups(index - start)
                self._pair(left, right)
                return True
        self._next[kind] = len(rights)
        self._budget.spend_lookups(len(rights) - start)
        return False

    def _augment(self, left: int) -> bool:
        """Searches breadth first along pairs that could change partners, until a right has capacity."""
        reached_from: dict[int, int] = {}
        queue, kinds = [left], {self._kind[left]}
        for current in queue:
            kind = self._kind[current]
            rights = self._candidates(kind)
            if not self._budget.spend_lookups(len(rights)):
                return False
            for right in rights:
                if right in reached_from or right in self._dead or not self._accepts(kind, right):
                    continue
                reached_from[right] = current
                if not self._is_full(right):
                    self._flip(right, reached_from)
                    return True
                for owner in self.lefts_of[right]:
                    if self._kind[owner] not in kinds:
                        kinds.add(self._kind[owner])
                        queue.append(owner)
        # No path leads from these to a right with capacity, and none ever will: later searches skip them.
        self._dead.update(reached_from)
        self._hopeless.update(kinds)
        return False

    def _flip(self, right: int, reached_from: dict[int, int]) -> None:
        free: int | None = right
        while free is not None:
            left = reached_from[free]
            given_up = self.right_of.get(left)
            if given_up is not None:
                del self.lefts_of[given_up][left]
            self._pair(left, free)
            free = given_up

    def _pair(self, left: int, right: int) -> None:
        self.lefts_of.setdefault(right, {})[left] = None
        self.right_of[left] = right
