"""Values as JavaScript writes them into a text."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

MOST_DIGITS = 21
"""From here on JavaScript writes a number with an exponent."""


def write_like_javascript(value: Any) -> str | None:
    """The text of a plain value, None for any other.

    >>> [write_like_javascript(each) for each in (True, 2.0, 0.00001, "a", [1])]
    ['true', '2', '0.00001', 'a', None]
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        digits = f"{Decimal(repr(value)):f}"
        return (digits.removesuffix(".0") if "." in digits else digits) if len(digits) <= MOST_DIGITS else None
    return None
