from __future__ import annotations

import json
import unicodedata

import jsonschema
import pytest
from markdown_check import HOSTILE
from msgspec.structs import replace
from results_builder import a_scenario, a_suite, a_trial, an_assertion, results

from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.ci.code_quality import MAX_ENTRIES, render_code_quality

SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^/]"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
"""What GitLab documents, and requires of each entry (an entry that violates it is dropped without a word)."""


def entries_of(*scenarios):
    found = json.loads(render_code_quality(results([a_suite("support", list(scenarios))])))
    jsonschema.validate(found, SCHEMA)
    return found


def failing(*assertions, **changes):
    trials = [a_trial(0, "hard_fail", assertions=list(assertions))]
    return a_scenario("refund", "HARD_FAIL", trials=trials, **changes)


def test_a_failed_check_is_an_entry_at_its_line():
    [found] = entries_of(failing(an_assertion("answers", "failed", required=True), an_assertion("other", "passed")))
    assert found["description"] == "support / refund / answers: response.content lacks 'refund'"
    assert (found["check_name"], found["severity"]) == ("jmespath", "critical")
    assert found["location"] == {"path": "evals/support.yaml", "lines": {"begin": 12}}


@pytest.mark.parametrize(
    ("scenario", "severity"),
    [
        (failing(an_assertion("x", "failed")), "minor"),
        (failing(an_assertion("x", "failed", required=True), quarantined=True), "info"),
        (a_scenario("refund", "MISSING", trials=[], location=None), "critical"),
        (a_scenario("refund", "NOT_EVALUABLE", trials=[]), "minor"),
    ],
    ids=["not required", "quarantined", "missing", "not evaluable"],
)
def test_the_severity_shows_what_can_block(scenario, severity):
    [found] = entries_of(scenario)
    assert found["severity"] == severity


def test_a_run_that_passed_is_an_empty_report():
    assert render_code_quality(results([a_suite("support", [a_scenario("refund", "PASS")])])) == b"[]\n"


def test_two_checks_of_one_name_have_two_fingerprints_that_stay():
    checks = [an_assertion("same", "failed"), an_assertion("same", "failed", type="contains")]
    moved = [replace(check, location=LocationDoc("b.yaml", 9, 1)) for check in checks]
    first, second = ([each["fingerprint"] for each in entries_of(failing(*given))] for given in (checks, moved))
    assert len(set(first)) == 2
    assert first == second


def test_there_are_as_many_entries_as_anyone_reads():
    scenarios = [a_scenario(f"s{number}", "MISSING", trials=[]) for number in range(MAX_ENTRIES + 3)]
    assert len(entries_of(*scenarios)) == MAX_ENTRIES


@pytest.mark.parametrize("text", [*HOSTILE, "half \ud800 a pair"])
def test_hostile_text_is_one_line_without_control_characters(text):
    [found] = entries_of(failing(an_assertion(text, "failed", reason=text)))
    assert not {unicodedata.category(each) for each in found["description"] if each != "\t"} & {"Cc", "Cf", "Cs"}


def of_central_rules(*scenarios, path="../ci/rules.yaml"):
    """Entries of scenarios whose suite, with all its lines, lies outside of the repository."""
    suite = {**a_suite("support", list(scenarios)), "path": path}
    found = json.loads(render_code_quality(results([suite])))
    jsonschema.validate(found, SCHEMA)
    return found


@pytest.mark.parametrize("path", ["../ci/rules.yaml", "/rules/rules.yaml", "C:\\rules\\rules.yaml", "C:/rules.yaml"])
def test_a_check_of_central_rules_is_at_the_trace_and_names_its_rule(path):
    rule = an_assertion("answers", "failed", location=LocationDoc(path, 7, 9))
    trials = [a_trial(0), a_trial(1, "failed", assertions=[rule])]
    [found] = of_central_rules(a_scenario("refund", "FAIL", trials=trials, location=None), path=path)
    assert found["location"] == {"path": trials[1].trace.path, "lines": {"begin": 1}}
    assert (
        found["description"]
        == f"support / refund / answers (by {path}:7): response.content lacks 'refund' (in 1 of 2 trials)"
    )


def test_a_scenario_of_central_rules_without_a_trace_is_at_another_trace_of_its_suite():
    missing = a_scenario("gone", "MISSING", trials=[], location=LocationDoc("../ci/rules.yaml", 4, 5))
    passed = a_scenario("refund", "PASS", trials=[a_trial(0)])
    [found] = of_central_rules(missing, passed)
    assert found["location"]["path"] == a_trial(0).trace.path
    assert found["description"] == "support / gone (by ../ci/rules.yaml:4)"


def test_without_any_trace_of_the_repository_the_rule_itself_is_the_place():
    missing = a_scenario("gone", "MISSING", trials=[], location=LocationDoc("../ci/rules.yaml", 4, 5))
    [found] = of_central_rules(missing)
    assert found["location"] == {"path": "../ci/rules.yaml", "lines": {"begin": 4}}
