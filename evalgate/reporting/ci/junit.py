"""JUnit XML for test reporters: a test suite per suite, a test case per scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import escape_xml
from evalgate.reporting.text.scenario_sections import find_reason, sum_seconds
from evalgate.reporting.text.wording import scenario_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc

    _Case = tuple[str | None, float]  # name of the element for a result other than passed, and seconds

_FAILURES = frozenset({"FAIL", "PARTIAL", "HARD_FAIL", "MISSING"})


def render_junit(document: ResultsDoc) -> bytes:
    """Renders the document; seconds sum the known ones, as JUnit has no value for unknown.

    FAIL, PARTIAL, HARD_FAIL and MISSING are failures, ERROR is an error, NOT_EVALUABLE is skipped.
    A quarantined scenario that does not pass is skipped too, with its verdict in the message.
    """
    suites = [(suite, [*map(_build_case, suite["scenarios"])]) for suite in document["suites"]]
    all_cases = [case for _, cases in suites for case in cases]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="evalgate" {_format_counts(all_cases)}>']
    for suite, cases in suites:
        lines += _render_suite(suite, cases)
    lines.append("</testsuites>\n")
    return "\n".join(lines).encode("utf-8")


def _build_case(scenario: ScenarioDoc) -> _Case:
    return _select_element(scenario), sum_seconds(scenario)


def _render_suite(suite: SuiteDoc, cases: Sequence[_Case]) -> Iterator[str]:
    name = escape_xml(suite["suite"])
    yield f'  <testsuite name="{name}" file="{escape_xml(suite["path"])}" {_format_counts(cases)}>'
    for scenario, case in zip(suite["scenarios"], cases, strict=True):
        yield from _render_case(name, suite["path"], scenario, case)
    yield "  </testsuite>"


def _render_case(suite: str, path: str, scenario: ScenarioDoc, case: _Case) -> Iterator[str]:
    element, seconds = case
    location = scenario["location"]
    line = f' line="{location["line"]}"' if location and location["line"] is not None else ""
    file = location["file"] if location else path
    head = (
        f'    <testcase classname="{suite}" name="{escape_xml(scenario_name(scenario["id"], scenario["variant"]))}"'
        f' file="{escape_xml(file)}"{line}'
        f' time="{seconds:.3f}"'
    )
    if element is None:
        yield f"{head}/>"
        return
    verdict = escape_xml(scenario["verdict"])
    status = f"quarantined, {verdict}" if scenario.get("quarantined") else verdict
    reason = escape_xml(find_reason(scenario))
    kind = "" if element == "skipped" else f' type="{verdict}"'
    yield f"{head}>"
    yield f'      <{element}{kind} message="{status}: {reason}"/>'
    yield "    </testcase>"


def _select_element(scenario: ScenarioDoc) -> str | None:
    verdict = scenario["verdict"]
    if scenario.get("quarantined") and verdict != "PASS":
        return "skipped"
    if verdict in _FAILURES:
        return "failure"
    return {"PASS": None, "NOT_EVALUABLE": "skipped"}.get(verdict, "error")


def _format_counts(cases: Sequence[_Case]) -> str:
    elements = [element for element, _ in cases]
    return (
        f'tests="{len(cases)}" failures="{elements.count("failure")}" errors="{elements.count("error")}"'
        f' skipped="{elements.count("skipped")}" time="{sum(seconds for _, seconds in cases):.3f}"'
    )
