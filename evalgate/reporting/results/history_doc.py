"""Builds and checks the history of `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.reporting.results.clean_values import clean_name
from evalgate.reporting.results.results_checks import MAX_AMOUNT, MAX_SUM, check_optional, check_range, check_records
from evalgate.reporting.results.results_fields import (
    COUNT,
    FLAG,
    LIST,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    TEXT,
    Field,
    Shape,
    optional_fields,
    required_fields,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.results.results_sections import FlakyDoc, HistoryDoc, PastRunDoc
    from evalgate.models.store.stability import RunHistory, Stability
    from evalgate.models.store.stored_run import TrendPoint

MAX_RUNS = 30
MAX_FLAKY = 200
HISTORY: Shape = (
    *required_fields(LIST, "runs", "flaky"),
    *required_fields(COUNT, "flaky_left"),
    *optional_fields(MAYBE_TEXT, "branch"),
)
PAST_RUN: Shape = (
    *required_fields(TEXT, "at", "verdict"),
    *optional_fields(MAYBE_TEXT, "commit"),
    *optional_fields(MAYBE_NUMBER, "score", "pass_rate", "cost_usd"),
    Field("not_measured", COUNT, "fine"),
)
FLAKY: Shape = (
    *required_fields(TEXT, "suite", "scenario"),
    *required_fields(COUNT, "runs", "passed", "flips"),
    *required_fields(FLAG, "new"),
    *optional_fields(MAYBE_TEXT, "variant", "since"),
)


def check_history(document: dict[str, Any]) -> None:
    """Checks the history; raises ShapeError."""
    check_optional(document, "history", HISTORY, ())
    history, at = document["history"], ("history",)
    for run, path in check_records(history, "runs", PAST_RUN, at):
        for name in ("score", "pass_rate"):
            check_range(run, name, 1, path)
        check_range(run, "cost_usd", MAX_SUM, path)
    for flaky, path in check_records(history, "flaky", FLAKY, at):
        for name in ("runs", "passed", "flips"):
            check_range(flaky, name, MAX_AMOUNT, path)


def build_history_doc(history: RunHistory, current_run: PastRunDoc, flaky: Iterable[Stability]) -> HistoryDoc:
    """Builds the history: past runs, then `current_run`; newly flaky scenarios come first."""
    ordered = sorted(flaky, key=lambda each: (not each.is_new, -each.flips, each.key))
    return {
        "branch": None if history.branch is None else clean_name(history.branch),
        "runs": [*map(_build_past_run, history.runs[-MAX_RUNS + 1 :]), current_run],
        "flaky": [_build_flaky(each) for each in ordered[:MAX_FLAKY]],
        "flaky_left": max(0, len(ordered) - MAX_FLAKY),
    }


def _build_past_run(point: TrendPoint) -> PastRunDoc:
    document: PastRunDoc = {
        "at": point.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": None if point.commit is None else clean_name(point.commit),
        "verdict": clean_name(point.verdict),
        "score": point.score,
        "pass_rate": point.pass_rate,
        "cost_usd": point.cost_usd,
    }
    if point.not_measured:
        document["not_measured"] = point.not_measured
    return document


def _build_flaky(stability: Stability) -> FlakyDoc:
    suite, scenario, variant = stability.key
    return {
        "suite": clean_name(suite),
        "scenario": clean_name(scenario),
        "variant": None if variant is None else clean_name(variant),
        "runs": stability.runs,
        "passed": stability.passed,
        "flips": stability.flips,
        "since": stability.since.strftime("%Y-%m-%dT%H:%M:%SZ") if stability.since is not None else None,
        "new": stability.is_new,
    }
