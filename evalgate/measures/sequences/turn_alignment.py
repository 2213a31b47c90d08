"""Aligns the turns of a conversation with those of a golden one; turns may stay unpaired.

Finds the cheapest alignment (Needleman and Wunsch 1970): a pair costs 1 - similarity, an unpaired turn 0.5.
So two turns are paired unless better pairs make it cheaper to leave both unpaired. Among alignments of equal
cost, turns are paired as early as possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.text.text_similarity import TooLongError, words

if TYPE_CHECKING:
    from collections.abc import Sequence

ALONE = 0.5
"""The cost of a turn without a counterpart."""
MAX_CELLS = 250_000
"""Golden turns times actual turns up to which they are compared."""
_PAIR, _MISSING, _EXTRA = range(3)


class TurnStep(NamedTuple):
    """A turn of the golden conversation and its counterpart, by number from 0; None if there is none."""

    golden: int | None
    actual: int | None


def align(golden: Sequence[str | None], actual: Sequence[str | None]) -> list[TurnStep]:
    """Returns every turn of both, in order, aligned by the user's text. Raises TooLongError.

    An unknown text is equally similar to every turn.

    >>> align(["hello", "refund please"], ["refund, please"])
    [TurnStep(golden=0, actual=None), TurnStep(golden=1, actual=0)]
    """
    if len(golden) * len(actual) > MAX_CELLS:
        raise TooLongError(f"{len(golden):,} by {len(actual):,} turns are too many to align")
    ours, theirs = _word_sets(golden), _word_sets(actual)
    moves = _moves(ours, theirs)
    steps, row, column = list[TurnStep](), 0, 0
    while row < len(ours) or column < len(theirs):
        move = moves[row][column]
        paired = move == _PAIR
        steps.append(TurnStep(row if move != _EXTRA else None, column if move != _MISSING else None))
        row += paired or move == _MISSING
        column += paired or move == _EXTRA
    return steps


def cost(golden: Sequence[str | None], actual: Sequence[str | None]) -> float:
    """Returns the cost of the cheapest alignment, which is symmetric. Raises TooLongError."""
    ours, theirs = _word_sets(golden), _word_sets(actual)
    return sum(
        ALONE
        if step.golden is None or step.actual is None
        else _unlike(ours[step.golden], theirs[step.actual])
        for step in align(golden, actual)
    )


def _word_sets(texts: Sequence[str | None]) -> list[frozenset[str] | None]:
    return [None if text is None else frozenset(words(text)) for text in texts]


def _unlike(ours: frozenset[str] | None, theirs: frozenset[str] | None) -> float:
    """Returns 1 - the Jaccard similarity of the words."""
    if ours is None or theirs is None:
        return ALONE
    if ours == theirs:
        return 0.0
    return 1.0 - len(ours & theirs) / len(ours | theirs)


def _moves(ours: Sequence[frozenset[str] | None], theirs: Sequence[frozenset[str] | None]) -> list[bytearray]:
    """Finds the best move from each cell, starting from the end."""
    width = len(theirs)
    below = [(width - column) * ALONE for column in range(width + 1)]
    moves = [bytearray([_EXTRA]) * (width + 1)]
    for mine in reversed(ours):
        here, chosen = [0.0] * width + [below[width] + ALONE], bytearray([_MISSING]) * (width + 1)
        for column in range(width - 1, -1, -1):
            options = (
                below[column + 1] + _unlike(mine, theirs[column]),
                below[column] + ALONE,
                here[column + 1] + ALONE,
            )
            here[column] = min(options)
            chosen[column] = options.index(here[column])
        below = here
        moves.append(chosen)
    return moves[::-1]
