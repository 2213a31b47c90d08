"""Compares two lists of names: which are kept, removed (`gone`) and added (`come`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_CELLS = 250_000
"""Pairs of names that are compared; lists that differ in more are reported as replaced."""


class EditStep(NamedTuple):
    """A name that is in both lists (kept), only in the first (gone) or only in the second (come)."""

    kind: Literal["kept", "gone", "come"]
    name: str


def difference(before: Sequence[str], now: Sequence[str]) -> list[EditStep]:
    """Returns the fewest steps from one list to the other; removed names come before added ones."""
    head, tail = common_ends(before, now)
    old, new = before[head : len(before) - tail], now[head : len(now) - tail]
    middle = _replaced(old, new) if len(old) * len(new) > MOST_CELLS else _aligned(old, new)
    return [
        *(EditStep("kept", name) for name in before[:head]),
        *middle,
        *(EditStep("kept", name) for name in before[len(before) - tail :]),
    ]


def common_ends(before: Sequence[str], now: Sequence[str]) -> tuple[int, int]:
    """Returns how many names both lists begin with, and how many of the others both end with."""
    head = _alike(before, now)
    return head, _alike(before[head:][::-1], now[head:][::-1])


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Returns how many names both lists begin with."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def _replaced(old: Sequence[str], new: Sequence[str]) -> list[EditStep]:
    return [*(EditStep("gone", name) for name in old), *(EditStep("come", name) for name in new)]


def _aligned(old: Sequence[str], new: Sequence[str]) -> list[EditStep]:
    """Returns the steps along a longest common subsequence."""
    kept = _common_lengths(old, new)
    steps: list[EditStep] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if old[i] == new[j]:
            steps.append(EditStep("kept", old[i]))
            i, j = i + 1, j + 1
        elif kept[i + 1][j] >= kept[i][j + 1]:
            steps.append(EditStep("gone", old[i]))
            i += 1
        else:
            steps.append(EditStep("come", new[j]))
            j += 1
    return [*steps, *_replaced(old[i:], new[j:])]


def _common_lengths(old: Sequence[str], new: Sequence[str]) -> list[list[int]]:
    """Returns at `[i][j]` the length of the longest common subsequence of both from `i` and `j` on."""
    lengths = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        row, below = lengths[i], lengths[i + 1]
        for j in range(len(new) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if old[i] == new[j] else max(below[j], row[j + 1])
    return lengths
