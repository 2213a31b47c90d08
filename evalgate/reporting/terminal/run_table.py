"""The report of a run for a terminal: failures in detail, other scenarios in a line each, then totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evalgate.reporting.markdown.heading import heading
from evalgate.reporting.markdown.noise import noise
from evalgate.reporting.terminal.statistics_table import sum_lines
from evalgate.reporting.terminal.variant_table import variant_lines
from evalgate.reporting.text import wording
from evalgate.reporting.text.approval_lines import approval_text, sorted_approvals
from evalgate.reporting.text.escaping import terminal
from evalgate.reporting.text.grouped_warnings import group_warnings
from evalgate.reporting.text.quarantine_lines import quarantine_text, sorted_quarantines
from evalgate.reporting.text.scenario_sections import (
    Placed,
    failed_checks,
    first_reason,
    is_bad,
    sort_scenarios,
)
from evalgate.reporting.text.trial_reasons import passed_in
from evalgate.reporting.text.weakening_lines import sorted_weakenings, weakening_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import RemovedDoc, ResultsDoc, SummaryDoc

Loudness = Literal["quiet", "normal", "verbose"]
LINES = {"quiet": 0, "normal": 40, "verbose": 2_000}
CHECKS = {"quiet": 0, "normal": 3, "verbose": 20}
SUMS = {"quiet": 0, "normal": 0, "verbose": 100}
NARROWEST, WIDEST_NAME, REASON, MAX_REMARKS = 60, 40, 320, 10
_RED, _YELLOW, _GREEN, _DIM, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[2m", "\x1b[0m"
_COLOURS = {"PASS": _GREEN, "PARTIAL": _YELLOW, "NOT_EVALUABLE": _YELLOW}
_VERDICT_COLOURS = {"pass": _GREEN, "cannot_judge": _YELLOW}


def render_table(
    document: ResultsDoc, *, width: int = 100, colour: bool = False, loudness: Loudness = "normal"
) -> str:
    """Renders plain text without a trailing line feed; `colour` adds EvalGate's colour codes only.

    `quiet` is the verdict alone, `normal` shows at most 40 scenarios, `verbose` 2,000; the rest is counted.
    """
    return "\n".join(_Table(document, max(width, NARROWEST), loudness, colour=colour).lines())


class _Table:
    def __init__(self, document: ResultsDoc, width: int, loudness: Loudness, *, colour: bool) -> None:
        self._document = document
        self._width = width
        self._colour = colour
        self._room = LINES[loudness]
        self._checks = CHECKS[loudness]
        self._is_quiet = loudness == "quiet"
        self._sums = SUMS[loudness]
        scenarios = sort_scenarios(document)
        self._failing = [
            *(*scenarios.failures, *scenarios.regressed, *scenarios.below),
            *(each for each in scenarios.quarantined if is_bad(each)),
        ]
        calm = [each for each in scenarios.quarantined if not is_bad(each)]
        self._others = [*scenarios.other_changes, *calm, *scenarios.passing]
        names = [_name(item) for item in [*self._failing, *self._others][: max(self._room, 1)]]
        self._name_width = min(WIDEST_NAME, max((len(name) for name in names), default=0))

    def lines(self) -> Iterator[str]:
        """Yields the lines of the report."""
        if not self._is_quiet:
            yield from self._scenarios()
            yield from variant_lines(self._document, self._room)
            if self._sums:
                yield from sum_lines(self._document, self._sums)
            yield from self._loose_ends()
            yield from filter(None, [noise(self._document)])
            if self._document["summary"]:
                yield from _sums(self._document["summary"])
        yield self._painted(f"EvalGate {heading(self._document).text}", self._verdict_colour())

    def _scenarios(self) -> Iterator[str]:
        items = [*self._failing, *self._others]
        for index, item in enumerate(items[: self._room]):
            yield self._row(item)
            if isinstance(item, Placed) and index < len(self._failing):
                yield from self._reasons(item)
            if isinstance(item, Placed):
                yield from self._cause(item)
        if len(items) > self._room:
            yield self._painted(f"... and {wording.counted(len(items) - self._room, 'more scenario')}", _DIM)
        if items:
            yield ""

    def _row(self, item: Placed | RemovedDoc) -> str:
        name = _name(item).ljust(self._name_width)
        if not isinstance(item, Placed):
            return f"{'REMOVED':13} {name}".rstrip()
        scenario, change = item.scenario, item.scenario["change"]
        passed = passed_in(scenario)
        facts = [wording.score(scenario["score"]).rjust(5)]
        facts.append(f"{passed}/{scenario['n']}" if scenario["n"] > 1 else "")
        if change and change["kind"] != "unchanged":
            facts.append(terminal(" ".join([change["kind"], *(f"({flag})" for flag in change["flags"])]), 60))
        elif scenario.get("quarantined"):
            facts.append("(quarantined)")
        verdict = terminal(scenario["verdict"].replace("_", " "), 13).ljust(13)
        colour = _COLOURS.get(scenario["verdict"], _RED)
        return f"{self._painted(verdict, colour)} {name} {' '.join(facts)}".rstrip()

    def _reasons(self, item: Placed) -> Iterator[str]:
        """Yields why it is no clean pass: its worst checks, or the reason of the scenario as a whole."""
        scenario, change = item.scenario, item.scenario["change"]
        is_worse = scenario["verdict"] != "PASS" or item.kind == "regressed"
        checks = failed_checks(scenario) if is_worse else []
        if not checks or scenario["verdict"] == "ERROR":
            said = first_reason(scenario) if scenario["verdict"] != "PASS" else ""
            yield from self._told(said or (change["reason"] if change else ""))
        for check in checks[: self._checks]:
            times = f" ({check.failed} of {check.trials} trials)" if check.trials > 1 else ""
            yield from self._told(f"{check.first['name']}{times}: {check.first['reason']}")
        if len(checks) > self._checks:
            yield from self._told(f"and {len(checks) - self._checks} more")

    def _cause(self, item: Placed) -> Iterator[str]:
        """Yields whether agent or rules caused the change, if the baseline's rules differ."""
        change = item.scenario["change"]
        cause = change.get("cause") if change else None
        if cause:
            yield from self._told(cause["message"])

    def _told(self, reason: str) -> Iterator[str]:
        from textwrap import wrap

        lines = wrap(terminal(reason, REASON), self._width, initial_indent="    ", subsequent_indent="      ")
        # A line break can move text to a line's start that a job's log would take for a command.
        yield from (terminal(line, None) for line in lines)

    def _loose_ends(self) -> Iterator[str]:
        document = self._document
        for reason in document["reasons"][:20]:
            if not reason.get("scenario") and reason["code"] != "weakened":
                yield terminal(f"{reason['code']}: {reason['message']}", REASON)
        told = group_warnings(document["warnings"])
        for remark in told[:MAX_REMARKS]:
            where = f" ({remark.where}{remark.others})" if remark.where else remark.others
            yield terminal(f"warning: {remark.message}{where}", REASON)
        if len(told) > MAX_REMARKS:
            yield f"... and {wording.counted(len(told) - MAX_REMARKS, 'more warning')}"
        yield from _some(list(map(quarantine_text, sorted_quarantines(document))), "more quarantine")
        yield from _some(list(map(weakening_text, sorted_weakenings(document))), "more weakened demand")
        yield from _some(list(map(approval_text, sorted_approvals(document))), "more approval")
        if document["unclaimed"]:
            yield terminal(self._unclaimed(), REASON)

    def _unclaimed(self) -> str:
        """Names some traces with their id, which often differs from the scenario's by mistake."""
        traces = self._document["unclaimed"]
        named = [
            f"{trace['path']} (id {trace['scenario_id'] or 'unknown'})" for trace in traces[: self._checks]
        ]
        left = len(traces) - len(named)
        more = f" and {left:,} more" if left else ""
        count = wording.counted(len(traces), "trace")
        return f"{count} that no scenario asked for: {', '.join(named)}{more}"

    def _verdict_colour(self) -> str:
        text = heading(self._document).text
        return (
            _YELLOW
            if text.startswith("passed, but")
            else _VERDICT_COLOURS.get(self._document["verdict"], _RED)
        )

    def _painted(self, text: str, colour: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self._colour else text


def _name(item: Placed | RemovedDoc) -> str:
    scenario = item.scenario if isinstance(item, Placed) else item
    variant = f" [{scenario['variant']}]" if scenario["variant"] else ""
    return terminal(f"{scenario['id']}{variant}", WIDEST_NAME - 8)


def _some(lines: Sequence[str], noun: str) -> Iterator[str]:
    """Yields the first few lines, and the number of the others."""
    for line in lines[:MAX_REMARKS]:
        yield terminal(line, REASON)
    if len(lines) > MAX_REMARKS:
        yield f"... and {wording.counted(len(lines) - MAX_REMARKS, noun)}"


def _sums(summary: SummaryDoc) -> Iterator[str]:
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
    told = ", ".join(f"{number:,} {word}" for number, word in counts if number)
    checks = wording.checks(summary)
    yield f"{wording.counted(summary['scenarios'], 'scenario')}: {told or 'nothing'}"
    if checks:
        yield f"checks: {checks}"
    yield (
        f"score {wording.score(summary['score'])}, cost {wording.cost(summary)}, latency p50"
        f" {wording.seconds(summary['latency_p50_s'])} p95 {wording.seconds(summary['latency_p95_s'])},"
        f" tokens {wording.count(summary['total_tokens'])}"
    )
