"""The variants of each suite side by side, for a terminal."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from evalgate.reporting.markdown.variant_rows import figures_of, variants_in
from evalgate.reporting.text.escaping import terminal
from evalgate.reporting.text.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import ResultsDoc

NAME = 32
HEADS = ("passed", "tool", "count", "tokens in", "out", "total", "cost", "latency")


def variant_lines(document: ResultsDoc, room: int) -> Iterator[str]:
    """Renders a table per suite, of `max_variants` in total; the rest is counted. Empty without variants."""
    placed = variants_in(document)
    for suite, found in groupby(placed[:room], key=lambda each: each.suite):
        title = terminal(f"variants of {suite}", NAME)
        rows = [(terminal(each.variant["name"], NAME), *figures_of(each.variant)) for each in found]
        yield from _aligned([(title, *HEADS), *rows])
        yield ""
    if len(placed) > room:
        yield f"... and {counted(len(placed) - room, 'more variant')}"
        yield ""


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *figures in rows:
        padded = (figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True))
        yield "  ".join([name.ljust(widths[0]), *padded])
