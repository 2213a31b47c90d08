"""Aligns two lists of calls: by name first, and among equal names by equal arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.sequences.repeats import hashable

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

MOST_CELLS = 250_000
"""Pairs of calls that are compared; beyond it, the differing part is reported as removed and added."""

Key = tuple[str, "Hashable"]


class CallPair(NamedTuple):
    """The position of a call on each side, counted from 0; None if a side has none."""

    before: int | None
    now: int | None


def align(before: Sequence[tuple[str, Any]], now: Sequence[tuple[str, Any]]) -> list[CallPair]:
    """Returns pairs in the order of both lists: as many of equal names as possible, then of equal arguments.

    A call is its name and its arguments. Removed calls come before the calls added in their place.
    """
    old, new = [_key(call) for call in before], [_key(call) for call in now]
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    ends = len(old) - tail, len(new) - tail
    return [
        *(CallPair(at, at) for at in range(head)),
        *_middle(old[head : ends[0]], new[head : ends[1]], head),
        *(CallPair(ends[0] + at, ends[1] + at) for at in range(tail)),
    ]


def _key(call: tuple[str, Any]) -> Key:
    return call[0], hashable(call[1])


def _alike(one: Sequence[Key], other: Sequence[Key]) -> int:
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def _middle(old: Sequence[Key], new: Sequence[Key], start: int) -> list[CallPair]:
    found = _matched(old, new) if len(old) * len(new) <= MOST_CELLS else []
    pairs: list[CallPair] = []
    i = j = 0
    for at_old, at_new in [*found, (len(old), len(new))]:
        pairs += [CallPair(start + place, None) for place in range(i, at_old)]
        pairs += [CallPair(None, start + place) for place in range(j, at_new)]
        if at_old < len(old):
            pairs.append(CallPair(start + at_old, start + at_new))
        i, j = at_old + 1, at_new + 1
    return pairs


def _matched(old: Sequence[Key], new: Sequence[Key]) -> list[tuple[int, int]]:
    """Returns the pairs of a heaviest common subsequence: one name outweighs all arguments together."""
    name = min(len(old), len(new)) + 1
    best = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        row, below = best[i], best[i + 1]
        for j in range(len(new) - 1, -1, -1):
            row[j] = max(below[j], row[j + 1])
            if old[i][0] == new[j][0]:
                row[j] = max(row[j], below[j + 1] + name + (old[i] == new[j]))
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if old[i][0] == new[j][0] and best[i][j] == best[i + 1][j + 1] + name + (old[i] == new[j]):
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
