"""Rows for suites, variants, statistics and the costliest checks."""

from __future__ import annotations

import re
from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.models.comparison.comparison import GREAT_GROWTH, NOT_MEASURED, REGRESSIONS
from evalgate.reporting.markdown.view import CostlyAssertionRow, Figure, StatisticsRow, SuiteRow, VariantRow
from evalgate.reporting.text import statistics_text, wording
from evalgate.reporting.text.escaping import escape_cell
from evalgate.reporting.text.scenario_sections import (
    FAILS_MORE,
    FAILS_NOW,
    NOT_COMPARED,
    NOT_JUDGED,
    NOT_RECORDED,
    name_change,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.results.results import RemovedDoc, ResultsDoc, ScenarioDoc, SuiteDoc, SummaryDoc
    from evalgate.models.results.results_statistics import CostlyAssertionDoc, ShareDoc, StatisticsDoc, VariantDoc


_VERDICTS = {"pass": "\u2705 pass", "fail": "\u274c fail", "cannot_judge": "\U0001f7e1 can't judge"}
_KINDS = {
    "broken": "broke",
    NOT_RECORDED: "without a trace now",
    NOT_JUDGED: NOT_JUDGED,
    "regressed": "regressed",
    "fixed": "fixed",
    "improved": "improved",
    NOT_COMPARED: NOT_COMPARED,
    "new": "new",
    **{words: words for words in (FAILS_NOW, FAILS_MORE, "may be chance")},
    NOT_MEASURED: NOT_MEASURED,
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


def is_green(suite: SuiteDoc) -> bool:
    """Whether everything in a suite passes and nothing got worse."""
    changes = {scenario["change"]["kind"] for scenario in suite["scenarios"] if scenario["change"]}
    passes = all(scenario["verdict"] == "PASS" for scenario in suite["scenarios"])
    return suite["verdict"] == "pass" and passes and REGRESSIONS.isdisjoint(changes)


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
    return wording.points(round(score - baseline.score, 9), score)


def _format_changes(scenarios: Sequence[ScenarioDoc], removed: int) -> str:
    kinds = Counter(name_change(scenario) for scenario in scenarios if scenario["change"])
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


MAX_NAME = 120


class NamedStatistics(NamedTuple):
    """The statistics of a suite, or of the whole run with None as name."""

    name: str | None
    statistics: StatisticsDoc


def list_statistics(document: ResultsDoc) -> list[NamedStatistics]:
    """Lists statistics, of the run first if it has several suites; earlier documents have none."""
    found = [
        NamedStatistics(suite["suite"], figures)
        for suite in document["suites"]
        if (figures := suite.get("figures")) and figures["scenarios"]
    ]
    run_statistics = document.get("figures")
    return [NamedStatistics(None, run_statistics), *found] if len(found) > 1 and run_statistics else found


def build_statistics_row(entry: NamedStatistics) -> StatisticsRow:
    """Builds the row of a suite, or of the whole run."""
    figures, delta = entry.statistics, entry.statistics["delta"]
    return StatisticsRow(
        name="All suites" if entry.name is None else escape_cell(entry.name, MAX_NAME),
        trials=_format_trials(figures),
        pass_rate=statistics_text.pass_rate(figures),
        pass_rate_delta=_format_pass_rate_delta(figures),
        tries=statistics_text.tries(figures),
        score=statistics_text.score(figures),
        score_delta=statistics_text.score_delta(delta),
        cost=statistics_text.cost(figures),
        cost_delta=statistics_text.cost_delta(delta),
        tokens=statistics_text.tokens(figures),
        tokens_delta=statistics_text.tokens_delta(delta),
        latency=statistics_text.latency(figures),
        latency_delta=statistics_text.latency_delta(delta),
    )


def _format_pass_rate_delta(figures: StatisticsDoc) -> str:
    """The change in points, with over how many scenarios if the baseline lacks some."""
    delta = figures["delta"]
    text = statistics_text.pass_rate_delta(delta)
    is_part = bool(text) and delta is not None and delta["scenarios"] != figures["scenarios"]
    return f"{text} over {delta['scenarios']:,} that both runs have" if is_part and delta else text


def _format_trials(figures: StatisticsDoc) -> str:
    unmeasured = figures.get("not_measured", 0)
    return f"{figures['trials']:,}{f' ({unmeasured:,} not measured)' if unmeasured else ''}"


def list_costly_checks(document: ResultsDoc) -> list[CostlyAssertionDoc]:
    """Lists the checks that lost the run the most weight."""
    figures = document.get("figures")
    return figures["lost_checks"] if figures else []


def build_check_row(check: CostlyAssertionDoc, *, many: bool) -> CostlyAssertionRow:
    """Builds the row of a check; `many` suites add the suite's name."""
    name = escape_cell(check["name"], MAX_NAME)
    return CostlyAssertionRow(
        name=f"{escape_cell(check['suite'], MAX_NAME)} {name}" if many else name,
        is_required=check["required"],
        failed=check["failed"],
        scenarios=check["scenarios"],
        weight_lost=f"{check['weight_lost']:.3g}",
    )


def build_figures(document: ResultsDoc, heading: str, *, in_detail: bool) -> tuple[Figure, ...]:
    """Builds the known ones of score, passed scenarios, cost, latency, tokens and new traces; empty without a trace.

    The traces are left out if the `heading` says it; `in_detail` adds the number of checks.
    """
    current = document["summary"]
    has_trials = any(scenario["trials"] for suite in document["suites"] for scenario in suite["scenarios"])
    if current is None or not has_trials:
        return ()
    baseline = _find_comparable_summary(document, current)
    score_delta = _subtract(baseline["score"] if baseline else None, current["score"])
    figures = (
        Figure("Score", wording.score(current["score"]), _format_score_change(document, score_delta)),
        Figure(
            "Passed",
            f"{current['passed']:,} of {current['scenarios']:,}",
            wording.steps(_subtract_passed(document, current)),
        ),
        Figure("Cost", wording.cost(current), _format_growth(document, "cost")),
        Figure("Latency", _format_latency(current, _format_growth(document, "latency")), ""),
        Figure("Tokens", wording.count(current["total_tokens"]), _format_growth(document, "tokens")),
        Figure("Traces", _format_traces(document, heading), ""),
        Figure("Skills", _format_routing(document), ""),
        Figure("Checks", wording.checks(current) if in_detail else "", ""),
        Figure("Not measured", wording.unmeasured(current), ""),
    )
    return tuple(figure for figure in figures if figure.value not in ("", wording.DASH, wording.UNKNOWN))


def _format_score_change(document: ResultsDoc, delta: float | None) -> str:
    """How much the score changed; over the scenarios that both runs have, if others are new or gone."""
    current, figures = document["summary"], document.get("figures")
    common = figures["delta"] if figures else None
    if delta is not None or not current or not common or common["score"] is None:
        return wording.points(delta, current["score"]) if current else ""
    moved = wording.points(common["score"], current["score"]) or "unchanged"
    if not current["removed"]:
        return f"{moved} in the {wording.pluralize(common['scenarios'], 'old scenario')}"
    which = "both runs have" if current["new"] else "are left"
    return f"{moved} in the {common['scenarios']:,} that {which}"


_NAMES_TRACES = re.compile(r"\bnew traces?\b")
"""How a heading says that all traces are new."""


def _format_traces(document: ResultsDoc, heading: str) -> str:
    """How many traces are not those of the baseline, and how many are; empty if none is new, which a sentence says."""
    found = document.get("recordings")
    new = found["of"] - found["unchanged"] if found else 0
    if not found or not new or _NAMES_TRACES.search(heading):
        return ""
    same = f", {found['unchanged']:,} as in the baseline" if found["unchanged"] else ""
    return f"{new:,} new{same}"


GREAT_SLOWDOWN = 3.0
NOTABLE_SECONDS = 1.0
"""From which growth on a latency is emphasized: less may be noise of the machine."""
_AMOUNTS: dict[str, Literal["cost_usd", "latency_p50_s", "total_tokens"]] = {
    "cost": "cost_usd",
    "latency": "latency_p50_s",
    "tokens": "total_tokens",
}


def list_growth(document: ResultsDoc) -> list[str]:
    """Each amount that grew much: `cost +80%`. The latency is left out: it also depends on the machine."""
    grown = {
        name: wording.relative(*amounts)
        for name in ("cost", "tokens")
        if (amounts := _find_amounts(document, name)) and _has_grown_much(*amounts)
    }
    if len(grown) > 1 and len({*grown.values()}) == 1:
        return [f"{wording.join_words(list(grown))} {grown['cost']}"]
    return [f"{name} {growth}" for name, growth in grown.items()]


def list_slowdown(document: ResultsDoc) -> list[str]:
    """That the median latency is three times what it was and more, and a second longer: less may be the machine."""
    before, now = _find_amounts(document, "latency") or (0.0, 0.0)
    is_slower = before > 0 and now / before >= GREAT_SLOWDOWN and now - before >= NOTABLE_SECONDS
    return [f"latency {wording.relative(before, now)}"] if is_slower else []


def _format_growth(document: ResultsDoc, name: str) -> str:
    """How much an amount changed since the baseline; in bold if that is much, or over a limit of the policy."""
    amounts = _find_amounts(document, name)
    if not amounts or not (text := wording.relative(*amounts)):
        return ""
    is_notable = name != "latency" or amounts[1] - amounts[0] >= NOTABLE_SECONDS
    return f"**{text}**" if (is_notable and _has_grown_much(*amounts)) or _is_over_limit(document, name) else text


def _find_amounts(document: ResultsDoc, name: str) -> tuple[float, float] | None:
    """An amount of the baseline, for as many trials as this run has, and of this run; None if they don't compare."""
    current = document["summary"]
    baseline = _find_comparable_summary(document, current) if current else None
    before, now = (each and each[_AMOUNTS[name]] for each in (baseline, current))
    if not baseline or not current or before is None or now is None:
        return None
    trials, earlier = current.get("trials"), baseline.get("trials")
    if name != "latency" and trials and earlier:
        before *= trials / earlier
    return before, now


def _has_grown_much(before: float, now: float) -> bool:
    return before > 0 and now / before - 1 >= GREAT_GROWTH


def _is_over_limit(document: ResultsDoc, name: str) -> bool:
    changes = (scenario["change"] for suite in document["suites"] for scenario in suite["scenarios"])
    return any(each.startswith(f"{name} ") for change in changes if change for each in change["increases"])


def _format_routing(document: ResultsDoc) -> str:
    """How well skills were chosen, over all suites that say which they expect; empty without one."""
    found = [suite["skills"] for suite in document["suites"] if "skills" in suite]
    right, wrong, missed, trials = (
        sum(each[name] for each in found) for name in ("right", "wrong", "missed", "trials")
    )
    shares = [("precision", right, right + wrong), ("recall", right, right + missed)]
    parts = [f"{name} {part / whole:.2f} ({part:,} of {whole:,})" for name, part, whole in shares if whole]
    return f"{', '.join(parts)} in {wording.pluralize(trials, 'trial')}" if parts else ""


def _find_comparable_summary(document: ResultsDoc, current: SummaryDoc) -> SummaryDoc | None:
    """Finds the baseline's summary; None if it covers or measured other scenarios, as sums then don't compare."""
    baseline = document["baseline"]
    summary = baseline["summary"] if baseline else None
    is_comparable = (
        summary is not None
        and summary["scenarios"] == current["scenarios"]
        and not current["new"] + current["removed"]
        and not any(each.get("not_measured") for each in (summary, current))
    )
    return summary if is_comparable else None


def _format_latency(summary: SummaryDoc, growth: str) -> str:
    """Both percentiles, and how much the median grew."""
    if summary["latency_p50_s"] is None:
        return wording.UNKNOWN
    grown = f" ({growth})" if growth else ""
    return f"p50 {wording.seconds(summary['latency_p50_s'])}{grown}, p95 {wording.seconds(summary['latency_p95_s'])}"


def _subtract_passed(document: ResultsDoc, current: SummaryDoc) -> int | None:
    """How many more scenarios passed than in the baseline; also where some are gone, if none is new."""
    baseline = document["baseline"]
    summary = baseline["summary"] if baseline else None
    if not summary or current["new"] or any(each.get("not_measured") for each in (summary, current)):
        return None
    is_whole = summary["scenarios"] == current["scenarios"] + current["removed"]
    return current["passed"] - summary["passed"] if is_whole else None


def _subtract(baseline: float | None, current: float | None) -> float | None:
    return None if baseline is None or current is None else round(current - baseline, 9)
