"""Finds scenarios that the baseline judged and that no suite judges any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Location
from evalgate.gate.common.scenario_index import ScenarioIndex
from evalgate.models.comparison.comparison import NOT_MEASURED, ScenarioKey
from evalgate.models.comparison.weakening import Weakening

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.models.comparison.comparison import Comparison
    from evalgate.suite.models import Configuration, Suite


def find_removed_scenarios(
    removed_keys: Iterable[ScenarioKey],
    baseline: Configuration | None,
    current: Configuration,
    counts: Mapping[str, int],
) -> list[Weakening]:
    """Weakenings for scenarios that the baseline judged, or its suites name, and that no suite judges now.

    `removed_keys` are those of its results; a removed suite is one weakening. `counts` is how many scenarios
    of each suite the baseline judged.
    """
    current_suites = {suite.name: suite for suite in current.suites}
    keys = dict.fromkeys(removed_keys)
    for suite in baseline.suites if baseline is not None else ():
        if suite.name in current_suites:
            keys |= dict.fromkeys(_find_unnamed_keys(suite, ScenarioIndex(current_suites[suite.name])))
        else:
            keys |= {ScenarioKey(suite.name, "", None): None}
    paths = {suite.name: suite.path for suite in (*current.suites, *(baseline.suites if baseline is not None else ()))}
    found: list[Weakening] = []
    for name in dict.fromkeys(key.suite for key in keys):
        location = Location(paths[name]) if name in paths else None
        if name not in current_suites:
            count = counts.get(name, 0)
            count_text = f"{count} scenario{'' if count == 1 else 's'}"
            found.append(Weakening("suite_removed", name, baseline=count_text, location=location, scenarios=count))
            continue
        found += [
            Weakening("scenario_removed", key.suite, key.id, key.variant, location=location)
            for key in keys
            if key.suite == name
        ]
    return found


def _find_unnamed_keys(suite: Suite, current: ScenarioIndex) -> Iterator[ScenarioKey]:
    """Keys of scenarios that a suite names one by one and that belong to no current entry."""
    for scenario in suite.scenarios:
        variant = scenario.variant.name if scenario.variant else None
        if not scenario.is_glob and variant not in current.find_scenarios(scenario.id):
            yield ScenarioKey(suite.name, scenario.id, variant)


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


def find_unmeasured_scenarios(comparison: Comparison) -> Sequence[Weakening]:
    """Weakenings for scenarios that the baseline measured and an outage left unmeasured now; one for each suite."""
    found: dict[str, list[ScenarioKey]] = {}
    for key, baseline in comparison.baseline_outcomes.items():
        if baseline.trials and comparison.changes[key].reason == NOT_MEASURED:
            found.setdefault(key.suite, []).append(key)
    return [_name_only_scenario(Weakening("not_measured", suite), keys) for suite, keys in found.items()]


def _build_weakening(counts: TrialCounts, keys: Sequence[ScenarioKey]) -> Weakening:
    suite, baseline_count, current_count = counts
    weakening = Weakening(
        "trials_missing", suite, baseline=f"trials: {baseline_count}", current=f"trials: {current_count}"
    )
    return _name_only_scenario(weakening, keys)


def _name_only_scenario(weakening: Weakening, keys: Sequence[ScenarioKey]) -> Weakening:
    """The weakening of some scenarios, with the name of the only one."""
    if len(keys) > 1:
        return weakening._replace(scenarios=len(keys))
    return weakening._replace(scenario=keys[0].id, variant=keys[0].variant)
