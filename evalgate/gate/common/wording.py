"""Formats numbers and verdicts in the gate's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalgate.models.run.run import Verdict

SMALLEST_SHOWN = 0.005
"""The smallest difference that two digits show."""


def format_verdict(verdict: Verdict) -> str:
    """A verdict without underscores: `HARD FAIL`."""
    return verdict.replace("_", " ")


def format_count(number: int, noun: str) -> str:
    """`1 scenario`, `2 scenarios`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_change(baseline: float, current: float) -> str:
    """`0.91 -> 0.70 (-0.21)`: the difference of what is shown, with more digits if two would hide the change."""
    delta = current - baseline
    is_seen = abs(delta) >= SMALLEST_SHOWN and f"{baseline:.2f}" != f"{current:.2f}"
    spec = ".2f" if is_seen or delta == 0 else ".6g"
    before, now = f"{baseline:{spec}}", f"{current:{spec}}"
    moved = f"{float(now) - float(before):+{spec}}".replace("-", "\u2212")
    return f"{before} -> {now} ({moved})"


def format_share(value: float, *, digits: int = 3) -> str:
    """A signed percentage with `digits` significant digits."""
    return f"{value * 100:+.{digits}g}%"
