"""Draws a row of numbers as a row of blocks, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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
