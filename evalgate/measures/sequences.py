"""Order of tool calls: three ways to compare what was expected with what was called."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(slots=True)
class Alignment:
    """What matched what. Positions count from 0; `pairs` are (expected, called).

    `missing` are expected positions without a call, `extra` are calls that nothing expected.
    """

    pairs: list[tuple[int, int]] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    extra: list[int] = field(default_factory=list)


def align_exact(expected: Sequence[str], called: Sequence[str]) -> Alignment:
    """Position by position: the same calls in the same order and number."""
    found = Alignment()
    for index in range(max(len(expected), len(called))):
        if index < min(len(expected), len(called)) and expected[index] == called[index]:
            found.pairs.append((index, index))
            continue
        if index < len(expected):
            found.missing.append(index)
        if index < len(called):
            found.extra.append(index)
    return found


def align_in_order(expected: Sequence[str], called: Sequence[str]) -> Alignment:
    """The expected calls as a subsequence: taking the earliest call each time finds one if any exists.

    Once a call is not found, the ones after it are still looked for behind the last match, so that the
    reader sees how far the agent got.
    """
    found, position = Alignment(), 0
    for index, name in enumerate(expected):
        try:
            at = called.index(name, position)
        except ValueError:
            found.missing.append(index)
            continue
        found.extra.extend(range(position, at))
        found.pairs.append((index, at))
        position = at + 1
    found.extra.extend(range(position, len(called)))
    return found


def align_any_order(expected: Sequence[str], called: Sequence[str]) -> Alignment:
    """A bag: each expected call present as often as it is named, wherever it stands."""
    found, wanted = Alignment(), Counter(expected)
    places: dict[str, list[int]] = {}
    for at, name in enumerate(called):
        if wanted[name] > len(places.get(name, [])):
            places.setdefault(name, []).append(at)
        else:
            found.extra.append(at)
    for index, name in enumerate(expected):
        if places.get(name):
            found.pairs.append((index, places[name].pop(0)))
        else:
            found.missing.append(index)
    return found
