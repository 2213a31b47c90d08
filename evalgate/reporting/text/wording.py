"""Formats numbers and lists for people; no number is rounded to a false 0% or 100%."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import SummaryDoc

UNKNOWN = "unknown"
DASH = "\u2013"
MINUS = "\u2212"
OUTCOMES = ("passed", "failed", "not_evaluable", "skipped", "error")
_DAY = 86_400


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 scenario`, `2 scenarios`, `1,000 scenarios`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def checks(summary: SummaryDoc) -> str:
    """Returns counts like `112 passed, 3 failed, 2 not evaluable`; empty if nothing was checked."""
    found = dict(summary).get("checks")  # absent in documents of earlier versions
    if not isinstance(found, dict):
        return ""
    told = [(found.get(word), word.replace("_", " ")) for word in OUTCOMES]
    return ", ".join(f"{number:,} {word}" for number, word in told if number)


def listed(parts: Sequence[str]) -> str:
    """Joins parts as `a`, `a and b` or `a, b and c`."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def percent(share: float | None) -> str:
    """Formats a share as a whole percentage; 0% and 100% only if exact."""
    if share is None:
        return UNKNOWN
    told = f"{share * 100:.0f}%"
    if told == "0%" and share > 0:
        return "<1%"
    return ">99%" if told == "100%" and share < 1 else told


def score(value: float | None) -> str:
    """Formats a score with two decimals; 0.00 and 1.00 only if exact."""
    if value is None:
        return DASH
    told = f"{value:.2f}"
    if told == "0.00" and value > 0:
        return "<0.01"
    return ">0.99" if told == "1.00" and value < 1 else told


def points(delta: float | None) -> str:
    """Formats the change of a score with its sign; empty if it is 0 or None."""
    if not delta:
        return ""
    return f"+{score(delta)}" if delta > 0 else f"{MINUS}{score(-delta)}"


def steps(delta: int | None) -> str:
    """Formats the change of a count with its sign; empty if it is 0 or None."""
    if not delta:
        return ""
    return f"+{delta:,}" if delta > 0 else f"{MINUS}{-delta:,}"


def dollars(amount: float | None) -> str:
    """Formats US dollars; without a dollar sign, which starts a formula in Markdown."""
    if amount is None:
        return UNKNOWN
    return f"{amount:,.2f} USD" if amount == 0 or abs(amount) >= 1 else f"{amount:.3g} USD"


def cost(summary: SummaryDoc) -> str:
    """Formats the cost of a run; `(computed)` marks a cost that was not recorded."""
    is_computed = summary.get("cost_computed") and summary["cost_usd"] is not None
    return f"{dollars(summary['cost_usd'])}{' (computed)' if is_computed else ''}"


def seconds(amount: float | None) -> str:
    """Formats a duration given in seconds."""
    if amount is None:
        return UNKNOWN
    return f"{amount:,.1f} s" if amount == 0 or amount >= 1 else f"{amount * 1000:.3g} ms"


def count(amount: int | None) -> str:
    """Formats a count with thousands separators."""
    return UNKNOWN if amount is None else f"{amount:,}"


def mean_count(amount: float | None) -> str:
    """Formats a mean of counts, rounded to a whole number."""
    return count(None if amount is None else round(amount))


def relative(before: float | None, now: float | None) -> str:
    """Formats a change relative to the baseline: `+35%`; empty if unknown or unchanged."""
    if before is None or now is None or before <= 0 or before == now:
        return ""
    share = now / before - 1
    sign = "+" if share > 0 else MINUS
    return f"{sign}{percent(abs(share)) if abs(share) < 1 else f'{abs(share) * 100:,.0f}%'}"


def age(seconds_: int) -> str:
    """Formats an age in whole days, so that a run repeated on the same day gives the same text."""
    return "less than a day old" if seconds_ < _DAY else f"{counted(seconds_ // _DAY, 'day')} old"
