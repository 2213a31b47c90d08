"""The scenarios of a suite by id: exact ids first, then globs in file order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.globs import matches_id
from evalgate.models.comparison.comparison import ScenarioKey

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from evalgate.suite.models import Scenario, Suite


class ScenarioIndex:
    """Finds the suite entry that judges an id; each entry is its scenario in every variant."""

    def __init__(self, suite: Suite) -> None:
        self._exact: dict[str, dict[str | None, Scenario]] = {}
        for scenario in suite.scenarios:
            variant = scenario.variant.name if scenario.variant else None
            self._exact.setdefault(scenario.id, {})[variant] = scenario
        self._globs = [id_ for id_ in self._exact if "*" in id_]

    def ids(self) -> Iterator[str]:
        """Every id as written."""
        yield from self._exact

    def find_scenarios(self, id_: str) -> Mapping[str | None, Scenario]:
        """The scenarios of the entry that an id belongs to, by variant; empty without such an entry."""
        found = self._exact.get(id_)
        if found is None:
            glob = next((each for each in self._globs if matches_id(each, id_)), None)
            found = self._exact[glob] if glob is not None else {}
        return found


def find_baseline_key(key: ScenarioKey, baseline: Container[ScenarioKey]) -> ScenarioKey:
    """The key of a scenario in the baseline: an id that looks like a secret was redacted there."""
    if key in baseline:
        return key
    return ScenarioKey(redact(key.suite), redact(key.id), key.variant and redact(key.variant))
