"""Rows in columns for a terminal: every cell is escaped, the widest columns are narrowed first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP = "  "
MIN_COLUMN = 8


def format_columns(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """Formats rows below their header, at most `width` wide if columns of eight characters fit."""
    shown = [list(header), *([escape_terminal(cell, width) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    while sum(widths) + len(GAP) * (len(widths) - 1) > width and max(widths) > MIN_COLUMN:
        widths[widths.index(max(widths))] -= 1
    return "\n".join(_format_row(row, widths) for row in shown)


def _format_row(row: Sequence[str], widths: Sequence[int]) -> str:
    return GAP.join(_clip(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}\u2026"
