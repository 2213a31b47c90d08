"""Finds scenarios with fewer trials than in the baseline, so that no bad trial is left out unnoticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.comparison.weakening import Weakening

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import Comparison, ScenarioKey

Counts = tuple[str, int, int]
"""A suite, the number of a scenario's trials in the baseline, and in this run."""


def missing_trials(comparison: Comparison) -> Sequence[Weakening]:
    """Weakenings for scenarios with fewer trials than in the baseline; equal ones of a suite are merged.

    A scenario without any trial is left out: its verdict MISSING covers that.
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
