"""What one search may cost: elements, characters and time, counted where work can multiply."""

from __future__ import annotations

from math import isfinite
from time import monotonic
from typing import Any

MAX_ELEMENTS = 1_000_000
MAX_SECONDS = 1.0
LONG_TEXT = 1_000
"""Characters up to which touching a text costs no more than any other element."""


class QueryFailedError(ValueError):
    """The expression is fine, this input is not: a wrong type for a function, or too much work."""


class QueryBudget:
    """What is left of one search; every 16 characters of a long text count as an element."""

    __slots__ = ("_left", "_until")

    def begin(self) -> None:
        """A new search has the whole budget."""
        self._left = MAX_ELEMENTS
        self._until = 0.0

    def spend(self, elements: int) -> None:
        """Counts work before it is done; raises QueryFailedError where it is too much or takes too long."""
        before = self._left
        self._left = left = before - elements
        if left >> 12 != before >> 12:
            self._look_at_the_clock()

    def spend_on_text(self, text: str) -> None:
        """Counts one look at all of a text."""
        if len(text) > LONG_TEXT:
            self.spend(len(text) >> 4)

    def weigh(self, value: Any) -> None:
        """Counts everything within a value, as often as it stands there.

        A few selections can make a value that is small in memory, being the same parts again and again, and
        endless to whoever walks through it.
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

    def _look_at_the_clock(self) -> None:
        now = monotonic()
        self._until = self._until or now + MAX_SECONDS
        if self._left < 0 or now > self._until:
            raise QueryFailedError(
                f"the expression needs more than {MAX_ELEMENTS:,} elements or {MAX_SECONDS:g} s"
            )


def finite(value: Any) -> Any:
    """The value itself; raises QueryFailedError for a number that is none, as to_number('NaN')."""
    if isinstance(value, float) and not isfinite(value):
        raise QueryFailedError("the expression makes a number that is not finite")
    return value
