"""Statistics of a suite or run as text: their values, and how they changed since the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.results.results_statistics import DeltaDoc, StatisticsDoc


NO_CHANGE = "\u00b10"
ENOUGH_SCENARIOS = 10
"""From which number of scenarios on an interval is shown: with fewer it is too wide to say anything."""


def pass_rate(figures: StatisticsDoc) -> str:
    """Share of scenarios that pass, with its confidence interval: `42% of scenarios (95% interval 29% to 56%)`."""
    share, interval = wording.percent(figures["pass_rate"]), figures["pass_rate_interval"]
    if figures["pass_rate"] is None or interval is None:
        return share
    if figures["scenarios"] < ENOUGH_SCENARIOS:
        return f"{share} of {wording.pluralize(figures['scenarios'], 'scenario')}"
    return f"{share} of scenarios (95% interval {wording.percent(interval[0])} to {wording.percent(interval[1])})"


def pass_rate_delta(delta: DeltaDoc | None) -> str:
    """Change in points, with its interval: `-4 points (-12 to +5)`; empty if unknown."""
    if delta is None or delta["pass_rate"] is None:
        return ""
    text = _format_points(delta["pass_rate"], with_unit=True)
    return _add_interval(text, delta["pass_rate_interval"], _format_points, delta["scenarios"])


def tries(figures: StatisticsDoc) -> str:
    """Results for the largest number of tries, `pass@4 (at least 1 of 4) 62%, pass^4 (all 4) 20%`; empty if it is 1."""
    if not figures["pass_k"] or figures["pass_k"][-1]["k"] == 1:
        return ""
    found, delta = figures["pass_k"][-1], figures["delta"]
    k = found["k"]
    moved = next((each for each in delta["pass_k"] if each["k"] == k), None) if delta else None
    once = f"pass@{k} (at least 1 of {k}) {wording.percent(found['pass_at_k'])}"
    always = f"pass^{k} (all {k}) {wording.percent(found['pass_hat_k'])}"
    moves = (moved["pass_at_k"], moved["pass_hat_k"]) if moved else (0.0, 0.0)
    shown = (f" ({_format_points(each, with_unit=True)})" if round(each * 100) else "" for each in moves)
    return ", ".join(f"{text}{move}" for text, move in zip((once, always), shown, strict=True))


def score(figures: StatisticsDoc) -> str:
    """Mean, minimum, median and 95th percentile of the scenarios' scores."""
    parts = [
        ("mean", figures["score"]),
        ("lowest", figures["score_min"]),
        ("p50", figures["score_p50"]),
        ("p95", figures["score_p95"]),
    ]
    return ", ".join(f"{word} {wording.score(value)}" for word, value in parts if value is not None)


def score_delta(delta: DeltaDoc | None) -> str:
    """Change of the mean score, with its interval; empty if unknown."""
    if delta is None or delta["score"] is None:
        return ""
    text = _format_signed_score(delta["score"])
    return _add_interval(text, delta["score_interval"], _format_signed_score, delta["scenarios"])


def cost(figures: StatisticsDoc) -> str:
    """Total cost, and mean cost of a trial."""
    each = figures["cost_mean_usd"]
    return wording.dollars(figures["cost_usd"]) + (f", {wording.dollars(each)} a trial" if each else "")


def cost_delta(delta: DeltaDoc | None) -> str:
    """Change of the mean cost of a trial; totals over different numbers of trials are not comparable."""
    return _format_delta(delta and delta["cost_mean_usd"], wording.dollars, " a trial")


def tokens(figures: StatisticsDoc) -> str:
    """Total tokens, and mean tokens of a trial."""
    each = figures["tokens_mean"]
    return wording.count(figures["total_tokens"]) + (f", {wording.mean_count(each)} a trial" if each else "")


def tokens_delta(delta: DeltaDoc | None) -> str:
    """Change of the mean tokens of a trial."""
    return _format_delta(delta and delta["tokens_mean"], wording.mean_count, " a trial")


def latency(figures: StatisticsDoc) -> str:
    """Median and 95th percentile of the latency."""
    if figures["latency_p50_s"] is None:
        return wording.UNKNOWN
    return f"p50 {wording.seconds(figures['latency_p50_s'])}, p95 {wording.seconds(figures['latency_p95_s'])}"


def latency_delta(delta: DeltaDoc | None) -> str:
    """Changes of the median and the 95th percentile of the latency."""
    if delta is None:
        return ""
    moves = [("p50", delta["latency_p50_s"]), ("p95", delta["latency_p95_s"])]
    parts = [f"{word} {amount}" for word, move in moves if (amount := _format_delta(move, wording.seconds))]
    return ", ".join(parts)


def _add_interval(
    text: str, interval: Sequence[float] | None, format_end: Callable[[float], str], scenarios: int
) -> str:
    """A change with its interval; of few scenarios only a change that is one."""
    if scenarios < ENOUGH_SCENARIOS:
        return "" if text.startswith(NO_CHANGE) else text
    if interval is None or interval[0] == interval[1]:
        return text
    return f"{text} ({format_end(interval[0])} to {format_end(interval[1])})"


def _format_points(share: float, *, with_unit: bool = False) -> str:
    number = wording.steps(round(share * 100)) or NO_CHANGE
    return f"{number} points" if with_unit else number


def _format_signed_score(delta: float) -> str:
    return wording.points(delta) or NO_CHANGE


def _format_delta(delta: float | None, format_amount: Callable[[float], str], unit: str = "") -> str:
    if not delta:
        return ""
    return f"{'+' if delta > 0 else wording.MINUS}{format_amount(abs(delta))}{unit}"
