"""The figures of a whole run, each with its change since the baseline if the two are comparable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.markdown.noise import MANY
from evalgate.reporting.markdown.view import Figure
from evalgate.reporting.text import statistics_text, wording

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc, SummaryDoc


def figures(document: ResultsDoc) -> tuple[Figure, ...]:
    """Builds score, pass rate, cost, latency, tokens and checks; empty if nothing was evaluated."""
    now = document["summary"]
    if now is None or not now["scenarios"]:
        return ()
    before = _comparable(document, now)
    score_delta = _difference(before["score"] if before else None, now["score"])
    return (
        Figure("Score", wording.score(now["score"]), wording.points(score_delta)),
        _pass_rate(document, before, now),
        *_tries(document),
        Figure(
            "Cost",
            wording.cost(now),
            wording.relative(before and before["cost_usd"], now["cost_usd"]),
        ),
        Figure(
            "Latency",
            _latency(now),
            wording.relative(before and before["latency_p50_s"], now["latency_p50_s"]),
        ),
        Figure(
            "Tokens",
            wording.count(now["total_tokens"]),
            wording.relative(before and before["total_tokens"], now["total_tokens"]),
        ),
        *([Figure("Checks", checks, "")] if (checks := wording.checks(now)) else []),
    )


def _pass_rate(document: ResultsDoc, before: SummaryDoc | None, now: SummaryDoc) -> Figure:
    """Builds the pass rate; intervals of it and its change only with enough scenarios to be meaningful."""
    found = document.get("figures")
    if not found or found["scenarios"] < MANY:
        return Figure("Pass rate", wording.percent(now["pass_rate"]), _was(before, now))
    return Figure(
        "Pass rate", statistics_text.pass_rate(found), statistics_text.pass_rate_move(found["delta"])
    )


def _tries(document: ResultsDoc) -> list[Figure]:
    found = document.get("figures")
    told = statistics_text.tries(found) if found else ""
    return [Figure("Tries", told, "")] if told else []


def _comparable(document: ResultsDoc, now: SummaryDoc) -> SummaryDoc | None:
    """Finds the baseline's summary; None if it covers other scenarios, as sums then don't compare."""
    baseline = document["baseline"]
    before = baseline["summary"] if baseline else None
    same = before is not None and before["scenarios"] == now["scenarios"] and not now["new"] + now["removed"]
    return before if same else None


def _latency(now: SummaryDoc) -> str:
    if now["latency_p50_s"] is None:
        return wording.UNKNOWN
    return f"p50 {wording.seconds(now['latency_p50_s'])}, p95 {wording.seconds(now['latency_p95_s'])}"


def _difference(before: float | None, now: float | None) -> float | None:
    return None if before is None or now is None else round(now - before, 9)


def _was(before: SummaryDoc | None, now: SummaryDoc) -> str:
    if before is None or before["pass_rate"] is None or before["pass_rate"] == now["pass_rate"]:
        return ""
    return f"was {wording.percent(before['pass_rate'])}"
