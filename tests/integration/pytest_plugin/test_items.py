"""Scenarios of suites as items: names, selection, what each verdict means, what is printed and written."""

from __future__ import annotations

import re
from io import StringIO
from xml.etree import ElementTree as ET

import pytest
from command import evalgate
from pytest_projects import SUITE, make_trace, run_pytest, write, write_project

from evalgate.cli import main
from evalgate.cli.shell import Shell

WRONG = make_trace("refund", "No.")
LOW = make_trace("greet", "Hello")
TOO_FEW_TRIALS = SUITE.replace("id: budget", "id: budget\n    trials: {min: 2}")


def test_every_scenario_is_an_item(pytester):
    write_project(pytester)
    result = run_pytest(pytester, "--collect-only", "-q")
    result.stdout.fnmatch_lines(
        ["evals/support.yaml::refund", "evals/support.yaml::greet", "evals/support.yaml::budget"]
    )
    assert result.ret == 0


def test_a_variant_is_an_item(pytester):
    suite = SUITE.replace("scenarios:", "variants:\n  flat: {match: {tags: [flat]}}\n  deep: {}\nscenarios:")
    write_project(pytester, suite)
    result = run_pytest(pytester, "--collect-only", "-q", "-k", "refund and flat")
    result.stdout.fnmatch_lines(["evals/support.yaml::refund[[]flat]"])
    result.stdout.no_fnmatch_line("*deep*")


def test_all_pass(pytester):
    write_project(pytester)
    result = run_pytest(pytester)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*scenarios, not the gate*"])
    assert result.ret == 0
    assert not (pytester.path / ".evalgate").exists()


@pytest.mark.parametrize("has_gate", [False, True])
def test_what_stands_below_a_heading_is_a_warning(pytester, has_gate):
    write_project(pytester, SUITE.replace("../traces", "../nowhere/*.json, ../traces"))
    result = run_pytest(pytester, *(["--evalgate-gate"] if has_gate else []))
    assert result.ret == 0
    result.stdout.fnmatch_lines(["evalgate: warning: *matches no file"])


