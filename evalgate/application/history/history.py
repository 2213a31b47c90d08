"""Looks up stored runs for a person: how runs went, and how steadily each scenario passes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.gate.decision.stability import RUNS_LOOKED_AT, past_outcomes, stability
from evalgate.models.run.dimension import DIMENSIONS
from evalgate.models.store.stability import Remembered
from evalgate.ports.store import EVERYTHING, Subject
from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.store.stored_run import Sighting, TrendPoint
    from evalgate.ports.store import Store

MOST_NAMED = 5
MOST_LOOKED_AT = 500
"""How many scenarios have their runs read one by one."""
_ORDER = ("flaky", "changed", "unknown", "steady")


class HistoryRequest(NamedTuple):
    """What a person wants to see: everything, or what matches all given fields."""

    suite: str | None = None
    scenario: str | None = None
    variant: str | None = None
    dimension: str | None = None
    branch: str | None = None
    limit: int = 20


@dataclass(frozen=True, slots=True)
class HistoryView:
    """The stored history; runs are oldest first, scenarios worst first.

    `unvarying` scenarios had the same outcome in every run; `left` requested scenarios are not shown.
    """

    place: str
    runs: Sequence[TrendPoint] = ()
    scenarios: Sequence[Remembered] = field(default_factory=tuple)
    calm: int = 0
    left: int = 0


def look(store: Store, asked: HistoryRequest, *, only_turned: bool = False) -> HistoryView:
    """Runs and scenarios that match; with `only_unsteady` no runs, and only scenarios with varying outcomes.

    Raises SettingError for a name that is not in the store.
    """
    key = _key(store, asked)
    runs = () if only_turned else _runs(store, asked, key)
    last = (
        []
        if key is not None
        else store.runs.last_statuses(EVERYTHING, suite=asked.suite, branch=asked.branch)
    )
    turned = set(store.runs.turned(RUNS_LOOKED_AT, suite=asked.suite, branch=asked.branch))
    keys = (
        [key] if key is not None else [each.row.key for each in sorted(last, key=partial(_promise, turned))]
    )
    wanted = [each for each in keys if each in turned] if only_turned else keys
    seen = {
        each: store.runs.sightings(each, RUNS_LOOKED_AT, asked.branch) for each in wanted[:MOST_LOOKED_AT]
    }
    calm = sum(each not in turned for each in keys)
    return HistoryView(store.place, runs, _worst_first(seen), calm, max(0, len(wanted) - MOST_LOOKED_AT))


def _runs(store: Store, asked: HistoryRequest, key: ScenarioKey | None) -> Sequence[TrendPoint]:
    suite, id_, variant = key or (asked.suite, None, None)
    runs = store.runs.trend(Subject(suite, id_, variant, asked.dimension, asked.branch), asked.limit)
    if not runs and (asked.suite or asked.branch):
        _complain(store, asked)
    if asked.dimension is not None and runs and all(point.dimension is None for point in runs):
        hint = None if asked.dimension in DIMENSIONS else suggest(asked.dimension, DIMENSIONS)
        raise SettingError(Problem(f"no run has a score of dimension `{asked.dimension}`", None, hint))
    return runs


def _promise(turned: Container[ScenarioKey], seen: Sighting) -> tuple[bool, bool]:
    """Scenarios with the most to report come first."""
    return seen.row.key not in turned, seen.row.verdict == "PASS"


def _worst_first(seen: dict[ScenarioKey, Sequence[Sighting]]) -> list[Remembered]:
    found = []
    for key, sightings in seen.items():
        if sightings:
            past = past_outcomes(key, sightings)
            found.append(Remembered(sightings[-1], stability(past), past.outcomes))
    return sorted(found, key=_rank)


def _rank(found: Remembered) -> tuple[object, ...]:
    told = found.stability
    return (
        not told.is_new,
        _ORDER.index(told.steadiness),
        told.passes_now,
        -told.flips,
        told.key[:2],
        str(told.key[2]),
    )


def _key(store: Store, asked: HistoryRequest) -> ScenarioKey | None:
    """The requested scenario; suite and variant are only needed if its id is ambiguous."""
    if asked.scenario is None:
        if asked.variant is not None:
            raise SettingError("--variant is of a scenario: name it with --scenario")
        return None
    known = [each.row.key for each in store.runs.last_statuses(EVERYTHING, suite=asked.suite)]
    meant = [key for key in known if key.id == asked.scenario and asked.variant in (None, key.variant)]
    if len(meant) == 1:
        return meant[0]
    if not meant:
        remedy = suggest(asked.scenario, {key.id for key in known})
        raise SettingError(Problem(f"the store knows no scenario `{asked.scenario}`", None, remedy))
    named = [f"--suite {key.suite}{f' --variant {key.variant}' if key.variant else ''}" for key in meant]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    remedy = f"add one of: {'; '.join(named[:MOST_NAMED])}{more}"
    raise SettingError(Problem(f"{len(meant)} scenarios have this id", None, remedy))


def _complain(store: Store, asked: HistoryRequest) -> None:
    """Raises an error that names the suite or branch with no stored runs."""
    facts = store.runs.list(EVERYTHING)
    suites = {name for each in facts for name in each.suites}
    branches = {each.branch for each in facts if each.branch is not None}
    for what, name, known in (("suite", asked.suite, suites), ("branch", asked.branch, branches)):
        if name is not None and name not in known:
            raise SettingError(Problem(f"the store knows no {what} `{name}`", None, suggest(name, known)))
