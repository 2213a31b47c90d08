"""Computes up to which length of text a pattern can be searched without a time limit.

Most patterns of suites can't take long on an answer of usual length, and a time limit costs more than their
search. The work computed here is an upper bound, derived from the source: every way to match at every
place, each followed to its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.measures.text.required_text import Token

MAX_STEPS = 200_000
"""Steps of the engine, which take at most 5 ms."""
MAX_DEPTH = 20
LENGTHS = (16_384, 4_096, 1_024, 256, 64)
"""Lengths of text that are tried, longest first."""

_REPEATABLE = frozenset({"literal", "any", "end"})
"""Tokens that a quantifier may follow."""


class PatternPart(NamedTuple):
    """A part of a pattern, repeated from `least` to `most` times; `most` None means without limit.

    `branches` are those of a group; a single character has none.
    """

    branches: Sequence[Sequence[PatternPart]] = ()
    least: int = 1
    most: int | None = 1


_ONE = PatternPart()
"""One character, or a place between two, as most parts are."""


class UnknownWorkError(Exception):
    """The work of the pattern can't be bounded."""


def free_length(pieces: Sequence[Token] | None) -> int:
    """Returns the length up to which a search needs no time limit; 0 if it always needs one."""
    try:
        branches = parse_branches(pieces)
    except UnknownWorkError:
        return 0
    return next((each for each in LENGTHS if each * work_and_ways(branches, each)[0] <= MAX_STEPS), 0)


def work_and_ways(branches: Sequence[Sequence[PatternPart]], length: int) -> tuple[int, int]:
    """Counts the steps at one place of a text over all ways to match there, and the number of ways.

    Stops counting when there are too many.
    """
    work = ways = 0
    for branch in branches:
        steps = choices = 1
        for part in reversed(branch):
            if part is _ONE:
                steps += 1
                continue
            part_steps, ways_of_part = _count_part(part, length)
            steps = part_steps + ways_of_part * steps
            choices *= ways_of_part
            if steps > MAX_STEPS:
                break
        work += steps
        ways += choices
    return work, ways


def _count_part(part: PatternPart, length: int) -> tuple[int, int]:
    if part.branches:
        work, ways = work_and_ways(part.branches, length)
        return work, ways + 1 - part.least
    most = length if part.most is None else part.most
    return max(most, 1), max(most - part.least, 0) + 1


def parse_branches(pieces: Sequence[Token] | None) -> list[list[PatternPart]]:
    """Parses the branches of the pattern; raises UnknownWorkError."""
    if pieces is None:
        raise UnknownWorkError
    groups: list[list[list[PatternPart]]] = [[[]]]
    previous_kind = ""
    for kind, text in pieces:
        if kind == "group":
            groups.append([[]])
        elif kind == "either":
            groups[-1].append([])
        elif kind == "end":
            closed = groups.pop()
            if not groups:
                raise UnknownWorkError
            groups[-1][-1].append(PatternPart(closed))
        elif kind == "quantifier":
            _repeat(groups[-1][-1], previous_kind, text)
        else:
            groups[-1][-1].append(_ONE)
        if len(groups) > MAX_DEPTH:
            raise UnknownWorkError
        previous_kind = kind
    if len(groups) > 1:
        raise UnknownWorkError
    return groups[0]


def _repeat(branch: list[PatternPart], previous_kind: str, quantifier: str) -> None:
    """Repeats the last part; a group may only have `?`, as more repeats would multiply its ways."""
    least, most = _bounds(quantifier)
    if previous_kind not in _REPEATABLE or (branch[-1].branches and (least > 1 or most != 1)):
        raise UnknownWorkError
    branch[-1] = PatternPart(branch[-1].branches, least, most)


def _bounds(quantifier: str) -> tuple[int, int | None]:
    """Returns minimum and maximum of repeats, None for no maximum. Raises UnknownWorkError."""
    if quantifier[0] != "{":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[quantifier[0]]
    least, comma, most = quantifier[1 : quantifier.index("}")].partition(",")
    if not least and not most:
        raise UnknownWorkError
    if not comma:
        return int(least), int(least)
    return int(least or 0), int(most) if most else None
