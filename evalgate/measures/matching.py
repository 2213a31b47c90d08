"""Maximum bipartite matching, grown one by one: no order of asking changes how many find a partner."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Matching:
    """Pairs of a left and a right, grown by one left at a time along augmenting paths.

    What is matched once stays matched, though its partner may change; after every `add` the matching is as
    large as it can be for the lefts added so far. Lefts of one kind want the same rights: `candidates` names
    the rights that a kind may want, in the order they are tried, `accepts` says whether it does.
    """

    __slots__ = ("_accepts", "_candidates", "_dead", "_kind", "_next", "left_of", "right_of")

    def __init__(
        self, candidates: Callable[[int], Sequence[int]], accepts: Callable[[int, int], bool]
    ) -> None:
        self.left_of: dict[int, int] = {}
        self.right_of: dict[int, int] = {}
        self._candidates = candidates
        self._accepts = accepts
        self._kind: dict[int, int] = {}
        self._next: dict[int, int] = {}  # by kind: candidates before it are taken or refused, both for good
        self._dead: set[int] = set()

    def __len__(self) -> int:
        """Pairs so far."""
        return len(self.right_of)

    def add(self, left: int, kind: int) -> bool:
        """Finds a partner for one more left; False where there is none, whatever the others give up."""
        self._kind[left] = kind
        return self._take_free(left, kind) or self._augment(left)

    def _take_free(self, left: int, kind: int) -> bool:
        rights = self._candidates(kind)
        for index in range(self._next.get(kind, 0), len(rights)):
            right = rights[index]
            if right not in self.left_of and self._accepts(kind, right):
                self._next[kind] = index + 1
                self._pair(left, right)
                return True
        self._next[kind] = len(rights)
        return False

    def _augment(self, left: int) -> bool:
        """Breadth first along pairs that could change partners, until a right is free."""
        reached_from: dict[int, int] = {}
        queue, kinds = [left], {self._kind[left]}
        for current in queue:
            kind = self._kind[current]
            for right in self._candidates(kind):
                if right in reached_from or right in self._dead or not self._accepts(kind, right):
                    continue
                reached_from[right] = current
                owner = self.left_of.get(right)
                if owner is None:
                    self._flip(right, reached_from)
                    return True
                if self._kind[owner] not in kinds:
                    kinds.add(self._kind[owner])
                    queue.append(owner)
        # No way leads from these to a free right, and none ever will: later searches need not look again.
        self._dead.update(reached_from)
        return False

    def _flip(self, right: int, reached_from: dict[int, int]) -> None:
        free: int | None = right
        while free is not None:
            left = reached_from[free]
            given_up = self.right_of.get(left)
            self._pair(left, free)
            free = given_up

    def _pair(self, left: int, right: int) -> None:
        self.left_of[right] = left
        self.right_of[left] = right
