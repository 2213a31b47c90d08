"""Makes costs of two runs comparable: computed with the same prices on both sides, or left out."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.application.evaluation.pricing import Pricer
from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.gate.common.wording import format_share
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.redaction.redact import redact
from evalgate.models.comparison.comparison import ScenarioKey, list_scenarios
from evalgate.models.run.trials import is_priced, iter_trials

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.results.baseline_run import BaselineEntry, BaselineRun, BaselineTrial
    from evalgate.models.run.run import Run, SuiteResult
    from evalgate.models.trace.trace import Warning_
    from evalgate.ports import PriceTable
    from evalgate.suite.models import Configuration
    from evalgate.suite.policy import Policies

RECORDED = "recorded"


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


def drop_incomparable_costs(baseline: BaselineRun, run: Run) -> tuple[BaselineRun, list[Warning_], list[ScenarioKey]]:
    """The baseline without costs that were obtained in another way than the run's, and the scenarios that recorded it.

    A recorded and a computed cost differ if the recorder left out cache tokens; so do costs by two price
    tables. The scenarios are those of which all costs are recorded on one side, and none on the other.
    """
    has_priced = any(any(map(is_priced, iter_trials(suite))) for suite in run.suites)
    if not has_priced and not _is_priced(baseline):
        return baseline, [], []
    now, entries = _current_cost_origins(run), dict(baseline.entries)
    dropped, unlike = list[str](), list[ScenarioKey]()
    for key, entry in baseline.entries.items():
        origins, current_origins = {_cost_origin(trial) for trial in entry.measured} - {None}, now.get(key, set())
        if origins and current_origins and origins != current_origins:
            dropped.append(key.id)
            if RECORDED in origins | current_origins and origins.isdisjoint(current_origins):
                unlike.append(key)
            trials = [replace(trial, cost_usd=None) for trial in entry.trials]
            entries[key] = _replace_trials(entry, trials)
    return _replace_entries(baseline, entries), _dropped_warnings(dropped), unlike


def limit_incomparable_costs(comparison: Comparison, unlike: Collection[ScenarioKey], policies: Policies) -> None:
    """A limit on a cost that is recorded on one side only counts as exceeded, like one on a cost that vanished."""
    for key, change in comparison.changes.items() if unlike else ():
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
            origins = {
                table if is_priced(trial) else RECORDED for trial in scenario.trials if trial.cost_usd is not None
            }
            found[key] = found[find_baseline_key(key, ())] = origins
    return found


def _table_of(suite: SuiteResult) -> str | None:
    """The price table of a suite's computed costs: a suite has one, so any trial shows it."""
    for trial in filter(is_priced, iter_trials(suite)):
        pricing = trial.pricing
        if pricing:
            return pricing["table"]
    return None


def _dropped_warnings(dropped: list[str]) -> list[Warning_]:
    if not dropped:
        return []
    count = len(dropped)
    which = f"{dropped[0]}" if count == 1 else f"{count:,} scenarios, {dropped[0]} first"
    message = (
        f"cost is not compared for {which}: it was recorded on one side and computed on the other, or with other prices"
    )
    return [{"code": "cost_not_compared", "message": message, "where": None}]


def _total(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return round(fsum(known), DIGITS) if known and len(known) == len(amounts) else None
