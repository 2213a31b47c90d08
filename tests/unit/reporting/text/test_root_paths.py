from __future__ import annotations

import pytest
from results_builder import a_scenario, a_suite, a_trial, an_assertion, results
from run_builders import store_trials

from evalgate.models.run.run import TraceRef, TrialResult
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.results.trial_doc import build_trial_docs
from evalgate.reporting.text.root_paths import with_root_paths
from evalgate.reporting.text.scenario_sections import find_reason

GLOBS = "traces/*.json below the working directory"


def place(file, line=3):
    return LocationDoc(file, line, None)


def converted(folder="deep", **changes):
    suite = a_suite("s", [a_scenario("a", "FAIL", trials=[a_trial(assertions=[an_assertion()])])])
    document = results([{**suite, "path": "evals/s.yaml"}])
    return with_root_paths({**document, "working_directory": folder, **changes})


def test_a_document_of_the_root_is_not_copied():
    document = results([a_suite("s", [a_scenario()])])
    assert with_root_paths(document) is document


@pytest.mark.parametrize(
    ("folder", "path", "expected"),
    [
        ("deep", "evals/s.yaml", "deep/evals/s.yaml"),
        ("deep", "../evals/s.yaml", "evals/s.yaml"),
        ("a/b", "./s.yaml", "a/b/s.yaml"),
        ("deep", "/elsewhere/s.yaml", "/elsewhere/s.yaml"),
        ("deep", "evalgate-approvals.yaml", "evalgate-approvals.yaml"),
    ],
)
def test_paths_start_at_the_root(folder, path, expected):
    reason = {"code": "hard_fail", "message": "m", "location": place(path)}
    shown = converted(folder, reasons=[reason])
    assert shown["reasons"] == [{**reason, "location": place(expected)}]


def test_every_path_that_a_report_shows_is_converted():
    warnings = [{"code": "note", "message": "m", "where": where} for where in ("traces/a.json:2", None)]
    unclaimed = {"suite": "s", "path": "traces/b.json", "id": None, "scenario_id": None, "line": 1, "record": None}
    shown = converted(warnings=warnings, unclaimed=[unclaimed])
    [suite] = shown["suites"]
    [scenario] = suite["scenarios"]
    [trial] = scenario["trials"]
    assert [each["where"] for each in shown["warnings"]] == ["deep/traces/a.json:2", None]
    assert shown["unclaimed"][0]["path"] == "deep/traces/b.json"
    assert suite["path"] == "deep/evals/s.yaml"
    assert trial.trace.path == "deep/traces/0.json"
    assert [each.location.file for each in trial.assertions] == ["deep/evals/support.yaml"]


def test_a_suite_without_traces_names_the_folder_it_searches():
    suite = {**a_suite("s", [a_scenario()]), "unmatched": GLOBS}
    reason = {"code": "no_traces", "message": f"suite s: nothing matches {GLOBS}, so", "suite": "s"}
    shown = converted(suites=[suite], reasons=[reason])
    assert shown["suites"][0]["unmatched"] == "traces/*.json below deep"
    assert shown["reasons"][0]["message"] == "suite s: nothing matches traces/*.json below deep, so"


def test_stored_trials_are_converted_when_they_are_read():
    trace = TraceRef("t", "traces/a.json", "native", None)
    trials = [TrialResult(0, trace, "error", None, [], reason="traces/a.json: the JSON ends unexpectedly")]
    scenario = a_scenario("a", "ERROR", trials=build_trial_docs(store_trials(trials)))
    [suite] = converted(suites=[a_suite("s", [scenario])])["suites"]
    assert find_reason(suite["scenarios"][0]) == "deep/traces/a.json: the JSON ends unexpectedly"
    assert suite["scenarios"][0]["trials"][:1][0].trace.path == "deep/traces/a.json"
