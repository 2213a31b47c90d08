"""A backtest as a table for a terminal, and as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.comparison.backtest import SCHEMA
from evalgate.reporting.results.bounded import bounded_name
from evalgate.reporting.results.results_parts import reason_doc
from evalgate.reporting.text.escaping import terminal
from evalgate.reporting.text.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.comparison.backtest import Backtest, PastRun

MOST_SCENARIOS = 10
SHORT_SHA = 7
DAY = len("2026-01-01")


def backtest_table(found: Backtest) -> str:
    """Renders a line per run, then the scenarios that block, then totals; plain text."""
    return "\n".join([*map(_line, found.runs), *_scenarios(found), _sum(found)])


def backtest_document(found: Backtest) -> dict[str, Any]:
    """Builds the document of a backtest, schema `evalgate.backtest/1`."""
    return {
        "schema": SCHEMA,
        "summary": {
            "runs": len(found.runs),
            "blocked": found.blocked,
            "newly_blocked": found.newly_blocked,
            "released": found.released,
            "cannot_judge": found.unjudged,
        },
        "runs": [_run(run) for run in found.runs],
        "scenarios": [
            {
                "suite": bounded_name(key.suite),
                "scenario": bounded_name(key.id),
                "variant": None if key.variant is None else bounded_name(key.variant),
                "runs_blocked": count,
            }
            for key, count in found.scenarios
        ],
    }


def _run(run: PastRun) -> dict[str, Any]:
    return {
        "path": bounded_name(run.path),
        "created_at": run.created_at,
        "commit": None if run.commit is None else bounded_name(run.commit),
        "verdict_then": run.then,
        "verdict_now": run.now,
        "scenarios": run.scenarios,
        "unknown_scenarios": run.unknown,
        "traces_left_out": run.incomplete,
        "compared_with": None if run.compared_with is None else bounded_name(run.compared_with),
        "reasons": [reason_doc(reason) for reason in run.reasons],
    }


def _line(run: PastRun) -> str:
    commit = (run.commit or "")[:SHORT_SHA].ljust(SHORT_SHA)
    verdicts = f"{run.then} -> {run.now}"
    told = terminal(f"{run.created_at[:DAY]} {commit} {verdicts:28} {run.path}", 200)
    why = _why(run)
    return f"{told}\n    {terminal(why, 240)}" if why else told


def _why(run: PastRun) -> str:
    if run.incomplete:
        return f"{counted(run.incomplete, 'trace')} of it were not kept"
    if not run.reasons:
        return ""
    first, more = run.reasons[0], len(run.reasons) - 1
    place = f"{first.scenario}: " if first.scenario else ""
    return f"{place}{first.message}" + (f" (and {counted(more, 'more reason')})" if more else "")


def _scenarios(found: Backtest) -> Iterator[str]:
    named = [
        f"{key.suite} / {key.id}{f' [{key.variant}]' if key.variant else ''}: {counted(count, 'run')}"
        for key, count in found.scenarios
    ]
    for line in named[:MOST_SCENARIOS]:
        yield terminal(f"blocked by {line}", 240)
    if len(named) > MOST_SCENARIOS:
        yield f"... and by {counted(len(named) - MOST_SCENARIOS, 'more scenario')}"


def _sum(found: Backtest) -> str:
    parts = [f"would have blocked {found.blocked:,} of {counted(len(found.runs), 'run')}"]
    if found.newly_blocked:
        parts.append(f"{found.newly_blocked:,} of them passed then")
    if found.released:
        parts.append(f"{found.released:,} that failed then would pass")
    if found.unjudged:
        parts.append(f"{found.unjudged:,} can't be judged")
    return "; ".join(parts)
