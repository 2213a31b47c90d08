"""Looks up stored runs for a person: how runs went, and how steadily each scenario passes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from evalgate.application.evaluation.scenario_selection import choose_id
from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.features.store.ports import EVERYTHING, Subject
from evalgate.gate.decision.stability import STABILITY_RUNS, collect_outcomes, measure_stability
from evalgate.models.history.stability import ScenarioHistory
from evalgate.models.run.golden import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from evalgate.features.store.ports import Store
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.history.stored_run import ScenarioHistoryEntry, TrendPoint

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


class HistoryView(Struct, frozen=True):
    """The stored history; runs are oldest first, scenarios worst first.

    `unvarying` scenarios had the same outcome in every run; `left` requested scenarios are not shown.
    """

    store_url: str
    runs: Sequence[TrendPoint] = ()
    scenarios: Sequence[ScenarioHistory] = field(default_factory=tuple)
    unvarying: int = 0
    left: int = 0


def look_up_history(store: Store, request: HistoryRequest, *, only_unsteady: bool = False) -> HistoryView:
    """Runs and scenarios that match; with `only_unsteady` no runs, and only scenarios with varying outcomes.

    Raises SettingError for a name that is not in the store.
    """
    key = _find_scenario(store, request)
    runs = () if only_unsteady else _runs(store, request, key)
    last = [] if key is not None else store.runs.last_statuses(EVERYTHING, suite=request.suite, branch=request.branch)
    unsteady = set(store.runs.find_unsteady(STABILITY_RUNS, suite=request.suite, branch=request.branch))
    keys = [key] if key is not None else [each.row.key for each in sorted(last, key=partial(_sort_key, unsteady))]
    wanted = [each for each in keys if each in unsteady] if only_unsteady else keys
    seen = {each: store.runs.sightings(each, STABILITY_RUNS, request.branch) for each in wanted[:MOST_LOOKED_AT]}
    unvarying = sum(each not in unsteady for each in keys)
    return HistoryView(store.display_url, runs, _worst_first(seen), unvarying, max(0, len(wanted) - MOST_LOOKED_AT))


def _runs(store: Store, request: HistoryRequest, key: ScenarioKey | None) -> Sequence[TrendPoint]:
    suite, id_, variant = key or (request.suite, None, None)
    runs = store.runs.trend(Subject(suite, id_, variant, request.dimension, request.branch), request.limit)
    if not runs and (request.suite is not None or request.branch is not None):
        _raise_unknown_name(store, request)
    if request.dimension is not None and runs and all(point.dimension is None for point in runs):
        hint = None if request.dimension in DIMENSIONS else suggest(request.dimension, DIMENSIONS)
        raise SettingError(Problem(f"no run has a score of dimension `{request.dimension}`", None, hint))
    return runs


def _sort_key(unsteady: Container[ScenarioKey], seen: ScenarioHistoryEntry) -> tuple[bool, bool]:
    """Scenarios with the most to report come first."""
    return seen.row.key not in unsteady, seen.row.verdict == "PASS"


def _worst_first(seen: dict[ScenarioKey, Sequence[ScenarioHistoryEntry]]) -> list[ScenarioHistory]:
    found = []
    for key, sightings in seen.items():
        if sightings:
            past = collect_outcomes(key, sightings)
            found.append(ScenarioHistory(sightings[-1], measure_stability(past), past.outcomes))
    return sorted(found, key=_rank)


def _rank(found: ScenarioHistory) -> tuple[object, ...]:
    summary = found.stability
    return (
        not summary.is_new,
        _ORDER.index(summary.steadiness),
        summary.passes_now,
        -summary.flips,
        summary.key[:2],
        str(summary.key[2]),
    )


def _find_scenario(store: Store, request: HistoryRequest) -> ScenarioKey | None:
    """The requested scenario; suite and variant are only needed if its id is ambiguous."""
    if request.scenario is None:
        if request.variant is not None:
            raise SettingError("--variant needs --scenario")
        return None
    keys = [each.row.key for each in store.runs.last_statuses(EVERYTHING, suite=request.suite)]
    id_ = choose_id(request.scenario, (key.id for key in keys), f"the store has no scenario `{request.scenario}`")
    matches = [key for key in keys if key.id == id_ and request.variant in (None, key.variant)]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise SettingError(f"scenario `{id_}` has no variant `{request.variant}` in the store")
    named = [f"--suite {key.suite}{f' --variant {key.variant}' if key.variant else ''}" for key in matches]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    remedy = f"add one of: {'; '.join(named[:MOST_NAMED])}{more}"
    raise SettingError(Problem(f"{len(matches)} scenarios have this id", None, remedy))


def _raise_unknown_name(store: Store, request: HistoryRequest) -> None:
    """Raises an error that names the suite or branch with no stored runs."""
    facts = store.runs.list(EVERYTHING)
    suites = {name for each in facts for name in each.suites}
    branches = {each.branch for each in facts if each.branch is not None}
    for what, name, known in (("suite", request.suite, suites), ("branch", request.branch, branches)):
        if name is not None and name not in known:
            raise SettingError(Problem(f"the store has no {what} `{name}`", None, suggest(name, known)))
