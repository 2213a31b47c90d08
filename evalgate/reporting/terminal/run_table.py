"""The report of a run for a terminal: failures in detail, other scenarios in a line each, then totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evalgate.reporting.markdown.header_lines import describe_noise
from evalgate.reporting.markdown.heading import build_heading
from evalgate.reporting.terminal.statistics_table import render_statistics, render_variants
from evalgate.reporting.terminal.terminal_page import COLOURS, RESET, VERDICT_COLOURS
from evalgate.reporting.text import wording
from evalgate.reporting.text.approval_lines import format_approval, sort_approvals
from evalgate.reporting.text.escaping import escape_terminal
from evalgate.reporting.text.grouped_warnings import group_warnings
from evalgate.reporting.text.quarantine_lines import format_quarantine, sort_quarantines
from evalgate.reporting.text.scenario_sections import (
    SuiteScenario,
    find_failed_checks,
    find_reason,
    is_bad,
    sort_scenarios,
)
from evalgate.reporting.text.trial_reasons import count_passed
from evalgate.reporting.text.weakening_lines import format_weakening, sort_weakenings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import RemovedDoc, ResultsDoc, SummaryDoc

Verbosity = Literal["quiet", "normal", "verbose"]
MAX_ROWS = {"quiet": 0, "normal": 40, "verbose": 2_000}
MAX_CHECKS = {"quiet": 0, "normal": 3, "verbose": 20}
MAX_SUITES = {"quiet": 0, "normal": 0, "verbose": 100}
MIN_WIDTH, MAX_NAME_WIDTH, MAX_REASON, MAX_NOTES = 60, 40, 320, 10
_RUN_COLOURS = {"pass": "green", "cannot_judge": "yellow"}


def render_table(
    document: ResultsDoc, *, width: int = 100, colour: bool = False, verbosity: Verbosity = "normal"
) -> str:
    """Renders plain text without a trailing line feed; `colour` adds EvalGate's colour codes only.

    `quiet` is the verdict alone, `normal` shows at most 40 scenarios, `verbose` 2,000; the rest is counted.
    """
    return "\n".join(_RunTable(document, max(width, MIN_WIDTH), verbosity, colour=colour).lines())


class _RunTable:
    def __init__(self, document: ResultsDoc, width: int, verbosity: Verbosity, *, colour: bool) -> None:
        self._document = document
        self._width = width
        self._colour = colour
        self._max_rows = MAX_ROWS[verbosity]
        self._max_checks = MAX_CHECKS[verbosity]
        self._is_quiet = verbosity == "quiet"
        self._max_suites = MAX_SUITES[verbosity]
        scenarios = sort_scenarios(document)
        self._failing = [
            *(*scenarios.failures, *scenarios.regressed, *scenarios.below),
            *(each for each in scenarios.quarantined if is_bad(each)),
        ]
        harmless = [each for each in scenarios.quarantined if not is_bad(each)]
        self._others = [*scenarios.other_changes, *harmless, *scenarios.passing]
        names = [_name(item) for item in [*self._failing, *self._others][: max(self._max_rows, 1)]]
        self._name_width = min(MAX_NAME_WIDTH, max((len(name) for name in names), default=0))

    def lines(self) -> Iterator[str]:
        """Yields the lines of the report."""
        if not self._is_quiet:
            yield from self._iter_scenarios()
            yield from render_variants(self._document, self._max_rows)
            if self._max_suites:
                yield from render_statistics(self._document, self._max_suites)
            yield from self._iter_notes()
            yield from filter(None, [describe_noise(self._document)])
            if self._document["summary"]:
                yield from _format_summary(self._document["summary"])
        yield self._paint(f"EvalGate {build_heading(self._document, escape_terminal).text}", self._verdict_colour())

    def _iter_scenarios(self) -> Iterator[str]:
        items = [*self._failing, *self._others]
        for index, item in enumerate(items[: self._max_rows]):
            yield self._format_row(item)
            if isinstance(item, SuiteScenario) and index < len(self._failing):
                yield from self._iter_reasons(item)
            if isinstance(item, SuiteScenario):
                yield from self._iter_cause(item)
        if len(items) > self._max_rows:
            yield self._paint(f"... and {wording.pluralize(len(items) - self._max_rows, 'more scenario')}", "dim")
        if items:
            yield ""

    def _format_row(self, item: SuiteScenario | RemovedDoc) -> str:
        name = _name(item).ljust(self._name_width)
        if not isinstance(item, SuiteScenario):
            return f"{'REMOVED':13} {name}".rstrip()
        scenario, change = item.scenario, item.scenario["change"]
        passed = count_passed(scenario)
        facts = [wording.score(scenario["score"]).rjust(5)]
        facts.append(f"{passed}/{scenario['n']}" if scenario["n"] > 1 else "")
        if change and change["kind"] != "unchanged":
            facts.append(escape_terminal(" ".join([change["kind"], *(f"({flag})" for flag in change["flags"])]), 60))
        elif scenario.get("quarantined"):
            facts.append("(quarantined)")
        verdict = escape_terminal(scenario["verdict"].replace("_", " "), 13).ljust(13)
        colour = VERDICT_COLOURS.get(scenario["verdict"], "red")
        return f"{self._paint(verdict, colour)} {name} {' '.join(facts)}".rstrip()

    def _iter_reasons(self, item: SuiteScenario) -> Iterator[str]:
        """Yields why it is no clean pass: its worst checks, or the reason of the scenario as a whole."""
        scenario, change = item.scenario, item.scenario["change"]
        is_worse = scenario["verdict"] != "PASS" or item.kind == "regressed"
        checks = find_failed_checks(scenario) if is_worse else []
        if not checks or scenario["verdict"] == "ERROR":
            reason = find_reason(scenario) if scenario["verdict"] != "PASS" else ""
            yield from self._wrap(reason or (change["reason"] if change else ""))
        for check in checks[: self._max_checks]:
            times = f" ({check.failed} of {check.trials} trials)" if check.trials > 1 else ""
            yield from self._wrap(f"{check.first['name']}{times}: {check.first['reason']}")
        if len(checks) > self._max_checks:
            yield from self._wrap(f"and {len(checks) - self._max_checks} more")

    def _iter_cause(self, item: SuiteScenario) -> Iterator[str]:
        """Yields whether agent or rules caused the change, if the baseline's rules differ."""
        change = item.scenario["change"]
        cause = change.get("cause") if change else None
        if cause:
            yield from self._wrap(cause["message"])

    def _wrap(self, reason: str) -> Iterator[str]:
        from textwrap import wrap

        lines = wrap(
            escape_terminal(reason, MAX_REASON), self._width, initial_indent="    ", subsequent_indent="      "
        )
        # A line break can move text to a line's start that a job's log would take for a command.
        yield from (escape_terminal(line, None) for line in lines)

    def _iter_notes(self) -> Iterator[str]:
        document = self._document
        for reason in document["reasons"][:20]:
            if not reason.get("scenario") and reason["code"] != "weakened":
                yield escape_terminal(f"{reason['code']}: {reason['message']}", MAX_REASON)
        warnings = group_warnings(document["warnings"])
        for warning in warnings[:MAX_NOTES]:
            where = f" ({warning.where}{warning.more_places})" if warning.where else warning.more_places
            yield escape_terminal(f"warning: {warning.message}{where}", MAX_REASON)
        if len(warnings) > MAX_NOTES:
            yield f"... and {wording.pluralize(len(warnings) - MAX_NOTES, 'more warning')}"
        yield from _limit_lines(list(map(format_quarantine, sort_quarantines(document))), "more quarantine")
        yield from _limit_lines(list(map(format_weakening, sort_weakenings(document))), "more weakened requirement")
        yield from _limit_lines(list(map(format_approval, sort_approvals(document))), "more approval")
        if document["unclaimed"]:
            yield escape_terminal(self._describe_unclaimed(), MAX_REASON)

    def _describe_unclaimed(self) -> str:
        """Names some traces with their id, which often differs from the scenario's in its spelling."""
        traces = self._document["unclaimed"]
        names = [f"{trace['path']} (id {trace['scenario_id'] or 'unknown'})" for trace in traces[: self._max_checks]]
        left = len(traces) - len(names)
        more = f" and {left:,} more" if left else ""
        count = wording.pluralize(len(traces), "trace")
        return f"{count} without a matching scenario: {', '.join(names)}{more}"

    def _verdict_colour(self) -> str:
        text = build_heading(self._document).text
        return "yellow" if text.startswith("passed, but") else _RUN_COLOURS.get(self._document["verdict"], "red")

    def _paint(self, text: str, colour: str) -> str:
        return f"{COLOURS[colour]}{text}{RESET}" if self._colour else text


