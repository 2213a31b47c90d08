"""Makes costs of two runs comparable: computed with the same prices on both sides, or left out."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from evalgate.application.evaluation.pricing import Pricer
from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.gate.common.wording import format_share
from evalgate.gate.comparison.lost_figures import RECORDED
from evalgate.gate.comparison.outcomes import outcomes_from_baseline, outcomes_from_run
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.redaction.redact import redact
from evalgate.models.comparison.comparison import ScenarioKey, list_scenarios
from evalgate.models.run.trials import is_priced, iter_trials, list_measured

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalgate.models.comparison.comparison import Comparison, ScenarioOutcome
    from evalgate.models.results.baseline_run import BaselineEntry, BaselineRun, BaselineTrial
    from evalgate.models.run.run import Run, SuiteResult, Trial
    from evalgate.models.trace.trace import Warning_
    from evalgate.ports import PriceTable
    from evalgate.suite.models import Configuration
    from evalgate.suite.policy import Policies

    Outcomes = Mapping[ScenarioKey, ScenarioOutcome]


def reprice_baseline(baseline: BaselineRun, configuration: Configuration, table: PriceTable | None) -> BaselineRun:
    """The baseline with computed costs recomputed at this run's prices."""
    if not _is_priced(baseline):
        return baseline
    pricers = {suite.name: Pricer(suite.prices, table) for suite in configuration.suites}
    others = Pricer(configuration.prices, table)
    entries = {
        key: _replace_trials(entry, [_reprice(trial, pricers.get(key.suite, others)) for trial in entry.trials])
        for key, entry in baseline.entries.items()
    }
    return _replace_entries(baseline, entries)


def _is_priced(baseline: BaselineRun) -> bool:
    return any(trial.pricing is not None for entry in baseline.entries.values() for trial in entry.trials)


def _reprice(trial: BaselineTrial, pricer: Pricer) -> BaselineTrial:
    if trial.pricing is None:
        return trial
    repriced = pricer.reprice(trial.pricing)
    return replace(trial, cost_usd=repriced["usd"], pricing=repriced)


class ComparableCosts(NamedTuple):
    """The baseline without costs that no trial of the run obtained in the same way, and warnings of them.

    A recorded and a computed cost differ if the recorder left out cache tokens; so do costs by two price tables. Of
    `unlike` scenarios all costs are recorded on one side and none on the other; of `mixed` ones some are alike.
    """

    baseline: BaselineRun
    warnings: Sequence[Warning_] = ()
    unlike: Collection[ScenarioKey] = ()
    mixed: Collection[ScenarioKey] = ()


def drop_incomparable_costs(baseline: BaselineRun, run: Run) -> ComparableCosts:
    """Finds how the costs of each scenario were obtained on both sides, and what of them can be compared."""
    has_priced = any(any(map(is_priced, iter_trials(suite))) for suite in run.suites)
    if not has_priced and not _is_priced(baseline):
        return ComparableCosts(baseline)
    now, entries = _current_cost_origins(run), dict(baseline.entries)
    dropped, partly, unlike, mixed = list[str](), list[str](), list[ScenarioKey](), list[ScenarioKey]()
    for key, entry in baseline.entries.items():
        origins, current_origins = {*map(_cost_origin, entry.measured)} - {None}, now.get(key, set())
        if not origins or not current_origins or len(origins | current_origins) == 1:
            continue
        if origins & current_origins:
            mixed.append(key)
            if origins != current_origins:
                partly.append(key.id)
        else:
            dropped.append(key.id)
            if RECORDED in origins | current_origins:
                unlike.append(key)
        trials = [
            trial if _cost_origin(trial) in current_origins else replace(trial, cost_usd=None) for trial in entry.trials
        ]
        entries[key] = _replace_trials(entry, trials)
    warnings = [
        *_warn_of("is not compared for", dropped, DROPPED),
        *_warn_of("is compared over some of the trials only for", partly, PARTLY),
    ]
    return ComparableCosts(_replace_entries(baseline, entries), warnings, unlike, mixed)


