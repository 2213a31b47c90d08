"""JUnit XML for test reporters: a test suite per suite, a test case per scenario."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from evalgate.models.run.chunks import ChunkedText
from evalgate.reporting.text.escaping import escape_xml
from evalgate.reporting.text.scenario_sections import find_failed_checks, find_reason, sum_seconds
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.reporting.text.wording import scenario_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.reporting.text.scenario_sections import FailedCheck

_FAILURES = frozenset({"FAIL", "PARTIAL", "HARD_FAIL", "MISSING"})


def render_junit(document: ResultsDoc) -> ChunkedText:
    """Renders the document, by scenario; seconds sum the known ones, as JUnit has no value for unknown.

    FAIL, PARTIAL, HARD_FAIL and MISSING are failures, ERROR is an error, NOT_EVALUABLE is skipped.
    A quarantined scenario that does not pass is skipped too, with its verdict in the message. The body has a line
    for each check that did not pass.
    """
    return ChunkedText(partial(_render, document))


def _render(document: ResultsDoc) -> Iterator[bytes]:
    counts = _format_counts(document["suites"])
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="evalgate" {counts}>\n'.encode()
    for suite in document["suites"]:
        name, path = escape_xml(suite["suite"]), escape_xml(suite["path"])
        yield f'  <testsuite name="{name}" file="{path}" {_format_counts([suite])}>\n'.encode()
        for scenario in suite["scenarios"]:
            yield _render_case(name, suite["path"], scenario).encode()
        yield b"  </testsuite>\n"
    yield b"</testsuites>\n"


def _render_case(suite: str, path: str, scenario: ScenarioDoc) -> str:
    element = _select_element(scenario)
    location = scenario["location"]
    line = f' line="{location.line}"' if location and location.line is not None else ""
    file = location.file if location else path
    head = (
        f'    <testcase classname="{suite}" name="{escape_xml(scenario_name(scenario["id"], scenario["variant"]))}"'
        f' file="{escape_xml(file)}"{line}'
        f' time="{sum_seconds(scenario):.3f}"'
    )
    if element is None:
        return f"{head}/>\n"
    verdict = escape_xml(scenario["verdict"])
    status = f"quarantined, {verdict}" if scenario.get("quarantined") else verdict
    reason = escape_xml(unmark_parts(find_reason(scenario)))
    kind = "" if element == "skipped" else f' type="{verdict}"'
    body = "\n".join(escape_xml(_describe_check(check)) for check in find_failed_checks(scenario))
    opened = f'{head}>\n      <{element}{kind} message="{status}: {reason}"'
    return f"{opened}{f'>{body}</{element}>' if body else '/>'}\n    </testcase>\n"


def _describe_check(check: FailedCheck) -> str:
    """Describes a check that did not pass, in how many of several trials, and why."""
    required = " (required)" if check.is_required else ""
    trials = f", in {check.failed} of {check.trials} trials" if check.trials > 1 else ""
    return f"{check.name}{required}{trials}: {unmark_parts(check.reason)}"


def _select_element(scenario: ScenarioDoc) -> str | None:
    verdict = scenario["verdict"]
    if scenario.get("quarantined") and verdict != "PASS":
        return "skipped"
    if verdict in _FAILURES:
        return "failure"
    return {"PASS": None, "NOT_EVALUABLE": "skipped"}.get(verdict, "error")


def _format_counts(suites: list[SuiteDoc]) -> str:
    scenarios = [scenario for suite in suites for scenario in suite["scenarios"]]
    counts = Counter(map(_select_element, scenarios))
    return (
        f'tests="{len(scenarios)}" failures="{counts["failure"]}" errors="{counts["error"]}"'
        f' skipped="{counts["skipped"]}" time="{sum(map(sum_seconds, scenarios)):.3f}"'
    )
