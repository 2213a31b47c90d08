"""Costs of two runs that are to be compared: computed with the same prices on both sides, or left out."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, cast

from evalgate.application.pricing import Pricer
from evalgate.measures.means import DIGITS
from evalgate.measures.redaction import redact
from evalgate.models.comparison import ScenarioKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalgate.models.results import ResultsDoc, ScenarioDoc, SuiteDoc, TrialDoc
    from evalgate.models.run import Run
    from evalgate.models.trace import Warning_
    from evalgate.ports import PriceTable
    from evalgate.suite.models import Configuration

    Change = Callable[[str, ScenarioDoc], ScenarioDoc]

RECORDED = "recorded"


def priced_alike(before: ResultsDoc, configuration: Configuration, table: PriceTable | None) -> ResultsDoc:
    """The earlier results, where costs were computed there computed with the prices of this run."""
    if not any(trial.get("pricing") for trial in _stored(before)):
        return before
    pricers = {suite.name: Pricer(suite.prices, table) for suite in configuration.suites}
    others = Pricer(configuration.prices, table)

    def again(suite: str, scenario: ScenarioDoc) -> ScenarioDoc:
        pricer = pricers.get(suite, others)
        return {**scenario, "trials": [_again(trial, pricer) for trial in scenario["trials"]]}

    return _changed(before, again)


def comparable(before: ResultsDoc, run: Run) -> tuple[ResultsDoc, list[Warning_]]:
    """The earlier results without costs that came about in another way than those of the run.

    A recorded cost and a computed one differ by what the recorder did not say of caches; so do two tables.
    """
    trials = (trial for suite in run.suites for scenario in suite.scenarios for trial in scenario.trials)
    if not any(trial.pricing for trial in trials) and not any(
        trial.get("pricing") for trial in _stored(before)
    ):
        return before, []
    now = _ways_now(run)
    dropped: list[str] = []

    def without(suite: str, scenario: ScenarioDoc) -> ScenarioDoc:
        key = ScenarioKey(suite, scenario["id"], scenario["variant"])
        ways, here = {_way_stored(trial) for trial in scenario["trials"]} - {None}, now.get(key, set())
        if not ways or not here or ways == here:
            return scenario
        dropped.append(scenario["id"])
        trials: list[TrialDoc] = [{**trial, "cost_usd": None} for trial in scenario["trials"]]
        return {**scenario, "trials": trials}

    return _changed(before, without), _told(dropped)


def _again(trial: TrialDoc, pricer: Pricer) -> TrialDoc:
    pricing = trial.get("pricing")
    if pricing is None:
        return trial
    priced = pricer.again(pricing)
    return cast("TrialDoc", {**trial, "pricing": priced, "cost_usd": priced["usd"]})


def _changed(before: ResultsDoc, change: Change) -> ResultsDoc:
    """The document with its scenarios changed, and the cost of its summary with them."""
    suites: list[SuiteDoc] = [
        {**suite, "scenarios": [change(suite["suite"], each) for each in suite["scenarios"]]}
        for suite in before["suites"]
    ]
    changed: ResultsDoc = {**before, "suites": suites}
    summary = before["summary"]
    if summary is not None:
        changed["summary"] = {**summary, "cost_usd": _total(trial["cost_usd"] for trial in _stored(changed))}
    return changed


def _stored(document: ResultsDoc) -> Iterator[TrialDoc]:
    return (trial for suite in document["suites"] for each in suite["scenarios"] for trial in each["trials"])


def _way_stored(trial: TrialDoc) -> str | None:
    """How its cost came about, None where it has none."""
    if trial["cost_usd"] is None:
        return None
    pricing = trial.get("pricing")
    return RECORDED if pricing is None else pricing["table"]


def _ways_now(run: Run) -> dict[ScenarioKey, set[str | None]]:
    """How the costs of each scenario came about, under the name that a document has for it."""
    found: dict[ScenarioKey, set[str | None]] = {}
    for suite in run.suites:
        for scenario in suite.scenarios:
            ways = {
                RECORDED if trial.pricing is None else trial.pricing["table"]
                for trial in scenario.trials
                if trial.cost_usd is not None
            }
            names = suite.name, scenario.id, scenario.variant
            found[ScenarioKey(*names)] = ways
            found[ScenarioKey(redact(names[0]), redact(names[1]), names[2] and redact(names[2]))] = ways
    return found


def _told(dropped: list[str]) -> list[Warning_]:
    if not dropped:
        return []
    count = len(dropped)
    which = f"{dropped[0]}" if count == 1 else f"{count:,} scenarios, {dropped[0]} first"
    message = (
        f"cost is not compared for {which}: it was recorded on one side and computed on the other, or with "
        "other prices"
    )
    return [{"code": "cost_not_compared", "message": message, "where": None}]


def _total(amounts: Iterable[float | None]) -> float | None:
    found = list(amounts)
    known = [amount for amount in found if amount is not None]
    return round(fsum(known), DIGITS) if known and len(known) == len(found) else None
