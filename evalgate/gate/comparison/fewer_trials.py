"""Trials that the baseline had and this run has not: who leaves out the bad one has fewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.comparison.weakening import Weakening

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import Comparison, ScenarioKey

Counts = tuple[str, int, int]
"""A suite, the trials of a scenario in the baseline, and those of today."""


def missing_trials(comparison: Comparison) -> Sequence[Weakening]:
    """Scenarios with fewer trials than in the baseline; those of a suite that lost as many are told together.

    One without any is MISSING, which says more.
    """
    found: dict[Counts, list[ScenarioKey]] = {}
    for key, (before, now) in comparison.trials.items():
        if 0 < now < before:
            found.setdefault((key.suite, before, now), []).append(key)
    return [_told(counts, keys) for counts, keys in found.items()]


def _told(counts: Counts, keys: Sequence[ScenarioKey]) -> Weakening:
    suite, before, now = counts
    one = keys[0] if len(keys) == 1 else None
    return Weakening(
        "trials_missing",
        suite,
        None if one is None else one.id,
        None if one is None else one.variant,
        before=f"trials: {before}",
        after=f"trials: {now}",
        scenarios=len(keys),
    )
