"""The report of a run for a terminal: failures by cause, other scenarios in a line each, statistics, totals."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Literal

from evalgate.models.comparison.comparison import REGRESSIONS
from evalgate.reporting.markdown.header_lines import (
    describe_agent_changes,
    describe_growth,
    describe_lost_figures,
    describe_noise,
    find_agent_changes,
)
from evalgate.reporting.markdown.heading import build_heading, describe_other_recordings
from evalgate.reporting.markdown.statistics_rows import (
    format_variant_figures,
    list_costly_checks,
    list_statistics,
    list_variants,
)
from evalgate.reporting.terminal.terminal_page import COLOURS, RESET, VERDICT_COLOURS
from evalgate.reporting.text import statistics_text, wording
from evalgate.reporting.text.behaviour_lines import (
    PromptDiff,
    describe_unasked,
    list_prompt_diffs,
    list_silent_differences,
)
from evalgate.reporting.text.escaping import escape_terminal, shorten_id
from evalgate.reporting.text.grouping import (
    NOTICE_LIMIT,
    FailureGroup,
    count_changes,
    describe_causes,
    describe_failures,
    describe_unclaimed,
    group_scenarios,
    list_notices,
    list_other_unclaimed,
    list_other_warnings,
)
from evalgate.reporting.text.ruling_lines import (
    format_approval,
    format_quarantine,
    format_weakening,
    list_weakenings,
    sort_approvals,
    sort_quarantines,
)
from evalgate.reporting.text.scenario_sections import (
    SuiteScenario,
    count_passed,
    count_trials,
    describe_pass_rule,
    describe_unmet_rule,
)
from evalgate.reporting.text.sentences import DIFFERENCE_LIMIT, UNASKED_LIMIT, unmark_parts
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import RemovedDoc, ResultsDoc, ScenarioDoc, SummaryDoc
    from evalgate.reporting.markdown.statistics_rows import NamedStatistics
    from evalgate.reporting.text.grouping import GroupedScenarios


UNMET = "unmet_condition"
"""The warning of a check whose condition never held, which is no hint beside what fails."""
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
        yield "failed checks of most weight"
    for check in checks:
        suite = f"{escape_terminal(check['suite'], MAX_NAME)}: " if many else ""
        where = f"failed {check['failed']:,} times in {pluralize(check['scenarios'], 'scenario')}"
        name = f"{suite}{escape_terminal(check['name'], MAX_NAME)}{' (required)' if check['required'] else ''}"
        yield escape_terminal(f"  {name}: {where}, weight {check['weight_lost']:.3g}", None)
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


Verbosity = Literal["quiet", "normal", "verbose"]
MAX_ROWS = {"quiet": 0, "normal": 40, "verbose": 2_000}
MAX_CHECKS = {"quiet": 0, "normal": 3, "verbose": 20}
MAX_FLAWED = {"quiet": 0, "normal": 5, "verbose": 2_000}
"""Kinds of what failed in scenarios that pass: of more a report has no details."""
SEE = "`evalgate explain ID` shows why"
MAX_SUITES = {"quiet": 0, "normal": 0, "verbose": 100}
MAX_NAME_LINES = {"quiet": 0, "normal": 22, "verbose": 2_000}
MIN_WIDTH, MAX_NAME_WIDTH, MAX_REASON, MAX_NOTES, VERDICT_WIDTH = 60, 40, 320, 10, 13
MAX_PROMPTS, MAX_PROMPT_LINES = 2, 8
"""Changed system prompts, and lines of one, that a run prints."""
MAX_SUITE_WIDTH = 30
NAMES_INDENT, SOME_NAMES = 6, 6
MAX_HEADING = 2_000
ROOM_AFTER_FAILURES = 12
"""Lines that a report with failures leaves for notes and totals, so that it fits on one screen."""
_TONE_COLOURS = {"good": "green", "warn": "yellow", "bad": "red"}


def render_table(
    document: ResultsDoc,
    grouped: GroupedScenarios | None = None,
    *,
    width: int = 100,
    colour: bool = False,
    wraps_notes: bool = False,
    verbosity: Verbosity = "normal",
) -> str:
    """Renders plain text without a trailing line feed; `colour` adds EvalGate's colour codes only.

    `wraps_notes` keeps notes and the verdict within `width` too; without it each is a line, so that scripts find it.
    `quiet` is the verdict alone, `normal` shows at most 40 scenarios, `verbose` 2,000; the rest is counted.
    """
    grouped = grouped or group_scenarios(document)
    table = _RunTable(document, grouped, max(width, MIN_WIDTH), verbosity, colour=colour, wraps_notes=wraps_notes)
    return "\n".join(table.lines())


class _RunTable:
    def __init__(
        self,
        document: ResultsDoc,
        grouped: GroupedScenarios,
        width: int,
        verbosity: Verbosity,
        *,
        colour: bool,
        wraps_notes: bool,
    ) -> None:
        self._document = document
        self._wraps_notes = wraps_notes
        self._width = width
        self._colour = colour
        self._max_rows = MAX_ROWS[verbosity]
        self._max_checks = MAX_CHECKS[verbosity]
        self._ambiguous = _find_ambiguous_ids(document)
        self._names_left = MAX_NAME_LINES[verbosity]
        self._is_quiet = verbosity == "quiet"
        self._max_suites = MAX_SUITES[verbosity]
        self._shared = find_agent_changes(document).of_all
        aside = [each for each in grouped.quarantined if isinstance(each, FailureGroup)]
        self._failing = [*grouped.failing, *aside]
        flawed = [each for each in grouped.passing if isinstance(each, FailureGroup)]
        unfolded = [member for group in flawed for member in group.members]
        is_folded = len(flawed) > MAX_FLAWED[verbosity]
        self._passing = sum(map(_count_members, grouped.passing))
        self._folded = {id(each.scenario) for each in unfolded} if is_folded else set[int]()
        passing = [*unfolded, *grouped.passing[len(flawed) :]] if is_folded else grouped.passing
        self._others = [*grouped.sections.other_changes, *grouped.quarantined[len(aside) :], *passing]
        names = [self._label(item) for items in (self._failing, self._others) for item in items[: self._max_rows]]
        self._name_width = min(MAX_NAME_WIDTH, max((len(name) for name in names), default=0))

    def lines(self) -> Iterator[str]:
        """Yields the lines of the report."""
        if not self._is_quiet:
            yield from self._iter_scenarios()
            yield from render_variants(self._document, self._max_rows)
            yield from self._iter_arms()
            if self._max_suites:
                yield from render_statistics(self._document, self._max_suites)
            yield from self._iter_notes()
            comes_with = describe_agent_changes(self._document, escape_terminal)
            lost = describe_lost_figures(self._document, escape_terminal)
            grown = describe_growth(self._document, escape_terminal).replace("\u2192", "->")
            for sentence in filter(None, [comes_with, lost, grown, describe_noise(self._document)]):
                yield from self._iter_note(sentence)
            if unasked := unmark_parts(describe_unasked(self._document)):
                yield from self._iter_note(unasked, UNASKED_LIMIT)
            if self._document["summary"]:
                for line in _format_summary(self._document["summary"]):
                    yield from self._iter_note(line)
                if why := self._explain_cost():
                    yield from self._iter_note(f"cost unknown: {why}")
        heading = build_heading(self._document, escape_terminal)
        colour = _TONE_COLOURS[heading.tone]
        yield from (self._paint(line, colour) for line in self._iter_note(f"EvalGate {heading.sentence}", MAX_HEADING))
        if recordings := describe_other_recordings(self._document, heading.text):
            yield from (self._paint(line, "dim") for line in self._iter_note(recordings))
        for notice in list_notices(self._document):
            yield from self._iter_note(f"warning: {unmark_parts(notice)}", NOTICE_LIMIT)

    def _iter_arms(self) -> Iterator[str]:
        """Yields the comparisons of variants, if there are any."""
        found = self._document.get("variant_comparisons")
        if found:
            from evalgate.reporting.terminal.arm_table import render_arms  # few runs compare variants

            yield from render_arms(found, self._max_rows)

    def _iter_scenarios(self) -> Iterator[str]:
        """Yields what fails, grouped by cause, then other scenarios in the lines that are left."""
        lines = [line for group in self._failing[: self._max_rows] for line in self._iter_group(group)]
        unshown = [member for group in self._failing[self._max_rows :] for member in group.members]
        if unshown:
            lines += self._iter_names(f"... and {wording.pluralize(len(unshown), 'more failing scenario')}: ", unshown)
        yield from lines
        room = self._max_rows - len(lines) - (ROOM_AFTER_FAILURES if lines else 0)
        for item in self._others[: max(room, 0)]:
            yield from self._iter_other(item)
        left = sum(map(_count_members, self._others[max(room, 0) :]))
        if left:
            yield self._paint(f"... and {wording.pluralize(left, 'more scenario')}", "dim")
        if self._folded:
            passing = wording.pluralize(self._passing, "passing scenario")
            yield self._paint(f"{len(self._folded):,} of {passing} have failed trials or checks: {SEE}", "dim")
        if self._failing or self._others:
            yield ""

    def _iter_group(self, group: FailureGroup) -> Iterator[str]:
        """Yields what fails, why, and the names of the scenarios if they are several."""
        first = group.members[0]
        yield self._format_row(first) if len(group.members) == 1 else self._format_group_row(group)
        yield from self._iter_reasons(group)
        if len(group.members) == 1:
            if not describe_pass_rule(first.scenario):  # which the row has
                yield from self._wrap(describe_unmet_rule(first.scenario))
            yield from self._iter_cause(first)
        else:
            yield from self._iter_names("    in ", group.members)

    def _format_row(self, item: SuiteScenario | RemovedDoc) -> str:
        if not isinstance(item, SuiteScenario):
            return f"{'REMOVED':13} {self._name(item)}".rstrip()
        scenario = item.scenario
        facts = [wording.score(scenario["score"]).rjust(5)]
        facts.append(count_trials(scenario))
        if item.kind != "unchanged":
            facts.append(escape_terminal(_describe_change(item), 60))
        elif scenario.get("quarantined"):
            facts.append("(quarantined)")
        return self._align([scenario["verdict"]], self._name(item), facts)

    def _format_group_row(self, group: FailureGroup) -> str:
        members = [member.scenario for member in group.members]
        scores = sorted({each["score"] for each in members if each["score"] is not None})
        shown = "-".join(dict.fromkeys(map(wording.score, [*scores[:1], *scores[-1:]]))) or wording.DASH
        changes = escape_terminal(count_changes(group, _describe_change), MAX_REASON)
        facts = [shown.rjust(5), _count_trials_of_group(members), changes]
        if any(each.get("quarantined") for each in members):
            facts.append("(quarantined)")
        verdicts = list(dict.fromkeys(each["verdict"] for each in members))
        facts.append("(lack of evidence)" if group.is_lost else "")
        return self._align(verdicts, self._label(group), facts)

    def _align(self, verdicts: Sequence[str], name: str, facts: Sequence[str]) -> str:
        text = ", ".join(escape_terminal(verdict.replace("_", " "), 13) for verdict in verdicts[:3])
        colour = VERDICT_COLOURS.get(verdicts[0], "red")
        padded = name.ljust(self._name_width) if len(text) <= VERDICT_WIDTH else name
        return f"{self._paint(text.ljust(VERDICT_WIDTH), colour)} {padded} {' '.join(facts)}".rstrip()

    def _iter_reasons(self, group: FailureGroup) -> Iterator[str]:
        """Yields why its scenarios are no clean pass, worst first."""
        causes = list(map(unmark_parts, describe_causes(group)))
        for cause in causes[: self._max_checks]:
            yield from self._wrap(cause)
        if len(causes) > self._max_checks:
            yield from self._wrap(f"and {len(causes) - self._max_checks} more")

    def _iter_names(self, lead: str, members: Sequence[SuiteScenario]) -> Iterator[str]:
        """Yields all names if the lines that are left for names hold them, else some and the number of the others."""
        rows, line, count = [], lead, 0
        for number, name in enumerate(map(self._name, members), start=1):
            text = f"{name}, " if number < len(members) else name
            if len(line) + len(text.rstrip()) > self._width and line.strip():
                rows.append((line, count))
                line, count = " " * NAMES_INDENT, 0
            line, count = line + text, count + 1
        rows.append((line, count))
        shown = rows if len(rows) <= self._names_left else rows[: min(SOME_NAMES, self._names_left)]
        self._names_left -= len(shown)
        yield from (escape_terminal(line.rstrip(), None) for line, _ in shown)
        left = len(members) - sum(count for _, count in shown)
        if left:
            yield f"{' ' * NAMES_INDENT}and {left:,} more"

    def _iter_other(self, item: SuiteScenario | RemovedDoc | FailureGroup) -> Iterator[str]:
        """Yields what does not fail, and dimmed what failed in it all the same."""
        if isinstance(item, FailureGroup) and len(item.members) > 1:
            yield self._format_group_row(item)
            dimmed = [*self._iter_reasons(item), *self._iter_names("    in ", item.members)]
            yield from (self._paint(line, "dim") for line in dimmed)
            return
        single = item.members[0] if isinstance(item, FailureGroup) else item
        yield self._format_row(single)
        if isinstance(single, SuiteScenario) and id(single.scenario) not in self._folded:
            hidden = list(map(unmark_parts, describe_failures(single))) if single.scenario["verdict"] == "PASS" else []
            yield from (self._paint(line, "dim") for line in self._wrap("; ".join(hidden)))
            yield from self._iter_cause(single)

    def _iter_cause(self, item: SuiteScenario) -> Iterator[str]:
        """Yields what caused the change, unless a line below says it of all regressions at once."""
        change = item.scenario["change"]
        cause = change.get("cause") if change else None
        if not change or not cause:
            return
        comes_with = change.get("comes_with")
        if not comes_with or (item.kind in REGRESSIONS and not self._shared.issuperset(comes_with)):
            yield from self._wrap(cause.message)

    def _wrap(self, text: str, indent: str = "    ", limit: int = MAX_REASON) -> Iterator[str]:
        """Yields the lines of a text, those after the first indented by two columns more."""
        from textwrap import wrap

        lines = wrap(escape_terminal(text, limit), self._width, initial_indent=indent, subsequent_indent=f"{indent}  ")
        # A line break can move text to a line's start that a job's log would take for a command.
        yield from (escape_terminal(line, None) for line in lines)

    def _explain_cost(self) -> str:
        """Why the cost of the run is unknown; empty if it is known, no tokens are, or a warning above says why."""
        summary, suites = self._document["summary"], self._document["suites"]
        is_warned = any(each["code"] == "unknown_price" for each in self._document["warnings"])
        if summary is None or summary["cost_usd"] is not None or is_warned:
            return ""
        trials = (trial for suite in suites for each in suite["scenarios"] for trial in each["trials"])
        return wording.explain_cost(trial for trial in trials if trial.total_tokens is not None)

    def _iter_note(self, text: str, limit: int = MAX_REASON) -> Iterator[str]:
        """Yields a note in one line, or in several that are no wider than the terminal."""
        yield from self._wrap(text, "", limit) if self._wraps_notes else [escape_terminal(text, limit)]

    def _iter_notes(self) -> Iterator[str]:
        document = self._document
        for reason in document["reasons"][:20]:
            if not reason.get("scenario") and reason["code"] != "weakened":
                yield from self._iter_note(f"{reason['code']}: {unmark_parts(reason['message'])}", 2 * MAX_REASON)
        warnings = list_other_warnings(document, without=UNMET if document["verdict"] == "fail" else "")
        for warning in warnings[:MAX_NOTES]:
            where = f" ({warning.where}{warning.more_places})" if warning.where else warning.more_places
            yield from self._iter_note(f"warning: {unmark_parts(warning.message)}{where}")
        if len(warnings) > MAX_NOTES:
            yield f"... and {wording.pluralize(len(warnings) - MAX_NOTES, 'more warning')}"
        differences = list_silent_differences(document)
        lines = [unmark_parts(f"{each.words}: {each.name or each.who}{each.detail}") for each in differences]
        yield from self._iter_limited(lines, "more difference", DIFFERENCE_LIMIT)
        for diff in list_prompt_diffs(document, MAX_PROMPTS):
            yield from self._iter_prompt(diff.cut(MAX_PROMPT_LINES, only_changed=True))
        yield from self._iter_limited(list(map(format_quarantine, sort_quarantines(document))), "more quarantine")
        weakenings = list(map(format_weakening, list_weakenings(document)))
        yield from self._iter_limited(weakenings, "more weakened requirement")
        yield from self._iter_limited(list(map(format_approval, sort_approvals(document))), "more approval")
        unclaimed = list_other_unclaimed(document)
        if unclaimed:
            yield from self._iter_note(f"warning: {unmark_parts(describe_unclaimed(unclaimed, self._max_checks))}")

    def _iter_prompt(self, diff: PromptDiff) -> Iterator[str]:
        yield from self._iter_note(diff.title.replace("\u2212", "-"))
        yield from (escape_terminal(f"  {sign} {text}", self._width) for sign, text in diff.lines)
        if diff.more:
            yield f"  {diff.more}"

    def _iter_limited(self, lines: Sequence[str], noun: str, limit: int = MAX_REASON) -> Iterator[str]:
        """Yields the first few lines, and the number of the others."""
        for line in lines[:MAX_NOTES]:
            yield from self._iter_note(line, limit)
        if len(lines) > MAX_NOTES:
            yield f"... and {wording.pluralize(len(lines) - MAX_NOTES, noun)}"

    def _label(self, item: FailureGroup | SuiteScenario | RemovedDoc) -> str:
        """Returns the name of a scenario, or the number of several."""
        if not isinstance(item, FailureGroup):
            return self._name(item)
        number = len(item.members)
        return self._name(item.members[0]) if number == 1 else wording.pluralize(number, "scenario")

    def _name(self, item: SuiteScenario | RemovedDoc) -> str:
        """Returns the name of a scenario, with its suite if scenarios of several have the same id."""
        scenario = item.scenario if isinstance(item, SuiteScenario) else item
        suite = item.suite["suite"] if isinstance(item, SuiteScenario) else item["suite"]
        name = shorten_id(wording.scenario_name(scenario["id"], scenario["variant"]), MAX_NAME_WIDTH)
        is_ambiguous = scenario["id"] in self._ambiguous
        return escape_terminal(f"{shorten_id(suite, MAX_SUITE_WIDTH)} / {name}" if is_ambiguous else name, None)

    def _paint(self, text: str, colour: str) -> str:
        return f"{COLOURS[colour]}{text}{RESET}" if self._colour else text


def _count_trials_of_group(members: Sequence[ScenarioDoc]) -> str:
    """How many of several trials passed in each scenario: `0/3`, or `0/3 to 1/3`; empty if one has a single trial."""
    shown = list(dict.fromkeys(map(count_trials, members)))
    if len(shown) == 1 or not all(shown):
        return shown[0] if len(shown) == 1 else ""
    by_rate = sorted(members, key=lambda each: (count_passed(each) / each["n"], each["n"]))
    return " to ".join(f"{count_passed(each)}/{each['n']}" for each in (by_rate[0], by_rate[-1]))


def _count_members(item: FailureGroup | SuiteScenario | RemovedDoc) -> int:
    return len(item.members) if isinstance(item, FailureGroup) else 1


def _find_ambiguous_ids(document: ResultsDoc) -> set[str]:
    """The ids that scenarios of several suites have."""
    suites: dict[str, set[str]] = {}
    for suite in document["suites"]:
        for each in suite["scenarios"]:
            suites.setdefault(each["id"], set()).add(suite["suite"])
    for removed in document["removed"]:
        suites.setdefault(removed["id"], set()).add(removed["suite"])
    return {id_ for id_, names in suites.items() if len(names) > 1}


def _describe_change(item: SuiteScenario) -> str:
    return " ".join([item.shown_kind, *(f"({flag})" for flag in item.flags)])


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
    if unmeasured := wording.unmeasured(summary):
        yield f"not measured: {unmeasured}"
    yield (
        f"score {wording.score(summary['score'])}, cost {wording.cost(summary)}, latency p50"
        f" {wording.seconds(summary['latency_p50_s'])} p95 {wording.seconds(summary['latency_p95_s'])},"
        f" tokens {wording.count(summary['total_tokens'])}"
    )
