"""Statistics of suites and of the run, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.markdown.statistics_rows import lost_checks_in, sums_in
from evalgate.reporting.text import statistics_text
from evalgate.reporting.text.escaping import terminal
from evalgate.reporting.text.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.results.results import ResultsDoc
    from evalgate.reporting.markdown.statistics_rows import Sums

NAME = 60
WORDS = 11
"""Width of the label before a value, in columns."""


def sum_lines(document: ResultsDoc, room: int) -> Iterator[str]:
    """Renders a paragraph for each of at most `max_suites` suites, then the costliest checks."""
    found = sums_in(document)
    for each in found[:room]:
        yield from _paragraph(each)
        yield ""
    if len(found) > room:
        yield f"... and figures of {counted(len(found) - room, 'more suite')}"
        yield ""
    checks, many = lost_checks_in(document), len(document["suites"]) > 1
    if checks:
        yield "checks that lost most weight"
    for check in checks:
        suite = f"{terminal(check['suite'], NAME)}: " if many else ""
        where = f"failed {check['failed']:,} times in {counted(check['scenarios'], 'scenario')}"
        name = f"{suite}{terminal(check['name'], NAME)}{' (required)' if check['required'] else ''}"
        yield terminal(f"  {name}: {where}, weight lost {check['weight_lost']:.3g}", None)
    if checks:
        yield ""


def _paragraph(found: Sums) -> Iterator[str]:
    figures, delta = found.figures, found.figures["delta"]
    name = "all suites" if found.name is None else f"suite {terminal(found.name, NAME)}"
    yield f"{name}: {counted(figures['scenarios'], 'scenario')}, {counted(figures['trials'], 'trial')}"
    lines = [
        ("pass rate", statistics_text.pass_rate(figures), statistics_text.pass_rate_move(delta)),
        ("tries", statistics_text.tries(figures), ""),
        ("score", statistics_text.score(figures), statistics_text.score_move(delta)),
        ("cost", statistics_text.cost(figures), statistics_text.cost_move(delta)),
        ("tokens", statistics_text.tokens(figures), statistics_text.tokens_move(delta)),
        ("latency", statistics_text.latency(figures), statistics_text.latency_move(delta)),
    ]
    for word, told, move in lines:
        if told:
            yield f"  {word.ljust(WORDS)}{told}{f'; {move}' if move else ''}"
    if delta:
        both = f"moves are those of {counted(delta['scenarios'], 'scenario')} that the baseline has too"
        yield f"  {both}"
