"""What code scanning and code quality reports list: every failed check, at its line in the suite file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.models.run.run import HARD_FAILS
from evalgate.reporting.text.scenario_sections import find_failed_checks, find_reason
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.reporting.text.wording import scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.run.trial_doc import LocationDoc

    Level = Literal["error", "warning"]

SCENARIO_RULE = "scenario"
"""The rule of a scenario that failed without a failed check."""


class ReportFinding(NamedTuple):
    """A check that did not pass, or a scenario that failed without one. Its texts are not escaped."""

    rule: str
    level: Level
    message: str
    fingerprint: str  # depends on the names of suite, scenario, variant and check, not on the line
    file: str
    line: int | None
    column: int | None
    is_quarantined: bool


def list_findings(document: ResultsDoc) -> list[ReportFinding]:
    """Lists the findings of all scenarios in suite order."""
    return [
        finding
        for suite in document["suites"]
        for scenario in suite["scenarios"]
        for finding in _iter_findings(suite, scenario)
    ]


def _iter_findings(suite: SuiteDoc, scenario: ScenarioDoc) -> Iterator[ReportFinding]:
    checks = find_failed_checks(scenario)
    names = [suite["suite"], scenario["id"], scenario["variant"] or ""]
    for check in checks:
        first = check.first
        times = f" (in {check.failed} of {check.trials} trials)" if check.trials > 1 else ""
        found = _build_finding([*names, first.name], f"{check.reason}{times}", suite, scenario)
        level: Level = "error" if first.required else "warning"
        yield _move(found._replace(rule=first.type, level=level), first.location)
    if not checks and scenario["verdict"] != "PASS":
        yield _build_finding(names, find_reason(scenario), suite, scenario)


def _build_finding(names: list[str], reason: str, suite: SuiteDoc, scenario: ScenarioDoc) -> ReportFinding:
    """Builds a finding of a scenario, at its location, else at its suite's."""
    title, reason = scope(*names), unmark_parts(reason)
    finding = ReportFinding(
        SCENARIO_RULE,
        "error" if scenario["verdict"] in HARD_FAILS else "warning",
        f"{title}: {reason}" if reason else title,
        hashlib.sha256("\x00".join(names).encode("utf-8", "surrogatepass")).hexdigest(),
        suite["path"],
        None,
        None,
        bool(scenario.get("quarantined")),
    )
    return _move(finding, scenario["location"])


def _move(finding: ReportFinding, location: LocationDoc | None) -> ReportFinding:
    """The finding at a location if that is known."""
    if location is None:
        return finding
    return finding._replace(file=location.file, line=location.line, column=location.column)
