"""Corrects p-values of many scenarios for multiple testing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.numeric.means import DIGITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.suite.policy import RegressionPolicy

NO_CORRECTION = "none"


def corrected_alpha(policy: RegressionPolicy, families: Mapping[str, int]) -> float:
    """The p-value that is always enough: alpha, divided by the family's size if there is a correction."""
    if policy.correction == NO_CORRECTION:
        return policy.alpha
    return policy.alpha / max(families.get(policy.correction, 1), 1)


def correct_p_values(p_values: Sequence[float], family: int, correction: str) -> list[float]:
    """Adjusts each p-value: to the smallest alpha at which it is significant among so many.

    `family` counts all tested scenarios; those whose p-value is not given count as 1, which errs on the side
    of caution. `holm`: S. Holm, "A simple sequentially rejective multiple test procedure" (1979); the chance
    of any false alarm in the run stays below alpha. `bh`: Y. Benjamini and Y. Hochberg, "Controlling the
    false discovery rate" (1995); the share of false ones among the alarms stays below alpha.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    if correction == "holm":
        worst = 0.0
        for rank, index in enumerate(order):
            worst = max(worst, p_values[index] * (family - rank))
            adjusted[index] = worst
    else:
        best = 1.0
        for rank, index in reversed(list(enumerate(order, 1))):
            best = min(best, p_values[index] * family / rank)
            adjusted[index] = best
    return [round(min(p, 1.0), DIGITS) for p in adjusted]
