"""Finds scenarios with fewer trials than in the baseline, so that no bad trial is left out unnoticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.comparison.weakening import Weakening

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import Comparison, ScenarioKey

TrialCounts = tuple[str, int, int]
"""A suite, the number of a scenario's trials in the baseline, and in this run."""


def find_missing_trials(comparison: Comparison) -> Sequence[Weakening]:
    """Weakenings for scenarios with fewer trials than in the baseline; equal ones of a suite are merged.

    A scenario without any trial is left out: its verdict MISSING covers that.
    """
    found: dict[TrialCounts, list[ScenarioKey]] = {}
    for key, (baseline_count, current_count) in comparison.trial_counts.items():
        if 0 < current_count < baseline_count:
            found.setdefault((key.suite, baseline_count, current_count), []).append(key)
    return [_build_weakening(counts, keys) for counts, keys in found.items()]


def _build_weakening(counts: TrialCounts, keys: Sequence[ScenarioKey]) -> Weakening:
    suite, baseline_count, current_count = counts
    only_key = keys[0] if len(keys) == 1 else None
    return Weakening(
        "trials_missing",
        suite,
        None if only_key is None else only_key.id,
        None if only_key is None else only_key.variant,
        baseline=f"trials: {baseline_count}",
        current=f"trials: {current_count}",
        scenarios=len(keys),
    )