def test_each_verdict_is_an_outcome(pytester):
    write_project(pytester, TOO_FEW_TRIALS, refund=WRONG, greet=LOW)
    result = run_pytest(pytester, "-rsf")
    result.assert_outcomes(failed=2, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*NOT_EVALUABLE: *trial*"])
    result.stdout.fnmatch_lines(["FAILED evals/support.yaml::refund - answer contains*"])


def test_a_scenario_without_traces_fails(pytester):
    write_project(pytester, refund=None)
    result = run_pytest(pytester)
    result.assert_outcomes(failed=1, passed=2)
    result.stdout.fnmatch_lines(["MISSING  refund"])


def test_an_optional_scenario_without_traces_is_skipped(pytester):
    write_project(pytester, SUITE.replace("id: refund", "id: refund\n    optional: true"), refund=None)
    run_pytest(pytester).assert_outcomes(skipped=1, passed=2)


def test_a_suite_without_traces_fails_also_where_no_scenario_has_a_name(pytester):
    suite = 'suite: s\ntraces: [nowhere/*]\nscenarios: [{id: "*", assertions: [{contains: x}]}]\n'
    write_project(pytester, suite)
    result = run_pytest(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["suite s: no traces found: *"])


def test_what_gates_by_missing_evidence_fails(pytester):
    write_project(pytester, TOO_FEW_TRIALS + "policy: {fail_on: [hard_fail, not_evaluable]}\n")
    run_pytest(pytester).assert_outcomes(failed=1, passed=2)


def test_a_scenario_in_quarantine_may_fail(pytester, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    entry = "quarantine:\n  - {scenario: refund, reason: carrier is down, until: 2027-01-20}\n"
    write_project(pytester, SUITE + entry, refund=WRONG)
    result = run_pytest(pytester, "-rx")
    result.assert_outcomes(xfailed=1, passed=2)
    result.stdout.fnmatch_lines(["XFAIL*quarantine*carrier is down*HARD_FAIL*"])


def test_a_scenario_in_quarantine_that_passes_is_shown(pytester, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    entry = "quarantine:\n  - {scenario: refund, reason: carrier is down, until: 2027-01-20}\n"
    write_project(pytester, SUITE + entry)
    run_pytest(pytester).assert_outcomes(xpassed=1, passed=2)


def test_an_approved_scenario_may_fail(pytester, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    approval = "approvals:\n  - {suite: support, scenario: refund, reason: known, who: Ann, until: 2027-01-20}\n"
    write(pytester, {"evalgate-approvals.yaml": approval})
    write_project(pytester, refund=WRONG)
    result = run_pytest(pytester, "-rx")
    result.assert_outcomes(xfailed=1, passed=2)
    result.stdout.fnmatch_lines(["XFAIL*approval*known*HARD_FAIL*"])


def test_every_scenario_of_a_glob_counts(pytester):
    suite = SUITE.replace("id: refund", 'id: "refund-*"')
    write_project(pytester, suite, refund=make_trace("refund-1", "refunded") + make_trace("refund-2", "No."))
    result = run_pytest(pytester)
    result.assert_outcomes(failed=1, passed=2)
    result.stdout.fnmatch_lines(["HARD FAIL  refund-2"])
    result.stdout.no_fnmatch_line("*PASS  refund-1")


def test_a_trace_that_can_not_be_read_fails_the_suite(pytester):
    write_project(pytester, broken="{not json\n")
    result = run_pytest(pytester)
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["ERROR evals/support.yaml::budget - *broken.jsonl*"])


def test_a_failure_is_what_explain_prints_on_a_screen(pytester):
    traces = "".join(make_trace(f"refund-{number}", "No.") for number in range(6))
    write_project(pytester, SUITE.replace("id: refund", 'id: "refund-*"'), refund=traces)
    result = run_pytest(pytester)
    lines = result.stdout.lines
    start = lines.index("HARD FAIL  refund-0")
    assert evalgate_explains(pytester)[:6] == lines[start : start + 6]
    found = re.fullmatch(r"\.\.\. (\d+) more lines: (.*)", lines[start + 39])
    assert found is not None
    assert found[2] == "evalgate run 'evals/**/*.yaml'; evalgate explain refund-0"
    assert not any(line.startswith("...") for line in lines[start : start + 39])
    assert "Traceback" not in result.stdout.str()


def evalgate_explains(pytester):
    """What the command prints of the same scenario."""
    evalgate(pytester.path, [])
    out = StringIO()
    assert main(["explain", "refund-0"], Shell(out, StringIO(), {}, str(pytester.path))) == 0
    return out.getvalue().splitlines()


def test_escapes_of_a_terminal_are_not_printed(pytester):
    write_project(pytester, refund=make_trace("refund", "\x1b[31mred"))
    result = run_pytest(pytester)
    assert "\x1b[31mred" not in result.stdout.str()
    result.assert_outcomes(failed=1, passed=2)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["-k", "greet"], ["greet"]),
        (["-m", "eval"], ["refund", "greet", "budget"]),
        (["-m", "not eval"], ["test_plain"]),
        (["-m", "evalgate_tag"], ["refund"]),
        (["evals/support.yaml::budget"], ["budget"]),
    ],
)
def test_items_are_selected(pytester, words, names):
    write_project(pytester)
    pytester.makepyfile("def test_plain(): pass")
    found = run_pytest(pytester, "--collect-only", "-q", "--strict-markers", *words)
    assert [line.partition("::")[2] for line in found.stdout.lines if "::" in line] == names


def test_last_failed_and_stop_at_the_first(pytester):
    write_project(pytester, refund=WRONG, greet=LOW)
    run_pytest(pytester, "-x").assert_outcomes(failed=1)
    run_pytest(pytester).assert_outcomes(failed=2, passed=1)
    run_pytest(pytester, "--lf").assert_outcomes(failed=2)
    assert run_pytest(pytester, "-p", "no:cacheprovider").ret == 1


