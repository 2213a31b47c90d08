"""Rows of the suite table: each suite's results, and their change since the baseline."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.markdown.view import SuiteRow, VariantRow
from evalgate.reporting.text import wording
from evalgate.reporting.text.escaping import escape_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import RemovedDoc, ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.results.results_statistics import ShareDoc, VariantDoc

_VERDICTS = {"pass": "\u2705 pass", "fail": "\u274c fail", "cannot_judge": "\U0001f7e1 can't judge"}
_KINDS = {
    "broken": "broke",
    "regressed": "regressed",
    "fixed": "fixed",
    "improved": "improved",
    "new": "new",
    "inconclusive": "inconclusive",
}


class _SuiteBaseline(NamedTuple):
    """Results of a suite in the baseline; a score with an unknown part becomes None."""

    passed: int
    score: float | None


def build_suite_row(suite: SuiteDoc, document: ResultsDoc) -> SuiteRow:
    """Builds a row, with deltas to the baseline's suite including its removed scenarios."""
    scenarios = suite["scenarios"]
    removed = [gone for gone in document["removed"] if gone["suite"] == suite["suite"]]
    passed = sum(scenario["verdict"] == "PASS" for scenario in scenarios)
    baseline = _build_suite_baseline(scenarios, removed)
    return SuiteRow(
        name=escape_cell(suite["suite"]),
        verdict=_format_verdict(suite, passed),
        passed=f"{passed:,} of {len(scenarios):,}",
        passed_delta=wording.steps(passed - baseline.passed) if baseline else "",
        score=wording.score(suite["score"]),
        score_delta=_format_score_delta(suite["score"], baseline),
        changes=_format_changes(scenarios, len(removed)),
    )


def _format_verdict(suite: SuiteDoc, passed: int) -> str:
    """Formats the verdict; `pass` only if every scenario passed, else `not blocking`."""
    if suite["verdict"] == "pass" and passed < len(suite["scenarios"]):
        return "\U0001f7e1 not blocking"
    return _VERDICTS.get(suite["verdict"]) or escape_cell(suite["verdict"])


def _build_suite_baseline(scenarios: Sequence[ScenarioDoc], removed: Sequence[RemovedDoc]) -> _SuiteBaseline | None:
    compared = [
        (scenario["score"], change)
        for scenario in scenarios
        if (change := scenario["change"]) is not None and change["kind"] != "new"
    ]
    if not compared and not removed:
        return None
    verdicts = [change["previous_verdict"] for _, change in compared] + [gone["verdict"] for gone in removed]
    scores: list[float] = [gone["score"] or 0.0 for gone in removed]
    for score, change in compared:
        if score is None or change["score_delta"] is None:
            return _SuiteBaseline(verdicts.count("PASS"), None)
        scores.append(score - change["score_delta"])
    return _SuiteBaseline(verdicts.count("PASS"), fsum(scores) / len(scores))


def _format_score_delta(score: float | None, baseline: _SuiteBaseline | None) -> str:
    if score is None or baseline is None or baseline.score is None:
        return ""
    return wording.points(round(score - baseline.score, 9))


def _format_changes(scenarios: Sequence[ScenarioDoc], removed: int) -> str:
    kinds = Counter(scenario["change"]["kind"] for scenario in scenarios if scenario["change"])
    parts = [f"{kinds[kind]:,} {words}" for kind, words in _KINDS.items() if kinds[kind]]
    if removed:
        parts.append(f"{removed:,} removed")
    if parts:
        return ", ".join(parts)
    return "no change" if kinds else wording.DASH


class SuiteVariant(NamedTuple):
    """A variant and the name of its suite."""

    suite: str
    variant: VariantDoc


def list_variants(document: ResultsDoc) -> list[SuiteVariant]:
    """Lists every variant of every suite."""
    return [
        SuiteVariant(suite["suite"], variant) for suite in document["suites"] for variant in suite.get("variants", ())
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
    return VariantRow(escape_cell(item.suite), escape_cell(item.variant["name"]), *format_variant_figures(item.variant))


def _format_share(share: ShareDoc) -> str:
    return f"{share['held']:,} of {share['of']:,}" if share["of"] else wording.DASH
