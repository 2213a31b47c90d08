"""The variants of each suite side by side, for all reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.markdown.view import VariantRow
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import escape_cell

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.results.results_statistics import ShareDoc, VariantDoc


class SuiteVariant(NamedTuple):
    """A variant and the name of its suite."""

    suite: str
    variant: VariantDoc


def list_variants(document: ResultsDoc) -> list[SuiteVariant]:
    """Lists every variant of every suite."""
    return [
        SuiteVariant(suite["suite"], variant)
        for suite in document["suites"]
        for variant in suite.get("variants", ())
    ]


def format_variant_figures(variant: VariantDoc) -> tuple[str, ...]:
    """Formats passed scenarios, correct tool and count, input, output and total tokens, cost, latency."""
    return (
        f"{variant['passed']:,} of {variant['scenarios']:,}",
        _format_share(variant["correct_tool"]),
        _format_share(variant["correct_count"]),
        wording.mean_count(variant["input_tokens"]),
        wording.mean_count(variant["output_tokens"]),
        wording.mean_count(variant["total_tokens"]),
        wording.dollars(variant["cost_usd"]),
        wording.seconds(variant["latency_seconds"]),
    )


def build_variant_row(item: SuiteVariant) -> VariantRow:
    """Builds a row of the table, with untrusted text escaped."""
    return VariantRow(
        escape_cell(item.suite), escape_cell(item.variant["name"]), *format_variant_figures(item.variant)
    )


def _format_share(share: ShareDoc) -> str:
    return f"{share['held']:,} of {share['of']:,}" if share["of"] else wording.DASH
