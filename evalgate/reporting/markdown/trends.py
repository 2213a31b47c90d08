"""The last runs as Mermaid charts, which GitHub draws, and as table rows for readers who can't see charts.

A chart holds only numbers and fixed words: no untrusted text gets into its syntax.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.markdown.view import PastRunRow, Rows, Trend
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import escape_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_sections import PastRunDoc
    from evalgate.reporting.markdown.links import Links

CHART_STYLE = (
    '%%{init: {"xyChart": {"height": 240}, "themeVariables": {"xyChart": {"plotColorPalette": "#4493f8, #bf3989"}}}}%%'
)
"""Less tall than the default, in colours visible on light and dark backgrounds."""
MIN_RUNS = 2
"""Fewest runs for a trend."""
MAX_RUNS = 30
DAY_LENGTH = 10
_VERDICTS = {"pass": "pass", "fail": "fail", "cannot_judge": "can't judge"}
_HEADROOM = 1.1  # above the highest bar
_MIN_AXIS = 1e-9


def build_trend(document: ResultsDoc, links: Links) -> Trend | None:
    """Builds score, pass rate and cost over the last runs; None if there is no history."""
    history = document.get("history")
    runs = history["runs"][-MAX_RUNS:] if history else []
    if history is None or len(runs) < MIN_RUNS:
        return None
    quality = [_build_quality_chart(runs)] if any(_has_shares(run) for run in runs) else []
    branch = f" of {escape_cell(history['branch'])}" if history["branch"] else ""
    charts = [*quality, *([_build_cost_chart(runs)] if _has_costs(runs) else [])]
    rows = tuple(_build_row(number, run, links) for number, run in reversed(list(enumerate(runs, 1))))
    return Trend(f"The last {len(runs)} runs{branch}", tuple(charts), Rows(rows, len(rows)))


def _build_quality_chart(runs: Sequence[PastRunDoc]) -> str:
    """Draws pass rates as bars and scores as a line; a run that lacks one of them is omitted."""
    scored_runs = [(number, run) for number, run in enumerate(runs, 1) if _has_shares(run)]
    return _build_chart(
        "Pass rate (bars) and score (line)",
        [number for number, _ in scored_runs],
        ("0 to 1", 1.0),
        [
            ("bar", [run["pass_rate"] or 0.0 for _, run in scored_runs]),
            ("line", [run["score"] or 0.0 for _, run in scored_runs]),
        ],
    )


def _has_shares(run: PastRunDoc) -> bool:
    return run["pass_rate"] is not None and run["score"] is not None


def _has_costs(runs: Sequence[PastRunDoc]) -> bool:
    return sum(bool(run["cost_usd"]) for run in runs) >= MIN_RUNS


def _build_cost_chart(runs: Sequence[PastRunDoc]) -> str:
    known = [(number, run["cost_usd"]) for number, run in enumerate(runs, 1) if run["cost_usd"] is not None]
    costs = [cost for _, cost in known]
    highest = max(max(costs) * _HEADROOM, _MIN_AXIS)
    return _build_chart("Cost", [number for number, _ in known], ("USD", highest), [("bar", costs)])


def _build_chart(
    title: str, labels: Sequence[int], axis: tuple[str, float], series: Sequence[tuple[str, Sequence[float]]]
) -> str:
    name, highest = axis
    ticks = ", ".join(f'"{label}"' for label in labels)
    lines = [
        *("```mermaid", CHART_STYLE, "xychart-beta", f'    title "{title}"'),
        f"    x-axis [{ticks}]",
        f'    y-axis "{name}" 0 --> {_format_number(highest)}',
        *(f"    {kind} [{', '.join(map(_format_number, values))}]" for kind, values in series),
        "```",
    ]
    return "\n".join(lines)


def _format_number(value: float) -> str:
    """Formats a number for Mermaid: no exponent, no trailing zeros."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def _build_row(number: int, run: PastRunDoc, links: Links) -> PastRunRow:
    commit = run["commit"]
    return PastRunRow(
        number=str(number),
        day=escape_cell(run["at"][:DAY_LENGTH]),
        commit=links.base(commit) if commit else "",
        verdict=_VERDICTS.get(run["verdict"]) or escape_cell(run["verdict"]),
        pass_rate=wording.percent(run["pass_rate"]),
        score=wording.score(run["score"]),
        cost=wording.dollars(run["cost_usd"]),
    )
