"""Adds to the results how earlier runs went, and which scenarios are flaky; it changes no verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.application.documents.run_identity import run_identity
from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.gate.decision.stability import add_outcome, measure_stability
from evalgate.models.comparison.comparison import list_scenarios
from evalgate.models.history.stability import PastOutcomes
from evalgate.models.run.trials import list_measured
from evalgate.reporting.results.rulings_doc import build_history_doc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from evalgate.models.history.stability import RunHistory, Stability
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_sections import PastRunDoc
    from evalgate.models.run.run import Run


def add_history(results: ResultsDoc, history: RunHistory, run: Run, now: datetime, run_id: str | None = None) -> None:
    """Adds how earlier runs went, and which scenarios of this run are flaky, to its results.

    If this run was stored before, because it is a rerun, it is not counted as an earlier run. `run_id` is the
    same as in its record.
    """
    summary = results["summary"]
    if summary is None:
        return
    if history.runs:
        identity = run_identity(results, run_id)
        history = replace(history, runs=tuple(each for each in history.runs if each.run_id != identity))
    this: PastRunDoc = {
        "at": results["created_at"],
        "commit": results["commit"],
        "verdict": results["verdict"],
        "score": summary["score"],
        "pass_rate": summary["pass_rate"],
        "cost_usd": summary["cost_usd"],
    }
    if unmeasured := summary.get("not_measured", 0):
        this["not_measured"] = unmeasured
    found = (each for each in _stabilities(history, run, now) if each.steadiness == "flaky")
    results["history"] = build_history_doc(history, this, found)


def _stabilities(history: RunHistory, run: Run, now: datetime) -> Iterator[Stability]:
    """The stability of each scenario, including its outcome in this run."""
    past = {each.key: each for each in history.scenarios}
    for key, scenario in list_scenarios(run.suites):
        outcomes = past.get(find_baseline_key(key, past)) or PastOutcomes(key, "")
        first = next(iter(list_measured(scenario.trials)), None)
        fingerprint = first.trace.sha256 if first is not None else None
        yield measure_stability(add_outcome(outcomes, scenario.verdict, now, fingerprint))
