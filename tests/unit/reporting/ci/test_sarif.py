from __future__ import annotations

import json
import unicodedata

import pytest
from markdown_check import HOSTILE
from results_builder import a_scenario, a_suite, a_trial, an_assertion, results

from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.ci.sarif import MAX_RESULTS, render_sarif


def run_of(document):
    return json.loads(render_sarif(document))["runs"][0]


def of_scenario(scenario):
    return run_of(results([a_suite("support", [scenario])]))["results"]


def failing(*assertions, verdict="HARD_FAIL"):
    return a_scenario("refund", verdict, trials=[a_trial(0, "hard_fail", assertions=list(assertions))])


def test_sarif__a_failed_check__has_its_location_and_reason():
    check = an_assertion("answers", "failed", required=True)
    [found] = of_scenario(failing(check, an_assertion("other", "passed")))
    assert found["ruleId"] == "jmespath"
    assert found["level"] == "error"
    assert found["message"]["text"] == "support / refund / answers: response.content lacks 'refund'"
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "evals/support.yaml"
    assert place["region"] == {"startLine": 12, "startColumn": 9}


def test_sarif__a_check_that_is_not_required__is_a_warning():
    assert of_scenario(failing(an_assertion("x", "failed")))[0]["level"] == "warning"


def test_sarif__passing_scenarios__give_no_result():
    assert of_scenario(a_scenario("refund", "PASS")) == []


@pytest.mark.parametrize(("verdict", "level"), [("MISSING", "error"), ("NOT_EVALUABLE", "warning")])
def test_sarif__a_scenario_that_failed_without_a_check__is_a_result(verdict, level):
    [found] = of_scenario(a_scenario("refund", verdict, trials=[]))
    assert (found["ruleId"], found["level"]) == ("scenario", level)


def test_sarif__every_result__has_its_rule():
    run = run_of(results([a_suite("s", [failing(an_assertion("x", "failed")), a_scenario("b", "MISSING")])]))
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"jmespath", "scenario"}


def test_sarif__a_check_that_moved__keeps_its_fingerprint():
    moved = LocationDoc("evals/other.yaml", 99, 1)
    here, there = (
        of_scenario(failing(an_assertion("x", "failed", **changes)))[0]["partialFingerprints"]
        for changes in ({}, {"location": moved, "reason": "differently worded"})
    )
    assert here == there
    assert here != of_scenario(failing(an_assertion("y", "failed")))[0]["partialFingerprints"]


def test_sarif__results_over_the_limit_of_code_scanning__are_counted():
    scenarios = [a_scenario(f"s{number}", "MISSING") for number in range(MAX_RESULTS + 3)]
    run = run_of(results([a_suite("s", scenarios)]))
    assert len(run["results"]) == MAX_RESULTS
    message = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert message == "3 more results are in results.json"


@pytest.mark.parametrize("text", HOSTILE)
def test_sarif__hostile_text__gives_no_link_and_no_control_character(text):
    message = of_scenario(failing(an_assertion(text, "failed", reason=text)))[0]["message"]["text"]
    assert "[" not in message.replace("\\[", "")
    assert not {unicodedata.category(character) for character in message if character != "\t"} & {"Cc", "Cf"}


def test_sarif__a_path_with_blanks__is_a_uri():
    document = results([{**a_suite("s", [a_scenario("a", "MISSING", location=None)]), "path": "my evals/a#b.yaml"}])
    [found] = run_of(document)["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my%20evals/a%23b.yaml"
