"""Finds which scenarios of a run are in quarantine today, and rules on every quarantine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Problem
from evalgate.gate.common.wording import counted
from evalgate.measures.text.globs import matches_id
from evalgate.models.comparison.quarantine import LONGEST_DAYS, QuarantineRuling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from evalgate.models.comparison.quarantine import Quarantine
    from evalgate.models.run.run import ScenarioResult, SuiteResult

NONE_SUCH = "the suite has no such scenario"


def too_long(quarantines: Iterable[Quarantine], today: date) -> Iterator[Problem]:
    """A problem for each quarantine that would last longer than allowed."""
    for each in quarantines:
        days = (each.until - today).days
        if days > LONGEST_DAYS:
            message = f"the quarantine of `{each.scenario}` would last {days:,} days, {LONGEST_DAYS} at most"
            yield Problem(message, each.location, "bring `until` nearer; it can be extended later")


def set_apart(suite: SuiteResult, quarantines: Sequence[Quarantine], today: date) -> list[QuarantineRuling]:
    """Marks the quarantined scenarios of a suite; returns a ruling on each quarantine, in file order."""
    exact: dict[str, list[ScenarioResult]] = {}
    for scenario in suite.scenarios:
        exact.setdefault(scenario.id, []).append(scenario)
    return [_ruled(suite.name, each, list(_meant(each, exact)), today) for each in quarantines]


def covers(one: Quarantine, other: Quarantine) -> bool:
    """Whether `one` names every scenario that `other` names, and lasts at least as long."""
    same_variant = one.variant is None or one.variant == other.variant
    return same_variant and one.until >= other.until and matches_id(one.scenario, other.scenario)


def _meant(quarantine: Quarantine, scenarios: dict[str, list[ScenarioResult]]) -> Iterator[ScenarioResult]:
    pattern = quarantine.scenario
    ids = (id_ for id_ in scenarios if matches_id(pattern, id_)) if "*" in pattern else (pattern,)
    for id_ in ids:
        for scenario in scenarios.get(id_, ()):
            if quarantine.variant in (None, scenario.variant):
                yield scenario


def _ruled(
    suite: str, quarantine: Quarantine, meant: Sequence[ScenarioResult], today: date
) -> QuarantineRuling:
    days = (quarantine.until - today).days
    if days < 0:
        said = f"expired on {quarantine.until.isoformat()}: what it names counts again"
        return QuarantineRuling(suite, quarantine, "expired", said, days, len(meant))
    if not meant:
        return QuarantineRuling(suite, quarantine, "unused", NONE_SUCH, days, 0)
    for scenario in meant:
        scenario.quarantined = True
    lasts = f"expires in {counted(days, 'day')}" if days else "expires today"
    return QuarantineRuling(suite, quarantine, "active", lasts, days, len(meant))
