"""Builds the view of a results document within the available space."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.records import dataclass
from evalgate.reporting.markdown.baseline_line import baseline_line
from evalgate.reporting.markdown.heading import heading, unblocked_failures
from evalgate.reporting.markdown.noise import noise
from evalgate.reporting.markdown.run_statistics import figures
from evalgate.reporting.markdown.scenario_rows import failure, place, scenario_row
from evalgate.reporting.markdown.space_budget import Group, share_out
from evalgate.reporting.markdown.statistics_rows import lost_check_row, lost_checks_in, sum_row, sums_in
from evalgate.reporting.markdown.suite_rows import suite_row
from evalgate.reporting.markdown.variant_rows import variant_row, variants_in
from evalgate.reporting.markdown.view import Alert, Report, Rows
from evalgate.reporting.text import wording
from evalgate.reporting.text.approval_lines import approval_line, sorted_approvals
from evalgate.reporting.text.escaping import span
from evalgate.reporting.text.grouped_warnings import group_warnings
from evalgate.reporting.text.history_lines import flaky_in, flaky_line, set_aside
from evalgate.reporting.text.quarantine_lines import quarantine_line, sorted_quarantines
from evalgate.reporting.text.scenario_sections import Placed, first_reason, sort_scenarios
from evalgate.reporting.text.weakening_lines import sorted_weakenings, weakening_line

if TYPE_CHECKING:
    from evalgate.models.results.results import ReasonDoc, ResultsDoc, UnclaimedDoc
    from evalgate.reporting.markdown.view import Trend
    from evalgate.reporting.text.grouped_warnings import GroupedWarning
    from evalgate.reporting.text.scenario_sections import Sorted

FIXED_PARTS = 4_000
"""Characters reserved for the parts of a report outside of any group."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Limits of a report: total characters, detailed failures, rows per table, suites with statistics."""

    room: int
    failures: int
    rows: int
    sums: int
    all_goldens: bool = True  # false: only those that fail or changed


COMMENT = Layout(60_000, failures=8, rows=50, sums=3, all_goldens=False)
SUMMARY = Layout(400_000, failures=30, rows=300, sums=50)


def build(document: ResultsDoc, layout: Layout, *, report_url: str | None = None, origin: str = "") -> Report:
    """Builds the view, worst rows first; rows that do not fit are counted. `origin` is Markdown."""
    scenarios = sort_scenarios(document)
    many = len(document["suites"]) > 1
    row = partial(scenario_row, many=many)
    flaky = partial(flaky_line, aside=set_aside(document))
    long = scenarios.failures[: layout.failures]
    groups: dict[str, Group[Any, Any]] = {
        "failures": Group(long, partial(failure, many=many), 0.35, layout.failures),
        "regressed": Group(scenarios.regressed, row, 0.1, layout.rows),
        "suites": Group(document["suites"], lambda suite: suite_row(suite, document), 0.1, layout.rows),
        "below": Group(scenarios.below, row, 0.07, layout.rows),
        "other_changes": Group(scenarios.other_changes, row, 0.09, layout.rows),
        "reasons": Group(_told_reasons(document), _reason, 0.05, layout.rows),
        "quarantined": Group(scenarios.quarantined, row, 0.05, layout.rows),
        "quarantines": Group(sorted_quarantines(document), quarantine_line, 0.03, layout.rows),
        "newly_flaky": Group(flaky_in(document, new=True), flaky, 0.02, layout.rows),
        "flaky": Group(flaky_in(document, new=False), flaky, 0.01, layout.rows),
        "approvals": Group(sorted_approvals(document), approval_line, 0.03, layout.rows),
        "weakenings": Group(sorted_weakenings(document), weakening_line, 0.03, layout.rows),
        "warnings": Group(group_warnings(document["warnings"]), _warning, 0.03, layout.rows),
        "unclaimed": Group(document["unclaimed"], _unclaimed, 0.03, layout.rows),
        "variants": Group(variants_in(document), variant_row, 0.05, layout.rows),
        "sums": Group(sums_in(document), sum_row, 0.02, layout.sums),
        "lost_checks": Group(lost_checks_in(document), partial(lost_check_row, many=many), 0.02, layout.sums),
        "passing": Group(scenarios.passing, row, 0.03, layout.rows),
        **_golden_groups(document, layout, many=many),
    }
    room = max(0, layout.room - FIXED_PARTS)
    more = Group(scenarios.failures, row, 0.1, layout.rows)
    share_out([*groups.values()], int(room * (1 - more.share)))
    told = len(groups["failures"].told)
    more.candidates = scenarios.failures[told:]
    share_out([more], int(room * more.share))
    return Report(
        heading=str(heading(document)),
        origin=origin,
        alert=_alert(document, scenarios),
        baseline=baseline_line(document),
        noise=noise(document),
        is_compared=_is_compared(document),
        figures=figures(document),
        trend=_trend(document),
        more_failures=more.rows(),
        skipped=document["summary"]["skipped"] if document["summary"] else 0,
        accept=_accept(document, scenarios),
        command=_command(document),
        report_url=_checked_url(report_url),
        version=span(document["evalgate_version"], 60),
        **_rows(groups, len(scenarios.failures)),
    )


