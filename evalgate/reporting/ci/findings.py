"""What code scanning and code quality reports list: every failed check, at its line in the suite file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.models.run.run import HARD_FAILS
from evalgate.reporting.text.scenario_sections import find_failed_checks, find_reason
from evalgate.reporting.text.wording import scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.results.results import LocationDoc, ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.reporting.text.scenario_sections import FailedCheck

SCENARIO_RULE = "scenario"
"""The rule of a scenario that failed without a failed check."""


class Finding(NamedTuple):
    """A check that did not pass, or a scenario that failed without one. Its texts are not escaped."""

    rule: str
    level: Literal["error", "warning"]
    message: str
    fingerprint: str  # depends on the names of suite, scenario, variant and check, not on the line
    file: str
    line: int | None
    column: int | None
    is_quarantined: bool


def list_findings(document: ResultsDoc) -> list[Finding]:
    """Lists the findings of all scenarios in suite order."""
    return [
        finding
        for suite in document["suites"]
        for scenario in suite["scenarios"]
        for finding in _iter_findings(suite, scenario)
    ]


def _iter_findings(suite: SuiteDoc, scenario: ScenarioDoc) -> Iterator[Finding]:
    checks = find_failed_checks(scenario)
    for check in checks:
        yield _build_check_finding(suite, scenario, check)
    if not checks and scenario["verdict"] != "PASS":
        level: Literal["error", "warning"] = "error" if scenario["verdict"] in HARD_FAILS else "warning"
        names = _list_names(suite, scenario)
        yield _build_finding(SCENARIO_RULE, level, names, find_reason(scenario), suite, scenario, None)


def _build_check_finding(suite: SuiteDoc, scenario: ScenarioDoc, check: FailedCheck) -> Finding:
    first = check.first
    names = [*_list_names(suite, scenario), first["name"]]
    times = f" (in {check.failed} of {check.trials} trials)" if check.trials > 1 else ""
    level: Literal["error", "warning"] = "error" if first["required"] else "warning"
    reason = f"{first['reason']}{times}"
    return _build_finding(first["type"], level, names, reason, suite, scenario, first["location"])


def _list_names(suite: SuiteDoc, scenario: ScenarioDoc) -> list[str]:
    return [suite["suite"], scenario["id"], scenario["variant"] or ""]


def _build_finding(  # noqa: PLR0913
    rule: str,
    level: Literal["error", "warning"],
    names: list[str],
    reason: str,
    suite: SuiteDoc,
    scenario: ScenarioDoc,
    location: LocationDoc | None,
) -> Finding:
    """Builds a finding at the location of the check, else of its scenario, else of its suite."""
    found = location or scenario["location"]
    title = scope(*names)
    return Finding(
        rule,
        level,
        f"{title}: {reason}" if reason else title,
        hashlib.sha256("\x00".join(names).encode("utf-8", "surrogatepass")).hexdigest(),
        found["file"] if found else suite["path"],
        found["line"] if found else None,
        found["column"] if found else None,
        bool(scenario.get("quarantined")),
    )
