"""History for a terminal: tables of runs and scenarios, trends as sparklines, and a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.history.stability import PASSED, WINDOW
from evalgate.reporting.terminal.terminal_page import format_columns
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import escape_terminal
from evalgate.reporting.text.ruling_lines import format_passed_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.history.stability import ScenarioHistory, Stability
    from evalgate.models.history.stored_run import PruneCounts, StoredScenarioRow, TrendPoint

SCHEMA = "evalgate.history/1"
MAX_SCENARIOS = 40
SHORT_SHA = 7
MAX_NAME = 60


def render_runs_table(points: Sequence[TrendPoint], width: int, *, dimension: str | None = None) -> str:
    """Renders one line per run, newest first."""
    header = ["when", "commit", "branch", "verdict", "pass rate", "score", "cost", "latency"]
    has_outages = any(point.not_measured for point in points)
    header += ["not measured"] if has_outages else []
    rows = [
        [
            *_build_run_row(point),
            *([f"{point.not_measured:,}" if point.not_measured else ""] if has_outages else []),
            *([wording.score(point.dimension)] if dimension else []),
        ]
        for point in points
    ]
    return format_columns([*header, *([escape_terminal(dimension, MAX_NAME)] if dimension else [])], rows[::-1], width)


def render_trends(points: Sequence[TrendPoint], *, dimension: str | None = None) -> Iterator[str]:
    """Renders score, pass rate and cost as sparklines, oldest run first, with first and last value."""
    rows: list[tuple[str, list[float | None], Any, float | None]] = [
        ("score", [point.score for point in points], wording.score, 1.0),
        ("pass rate", [point.pass_rate for point in points], wording.percent, 1.0),
        ("cost", [point.cost_usd for point in points], wording.dollars, None),
    ]
    if dimension is not None:
        rows.insert(
            0, (escape_terminal(dimension, MAX_NAME), [point.dimension for point in points], wording.score, 1.0)
        )
    for name, values, to_text, highest in rows:
        known = [value for value in values if value is not None]
        if known:
            yield f"{name:10} {sparkline(values, 0.0, highest)}  {to_text(known[0])} to {to_text(known[-1])}"


def render_pruning(counts: PruneCounts, keep: str, *, dry_run: bool) -> Iterator[str]:
    """Renders what was deleted, or would be, and what was kept; `keep` is a span such as `90d`."""
    yield f"{'would delete' if dry_run else 'deleted'}: {_describe_deleted(counts)}"
    span = wording.pluralize(int(keep[:-1]), {"h": "hour", "d": "day", "w": "week"}[keep[-1]])
    yield f"kept: {wording.pluralize(counts.kept, 'run')} of the last {span}"
    if counts.decided:
        yield f"kept: {wording.pluralize(counts.decided, 'older run')}, which a person approved or rejected"


def _describe_deleted(counts: PruneCounts) -> str:
    parts = []
    if counts.first is not None and counts.last is not None:
        days = dict.fromkeys(moment.date().isoformat() for moment in (counts.first, counts.last))
        parts = [f"{wording.pluralize(counts.runs, 'run')} of {' to '.join(days)}"]
        parts += [wording.pluralize(counts.results, "scenario result")] * bool(counts.results)
        parts += [wording.pluralize(counts.evaluations, "evaluation")] * bool(counts.evaluations)
    if counts.names:
        parts.append(f"{wording.pluralize(counts.names, 'scenario name')} that no run has now")
    return ", ".join(parts) or "nothing"


def render_scenarios_table(
    scenarios: Sequence[ScenarioHistory], width: int, omitted: int = 0, *, blocks: bool
) -> Iterator[str]:
    """Renders at most 40 scenarios in the given order; `omitted` counts more. `blocks` draws sparklines."""
    rows = [
        [
            _format_last(each.last.row),
            _scenario_name(each.last.row),
            _format_outcomes(each.outcomes[-WINDOW:], blocks=blocks),
            describe_stability(each.stability),
            "quarantined" if each.last.row.quarantined else "",
        ]
        for each in scenarios[:MAX_SCENARIOS]
    ]
    yield format_columns(["last", "scenario", "runs", "", ""], rows, width)
    hidden = omitted + max(0, len(scenarios) - MAX_SCENARIOS)
    if hidden:
        yield f"... and {wording.pluralize(hidden, 'more scenario')}"


def describe_stability(stability: Stability) -> str:
    """Returns a text like `passed 18 of the last 20 runs, flaky since 2026-03-16`."""
    if not stability.runs:
        return "never evaluated"
    since = stability.since.date().isoformat() if stability.since is not None else ""
    change = {
        "flaky": f"{'newly ' if stability.is_new else ''}flaky since {since}",
        "changed": f"{'passes' if stability.passes_now else 'does not pass'} since {since}",
    }.get(stability.steadiness)
    return ", ".join(filter(None, [format_passed_runs(stability.passed, stability.runs), change]))


def build_history_document(
    points: Sequence[TrendPoint], scenarios: Sequence[ScenarioHistory], store_url: str, omitted: int = 0
) -> dict[str, Any]:
    """Builds the JSON document: times in UTC, unknown amounts null; `omitted` scenarios were not read."""
    return {
        "schema": SCHEMA,
        "store": store_url,
        "runs": [_build_run_doc(point) for point in points],
        "scenarios": [_build_scenario_doc(each) for each in scenarios],
        "scenarios_left": omitted,
    }


def _build_run_row(point: TrendPoint) -> list[str]:
    approval = point.approval.status
    return [
        point.at.strftime("%Y-%m-%d %H:%M"),
        (point.commit or wording.DASH)[:SHORT_SHA],
        point.branch or wording.DASH,
        point.verdict.replace("_", " ") + (f" ({approval})" if approval != "pending" else ""),
        wording.percent(point.pass_rate),
        wording.score(point.score),
        wording.dollars(point.cost_usd),
        wording.seconds(point.latency_s),
    ]


def _scenario_name(row: StoredScenarioRow) -> str:
    return f"{row.key.suite} / {wording.scenario_name(row.key.id, row.key.variant)}"


def _format_last(row: StoredScenarioRow) -> str:
    """The verdict of the last run; of one that an outage left unmeasured, that."""
    is_unmeasured = row.verdict == "NOT_EVALUABLE" and row.not_measured
    return "NOT MEASURED" if is_unmeasured else row.verdict.replace("_", " ")


def _format_outcomes(outcomes: str, *, blocks: bool) -> str:
    return sparkline([float(sign == PASSED) for sign in outcomes], 0.0, 1.0) if blocks else outcomes


def _build_run_doc(point: TrendPoint) -> dict[str, Any]:
    approved_at = None if point.approval.at is None else _format_time(point.approval.at)
    times = {"at": _format_time(point.at), "approval": {**point.approval._asdict(), "at": approved_at}}
    return {**{name: getattr(point, name) for name in point.__struct_fields__}, **times}


def _build_scenario_doc(entry: ScenarioHistory) -> dict[str, Any]:
    row, stability = entry.last.row, entry.stability
    return {
        "suite": row.key.suite,
        "scenario": row.key.id,
        "variant": row.key.variant,
        "last": {
            "run_id": entry.last.run_id,
            "at": _format_time(entry.last.at),
            "verdict": row.verdict,
            "not_measured": row.not_measured,
        },
        "quarantined": row.quarantined,
        "steadiness": stability.steadiness,
        "new": stability.is_new,
        "runs": stability.runs,
        "passed": stability.passed,
        "interval": None if stability.interval is None else list(stability.interval),
        "flips": stability.flips,
        "since": None if stability.since is None else _format_time(stability.since),
        "outcomes": entry.outcomes[-WINDOW:],
    }


def _format_time(at: Any) -> str:
    return str(at.strftime("%Y-%m-%dT%H:%M:%SZ"))


BLOCKS = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
UNKNOWN = "\u00b7"


def sparkline(values: Sequence[float | None], low: float | None = None, high: float | None = None) -> str:
    """Draws one block per value between the bounds (default: those of the values); a dot if unknown.

    >>> sparkline([0.0, 0.5, None, 1.0])
    '\u2581\u2585\u00b7\u2588'
    """
    known = [value for value in values if value is not None]
    if not known:
        return UNKNOWN * len(values)
    least, most = (min(known) if low is None else low), (max(known) if high is None else high)
    return "".join(UNKNOWN if value is None else _block(value, least, most) for value in values)


def _block(value: float, low: float, high: float) -> str:
    if high <= low:
        return BLOCKS[len(BLOCKS) // 2]
    share = (min(max(value, low), high) - low) / (high - low)
    return BLOCKS[round(share * (len(BLOCKS) - 1))]
