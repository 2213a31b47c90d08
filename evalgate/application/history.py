"""What a store remembers, looked up for a person: how runs went, and how steadily each scenario passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import Problem, SettingError
from evalgate.evaluators.flaws import suggest
from evalgate.gate.stability import RUNS_LOOKED_AT, past_outcomes, stability
from evalgate.models.stability import Remembered
from evalgate.ports.store import EVERYTHING, Subject
from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison import ScenarioKey
    from evalgate.models.stored_run import Sighting, TrendPoint
    from evalgate.ports.store import Store

MOST_NAMED = 5
_ORDER = ("flaky", "changed", "unknown", "steady")


class Asked(NamedTuple):
    """What a person wants to see: everything, or what all of these narrow it to."""

    suite: str | None = None
    scenario: str | None = None
    variant: str | None = None
    dimension: str | None = None
    branch: str | None = None
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found; runs are oldest first, scenarios worst first. `key` is the one scenario asked for."""

    place: str
    runs: Sequence[TrendPoint] = ()
    scenarios: Sequence[Remembered] = field(default_factory=tuple)
    key: ScenarioKey | None = None


def look(store: Store, asked: Asked, *, with_runs: bool = True) -> Looked:
    """Runs and scenarios of what is asked. Raises SettingError for a name that the store does not know."""
    key = _key(store, asked)
    subject = Subject(
        key.suite if key else asked.suite,
        key.id if key else None,
        key.variant if key else None,
        asked.dimension,
        asked.branch,
    )
    runs = store.runs.trend(subject, asked.limit) if with_runs else ()
    if with_runs and not runs and (asked.suite or asked.branch):
        _complain(store, asked)
    if asked.dimension is not None and runs and all(point.dimension is None for point in runs):
        raise SettingError(Problem(f"no run has a score of dimension `{asked.dimension}`"))
    if key is not None:
        seen = {key: store.runs.sightings(key, RUNS_LOOKED_AT, asked.branch)}
    else:
        seen = dict(store.runs.all_sightings(RUNS_LOOKED_AT, suite=asked.suite, branch=asked.branch))
    return Looked(store.place, runs, _worst_first(seen), key)


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


def _key(store: Store, asked: Asked) -> ScenarioKey | None:
    """The one scenario that is meant; suite and variant need to be said only where its id is not enough."""
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


def _complain(store: Store, asked: Asked) -> None:
    """Says which name it is that nothing is stored under."""
    facts = store.runs.list(EVERYTHING)
    suites = {name for each in facts for name in each.suites}
    branches = {each.branch for each in facts if each.branch is not None}
    for what, name, known in (("suite", asked.suite, suites), ("branch", asked.branch, branches)):
        if name is not None and name not in known:
            raise SettingError(Problem(f"the store knows no {what} `{name}`", None, suggest(name, known)))
