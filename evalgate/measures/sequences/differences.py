"""Compares two lists of calls, two texts and two JSON values: what was kept, removed, added and changed."""

from __future__ import annotations

import re
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.measures.sequences.places import ABSENT, find_changes, format_path
from evalgate.measures.sequences.trajectory_metrics import json_key
from evalgate.measures.values.json_values import show
from evalgate.models.comparison.trajectory import TextPart, ValueDifference

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from evalgate.measures.sequences.places import PlaceChange

MOST_CELLS = 250_000
"""Pairs of entries that are compared; beyond it, the differing part is reported as removed and added."""

Key = tuple[str, "Hashable"]


class CallPair(NamedTuple):
    """The position of a call on each side, counted from 0; None if a side has none."""

    baseline: int | None
    current: int | None


def align_calls(baseline: Sequence[tuple[str, Any]], current: Sequence[tuple[str, Any]]) -> list[CallPair]:
    """Returns pairs in the order of both lists: as many of equal names as possible, then of equal arguments.

    A call is its name and its arguments. A call that the other list makes too, at whatever place, is paired only
    with an equal one. Removed calls come before the calls added in their place.
    """
    left, right = ([(name, json_key(arguments)) for name, arguments in side] for side in (baseline, current))
    head, tail = common_ends(left, right)
    ends = len(left) - tail, len(right) - tail
    return [
        *(CallPair(at, at) for at in range(head)),
        *_align_middle(left[head : ends[0]], right[head : ends[1]], head),
        *(CallPair(ends[0] + at, ends[1] + at) for at in range(tail)),
    ]


def common_ends(one: Sequence[Any], other: Sequence[Any]) -> tuple[int, int]:
    """Returns how many entries both lists begin with, and how many of the others both end with."""
    head = _common_prefix(one, other)
    return head, _common_prefix(one[head:][::-1], other[head:][::-1])


def _common_prefix(one: Sequence[Any], other: Sequence[Any]) -> int:
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
    weight, both = min(len(baseline), len(current)) + 1, {*baseline} & {*current}
    baseline_names, current_names = (
        [None if call in both else call[0] for call in side] for side in (baseline, current)
    )

    def weigh(i: int, j: int) -> int:
        if baseline[i] == current[j]:
            return weight + 1
        return weight if baseline_names[i] is not None and baseline_names[i] == current_names[j] else 0

    best = [[0] * (len(current) + 1) for _ in range(len(baseline) + 1)]
    for i in range(len(baseline) - 1, -1, -1):
        row, below = best[i], best[i + 1]
        for j in range(len(current) - 1, -1, -1):
            row[j] = max(below[j], row[j + 1])
            if gain := weigh(i, j):
                row[j] = max(row[j], below[j + 1] + gain)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(baseline) and j < len(current):
        if (gain := weigh(i, j)) and best[i][j] == best[i + 1][j + 1] + gain:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


class EditStep(NamedTuple):
    """A name that is in both lists (kept), only in the first (gone) or only in the second (come)."""

    kind: Literal["kept", "gone", "come"]
    name: str


def diff_lists(baseline: Sequence[str], current: Sequence[str]) -> list[EditStep]:
    """Returns the fewest steps from one list to the other; removed names come before added ones."""
    pairs = align_calls([(name, None) for name in baseline], [(name, None) for name in current])
    return [
        EditStep("come", current[new or 0])
        if old is None
        else EditStep("gone" if new is None else "kept", baseline[old])
        for old, new in pairs
    ]


_WORDS = re.compile(r"\s+|[^\s]+")
MIN_KEPT = 0.3
"""Share of the longer text that must be kept; with less, one text replaces the other."""
FEW_WORDS = 2
_SENTENCES = re.compile(r"[^.!?\n]*(?:[.!?\n]+\s*|$)")


