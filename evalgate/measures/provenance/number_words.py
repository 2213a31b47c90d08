"""Numbers that are spelled in English."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_SMALL = {word: value for value, word in enumerate(f"{_ONES} seventeen eighteen nineteen".split())}
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL |= {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_MOST_DIGITS = 15


def find_spelled_numbers(words: Sequence[str]) -> Iterator[str]:
    """Yields the numbers that are spelled in a text, as digits.

    >>> list(find_spelled_numbers("two thousand five hundred and twenty five or fifty".split()))
    ['2525', '50']
    """
    total = part = 0
    is_number = False
    for word in (*words, ""):
        if word in _SMALL:
            part += _SMALL[word]
            is_number = True
        elif word == "hundred" and (part or not is_number):
            part, is_number = max(part, 1) * 100, True
        elif word in _LARGE and is_number:
            total, part = total + part * _LARGE[word], 0
        elif is_number and word != "and":
            if 0 < total + part < 10**_MOST_DIGITS:
                yield str(total + part)
            total, part, is_number = 0, 0, False
