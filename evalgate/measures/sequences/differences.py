"""Compares lists of calls, texts, JSON values and states of a run: what was kept, removed, added and changed."""

from __future__ import annotations

import re
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.measures.sequences.trajectory_metrics import OrderedCall, json_key, order_alike
from evalgate.measures.text.plain_text import LEAST_CUT, mark_cut
from evalgate.measures.values.json_values import json_equal, show
from evalgate.models.comparison.trajectory import TextPart, ValueDifference

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from evalgate.models.trace.trace import RunState

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


def align_messages(baseline: Sequence[OrderedCall], current: Sequence[OrderedCall]) -> list[CallPair]:
    """Returns the pairs of `align_calls`; calls of one message have whatever order the other side has."""
    sides, orders = (baseline, current), order_alike(baseline, current)
    pairs = align_calls(*([side[at][1:] for at in order] for side, order in zip(sides, orders, strict=True)))
    return [
        CallPair(*(None if at is None else order[at] for at, order in zip(pair, orders, strict=True))) for pair in pairs
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
MAX_DEPTH = 64
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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

    >>> excerpt_texts("a" * 90 + "x", "a" * 90 + "y", 30)
    ('…aaaaaaaaaaaaaaaaaaaax', '…aaaaaaaaaaaaaaaaaaaay')
    """
    if max(len(baseline), len(current)) < limit + LEAST_CUT:
        return baseline, current
    same = next(
        (at for at, pair in enumerate(zip(baseline, current, strict=False)) if pair[0] != pair[1]),
        min(len(baseline), len(current)),
    )
    start = max(0, same - CONTEXT)
    return _excerpt(baseline, start, limit), _excerpt(current, start, limit)


def _excerpt(text: str, start: int, limit: int) -> str:
    head, left = "\u2026" if start else "", len(text) - start - limit
    return f"{head}{text[start:]}" if left < LEAST_CUT else f"{head}{text[start : start + limit]}{mark_cut(left)}"


ABSENT: Any = object()
"""What a side has that has no value at a place, which null would be."""


class PlaceChange(NamedTuple):
    """A place where two JSON values differ, by the names and indices that lead to it, and both sides of it."""

    path: tuple[str | int, ...]
    before: Any
    after: Any


def find_changes(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> Iterator[PlaceChange]:
    """Yields the places in the order of the values; entries at the end of a list go last first, so that each is there.

    >>> [(each.path, each.after) for each in find_changes({"a": [1, 2]}, {"a": [1, 3], "b": None})]
    [(('a', 1), 3), (('b',), None)]
    """
    if json_equal(before, after):
        return
    if len(path) < MAX_DEPTH and isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _compare_at((*path, str(key)), before.get(key, ABSENT), after.get(key, ABSENT))
    elif len(path) < MAX_DEPTH and isinstance(before, list) and isinstance(after, list):
        shorter = min(len(before), len(after))
        for index in range(shorter):
            yield from find_changes(before[index], after[index], (*path, index))
        yield from (
            PlaceChange((*path, index), before[index], ABSENT) for index in reversed(range(shorter, len(before)))
        )
        yield from (PlaceChange((*path, index), ABSENT, after[index]) for index in range(shorter, len(after)))
    else:
        yield PlaceChange(path, before, after)


def _compare_at(path: tuple[str | int, ...], before: Any, after: Any) -> Iterator[PlaceChange]:
    if before is ABSENT or after is ABSENT:
        yield PlaceChange(path, before, after)
    else:
        yield from find_changes(before, after, path)


def format_path(path: Sequence[str | int]) -> str:
    """Returns the path as a JMESPath.

    >>> format_path(("orders", "A-7", "rows", 0))
    'orders."A-7".rows[0]'
    """
    names = (f"[{key}]" if isinstance(key, int) else f".{_quote(key)}" for key in path)
    return "".join(names).removeprefix(".")


def _quote(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else show(key, MAX_PATH)


def list_changes(state: RunState | None, most: int | None = None) -> Sequence[PlaceChange] | None:
    """What changed, by the difference as recorded and by both states; None if neither is known.

    The recorded one knows of changes that masks hide in the states. At most the first `most` of each are read.
    """
    if state is None or not ("diff" in state or ("before" in state and "after" in state)):
        return None
    before, after = state.get("before", ABSENT), state.get("after", ABSENT)
    has_both = ABSENT not in (before, after)
    found = islice(find_changes(before, after) if has_both else (), most)
    changes = {format_path(each.path): each for each in found}
    for operation in islice(state.get("diff", ()), most):
        change = _read_operation(operation, before, after)
        changes.setdefault(format_path(change.path), change)
    return [changes[path] for path in sorted(changes)]


def _read_operation(operation: Mapping[str, Any], before: Any, after: Any) -> PlaceChange:
    """The change that an operation of RFC 6902 describes; which names are indices, the states say."""
    path: list[str | int] = []
    for name in operation["path"].split("/")[1:]:
        is_index = isinstance(before, list) or isinstance(after, list)
        path.append(int(name) if is_index and name.isdecimal() else name.replace("~1", "/").replace("~0", "~"))
        before, after = _get(before, path[-1]), _get(after, path[-1])
    return PlaceChange(tuple(path), before, ABSENT if operation["op"] == "remove" else operation.get("value"))


def _get(value: Any, key: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(key, ABSENT)
    is_there = isinstance(value, list) and isinstance(key, int) and key < len(value)
    return value[key] if is_there else ABSENT
