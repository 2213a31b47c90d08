"""The last runs as Mermaid charts, which GitHub draws, and as table rows for readers who can't see charts.

A chart holds only numbers and fixed words: no untrusted text gets into its syntax.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.reporting.markdown.view import PastRunRow, Rows, Trend
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_history import PastRunDoc

LOOK = (
    '%%{init: {"xyChart": {"height": 240}, "themeVariables": {"xyChart": '
    '{"plotColorPalette": "#4493f8, #bf3989"}}}}%%'
)
"""Less tall than the default, in colours visible on light and dark backgrounds."""
LEAST = 2
"""Fewest runs for a trend."""
MOST = 30
SHORT_SHA = 7
DAY = 10
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_VERDICTS = {"pass": "pass", "fail": "fail", "cannot_judge": "can't judge"}
_HEADROOM = 1.1  # above the highest bar
_LEAST_SHOWN = 1e-9


def trend(document: ResultsDoc) -> Trend | None:
    """Builds score, pass rate and cost over the last runs; None if there is no history."""
    history = document.get("history")
    runs = history["runs"][-MOST:] if history else []
    if history is None or len(runs) < LEAST:
        return None
    quality = [_quality(runs)] if any(_has_shares(run) for run in runs) else []
    branch = f" of {cell(history['branch'])}" if history["branch"] else ""
    charts = [*quality, *([_cost(runs)] if _has_costs(runs) else [])]
    rows = tuple(_row(number, run) for number, run in reversed(list(enumerate(runs, 1))))
    return Trend(f"The last {len(runs)} runs{branch}", tuple(charts), Rows(rows, len(rows)))


def _quality(runs: Sequence[PastRunDoc]) -> str:
    """Draws pass rates as bars and scores as a line; a run that lacks one of them is omitted."""
    known = [(number, run) for number, run in enumerate(runs, 1) if _has_shares(run)]
    return _chart(
        "Pass rate (bars) and score (line)",
        [number for number, _ in known],
        ("0 to 1", 1.0),
        [
            ("bar", [run["pass_rate"] or 0.0 for _, run in known]),
            ("line", [run["score"] or 0.0 for _, run in known]),
        ],
    )


def _has_shares(run: PastRunDoc) -> bool:
    return run["pass_rate"] is not None and run["score"] is not None


def _has_costs(runs: Sequence[PastRunDoc]) -> bool:
    return sum(bool(run["cost_usd"]) for run in runs) >= LEAST


def _cost(runs: Sequence[PastRunDoc]) -> str:
    known = [(number, run["cost_usd"]) for number, run in enumerate(runs, 1) if run["cost_usd"] is not None]
    costs = [cost for _, cost in known]
    highest = max(max(costs) * _HEADROOM, _LEAST_SHOWN)
    return _chart("Cost", [number for number, _ in known], ("USD", highest), [("bar", costs)])


def _chart(
    title: str, labels: Sequence[int], axis: tuple[str, float], series: Sequence[tuple[str, Sequence[float]]]
) -> str:
    name, highest = axis
    ticks = ", ".join(f'"{label}"' for label in labels)
    lines = [
        *("```mermaid", LOOK, "xychart-beta", f'    title "{title}"'),
        f"    x-axis [{ticks}]",
        f'    y-axis "{name}" 0 --> {_number(highest)}',
        *(f"    {kind} [{', '.join(map(_number, values))}]" for kind, values in series),
        "```",
    ]
    return "\n".join(lines)


def _number(value: float) -> str:
    """Formats a number for Mermaid: no exponent, no trailing zeros."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def _row(number: int, run: PastRunDoc) -> PastRunRow:
    commit = run["commit"]
    return PastRunRow(
        number=str(number),
        day=cell(run["at"][:DAY]),
        commit=cell(commit[:SHORT_SHA] if _COMMIT.fullmatch(commit) else commit) if commit else wording.DASH,
        verdict=_VERDICTS.get(run["verdict"]) or cell(run["verdict"]),
        pass_rate=wording.percent(run["pass_rate"]),
        score=wording.score(run["score"]),
        cost=wording.dollars(run["cost_usd"]),
    )
