"""History for a terminal: tables of runs and scenarios, trends as sparklines, and a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.measures.numeric.sparkline import sparkline
from evalgate.models.store.stability import PASSED, WINDOW
from evalgate.reporting.terminal.text_columns import columns
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import terminal
from evalgate.reporting.text.history_lines import share_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.store.stability import Remembered, Stability
    from evalgate.models.store.stored_run import RunApproval, StoredScenarioRow, TrendPoint

SCHEMA = "evalgate.history/1"
MOST_SCENARIOS = 40
SHORT_SHA = 7
NAME = 60


def runs_table(points: Sequence[TrendPoint], width: int, *, dimension: str | None = None) -> str:
    """Renders one line per run, newest first."""
    head = ["when", "commit", "branch", "verdict", "pass rate", "score", "cost", "latency"]
    rows = [[*_run_row(point), *([wording.score(point.dimension)] if dimension else [])] for point in points]
    return columns([*head, *([terminal(dimension, NAME)] if dimension else [])], rows[::-1], width)


def trend_lines(points: Sequence[TrendPoint], *, dimension: str | None = None) -> Iterator[str]:
    """Renders score, pass rate and cost as sparklines, oldest run first, with first and last value."""
    rows: list[tuple[str, list[float | None], Any, float | None]] = [
        ("score", [point.score for point in points], wording.score, 1.0),
        ("pass rate", [point.pass_rate for point in points], wording.percent, 1.0),
        ("cost", [point.cost_usd for point in points], wording.dollars, None),
    ]
    if dimension is not None:
        rows.insert(0, (terminal(dimension, NAME), [point.dimension for point in points], wording.score, 1.0))
    for name, values, told, highest in rows:
        known = [value for value in values if value is not None]
        if known:
            yield f"{name:10} {sparkline(values, 0.0, highest)}  {told(known[0])} to {told(known[-1])}"


def scenarios_table(found: Sequence[Remembered], width: int, left: int = 0, *, blocks: bool) -> Iterator[str]:
    """Renders at most 40 scenarios in the given order; `omitted` counts more. `blocks` draws sparklines."""
    rows = [
        [
            each.last.row.verdict.replace("_", " "),
            _name(each.last.row),
            _signs(each.outcomes[-WINDOW:], blocks=blocks),
            steadiness(each.stability),
            "quarantined" if each.last.row.quarantined else "",
        ]
        for each in found[:MOST_SCENARIOS]
    ]
    yield columns(["last", "scenario", "runs", "", ""], rows, width)
    more = left + max(0, len(found) - MOST_SCENARIOS)
    if more:
        yield f"... and {wording.counted(more, 'more scenario')}"


def steadiness(found: Stability) -> str:
    """Returns a text like `passed 18 of the last 20 runs, flaky since 2026-03-16`."""
    if not found.runs:
        return "never evaluated"
    since = found.since.date().isoformat() if found.since is not None else ""
    said = {
        "flaky": f"{'newly ' if found.is_new else ''}flaky since {since}",
        "changed": f"{'passes' if found.passes_now else 'does not pass'} since {since}",
    }.get(found.steadiness)
    return ", ".join(filter(None, [share_words(found.passed, found.runs), said]))


def history_document(
    points: Sequence[TrendPoint], found: Sequence[Remembered], place: str, left: int = 0
) -> dict[str, Any]:
    """Builds the JSON document: times in UTC, unknown amounts null; `omitted` scenarios were not read."""
    return {
        "schema": SCHEMA,
        "store": place,
        "runs": [_run_doc(point) for point in points],
        "scenarios": [_scenario_doc(each) for each in found],
        "scenarios_left": left,
    }


def _run_row(point: TrendPoint) -> list[str]:
    decided = point.approval.status
    return [
        point.at.strftime("%Y-%m-%d %H:%M"),
        (point.commit or wording.DASH)[:SHORT_SHA],
        point.branch or wording.DASH,
        point.verdict.replace("_", " ") + (f" ({decided})" if decided != "pending" else ""),
        wording.percent(point.pass_rate),
        wording.score(point.score),
        wording.dollars(point.cost_usd),
        wording.seconds(point.latency_s),
    ]


def _name(row: StoredScenarioRow) -> str:
    variant = f" [{row.key.variant}]" if row.key.variant else ""
    return f"{row.key.suite} / {row.key.id}{variant}"


def _signs(outcomes: str, *, blocks: bool) -> str:
    return sparkline([float(sign == PASSED) for sign in outcomes], 0.0, 1.0) if blocks else outcomes


def _run_doc(point: TrendPoint) -> dict[str, Any]:
    return {
        "run_id": point.run_id,
        "at": _moment(point.at),
        "branch": point.branch,
        "commit": point.commit,
        "verdict": point.verdict,
        "score": point.score,
        "pass_rate": point.pass_rate,
        "cost_usd": point.cost_usd,
        "latency_s": point.latency_s,
        "dimension": point.dimension,
        "approval": _approval_doc(point.approval),
    }


def _approval_doc(decided: RunApproval) -> dict[str, Any]:
    at = None if decided.at is None else _moment(decided.at)
    return {
        "status": decided.status,
        "approved_by": decided.approved_by,
        "comment": decided.comment,
        "at": at,
    }


def _scenario_doc(entry: Remembered) -> dict[str, Any]:
    row, found = entry.last.row, entry.stability
    return {
        "suite": row.key.suite,
        "scenario": row.key.id,
        "variant": row.key.variant,
        "last": {"run_id": entry.last.run_id, "at": _moment(entry.last.at), "verdict": row.verdict},
        "quarantined": row.quarantined,
        "steadiness": found.steadiness,
        "new": found.is_new,
        "runs": found.runs,
        "passed": found.passed,
        "interval": None if found.interval is None else list(found.interval),
        "flips": found.flips,
        "since": None if found.since is None else _moment(found.since),
        "outcomes": entry.outcomes[-WINDOW:],
    }


def _moment(at: Any) -> str:
    return str(at.strftime("%Y-%m-%dT%H:%M:%SZ"))
