"""Bounds the cost of one search: elements, characters and time, counted where work can multiply."""

from __future__ import annotations

from math import isfinite
from time import monotonic
from typing import Any

MAX_ELEMENTS = 1_000_000
MAX_SECONDS = 1.0
LONG_TEXT = 1_000
"""Characters up to which a text costs no more than any other element."""


class QueryFailedError(ValueError):
    """A valid expression failed on this input: a wrong type for a function, or too much work."""


class QueryBudget:
    """The rest of the budget of one search; every 16 characters of a long text count as one element."""

    __slots__ = ("_deadline", "_left")

    def reset(self) -> None:
        """Restores the whole budget for a new search."""
        self._left = MAX_ELEMENTS
        self._deadline = 0.0

    def spend(self, elements: int) -> None:
        """Counts work before it is done; raises QueryFailedError if it is too much or takes too long."""
        before = self._left
        self._left = left = before - elements
        if left >> 12 != before >> 12:
            self._check_time()

    def spend_on_text(self, text: str) -> None:
        """Counts reading the whole of a text."""
        if len(text) > LONG_TEXT:
            self.spend(len(text) >> 4)

    def spend_on_value(self, value: Any) -> None:
        """Counts everything within a value, as often as it occurs.

        A few selections can build a value that shares the same parts many times: small in memory, but almost
        endless to traverse.
        """
        rest = [value]
        while rest:
            node = rest.pop()
            if type(node) is str:
                self.spend_on_text(node)
            elif type(node) is list:
                self.spend(len(node))
                rest += node
            elif type(node) is dict:
                self.spend(2 * len(node))
                rest += node
                rest += node.values()

    def _check_time(self) -> None:
        now = monotonic()
        self._deadline = self._deadline or now + MAX_SECONDS
        if self._left < 0 or now > self._deadline:
            raise QueryFailedError(f"the expression needs more than {MAX_ELEMENTS:,} elements or {MAX_SECONDS:g} s")


def require_finite(value: Any) -> Any:
    """Returns the value; raises QueryFailedError for NaN and infinity, such as to_number('NaN')."""
    if isinstance(value, float) and not isfinite(value):
        raise QueryFailedError("the expression produces a number that is not finite")
    return value
