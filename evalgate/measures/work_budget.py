"""How much work one check may do: hostile steps and calls must not be able to hold up a run."""

from __future__ import annotations

LOOKS = 16
"""Looks at what is already known that take about as long as one comparison."""


class WorkBudget:
    """Comparisons that are left. `ran_out` says that more were wanted, so that what was found is not all."""

    __slots__ = ("left", "ran_out")

    def __init__(self, most: int) -> None:
        self.left = most
        self.ran_out = False

    def spend(self, comparisons: int) -> bool:
        """False where nothing is left: then the work is not to be done."""
        if self.left <= 0:
            self.ran_out = True
            return False
        self.left -= comparisons
        return True

    def look(self, times: int) -> bool:
        """As `spend`, for looks that cost less than a comparison does."""
        return self.spend(times // LOOKS + 1)
