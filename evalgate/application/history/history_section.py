"""What a run tells of the runs before it, out of what a store remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.history.run_record import run_identity
from evalgate.gate.common.stored_key import stored_key
from evalgate.gate.decision.stability import stability, with_outcome
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.store.stability import PastOutcomes
from evalgate.records import replace
from evalgate.reporting.results.history_doc import history_doc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_history import PastRunDoc
    from evalgate.models.run.run import Run
    from evalgate.models.store.stability import History, Stability


def tell_history(
    results: ResultsDoc, history: History, run: Run, now: datetime, run_id: str | None = None
) -> None:
    """Adds to a run's results how the runs before it went, and which of its scenarios are flaky.

    A run that is remembered already, for it is done again, is no earlier run. `run_id` is as for its record.
    """
    summary = results["summary"]
    if summary is None:
        return
    if history.runs:
        mine = run_identity(results, run_id)
        history = replace(history, runs=tuple(each for each in history.runs if each.run_id != mine))
    this: PastRunDoc = {
        "at": results["created_at"],
        "commit": results["commit"],
        "verdict": results["verdict"],
        "score": summary["score"],
        "pass_rate": summary["pass_rate"],
        "cost_usd": summary["cost_usd"],
    }
    found = (each for each in _stabilities(history, run, now) if each.steadiness == "flaky")
    results["history"] = history_doc(history, this, found)


def _stabilities(history: History, run: Run, now: datetime) -> Iterator[Stability]:
    """Of each scenario of the run, itself its last outcome."""
    past = {each.key: each for each in history.scenarios}
    for suite in run.suites:
        for scenario in suite.scenarios:
            key = ScenarioKey(suite.name, scenario.id, scenario.variant)
            known = past.get(stored_key(key, past)) or PastOutcomes(key, "")
            first = next(iter(scenario.trials), None)
            fingerprint = first.trace.sha256 if first is not None else None
            yield stability(with_outcome(known, scenario.verdict, now, fingerprint))
