"""Finds scenarios: in a suite by id, in the baseline, in quarantine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from evalgate.errors import Problem
from evalgate.gate.common.wording import format_count
from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.globs import matches_id
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.comparison.weakening import MAX_DAYS, QuarantineRuling

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from evalgate.models.comparison.weakening import Quarantine
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.run.run import ScenarioResult, SuiteResult
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


def list_scenario_docs(document: ResultsDoc) -> list[tuple[ScenarioKey, ScenarioDoc]]:
    """The scenarios of a document, each with its key."""
    return [
        (ScenarioKey(suite["suite"], each["id"], each["variant"]), each)
        for suite in document["suites"]
        for each in suite["scenarios"]
    ]


MOST_REFUSED = 3
RefuseQuarantine = Callable[[str, "Quarantine", "ScenarioResult"], str | None]
"""Why a quarantine of a suite does not hold for a scenario that it names; None if it does."""
NO_SUCH_SCENARIO = "the suite has no such scenario"


def too_long(quarantines: Iterable[Quarantine], today: date) -> Iterator[Problem]:
    """A problem for each quarantine that would last longer than allowed."""
    for each in quarantines:
        days = (each.until - today).days
        if days > MAX_DAYS:
            message = f"the quarantine of `{each.scenario}` would last {days:,} days, at most {MAX_DAYS} are allowed"
            yield Problem(message, each.location, "choose an earlier `until`; it can be extended later")


def apply_quarantines(
    suite: SuiteResult, quarantines: Sequence[Quarantine], today: date, refuse: RefuseQuarantine = lambda *_: None
) -> list[QuarantineRuling]:
    """Marks the quarantined scenarios of a suite; returns a ruling on each quarantine, in file order.

    `refuse` says why a quarantine does not hold for a scenario, None if it does.
    """
    exact: dict[str, list[ScenarioResult]] = {}
    for scenario in suite.scenarios:
        exact.setdefault(scenario.id, []).append(scenario)
    return [
        _rule_on_quarantine(suite.name, each, list(_find_scenarios(each, exact)), today, refuse) for each in quarantines
    ]


def covers(one: Quarantine, other: Quarantine) -> bool:
    """Whether `one` names every scenario that `other` names, and lasts at least as long."""
    same_variant = one.variant is None or one.variant == other.variant
    return same_variant and one.until >= other.until and matches_id(one.scenario, other.scenario)


def _find_scenarios(quarantine: Quarantine, scenarios: dict[str, list[ScenarioResult]]) -> Iterator[ScenarioResult]:
    pattern = quarantine.scenario
    ids = (id_ for id_ in scenarios if matches_id(pattern, id_)) if "*" in pattern else (pattern,)
    for id_ in ids:
        for scenario in scenarios.get(id_, ()):
            if quarantine.variant in (None, scenario.variant):
                yield scenario


def _rule_on_quarantine(
    suite: str, quarantine: Quarantine, scenarios: Sequence[ScenarioResult], today: date, refuse: RefuseQuarantine
) -> QuarantineRuling:
    days = (quarantine.until - today).days
    if days < 0:
        message = f"expired on {quarantine.until.isoformat()}: its scenarios block again"
        return QuarantineRuling(suite, quarantine, "expired", message, days, len(scenarios))
    if not scenarios:
        return QuarantineRuling(suite, quarantine, "unused", NO_SUCH_SCENARIO, days, 0)
    refused = [refuse(suite, quarantine, scenario) for scenario in scenarios]
    for scenario, why in zip(scenarios, refused, strict=True):
        scenario.quarantined = scenario.quarantined or why is None
    held, reasons = refused.count(None), [why for why in refused if why is not None]
    days_text = f"expires in {format_count(days, 'day')}" if days else "expires today"
    message = "; ".join([*([days_text] if held else []), *reasons[:MOST_REFUSED]])
    return QuarantineRuling(suite, quarantine, "active" if held else "void", message, days, held)