def _name(item: SuiteScenario | RemovedDoc) -> str:
    scenario = item.scenario if isinstance(item, SuiteScenario) else item
    variant = f" [{scenario['variant']}]" if scenario["variant"] else ""
    return escape_terminal(f"{scenario['id']}{variant}", MAX_NAME_WIDTH - 8)


def _limit_lines(lines: Sequence[str], noun: str) -> Iterator[str]:
    """Yields the first few lines, and the number of the others."""
    for line in lines[:MAX_NOTES]:
        yield escape_terminal(line, MAX_REASON)
    if len(lines) > MAX_NOTES:
        yield f"... and {wording.pluralize(len(lines) - MAX_NOTES, noun)}"


def _format_summary(summary: SummaryDoc) -> Iterator[str]:
    counts = [
        (summary["passed"], "passed"),
        (summary["partial"], "partial"),
        (summary["failed"], "failed"),
        (summary["hard_fails"], "hard-failed"),
        (summary["errors"], "error"),
        (summary["missing"], "missing"),
        (summary["not_evaluable"], "not evaluable"),
        (summary["skipped"], "skipped"),
    ]
    verdicts = ", ".join(f"{number:,} {word}" for number, word in counts if number)
    checks = wording.checks(summary)
    yield f"{wording.pluralize(summary['scenarios'], 'scenario')}: {verdicts or 'nothing'}"
    if checks:
        yield f"checks: {checks}"
    yield (
        f"score {wording.score(summary['score'])}, cost {wording.cost(summary)}, latency p50"
        f" {wording.seconds(summary['latency_p50_s'])} p95 {wording.seconds(summary['latency_p95_s'])},"
        f" tokens {wording.count(summary['total_tokens'])}"
    )
