"""Finds scenarios that the baseline judged and that no suite judges any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Location
from evalgate.gate.common.scenario_index import ScenarioIndex
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.comparison.weakening import Weakening

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalgate.suite.models import Configuration, Suite


def removed(
    gone: Iterable[ScenarioKey], old: Configuration | None, new: Configuration, counts: Mapping[str, int]
) -> list[Weakening]:
    """Weakenings for scenarios that the baseline judged, or its suites name, and that no suite judges now.

    `removed_keys` are those of its results; a removed suite is one weakening. `counts` is how many scenarios
    of each suite the baseline judged.
    """
    named = {suite.name: suite for suite in new.suites}
    keys = dict.fromkeys(gone)
    for suite in old.suites if old is not None else ():
        if suite.name in named:
            keys |= dict.fromkeys(_unnamed(suite, ScenarioIndex(named[suite.name])))
        else:
            keys |= {ScenarioKey(suite.name, "", None): None}
    paths = {suite.name: suite.path for suite in (*new.suites, *(old.suites if old is not None else ()))}
    found: list[Weakening] = []
    for name in dict.fromkeys(key.suite for key in keys):
        place = Location(paths[name]) if name in paths else None
        if name not in named:
            number = counts.get(name, 0)
            said = f"{number} scenario{'' if number == 1 else 's'}"
            found.append(Weakening("suite_removed", name, before=said, location=place, scenarios=number))
            continue
        found += [
            Weakening("scenario_removed", key.suite, key.id, key.variant, location=place)
            for key in keys
            if key.suite == name
        ]
    return found


def _unnamed(suite: Suite, now: ScenarioIndex) -> Iterator[ScenarioKey]:
    """Keys of scenarios that a suite names one by one and that belong to no current entry."""
    for scenario in suite.scenarios:
        variant = scenario.variant.name if scenario.variant else None
        if not scenario.is_glob and variant not in now.of(scenario.id):
            yield ScenarioKey(suite.name, scenario.id, variant)
