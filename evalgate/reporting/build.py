"""From a results document to the view of it, in the room that there is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.reporting import wording
from evalgate.reporting.baseline_line import baseline_line
from evalgate.reporting.budget import Group, share_out
from evalgate.reporting.doors import span
from evalgate.reporting.figures import figures
from evalgate.reporting.heading import heading, unblocked_failures
from evalgate.reporting.remarks import remarks
from evalgate.reporting.rows import failure, place, scenario_row
from evalgate.reporting.scenarios import Placed, first_reason, sort_scenarios
from evalgate.reporting.suite_rows import suite_row
from evalgate.reporting.view import Alert, Report, Rows

if TYPE_CHECKING:
    from evalgate.models.results import ReasonDoc, ResultsDoc, UnclaimedDoc
    from evalgate.reporting.remarks import Remark
    from evalgate.reporting.scenarios import Sorted

FIXED_PARTS = 4_000
"""Characters of a report that no group fills."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How much a report may tell: characters in all, failures at length, rows a table."""

    room: int
    failures: int
    rows: int


COMMENT = Layout(60_000, failures=8, rows=50)
SUMMARY = Layout(400_000, failures=30, rows=200)


def build(document: ResultsDoc, layout: Layout, *, report_url: str | None = None) -> Report:
    """The view of a document; what finds no room is counted, worst first."""
    scenarios = sort_scenarios(document)
    many = len(document["suites"]) > 1
    row = partial(scenario_row, many=many)
    long = scenarios.failures[: layout.failures]
    groups: dict[str, Group[Any, Any]] = {
        "failures": Group(long, partial(failure, many=many), 0.35, layout.failures),
        "regressed": Group(scenarios.regressed, row, 0.1, layout.rows),
        "suites": Group(document["suites"], lambda suite: suite_row(suite, document), 0.1, layout.rows),
        "below": Group(scenarios.below, row, 0.1, layout.rows),
        "other_changes": Group(scenarios.other_changes, row, 0.1, layout.rows),
        "reasons": Group(_told_reasons(document), _reason, 0.05, layout.rows),
        "warnings": Group(remarks(document["warnings"]), _warning, 0.05, layout.rows),
        "unclaimed": Group(document["unclaimed"], _unclaimed, 0.05, layout.rows),
        "passing": Group(scenarios.passing, row, 0.05, layout.rows),
    }
    room = max(0, layout.room - FIXED_PARTS)
    more = Group(scenarios.failures, row, 0.1, layout.rows)
    share_out([*groups.values()], int(room * (1 - more.share)))
    told = len(groups["failures"].told)
    more.candidates = scenarios.failures[told:]
    share_out([more], int(room * more.share))
    return Report(
        heading=str(heading(document)),
        alert=_alert(document, scenarios),
        baseline=baseline_line(document),
        is_compared=_is_compared(document),
        figures=figures(document),
        more_failures=more.rows(),
        skipped=document["summary"]["skipped"] if document["summary"] else 0,
        command=_command(document),
        report_url=_checked_url(report_url),
        version=document["evalgate_version"],
        **_rows(groups, len(scenarios.failures)),
    )


def _rows(groups: dict[str, Group[Any, Any]], failures: int) -> dict[str, Rows[Any]]:
    rows = {name: group.rows() for name, group in groups.items()}
    return {**rows, "failures": Rows(rows["failures"].shown, failures)}


def _is_compared(document: ResultsDoc) -> bool:
    scenarios = (scenario for suite in document["suites"] for scenario in suite["scenarios"])
    return bool(document["removed"]) or any(scenario["change"] for scenario in scenarios)


def _alert(document: ResultsDoc, scenarios: Sorted) -> Alert | None:
    """What a reader should take away if only one sentence is read."""
    verdict, summary = document["verdict"], document["summary"]
    if verdict in ("invalid", "cannot_judge") or summary is None:
        return Alert("WARNING", _first_reason(document))
    if verdict == "fail":
        return Alert("CAUTION", _worst(scenarios) or _first_reason(document))
    if unblocked_failures(summary):
        return Alert("WARNING", _worst(scenarios) or _first_reason(document))
    return None


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
    told = f"{span(scenario['id'], 120)}: {span(reason, 300)}" if reason else span(scenario["id"], 120)
    return f"{told} \u2013 and {wording.counted(others, 'more scenario')} below" if others else told


def _told_reasons(document: ResultsDoc) -> list[ReasonDoc]:
    """Reasons that no scenario of the report tells."""
    return [reason for reason in document["reasons"] if not reason.get("scenario")]


def _reason(reason: ReasonDoc) -> str:
    where = place(reason.get("location"))
    message = span(reason["message"], 400)
    return f"{where} {message}" if where else message


def _warning(remark: Remark) -> str:
    where = f", at {span(remark.where, 160)}{remark.others}" if remark.where else remark.others
    return f"{span(remark.message, 300)}{where}"


def _unclaimed(trace: UnclaimedDoc) -> str:
    line = trace["line"] if trace["line"] is not None else trace["record"]
    where = trace["path"] if line is None else f"{trace['path']}:{line}"
    named = f", scenario id {span(trace['scenario_id'], 120)}" if trace["scenario_id"] else ""
    return f"{span(where, 160)}{named}"


def _command(document: ResultsDoc) -> str:
    return span(document.get("command") or "evalgate run", 600)


def _checked_url(url: str | None) -> str:
    """The page of the run as the front door named it; what could leave a link's brackets is no address."""
    return url if url and re.fullmatch(r"https?://[A-Za-z0-9.:/_?=&%~-]+", url) else ""
