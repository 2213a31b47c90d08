"""The variants of each suite side by side, for a terminal."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from evalgate.reporting.markdown.variant_rows import format_variant_figures, list_variants
from evalgate.reporting.text.escaping import escape_terminal
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import ResultsDoc

MAX_NAME = 32
HEADERS = ("passed", "tool", "count", "tokens in", "out", "total", "cost", "latency")


def render_variants(document: ResultsDoc, max_variants: int) -> Iterator[str]:
    """Renders a table per suite, of `max_variants` in total; the rest is counted. Empty without variants."""
    variants = list_variants(document)
    for suite, group in groupby(variants[:max_variants], key=lambda each: each.suite):
        title = escape_terminal(f"variants of {suite}", MAX_NAME)
        rows = [
            (escape_terminal(each.variant["name"], MAX_NAME), *format_variant_figures(each.variant))
            for each in group
        ]
        yield from _align_rows([(title, *HEADERS), *rows])
        yield ""
    if len(variants) > max_variants:
        yield f"... and {pluralize(len(variants) - max_variants, 'more variant')}"
        yield ""


def _align_rows(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join([name.ljust(widths[0]), *padded])