def diff_texts(baseline: str, current: str) -> list[TextPart]:
    """Returns parts in order; without `gone` parts they are `current`, without `come` parts `baseline`.

    Texts with little in common are reported as replaced: many small parts would be hard to read.
    """
    left, right = _WORDS.findall(baseline), _WORDS.findall(current)
    ends = sum(common_ends(left, right))
    if (len(left) - ends) * (len(right) - ends) > MOST_CELLS:
        left, right = _split_sentences(baseline), _split_sentences(current)
    steps = diff_lists(left, right)
    parts = [
        TextPart(kind, "".join(step.name for step in run)) for kind, run in groupby(steps, key=lambda step: step.kind)
    ]
    merged = _merge_changes(parts)
    kept = sum(len(part.text) for part in merged if part.kind == "kept")
    return merged if kept >= MIN_KEPT * max(len(baseline), len(current)) else _replace(baseline, current)


def _split_sentences(text: str) -> list[str]:
    return [found for found in _SENTENCES.findall(text) if found]


def _merge_changes(parts: list[TextPart]) -> list[TextPart]:
    """Merges changes with at most two words between them: `a b` -> `c d`, not word by word."""
    merged: list[TextPart] = []
    gone = come = ""
    for index, part in enumerate(parts):
        kind, text = part.kind, part.text
        is_between = bool(gone and come) and index + 1 < len(parts)
        if kind == "gone":
            gone += text
        elif kind == "come":
            come += text
        elif is_between and len(text.split()) <= FEW_WORDS:
            gone, come = gone + text, come + text
        else:
            merged += _replace(gone, come)
            gone = come = ""
            merged.append(TextPart("kept", text))
    return [*merged, *_replace(gone, come)]


def _replace(gone: str, come: str) -> list[TextPart]:
    return [part for part in (TextPart("gone", gone), TextPart("come", come)) if part.text]


MAX_SHOWN = 200
"""Characters of a value that are shown."""
CONTEXT = 20
"""Characters shown before the first difference of two long texts."""
MAX_FOUND = 1_000
MAX_PATH = 200


def find_differences(baseline: Any, current: Any, most: int) -> tuple[list[ValueDifference], int]:
    """Returns the first `most` differences in the order of the values, and how many more (at most 1,000)."""
    found = list(islice(find_changes(baseline, current), MAX_FOUND))
    return [_show_change(each) for each in found[:most]], max(0, len(found) - most)


def _show_change(change: PlaceChange) -> ValueDifference:
    path, before, after = format_path(change.path)[:MAX_PATH], change.before, change.after
    if before is ABSENT or after is ABSENT:
        shown = [None if side is ABSENT else show(side, MAX_SHOWN) for side in (before, after)]
        return ValueDifference(path, *shown)
    if isinstance(before, str) and isinstance(after, str):
        before, after = excerpt_texts(before, after)
    return ValueDifference(path, show(before, 2 * MAX_SHOWN), show(after, 2 * MAX_SHOWN))


def excerpt_texts(baseline: str, current: str, limit: int = MAX_SHOWN) -> tuple[str, str]:
    """Cuts two texts to at most `limit` characters, from shortly before their first difference.

    >>> excerpt_texts("a" * 50 + "x", "a" * 50 + "y", 30)
    ('…aaaaaaaaaaaaaaaaaaaax', '…aaaaaaaaaaaaaaaaaaaay')
    """
    if max(len(baseline), len(current)) <= limit:
        return baseline, current
    same = next(
        (at for at, pair in enumerate(zip(baseline, current, strict=False)) if pair[0] != pair[1]),
        min(len(baseline), len(current)),
    )
    start = max(0, same - CONTEXT)
    return _excerpt(baseline, start, limit), _excerpt(current, start, limit)


def _excerpt(text: str, start: int, limit: int) -> str:
    left = len(text) - start - limit
    head = "\u2026" if start else ""
    return f"{head}{text[start : start + limit]}{f'… (+{left})' if left > 0 else ''}"