def _golden_groups(document: ResultsDoc, layout: Layout, *, many: bool) -> dict[str, Group[Any, Any]]:
    """Builds the groups of goldens and dimensions; imports their module only if there are any."""
    if not any(each.get("golden") for suite in document["suites"] for each in suite["scenarios"]):
        return {name: Group((), str, 0, 0) for name in ("dimensions", "goldens")}
    from evalgate.reporting.markdown.golden_rows import (
        dimension_row,
        dimensions_of,
        golden_row,
        goldens_of,
        is_notable,
    )

    goldens = goldens_of(document)
    shown = goldens if layout.all_goldens else [each for each in goldens if is_notable(each)]
    return {
        "dimensions": Group(dimensions_of(goldens), partial(dimension_row, many=many), 0.02, layout.rows),
        "goldens": Group(shown, partial(golden_row, many=many), 0.05, layout.rows),
    }


def _trend(document: ResultsDoc) -> Trend | None:
    if "history" not in document:
        return None
    from evalgate.reporting.markdown.trends import trend

    return trend(document)


def _rows(groups: dict[str, Group[Any, Any]], failures: int) -> dict[str, Rows[Any]]:
    rows = {name: group.rows() for name, group in groups.items()}
    return {**rows, "failures": Rows(rows["failures"].shown, failures)}


def _is_compared(document: ResultsDoc) -> bool:
    scenarios = (scenario for suite in document["suites"] for scenario in suite["scenarios"])
    return bool(document["removed"]) or any(scenario["change"] for scenario in scenarios)


def _alert(document: ResultsDoc, scenarios: Sorted) -> Alert | None:
    """Builds the one sentence that a hurried reader needs; None if all is well."""
    verdict, summary = document["verdict"], document["summary"]
    if verdict in ("invalid", "cannot_judge") or summary is None:
        return Alert("WARNING", _first_reason(document))
    if verdict == "fail" and document["reasons"][:1] and document["reasons"][0]["code"] == "weakened":
        return Alert("CAUTION", weakening_line(sorted_weakenings(document)[0]))
    if verdict == "fail":
        return Alert("CAUTION", _worst(scenarios) or _first_reason(document))
    if unblocked_failures(summary) and (worst := _worst(scenarios)):
        return Alert("WARNING", worst)
    weaker = sorted_weakenings(document)
    return Alert("WARNING", weakening_line(weaker[0])) if weaker else None


def _first_reason(document: ResultsDoc) -> str:
    reasons = document["reasons"]
    return span(reasons[0]["message"], 300) if reasons else "No reason was recorded."


def _worst(scenarios: Sorted) -> str:
    worst = next(iter([*scenarios.failures[:1], *scenarios.regressed[:1], *scenarios.below[:1]]), None)
    if not isinstance(worst, Placed):
        return ""
    scenario = worst.scenario
    reason = first_reason(scenario) if scenario["verdict"] != "PASS" else ""
    if not reason and scenario["change"]:
        reason = "; ".join(scenario["change"]["increases"]) or scenario["change"]["reason"]
    others = len(scenarios.failures) + len(scenarios.regressed) + len(scenarios.below) - 1
    name = span(scenario["id"], 120)
    if scenario["variant"]:
        name += f" {span(scenario['variant'], 120)}"
    told = f"{name}: {span(reason, 300)}" if reason else name
    return f"{told} \u2013 and {wording.counted(others, 'more scenario')} below" if others else told


def _told_reasons(document: ResultsDoc) -> list[ReasonDoc]:
    """Lists reasons that are shown neither with a scenario nor in the list of weakenings."""
    reasons = document["reasons"]
    return [each for each in reasons if not each.get("scenario") and each["code"] != "weakened"]


def _reason(reason: ReasonDoc) -> str:
    where = place(reason.get("location"))
    message = span(reason["message"], 400)
    return f"{where} {message}" if where else message


def _warning(remark: GroupedWarning) -> str:
    where = f", at {span(remark.where, 160)}{remark.others}" if remark.where else remark.others
    return f"{span(remark.message, 300)}{where}"


def _unclaimed(trace: UnclaimedDoc) -> str:
    line = trace["line"] if trace["line"] is not None else trace["record"]
    where = trace["path"] if line is None else f"{trace['path']}:{line}"
    named = f", scenario id {span(trace['scenario_id'], 120)}" if trace["scenario_id"] else ""
    return f"{span(where, 160)}{named}"


def _accept(document: ResultsDoc, scenarios: Sorted) -> str:
    """Describes how to accept an intended change; empty if there is nothing to accept."""
    if document["verdict"] == "fail" and not document["report_only"]:
        return (
            "change the expectation in its suite, or what may block in `fail_on`; "
            "once merged, the base branch's next run is the new baseline."
        )
    if _is_compared(document) and (scenarios.failures or scenarios.regressed or scenarios.other_changes):
        return "merge; the base branch's next run is the new baseline."
    return ""


def _command(document: ResultsDoc) -> str:
    return span(document.get("command") or "evalgate run", 600)


def _checked_url(url: str | None) -> str:
    """Returns the run's URL; empty if it has characters that could end a Markdown link early."""
    return url if url and re.fullmatch(r"https?://[A-Za-z0-9.:/_?=&%~-]+", url) else ""
