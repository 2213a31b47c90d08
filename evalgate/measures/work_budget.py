"""Bounds the work of one check, so that hostile steps and calls can't stall a run."""

from __future__ import annotations

LOOKUPS_PER_COMPARISON = 16
"""Lookups that take about as long as one comparison."""


class WorkBudget:
    """The comparisons left. `ran_out` is true once more were needed, so that the result may be incomplete."""

    __slots__ = ("left", "ran_out")

    def __init__(self, most: int) -> None:
        self.left = most
        self.ran_out = False

    def spend(self, comparisons: int) -> bool:
        """Spends comparisons; False if none are left, and the work must not be done."""
        if self.left <= 0:
            self.ran_out = True
            return False
        self.left -= comparisons
        return True

    def spend_lookups(self, count: int) -> bool:
        """Spends lookups, which cost less than comparisons; False as in `spend`."""
        return self.spend(count // LOOKUPS_PER_COMPARISON + 1)
