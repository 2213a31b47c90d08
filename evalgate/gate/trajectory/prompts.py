"""How two system prompts differ, line by line; what differs in each run is no difference, as in their hashes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from itertools import groupby, islice
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.redaction.redact import redact
from evalgate.measures.sequences.differences import MOST_CELLS, CallPair, align_calls, common_ends, excerpt_texts
from evalgate.measures.values.compact import MOST_READ, leave_out_run
from evalgate.measures.values.json_values import shorten
from evalgate.models.comparison.behaviour import PromptChange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Part = tuple[Sequence[str], Sequence[str]]

MOST_LINES, MOST_COMPARED, CONTEXT = 60, 20_000, 2
"""Lines that are kept, lines of a side that are compared, and equal lines around each difference."""
LONGEST_LINE, LONG = 300, 200
"""Characters of a line that are kept, and from which a line is compared sentence by sentence."""
UNSAFE_TAIL = 4_000
"""The last characters of a text that is read in part: it may be cut within a secret."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")


class _Line(NamedTuple):
    """A line, or a sentence of a long one: what is compared of it, and the number of the line."""

    text: str
    key: str
    number: int


def compare_prompts(hashes: tuple[str, str], before: str, now: str) -> PromptChange | None:
    """The difference of two texts with these hashes; None if only what differs in each run does."""
    leave_out = str if hashes[0] == hashes[1] else leave_out_run  # only their dates differ
    sides = _split_lines(before, leave_out), _split_lines(now, leave_out)
    pairs = align_lines(*([each.key for each in side] for side in sides))
    removed, added = (sum(pair[at] is None for pair in pairs) for at in (1, 0))
    if not removed + added:
        return None
    lines = list(_iter_lines(pairs, *sides))[:MOST_LINES]
    shown = sum(line[0] in "-+" for line in lines)
    return PromptChange(*hashes, removed, added, lines, removed + added - shown)


def _split_lines(text: str, leave_out: Callable[[str], str]) -> list[_Line]:
    kept = redact(text[:MOST_READ])[: -UNSAFE_TAIL if len(text) > MOST_READ else None]
    parts = (
        (part, number)
        for number, line in enumerate(kept.split("\n"), 1)
        for part in (_SENTENCE.split(line) if len(line) > LONG else [line])
    )
    return [_Line(part, leave_out(part), number) for part, number in islice(parts, MOST_COMPARED)]


def _iter_lines(pairs: Sequence[CallPair], before: Sequence[_Line], now: Sequence[_Line]) -> Iterator[str]:
    """Yields the lines of each difference with some around it, after their numbers on both sides."""
    changed = [at for at, pair in enumerate(pairs) if None in pair]
    start = end = 0
    for at in changed:
        if at - CONTEXT > end or not end:
            if end:
                yield from _format_part(pairs[start:end], before, now)
            start = max(0, at - CONTEXT)
        end = at + CONTEXT + 1
    yield from _format_part(pairs[start:end], before, now)


def _format_part(pairs: Sequence[CallPair], before: Sequence[_Line], now: Sequence[_Line]) -> Iterator[str]:
    numbers = [
        next((side[pair[at] or 0].number for pair in pairs if pair[at] is not None), 0)
        for at, side in enumerate((before, now))
    ]
    yield f"@@ -{numbers[0]} +{numbers[1]} @@"
    for is_changed, run in groupby(pairs, key=lambda pair: None in pair):
        if is_changed:
            found = list(run)
            gone = [before[old].text for old, _ in found if old is not None]
            come = [now[new].text for _, new in found if new is not None]
            yield from _format_change(gone, come)
        else:
            yield from (f" {_cut(now[new or 0].text)}" for _, new in run)


def _format_change(gone: Sequence[str], come: Sequence[str]) -> Iterator[str]:
    """Yields the lines of both sides; of as many long ones on each side what is around their first difference."""
    if len(gone) == len(come):
        sides = [excerpt_texts(*each, LONGEST_LINE) for each in zip(gone, come, strict=True)]
        gone, come = [each[0] for each in sides], [each[1] for each in sides]
    yield from (f"-{_cut(line)}" for line in gone)
    yield from (f"+{_cut(line)}" for line in come)


def _cut(line: str) -> str:
    return shorten(line, LONGEST_LINE)


def align_lines(baseline: Sequence[str], current: Sequence[str]) -> list[CallPair]:
    """Pairs in the order of both texts; removed lines come before those added in their place.

    Lines that stand once on each side divide long texts into parts. Of these at most `MOST_CELLS` pairs of lines are
    compared; then a part is removed and added as a whole.

    >>> [tuple(each) for each in align_lines(["a", "b", "c"], ["a", "x", "c"])]
    [(0, 0), (1, None), (None, 1), (2, 2)]
    """
    head, tail = common_ends(baseline, current)
    ends = len(baseline) - tail, len(current) - tail
    middle = baseline[head : ends[0]], current[head : ends[1]]
    pairs = [CallPair(at, at) for at in range(head)]
    pairs += [_shift(each, head, head) for each in _align_middle(middle)]
    return pairs + [CallPair(ends[0] + at, ends[1] + at) for at in range(tail)]


def _align_middle(middle: Part) -> list[CallPair]:
    anchors = _find_anchors(*middle) if len(middle[0]) * len(middle[1]) > MOST_CELLS else []
    pairs: list[CallPair] = []
    i = j = 0
    left = MOST_CELLS
    for at_baseline, at_current in [*anchors, (len(middle[0]), len(middle[1]))]:
        part = middle[0][i:at_baseline], middle[1][j:at_current]
        cells = len(part[0]) * len(part[1])
        pairs += [_shift(each, i, j) for each in (_align(part) if cells <= left else _replace(part))]
        left -= min(cells, left)
        if at_baseline < len(middle[0]):
            pairs.append(CallPair(at_baseline, at_current))
        i, j = at_baseline + 1, at_current + 1
    return pairs


def _shift(pair: CallPair, baseline: int, current: int) -> CallPair:
    old, new = pair
    return CallPair(None if old is None else baseline + old, None if new is None else current + new)


def _align(part: Part) -> list[CallPair]:
    if not all(part):
        return _replace(part)
    return align_calls(*([(line, None) for line in side] for side in part))


def _replace(part: Part) -> list[CallPair]:
    return [*(CallPair(at, None) for at in range(len(part[0]))), *(CallPair(None, at) for at in range(len(part[1])))]


def _find_anchors(baseline: Sequence[str], current: Sequence[str]) -> list[tuple[int, int]]:
    """The places of lines that stand once on each side, as many as are in the same order on both."""
    once = [{line for line, number in Counter(side).items() if number == 1} for side in (baseline, current)]
    places = {line: at for at, line in enumerate(current) if line in once[1]}
    shared = [(at, places[line]) for at, line in enumerate(baseline) if line in once[0] and line in places]
    ends: list[int] = []  # the smallest last place on the current side, of each length
    found: list[int] = []  # the number of the pair that has it
    before: list[int] = []  # of each pair the number of the one before it
    for number, (_, place) in enumerate(shared):
        length = bisect_left(ends, place)
        before.append(found[length - 1] if length else -1)
        ends[length : length + 1], found[length : length + 1] = [place], [number]
    chain: list[tuple[int, int]] = []
    at = found[-1] if found else -1
    while at >= 0:
        chain.append(shared[at])
        at = before[at]
    return chain[::-1]
