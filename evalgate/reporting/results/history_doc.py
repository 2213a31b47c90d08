"""Builds and checks the history of `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.reporting.results.bounded import bounded_name
from evalgate.reporting.results.results_checks import LARGEST_AMOUNT, LARGEST_SUM, bound, maybe, records
from evalgate.reporting.results.results_fields import (
    COUNT,
    FLAG,
    LIST,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    TEXT,
    Shape,
    needed,
    optional,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.results.results_history import FlakyDoc, HistoryDoc, PastRunDoc
    from evalgate.models.store.stability import History, Stability
    from evalgate.models.store.stored_run import TrendPoint

MOST_RUNS = 30
MOST_FLAKY = 200
HISTORY: Shape = (
    *needed(LIST, "runs", "flaky"),
    *needed(COUNT, "flaky_left"),
    *optional(MAYBE_TEXT, "branch"),
)
PAST_RUN: Shape = (
    *needed(TEXT, "at", "verdict"),
    *optional(MAYBE_TEXT, "commit"),
    *optional(MAYBE_NUMBER, "score", "pass_rate", "cost_usd"),
)
FLAKY: Shape = (
    *needed(TEXT, "suite", "scenario"),
    *needed(COUNT, "runs", "passed", "flips"),
    *needed(FLAG, "new"),
    *optional(MAYBE_TEXT, "variant", "since"),
)


def check_history(document: dict[str, Any]) -> None:
    """Checks the history; raises ShapeError."""
    maybe(document, "history", HISTORY, ())
    history, at = document["history"], ("history",)
    for run, place in records(history, "runs", PAST_RUN, at):
        for name in ("score", "pass_rate"):
            bound(run, name, 1, place)
        bound(run, "cost_usd", LARGEST_SUM, place)
    for flaky, place in records(history, "flaky", FLAKY, at):
        for name in ("runs", "passed", "flips"):
            bound(flaky, name, LARGEST_AMOUNT, place)


def history_doc(history: History, this: PastRunDoc, flaky: Iterable[Stability]) -> HistoryDoc:
    """Builds the history: past runs, then `current_run`; newly flaky scenarios come first."""
    worst = sorted(flaky, key=lambda each: (not each.is_new, -each.flips, each.key))
    return {
        "branch": None if history.branch is None else bounded_name(history.branch),
        "runs": [*map(_past_run, history.runs[-MOST_RUNS + 1 :]), this],
        "flaky": [_flaky(each) for each in worst[:MOST_FLAKY]],
        "flaky_left": max(0, len(worst) - MOST_FLAKY),
    }


def _past_run(point: TrendPoint) -> PastRunDoc:
    return {
        "at": point.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": None if point.commit is None else bounded_name(point.commit),
        "verdict": bounded_name(point.verdict),
        "score": point.score,
        "pass_rate": point.pass_rate,
        "cost_usd": point.cost_usd,
    }


def _flaky(found: Stability) -> FlakyDoc:
    suite, scenario, variant = found.key
    return {
        "suite": bounded_name(suite),
        "scenario": bounded_name(scenario),
        "variant": None if variant is None else bounded_name(variant),
        "runs": found.runs,
        "passed": found.passed,
        "flips": found.flips,
        "since": found.since.strftime("%Y-%m-%dT%H:%M:%SZ") if found.since is not None else None,
        "new": found.is_new,
    }