def test_suites_are_added_to_the_test_paths(pytester):
    ini = "[pytest]\ntestpaths = tests\nevalgate_suites = evals/*.yaml\n"
    write_project(pytester, ini=ini)
    write(pytester, {"tests/test_plain.py": "def test_plain(): pass\n"})
    run_pytest(pytester, "-m", "eval").assert_outcomes(passed=3, deselected=1)
    run_pytest(pytester, "tests").assert_outcomes(passed=1)


def test_suites_are_named_on_the_command_line(pytester):
    write_project(pytester, ini="[pytest]\n")
    write(pytester, {"tests/test_plain.py": "def test_plain(): pass\n"})
    run_pytest(pytester, "--evalgate", "evals").assert_outcomes(passed=4)
    run_pytest(pytester, "tests", "--evalgate", "evals").assert_outcomes(passed=4)
    run_pytest(pytester).assert_outcomes(passed=1)


def test_the_project_file_applies(pytester):
    write(pytester, {"evalgate.yaml": "version: 1\nsuites: [evals/*.yaml]\ndefaults: {traces: ['traces/*.jsonl']}\n"})
    write_project(pytester, SUITE.replace("traces: [../traces/*.jsonl]\n", ""))
    run_pytest(pytester).assert_outcomes(passed=3)


def test_properties_are_written_for_junit(pytester):
    write_project(pytester, greet=LOW)
    run_pytest(pytester, "--junitxml=junit.xml", "-o", "junit_family=xunit2")
    cases = {case.attrib["name"]: case for case in ET.parse(pytester.path / "junit.xml").iter("testcase")}  # noqa: S314  (our own)
    found = {
        name: {each.attrib["name"]: each.attrib["value"] for each in case.iter("property")}
        for name, case in cases.items()
    }
    assert found["refund"] == {
        "evalgate.suite": "support",
        "evalgate.verdict": "PASS",
        "evalgate.score": "1.0",
        "evalgate.cost_usd": "0.5",
        "evalgate.tokens": "12",
    }
    assert found["greet"] == {"evalgate.suite": "support", "evalgate.verdict": "FAIL", "evalgate.score": "0.5"}
    assert cases["greet"].attrib["classname"] == "evals.support.yaml"
    failure = cases["greet"].find("failure")
    assert failure is not None
    assert failure.attrib["message"].startswith('answer contains "again"')


@pytest.mark.parametrize(
    ("files", "words", "line"),
    [
        ({"evals/support.yaml": "scenarios: 3\n"}, [], "*evals/support.yaml*"),
        ({}, ["--evalgate", "nowhere"], "*no suite file at 'nowhere'*"),
        ({"evals/support.yaml": SUITE.replace("output_contains", "output_contain")}, [], "*support.yaml:6*"),
    ],
)
def test_wrong_input_is_a_usage_error(pytester, files, words, line):
    write_project(pytester)
    write(pytester, files)
    result = run_pytest(pytester, *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {line}"])


def test_a_suite_is_judged_once(pytester, monkeypatch):
    """A trace that changes after the first item was judged changes no other."""
    write_project(pytester)
    pytester.makeconftest(
        """
        def pytest_runtest_logfinish():
            open("traces/budget.jsonl", "w").close()
        """
    )
    run_pytest(pytester).assert_outcomes(passed=3)
    assert (pytester.path / "traces/budget.jsonl").read_text() == ""


def test_another_distribution_of_the_name_is_warned_of(pytester):
    write_project(pytester)
    run_pytest(pytester, "-q").stdout.no_fnmatch_line("*evalgate: warning*")
    write(pytester, {"site/evalgate-9.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: evalgate\nVersion: 9.1\n"})
    pytester.syspathinsert(pytester.path / "site")
    result = run_pytest(pytester, "-q")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["evalgate: warning: the distribution `evalgate` 9.1, *pip uninstall evalgate*"])
    pytester.makepyfile(test_plain="def test_plain(): pass")
    write(pytester, {"pytest.ini": "[pytest]\n"})
    run_pytest(pytester, "-q", "test_plain.py").stdout.no_fnmatch_line("*evalgate: warning*")
