"""What code scanning and code quality reports list: every failed check, at its line in the suite file, else a trace."""

from __future__ import annotations

import hashlib
import re
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.models.run.run import HARD_FAILS
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.text.scenario_sections import find_failed_checks, find_reason
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.reporting.text.wording import location as format_location
from evalgate.reporting.text.wording import scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.run.trial_doc import AssertionDoc

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
    for check in checks:
        first = check.first
        times = f" (in {check.failed} of {check.trials} trials)" if check.trials > 1 else ""
        level: Level = "error" if first.required else "warning"
        yield _build_finding(suite, scenario, _Cause(f"{check.reason}{times}", first.type, level, first))
    if not checks and scenario["verdict"] != "PASS":
        level = "error" if scenario["verdict"] in HARD_FAILS else "warning"
        yield _build_finding(suite, scenario, _Cause(find_reason(scenario), SCENARIO_RULE, level))


class _Cause(NamedTuple):
    reason: str
    rule: str
    level: Level
    check: AssertionDoc | None = None


def _build_finding(suite: SuiteDoc, scenario: ScenarioDoc, cause: _Cause) -> ReportFinding:
    """Builds a finding at the check, else the scenario, else the suite.

    Services show nothing at a file that is not in the repository, as that of central rules: such a finding is at the
    trace, and names its rule.
    """
    names = [suite["suite"], scenario["id"], scenario["variant"] or "", *([cause.check.name] if cause.check else [])]
    title, reason = scope(*names), unmark_parts(cause.reason)
    location = (cause.check and cause.check.location) or scenario["location"] or LocationDoc(suite["path"], None, None)
    if _OUTSIDE.match(location.file):
        title = f"{title} (by {format_location(location)})"
        location = _locate_trace(suite, scenario, cause.check) or location
    return ReportFinding(
        cause.rule,
        cause.level,
        f"{title}: {reason}" if reason else title,
        hashlib.sha256("\x00".join(names).encode("utf-8", "surrogatepass")).hexdigest(),
        location.file,
        location.line,
        location.column,
        bool(scenario.get("quarantined")),
    )


_OUTSIDE = re.compile(r"/|\.\./|[A-Za-z]:[\\/]|[a-z]+://")
"""How the path of a file begins that is not in the repository; those in it are relative to its root."""


def _locate_trace(suite: SuiteDoc, scenario: ScenarioDoc, check: AssertionDoc | None) -> LocationDoc | None:
    """Where the first trace that failed the check begins, else one of the scenario or suite; None outside as well."""
    trials = [each for each in scenario["trials"] if each.status != "passed"]
    failed = [each for each in trials if check and any(_is_failed(check, other) for other in each.assertions)]
    others = (trial for each in suite["scenarios"] for trial in each["trials"])
    traces = (each.trace for each in chain(failed, trials, scenario["trials"], others))
    return next((LocationDoc(each.path, each.line, None) for each in traces if not _OUTSIDE.match(each.path)), None)


def _is_failed(check: AssertionDoc, other: AssertionDoc) -> bool:
    return (other.name, other.type) == (check.name, check.type) and other.outcome not in {"passed", "skipped"}
