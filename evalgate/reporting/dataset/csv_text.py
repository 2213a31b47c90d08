"""Reads and writes RFC 4180 CSV; cells that a spreadsheet would take for formulas are escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.errors import Location, Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_CELL = 1_000_000

# Characters that start a formula in a spreadsheet, in every width and after blanks that it skips. Apostrophes
# before them match too, so that a text that starts with one gets another, and reading removes only that.
_BLANK = "[\\s\u200b-\u200f\u2060-\u2064\ufeff\u00ad\x00]"
_FORMULA = re.compile(f"'*(?:[\t\r]|{_BLANK}*[=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212])")
_NEEDS_QUOTES = re.compile('[",;\t\r\n]|^\\s|\\s$')


def encode_rows(rows: Iterable[Sequence[str]]) -> str:
    """Encodes rows with escaped cells; each line ends with CR LF."""
    return "".join(f"{','.join(map(_escape_cell, row))}\r\n" for row in rows)


def read_rows(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Yields rows, each with the line it ends on; cells are unescaped.

    Raises SettingError for invalid CSV, with the line of the file at `path`.
    """
    import csv

    csv.field_size_limit(MAX_CELL)
    rows = csv.reader((f"{line}\n" for line in text.removeprefix("\ufeff").split("\n")), strict=True)
    while True:
        try:
            row = next(rows, None)
        except csv.Error:
            location = Location(path, rows.line_num)
            raise SettingError(Problem("this is no CSV as RFC 4180 has it", location)) from None
        if row is None:
            return
        if row:
            yield rows.line_num, [_unescape_cell(cell) for cell in row]


def _escape_cell(text: str) -> str:
    harmless = f"'{text}" if _FORMULA.match(text) else text
    return f'"{harmless.replace(chr(34), chr(34) * 2)}"' if _NEEDS_QUOTES.search(harmless) else harmless


def _unescape_cell(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
