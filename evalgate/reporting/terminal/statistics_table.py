"""Statistics of suites and of the run, for a terminal."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from evalgate.reporting.markdown.statistics_rows import list_costly_checks, list_statistics
from evalgate.reporting.markdown.suite_rows import format_variant_figures, list_variants
from evalgate.reporting.text import statistics_text
from evalgate.reporting.text.escaping import escape_terminal
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import ResultsDoc
    from evalgate.reporting.markdown.statistics_rows import NamedStatistics

MAX_NAME = 60
LABEL_WIDTH = 11
"""Width of the label before a value, in columns."""


def render_statistics(document: ResultsDoc, max_suites: int) -> Iterator[str]:
    """Renders a paragraph for each of at most `max_suites` suites, then the costliest checks."""
    entries = list_statistics(document)
    for entry in entries[:max_suites]:
        yield from _format_paragraph(entry)
        yield ""
    if len(entries) > max_suites:
        yield f"... and statistics of {pluralize(len(entries) - max_suites, 'more suite')}"
        yield ""
    checks, many = list_costly_checks(document), len(document["suites"]) > 1
    if checks:
        yield "checks that lost most weight"
    for check in checks:
        suite = f"{escape_terminal(check['suite'], MAX_NAME)}: " if many else ""
        where = f"failed {check['failed']:,} times in {pluralize(check['scenarios'], 'scenario')}"
        name = f"{suite}{escape_terminal(check['name'], MAX_NAME)}{' (required)' if check['required'] else ''}"
        yield escape_terminal(f"  {name}: {where}, weight lost {check['weight_lost']:.3g}", None)
    if checks:
        yield ""


def _format_paragraph(entry: NamedStatistics) -> Iterator[str]:
    figures, delta = entry.statistics, entry.statistics["delta"]
    name = "all suites" if entry.name is None else f"suite {escape_terminal(entry.name, MAX_NAME)}"
    unmeasured = figures.get("not_measured", 0)
    also = f", {unmeasured:,} not measured" if unmeasured else ""
    yield f"{name}: {pluralize(figures['scenarios'], 'scenario')}, {pluralize(figures['trials'], 'trial')}{also}"
    lines = [
        ("pass rate", statistics_text.pass_rate(figures), statistics_text.pass_rate_delta(delta)),
        ("repeated", statistics_text.tries(figures), ""),
        ("score", statistics_text.score(figures), statistics_text.score_delta(delta)),
        ("cost", statistics_text.cost(figures), statistics_text.cost_delta(delta)),
        ("tokens", statistics_text.tokens(figures), statistics_text.tokens_delta(delta)),
        ("latency", statistics_text.latency(figures), statistics_text.latency_delta(delta)),
    ]
    for label, value, change in lines:
        if value:
            yield f"  {label.ljust(LABEL_WIDTH)}{value}{f'; {change}' if change else ''}"
    if delta:
        note = f"changes are for the {pluralize(delta['scenarios'], 'scenario')} that are also in the baseline"
        yield f"  {note}"


MAX_VARIANT_NAME = 32
HEADERS = ("passed", "tool", "count", "tokens in", "out", "total", "cost", "latency")


def render_variants(document: ResultsDoc, max_variants: int) -> Iterator[str]:
    """Renders a table per suite, of `max_variants` in total; the rest is counted. Empty without variants."""
    variants = list_variants(document)
    for suite, group in groupby(variants[:max_variants], key=lambda each: each.suite):
        title = escape_terminal(f"variants of {suite}", MAX_VARIANT_NAME)
        rows = [
            (escape_terminal(each.variant["name"], MAX_VARIANT_NAME), *format_variant_figures(each.variant))
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
