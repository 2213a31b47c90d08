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


def diff_lists(baseline: Sequence[str], current: Sequence[str]) -> list[EditStep]:
    """Returns the fewest steps from one list to the other; removed names come before added ones."""
    head, tail = common_ends(baseline, current)
    left, right = baseline[head : len(baseline) - tail], current[head : len(current) - tail]
    middle = _replace_all(left, right) if len(left) * len(right) > MOST_CELLS else _align(left, right)
    return [
        *(EditStep("kept", name) for name in baseline[:head]),
        *middle,
        *(EditStep("kept", name) for name in baseline[len(baseline) - tail :]),
    ]


def common_ends(baseline: Sequence[str], current: Sequence[str]) -> tuple[int, int]:
    """Returns how many names both lists begin with, and how many of the others both end with."""
    head = _common_prefix(baseline, current)
    return head, _common_prefix(baseline[head:][::-1], current[head:][::-1])


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )


def _replace_all(baseline: Sequence[str], current: Sequence[str]) -> list[EditStep]:
    return [*(EditStep("gone", name) for name in baseline), *(EditStep("come", name) for name in current)]


def _align(baseline: Sequence[str], current: Sequence[str]) -> list[EditStep]:
    lengths = _common_lengths(baseline, current)
    steps: list[EditStep] = []
    i = j = 0
    while i < len(baseline) and j < len(current):
        if baseline[i] == current[j]:
            steps.append(EditStep("kept", baseline[i]))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            steps.append(EditStep("gone", baseline[i]))
            i += 1
        else:
            steps.append(EditStep("come", current[j]))
            j += 1
    return [*steps, *_replace_all(baseline[i:], current[j:])]


def _common_lengths(baseline: Sequence[str], current: Sequence[str]) -> list[list[int]]:
    """Returns at `[i][j]` the length of the longest common subsequence of both from `i` and `j` on."""
    lengths = [[0] * (len(current) + 1) for _ in range(len(baseline) + 1)]
    for i in range(len(baseline) - 1, -1, -1):
        row, below = lengths[i], lengths[i + 1]
        for j in range(len(current) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if baseline[i] == current[j] else max(below[j], row[j + 1])
    return lengths
