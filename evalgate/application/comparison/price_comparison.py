"""Makes costs of two runs comparable: computed with the same prices on both sides, or left out."""

from __future__ import annotations

from itertools import pairwise
from math import fsum
from typing import TYPE_CHECKING

from evalgate.application.evaluation.pricing import Pricer
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.redaction.redact import redact
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.trials import get_column, list_priced
from evalgate.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.comparison.baseline_run import BaselineRun, TrialColumns
    from evalgate.models.run.run import Run, SuiteResult
    from evalgate.models.trace.trace import Warning_
    from evalgate.ports import PriceTable
    from evalgate.suite.models import Configuration

RECORDED = "recorded"


def reprice_baseline(baseline: BaselineRun, configuration: Configuration, table: PriceTable | None) -> BaselineRun:
    """The baseline with computed costs recomputed at this run's prices."""
    pricing = baseline.trials.pricing
    if pricing is None:
        return baseline
    pricers = {suite.name: Pricer(suite.prices, table) for suite in configuration.suites}
    others = Pricer(configuration.prices, table)
    costs, pricings = list(baseline.trials.costs), list(pricing)
    for key, trials in _scenarios(baseline):
        pricer = pricers.get(key.suite, others)
        for at in trials:
            found = pricing[at]
            if found is not None:
                pricings[at] = repriced = pricer.reprice(found)
                costs[at] = repriced["usd"]
    return _replace_trials(baseline, replace(baseline.trials, costs=costs, pricing=pricings))


def drop_incomparable_costs(baseline: BaselineRun, run: Run) -> tuple[BaselineRun, list[Warning_]]:
    """The baseline without costs that were obtained in another way than the run's.

    A recorded and a computed cost differ if the recorder left out cache tokens; so do costs by two price
    tables.
    """
    is_priced = any(any(list_priced(each.trials)) for suite in run.suites for each in suite.scenarios)
    if baseline.trials.pricing is None and not is_priced:
        return baseline, []
    now, costs = _current_cost_origins(run), list(baseline.trials.costs)
    dropped: list[str] = []
    for key, places in _scenarios(baseline):
        origins, current_origins = ({_cost_origin(baseline.trials, at) for at in places} - {None}, now.get(key, set()))
        if origins and current_origins and origins != current_origins:
            dropped.append(key.id)
            costs[places.start : places.stop] = [None] * len(places)
    return _replace_trials(baseline, replace(baseline.trials, costs=costs)), _dropped_warnings(dropped)


def _scenarios(baseline: BaselineRun) -> Iterator[tuple[ScenarioKey, range]]:
    """Each scenario, and the indexes of its trials."""
    return zip(baseline.keys, (range(start, end) for start, end in pairwise(baseline.trial_starts)), strict=True)


def _replace_trials(baseline: BaselineRun, trials: TrialColumns) -> BaselineRun:
    """The run with other costs, and a summary with their total."""
    summary = baseline.summary
    if summary is not None:
        summary = {**summary, "cost_usd": _total(trials.costs)}
    return replace(baseline, trials=trials, summary=summary)


def _cost_origin(trials: TrialColumns, at: int) -> str | None:
    """How the cost of a trial was obtained, None if it has none."""
    if trials.costs[at] is None:
        return None
    pricing = trials.pricing[at] if trials.pricing is not None else None
    return RECORDED if pricing is None else pricing["table"]


def _current_cost_origins(run: Run) -> dict[ScenarioKey, set[str | None]]:
    """How the costs of each scenario were obtained, also under its redacted name as in documents."""
    found: dict[ScenarioKey, set[str | None]] = {}
    for suite in run.suites:
        table = _table_of(suite)
        for scenario in suite.scenarios:
            costs = zip(get_column(scenario.trials, "cost_usd"), list_priced(scenario.trials), strict=True)
            origins = {table if is_priced else RECORDED for cost, is_priced in costs if cost is not None}
            names = suite.name, scenario.id, scenario.variant
            found[ScenarioKey(*names)] = origins
            found[ScenarioKey(redact(names[0]), redact(names[1]), names[2] and redact(names[2]))] = origins
    return found


def _table_of(suite: SuiteResult) -> str | None:
    """The price table of a suite's computed costs: a suite has one, so any trial shows it."""
    for scenario in suite.scenarios:
        for place, is_priced in enumerate(list_priced(scenario.trials)):
            pricing = scenario.trials[place].pricing if is_priced else None
            if pricing is not None:
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
