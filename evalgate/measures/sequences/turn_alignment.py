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

UNPAIRED_COST = 0.5
"""The cost of a turn without a counterpart."""
MAX_CELLS = 250_000
"""Golden turns times actual turns up to which they are compared."""
_PAIR, _MISSING, _EXTRA = range(3)


class TurnStep(NamedTuple):
    """A turn of the golden conversation and its counterpart, by number from 0; None if it has no counterpart."""

    golden: int | None
    actual: int | None


def align_turn_texts(golden: Sequence[str | None], actual: Sequence[str | None]) -> list[TurnStep]:
    """Returns every turn of both, in order, aligned by the user's text. Raises TooLongError.

    An unknown text is equally similar to every turn.

    >>> align_turn_texts(["hello", "refund please"], ["refund, please"])
    [TurnStep(golden=0, actual=None), TurnStep(golden=1, actual=0)]
    """
    if len(golden) * len(actual) > MAX_CELLS:
        raise TooLongError(f"{len(golden):,} by {len(actual):,} turns are too many to align")
    golden_words, actual_words = _word_sets(golden), _word_sets(actual)
    moves = _find_best_moves(golden_words, actual_words)
    steps, row, column = list[TurnStep](), 0, 0
    while row < len(golden_words) or column < len(actual_words):
        move = moves[row][column]
        paired = move == _PAIR
        steps.append(TurnStep(row if move != _EXTRA else None, column if move != _MISSING else None))
        row += paired or move == _MISSING
        column += paired or move == _EXTRA
    return steps


def alignment_cost(golden: Sequence[str | None], actual: Sequence[str | None]) -> float:
    """Returns the cost of the cheapest alignment, which is symmetric. Raises TooLongError."""
    golden_words, actual_words = _word_sets(golden), _word_sets(actual)
    return sum(
        UNPAIRED_COST
        if step.golden is None or step.actual is None
        else _word_distance(golden_words[step.golden], actual_words[step.actual])
        for step in align_turn_texts(golden, actual)
    )


def _word_sets(texts: Sequence[str | None]) -> list[frozenset[str] | None]:
    return [None if text is None else frozenset(words(text)) for text in texts]


def _word_distance(golden_words: frozenset[str] | None, actual_words: frozenset[str] | None) -> float:
    """Returns 1 - the Jaccard similarity of the words."""
    if golden_words is None or actual_words is None:
        return UNPAIRED_COST
    if golden_words == actual_words:
        return 0.0
    return 1.0 - len(golden_words & actual_words) / len(golden_words | actual_words)


def _find_best_moves(
    golden_words: Sequence[frozenset[str] | None], actual_words: Sequence[frozenset[str] | None]
) -> list[bytearray]:
    """Finds the best move from each cell, starting from the end."""
    width = len(actual_words)
    below = [(width - column) * UNPAIRED_COST for column in range(width + 1)]
    moves = [bytearray([_EXTRA]) * (width + 1)]
    for turn_words in reversed(golden_words):
        here, chosen = [0.0] * width + [below[width] + UNPAIRED_COST], bytearray([_MISSING]) * (width + 1)
        for column in range(width - 1, -1, -1):
            options = (
                below[column + 1] + _word_distance(turn_words, actual_words[column]),
                below[column] + UNPAIRED_COST,
                here[column + 1] + UNPAIRED_COST,
            )
            here[column] = min(options)
            chosen[column] = options.index(here[column])
        below = here
        moves.append(chosen)
    return moves[::-1]