def compare_costs_alike(run: Run, costs: ComparableCosts, policies: Policies) -> Comparison:
    """Compares a run with a baseline; costs only with those that were obtained in the same way."""
    from evalgate.gate.comparison.compare import compare

    current, before = outcomes_from_run(run), outcomes_from_baseline(costs.baseline)
    if costs.mixed:
        _add_cost_origins(run, costs, current, before)
    rules = {name: policy.regression for name, policy in policies.suites.items()}
    comparison = compare(current, before, rules)
    if costs.unlike:
        _limit_incomparable_costs(comparison, costs.unlike, policies)
    return comparison


def _add_cost_origins(run: Run, costs: ComparableCosts, current: Outcomes, before: Outcomes) -> None:
    for suite in run.suites:
        table = _table_of(suite)
        for key, scenario in list_scenarios([suite]):
            old = find_baseline_key(key, before)
            if old in costs.mixed and old in before:
                current[key].cost_origins = [_current_origin(trial, table) for trial in list_measured(scenario.trials)]
                before[old].cost_origins = [_cost_origin(trial) for trial in costs.baseline.entries[old].measured]


def _limit_incomparable_costs(comparison: Comparison, unlike: Collection[ScenarioKey], policies: Policies) -> None:
    """A limit on a cost that is recorded on one side only counts as exceeded, like one on a cost that vanished."""
    for key, change in comparison.changes.items():
        limit = policies.suites[key.suite].regression.cost
        if limit is not None and find_baseline_key(key, unlike) in unlike:
            shown = format_share(limit.max_increase)
            change.increases.append(f"cost recorded on one side and computed on the other (limit {shown})")


def _replace_trials(entry: BaselineEntry, trials: list[BaselineTrial]) -> BaselineEntry:
    return replace(entry, trials=trials)


def _replace_entries(baseline: BaselineRun, entries: Mapping[ScenarioKey, BaselineEntry]) -> BaselineRun:
    """The run with other costs, and a summary with their total."""
    summary = baseline.summary
    if summary is not None:
        costs = [trial.cost_usd for entry in entries.values() for trial in entry.measured]
        summary = {**summary, "cost_usd": _total(costs)}
    return replace(baseline, entries=entries, summary=summary)


def _cost_origin(trial: BaselineTrial) -> str | None:
    """How the cost of a trial was obtained, redacted as in this run's documents; None if it has none."""
    if trial.cost_usd is None:
        return None
    table = RECORDED if trial.pricing is None else trial.pricing["table"]
    return table and redact(table)


def _current_cost_origins(run: Run) -> dict[ScenarioKey, set[str | None]]:
    """How the costs of each scenario were obtained, also under its redacted name as in documents."""
    found: dict[ScenarioKey, set[str | None]] = {}
    for suite in run.suites:
        table = _table_of(suite)
        for key, scenario in list_scenarios([suite]):
            origins = {_current_origin(trial, table) for trial in scenario.trials} - {None}
            found[key] = found[find_baseline_key(key, ())] = origins
    return found


def _current_origin(trial: Trial, table: str | None) -> str | None:
    if trial.cost_usd is None:
        return None
    return table if is_priced(trial) else RECORDED


def _table_of(suite: SuiteResult) -> str | None:
    """The price table of a suite's computed costs: a suite has one, so any trial shows it."""
    for trial in filter(is_priced, iter_trials(suite)):
        pricing = trial.pricing
        if pricing:
            return pricing["table"]
    return None


DROPPED = "it was recorded on one side and computed on the other, or with other prices"
PARTLY = "in the others it was recorded on one side and computed on the other, or with other prices"


def _warn_of(what: str, ids: Sequence[str], why: str) -> Iterator[Warning_]:
    if ids:
        which = ids[0] if len(ids) == 1 else f"{len(ids):,} scenarios, {ids[0]} first"
        yield {"code": "cost_not_compared", "message": f"cost {what} {which}: {why}", "where": None}


def _total(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return round(fsum(known), DIGITS) if known and len(known) == len(amounts) else None
