"""A backtest as a table for a terminal, and as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.comparison.decision import SCHEMA
from evalgate.reporting.results.clean_values import clean_name, clean_optional_name
from evalgate.reporting.results.scenario_doc import build_reason_doc
from evalgate.reporting.text.escaping import escape_terminal
from evalgate.reporting.text.wording import pluralize, scenario_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.comparison.decision import Backtest, PastRun

MAX_SCENARIOS = 10
SHORT_SHA = 7
DAY_LENGTH = len("2026-01-01")


def render_backtest_table(backtest: Backtest) -> str:
    """Renders a line per run, then the scenarios that block, then totals; plain text."""
    return "\n".join([*map(_format_run, backtest.runs), *_format_scenarios(backtest), _format_totals(backtest)])


def build_backtest_document(backtest: Backtest) -> dict[str, Any]:
    """Builds the document of a backtest, schema `evalgate.backtest/1`."""
    return {
        "schema": SCHEMA,
        "summary": {
            "runs": len(backtest.runs),
            "blocked": backtest.blocked,
            "newly_blocked": backtest.newly_blocked,
            "released": backtest.released,
            "cannot_judge": backtest.unjudged,
        },
        "runs": [_build_run_doc(run) for run in backtest.runs],
        "scenarios": [
            {
                "suite": clean_name(key.suite),
                "scenario": clean_name(key.id),
                "variant": clean_optional_name(key.variant),
                "runs_blocked": count,
            }
            for key, count in backtest.scenarios
        ],
    }


def _build_run_doc(run: PastRun) -> dict[str, Any]:
    return {
        "path": clean_name(run.path),
        "created_at": run.created_at,
        "commit": clean_optional_name(run.commit),
        "verdict_then": run.verdict_then,
        "verdict_now": run.verdict_now,
        "scenarios": run.scenarios,
        "unknown_scenarios": run.unknown,
        "traces_left_out": run.incomplete,
        "compared_with": clean_optional_name(run.compared_with),
        "reasons": [build_reason_doc(reason) for reason in run.reasons],
    }


def _format_run(run: PastRun) -> str:
    commit = (run.commit or "")[:SHORT_SHA].ljust(SHORT_SHA)
    verdicts = f"{run.verdict_then} -> {run.verdict_now}"
    line = escape_terminal(f"{run.created_at[:DAY_LENGTH]} {commit} {verdicts:28} {run.path}", 200)
    reason = _describe_reason(run)
    return f"{line}\n    {escape_terminal(reason, 240)}" if reason else line


def _describe_reason(run: PastRun) -> str:
    if run.incomplete:
        return f"{pluralize(run.incomplete, 'trace')} of it were not stored"
    if not run.reasons:
        return ""
    first, more = run.reasons[0], len(run.reasons) - 1
    scenario = f"{first.scenario}: " if first.scenario else ""
    return f"{scenario}{first.message}" + (f" (and {pluralize(more, 'more reason')})" if more else "")


def _format_scenarios(backtest: Backtest) -> Iterator[str]:
    lines = [
        f"{key.suite} / {scenario_name(key.id, key.variant)}: {pluralize(count, 'run')}"
        for key, count in backtest.scenarios
    ]
    for line in lines[:MAX_SCENARIOS]:
        yield escape_terminal(f"blocked by {line}", 240)
    if len(lines) > MAX_SCENARIOS:
        yield f"... and by {pluralize(len(lines) - MAX_SCENARIOS, 'more scenario')}"


def _format_totals(backtest: Backtest) -> str:
    parts = [f"would have blocked {backtest.blocked:,} of {pluralize(len(backtest.runs), 'run')}"]
    if backtest.newly_blocked:
        parts.append(f"{backtest.newly_blocked:,} of them passed at the time")
    if backtest.released:
        parts.append(f"{backtest.released:,} that failed at the time would pass")
    if backtest.unjudged:
        parts.append(f"{backtest.unjudged:,} can't be judged")
    return "; ".join(parts)
