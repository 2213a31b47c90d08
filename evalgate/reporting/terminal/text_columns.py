"""Rows in columns for a terminal: every cell passes the terminal's door, the widest cells give way first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP = "  "
NARROWEST = 8


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """The rows below their heads, no line wider than `width` where columns of eight characters fit in it."""
    shown = [list(head), *([terminal(cell, width) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    while sum(widths) + len(GAP) * (len(widths) - 1) > width and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return "\n".join(_line(row, widths) for row in shown)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return GAP.join(
        _clipped(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True)
    ).rstrip()


def _clipped(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}\u2026"
