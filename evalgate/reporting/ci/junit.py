"""JUnit XML for test reporters: a test suite per suite, a test case per scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.escaping import xml
from evalgate.reporting.text.scenario_sections import first_reason
from evalgate.reporting.text.trial_reasons import seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc

    _Told = tuple[str | None, float]  # name of the element for a result other than passed, and seconds

_FAILURES = frozenset({"FAIL", "PARTIAL", "HARD_FAIL", "MISSING"})


def junit(document: ResultsDoc) -> bytes:
    """Renders the document; seconds sum the known ones, as JUnit has no value for unknown.

    FAIL, PARTIAL, HARD_FAIL and MISSING are failures, ERROR is an error, NOT_EVALUABLE is skipped.
    A quarantined scenario that does not pass is skipped too, with its verdict in the message.
    """
    suites = [(suite, [*map(_told, suite["scenarios"])]) for suite in document["suites"]]
    every = [told for _, cases in suites for told in cases]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="evalgate" {_counts(every)}>']
    for suite, cases in suites:
        lines += _suite(suite, cases)
    lines.append("</testsuites>\n")
    return "\n".join(lines).encode("utf-8")


def _told(scenario: ScenarioDoc) -> _Told:
    return _element(scenario), seconds_of(scenario)


def _suite(suite: SuiteDoc, cases: Sequence[_Told]) -> Iterator[str]:
    name = xml(suite["suite"])
    yield f'  <testsuite name="{name}" file="{xml(suite["path"])}" {_counts(cases)}>'
    for scenario, told in zip(suite["scenarios"], cases, strict=True):
        yield from _case(name, suite["path"], scenario, told)
    yield "  </testsuite>"


def _case(suite: str, path: str, scenario: ScenarioDoc, told: _Told) -> Iterator[str]:
    element, seconds = told
    variant = f" [{scenario['variant']}]" if scenario["variant"] else ""
    location = scenario["location"]
    line = f' line="{location["line"]}"' if location and location["line"] is not None else ""
    file = location["file"] if location else path
    head = (
        f'    <testcase classname="{suite}" name="{xml(scenario["id"] + variant)}" file="{xml(file)}"{line}'
        f' time="{seconds:.3f}"'
    )
    if element is None:
        yield f"{head}/>"
        return
    verdict = xml(scenario["verdict"])
    said = f"quarantined, {verdict}" if scenario.get("quarantined") else verdict
    reason = xml(first_reason(scenario))
    kind = "" if element == "skipped" else f' type="{verdict}"'
    yield f"{head}>"
    yield f'      <{element}{kind} message="{said}: {reason}"/>'
    yield "    </testcase>"


def _element(scenario: ScenarioDoc) -> str | None:
    verdict = scenario["verdict"]
    if scenario.get("quarantined") and verdict != "PASS":
        return "skipped"
    if verdict in _FAILURES:
        return "failure"
    return {"PASS": None, "NOT_EVALUABLE": "skipped"}.get(verdict, "error")


def _counts(cases: Sequence[_Told]) -> str:
    elements = [element for element, _ in cases]
    return (
        f'tests="{len(cases)}" failures="{elements.count("failure")}" errors="{elements.count("error")}"'
        f' skipped="{elements.count("skipped")}" time="{sum(seconds for _, seconds in cases):.3f}"'
    )
