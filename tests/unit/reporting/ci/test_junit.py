from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from markdown_check import HOSTILE
from results_builder import a_scenario, a_suite, a_trial, results

from evalgate.models.run.chunks import join_chunks
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.ci.junit import render_junit

VERDICTS = ["PASS", "PARTIAL", "FAIL", "HARD_FAIL", "MISSING", "ERROR", "NOT_EVALUABLE"]


def parse_cases(document):
    return ET.fromstring(join_chunks(render_junit(document)))  # noqa: S314  our own output


def test_junit__each_verdict__has_its_element():
    root = parse_cases(results([a_suite("s", [a_scenario(verdict, verdict) for verdict in VERDICTS])]))
    elements = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert elements == {
        "PASS": [],
        "PARTIAL": ["failure"],
        "FAIL": ["failure"],
        "HARD_FAIL": ["failure"],
        "MISSING": ["failure"],
        "ERROR": ["error"],
        "NOT_EVALUABLE": ["skipped"],
    }
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["7", "4", "1", "1"]


COUNTS = {"tests", "failures", "errors", "skipped", "time"}
KNOWN = {
    "testsuites": ({"testsuite"}, {"name", *COUNTS}),
    "testsuite": ({"testcase", "properties"}, {"name", "file", *COUNTS}),
    "testcase": ({"failure", "error", "skipped"}, {"classname", "name", "file", "line", "time"}),
    "failure": (set(), {"type", "message"}),
    "error": (set(), {"type", "message"}),
    "skipped": (set(), {"message"}),
}
"""Elements that readers of JUnit files know, with children and attributes: JUnit's of Ant, and `file` and `line`."""


def test_junit__every_element_and_attribute__is_known_to_readers():
    quarantined = a_scenario("q", "FAIL", quarantined=True)
    root = parse_cases(results([a_suite("s", [quarantined, *(a_scenario(each, each) for each in VERDICTS)])]))
    for element in root.iter():
        children, attributes = KNOWN[element.tag]
        assert {child.tag for child in element} <= children
        assert element.attrib.keys() <= attributes
        assert {"testsuite": COUNTS | {"name"}, "testcase": {"name"}}.get(element.tag, set()) <= element.attrib.keys()


def test_junit__scenario__has_its_location_time_and_reason():
    trials = [a_trial(0, "failed"), a_trial(1, "failed", latency_seconds=None)]
    root = parse_cases(results([a_suite("support", [a_scenario("a", "FAIL", trials=trials, variant="de")])]))
    case = next(root.iter("testcase"))
    assert case.attrib == {
        "classname": "support",
        "name": "a [de]",
        "file": "evals/support.yaml",
        "line": "7",
        "time": "2.000",
    }
    assert case[0].attrib == {"type": "FAIL", "message": "FAIL: check: response.content lacks 'refund'"}


@pytest.mark.parametrize("text", HOSTILE)
def test_junit__hostile_text__stays_well_formed(text):
    scenario = a_scenario(text, "FAIL", variant=text, reason=text, location=LocationDoc(text, 1, 1))
    root = parse_cases(results([{**a_suite(text, [scenario, a_scenario("x", text)]), "path": text}]))
    assert [child.tag for child in root] == ["testsuite"]
    assert len(list(root.iter("testcase"))) == 2


def test_junit__no_suites__is_an_empty_list():
    root = parse_cases(results([], "invalid"))
    assert (root.tag, root.get("tests"), len(root)) == ("testsuites", "0", 0)
