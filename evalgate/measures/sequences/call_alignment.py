"""Aligns two lists of calls: by name first, and among equal names by equal arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.sequences.repeats import json_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

MOST_CELLS = 250_000
"""Pairs of calls that are compared; beyond it, the differing part is reported as removed and added."""

Key = tuple[str, "Hashable"]


class CallPair(NamedTuple):
    """The position of a call on each side, counted from 0; None if a side has none."""

    baseline: int | None
    current: int | None


def align_calls(baseline: Sequence[tuple[str, Any]], current: Sequence[tuple[str, Any]]) -> list[CallPair]:
    """Returns pairs in the order of both lists: as many of equal names as possible, then of equal arguments.

    A call is its name and its arguments. Removed calls come before the calls added in their place.
    """
    left, right = [_call_key(call) for call in baseline], [_call_key(call) for call in current]
    head = _common_prefix(left, right)
    tail = _common_prefix(left[head:][::-1], right[head:][::-1])
    ends = len(left) - tail, len(right) - tail
    return [
        *(CallPair(at, at) for at in range(head)),
        *_align_middle(left[head : ends[0]], right[head : ends[1]], head),
        *(CallPair(ends[0] + at, ends[1] + at) for at in range(tail)),
    ]


def _call_key(call: tuple[str, Any]) -> Key:
    return call[0], json_key(call[1])


def _common_prefix(one: Sequence[Key], other: Sequence[Key]) -> int:
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )


def _align_middle(baseline: Sequence[Key], current: Sequence[Key], start: int) -> list[CallPair]:
    found = _match_calls(baseline, current) if len(baseline) * len(current) <= MOST_CELLS else []
    pairs: list[CallPair] = []
    i = j = 0
    for at_baseline, at_current in [*found, (len(baseline), len(current))]:
        pairs += [CallPair(start + place, None) for place in range(i, at_baseline)]
        pairs += [CallPair(None, start + place) for place in range(j, at_current)]
        if at_baseline < len(baseline):
            pairs.append(CallPair(start + at_baseline, start + at_current))
        i, j = at_baseline + 1, at_current + 1
    return pairs


def _match_calls(baseline: Sequence[Key], current: Sequence[Key]) -> list[tuple[int, int]]:
    """Returns the pairs of a heaviest common subsequence: one name outweighs all arguments together."""
    weight = min(len(baseline), len(current)) + 1
    best = [[0] * (len(current) + 1) for _ in range(len(baseline) + 1)]
    for i in range(len(baseline) - 1, -1, -1):
        row, below = best[i], best[i + 1]
        for j in range(len(current) - 1, -1, -1):
            row[j] = max(below[j], row[j + 1])
            if baseline[i][0] == current[j][0]:
                row[j] = max(row[j], below[j + 1] + weight + (baseline[i] == current[j]))
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(baseline) and j < len(current):
        if baseline[i][0] == current[j][0] and best[i][j] == best[i + 1][j + 1] + weight + (baseline[i] == current[j]):
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
