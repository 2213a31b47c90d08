"""Sums that a person would work out of one result: of two numbers under one key, or one number times 2 to 5.

And the total of a payment that a call splits.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any

from evalgate.measures.provenance.normal_form import write_number
from evalgate.measures.values.json_values import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NUMBERS = 40
"""Numbers under one key of one result, beyond which nearly any amount would be a sum of two."""
FACTORS = (2, 3, 4, 5)
_NAMES_NO_AMOUNT = re.compile(r"(?:^|[_-])(?:ids?|zip|phone|code)$|(?<=[a-z])I[dD]s?$")


def list_sums(result: Any) -> Iterator[str]:
    """Yields the tokens of sums and differences of two numbers under one key, and of their products.

    >>> sorted(list_sums({"items": [{"price": 20.5}, {"price": 30}]}))
    ['102.5', '120', '150', '41', '50.5', '60', '61.5', '82', '9.5', '90']
    """
    for key, numbers in _group_numbers(result).items():
        distinct = list(dict.fromkeys(numbers))
        if len(distinct) <= MAX_NUMBERS and not _NAMES_NO_AMOUNT.search(key):
            for first, second in combinations(distinct, 2):
                yield from (_write(first + second), _write(first - second))
            yield from (_write(each * factor) for each in distinct for factor in FACTORS)


def find_total(arguments: Any, value: float) -> float | None:
    """The sum of the numbers that stand under the same key of a call's arguments as this one; None if it is alone.

    >>> find_total({"payments": [{"amount": 128}, {"amount": 247}]}, 247)
    375
    """
    shares = next((found for found in _group_numbers(arguments).values() if value in found), [])
    return round(sum(shares), 2) if len(shares) > 1 else None


def _write(value: float) -> str:
    return write_number(round(value, 2))


def _group_numbers(result: Any) -> dict[str, list[float]]:
    """The typed numbers of a JSON value by the key that they stand under, wherever."""
    found: dict[str, list[float]] = {}
    stack = [("", result)]
    while stack:
        key, value = stack.pop()
        if isinstance(value, dict):
            stack.extend((str(inner), each) for inner, each in value.items())
        elif isinstance(value, list):
            stack.extend((key, each) for each in value)
        elif is_number(value) and value and abs(value) < 1e12:  # noqa: PLR2004  (no amount)
            found.setdefault(key, []).append(value)
    return found
