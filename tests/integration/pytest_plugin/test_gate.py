"""The gate as the last item: pytest's exit code is 0 exactly if that of `evalgate run` is."""

from __future__ import annotations

import pytest
from command import evalgate
from pytest_projects import SUITE, make_trace, run_pytest, write, write_project

WRONG, LOW = make_trace("refund", "No."), make_trace("greet", "Hello")
BELOW = SUITE + "policy: {fail_on: [below_threshold]}\n"
QUARANTINE = SUITE + "quarantine:\n  - {scenario: refund, reason: carrier is down, until: 2027-01-20}\n"
APPROVAL = "approvals:\n  - {suite: support, scenario: refund, reason: known, who: Ann, until: 2027-01-20}\n"
NO_TRACES = {"refund": None, "greet": None, "budget": None}


@pytest.fixture(autouse=True)
def _now(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")


@pytest.mark.parametrize(
    ("suite", "traces", "code", "outcomes"),
    [
        (SUITE, {}, 0, {"passed": 4}),
        (SUITE, {"greet": LOW}, 0, {"passed": 3, "xfailed": 1}),
        (SUITE, {"refund": WRONG}, 1, {"passed": 2, "xfailed": 1, "failed": 1}),
        (BELOW, {"greet": LOW}, 1, {"passed": 2, "xfailed": 1, "failed": 1}),
        (BELOW, {"refund": WRONG}, 0, {"passed": 3, "xfailed": 1}),
        (QUARANTINE, {"refund": WRONG}, 0, {"passed": 3, "xfailed": 1}),
        (SUITE, {"broken": "{no json\n"}, 1, {"passed": 3, "failed": 1}),
        (BELOW, {"broken": "{no json\n"}, 0, {"passed": 4}),
        (SUITE, NO_TRACES, 3, {"xfailed": 3, "failed": 1}),
        (SUITE + "policy: {fail_on: [no_baseline]}\n", {}, 3, {"passed": 3, "failed": 1}),
    ],
)
def test_the_exit_code_is_that_of_a_run(pytester, suite, traces, code, outcomes):
    write_project(pytester, suite, **traces)
    result = run_pytest(pytester, "--evalgate-gate")
    assert evalgate(pytester.path, []).code == code
    assert (result.ret == 0) is (code == 0)
    result.assert_outcomes(**outcomes)
    result.stdout.no_fnmatch_line("*scenarios, not the gate*")
    result.stdout.no_fnmatch_line("*`*")  # marks of code, which are for Markdown


def test_an_approval_counts(pytester):
    write_project(pytester, refund=WRONG)
    write(pytester, {"evalgate-approvals.yaml": APPROVAL})
    assert (run_pytest(pytester, "--evalgate-gate").ret, evalgate(pytester.path, []).code) == (0, 0)


def test_a_baseline_decides(pytester):
    """In the first run greet passes, in the second it does not: only with the baseline it is broken."""
    write_project(pytester, SUITE + "policy: {fail_on: [broken]}\n")
    assert evalgate(pytester.path, []).code == 0
    (pytester.path / ".evalgate").rename(pytester.path / "main")
    write(pytester, {"traces/greet.jsonl": LOW})
    assert run_pytest(pytester, "--evalgate-gate").ret == 0
    result = run_pytest(pytester, "--evalgate-gate", "--evalgate-baseline", "main")
    assert (result.ret, evalgate(pytester.path, ["--baseline", "main"]).code) == (1, 1)
    result.stdout.fnmatch_lines(["the gate: fail (exit code 1 of evalgate run)", "- support / greet: broken: *"])
    result.stdout.fnmatch_lines(["FAILED evals/::gate - *", "*1 failed, 2 passed, 1 xfailed*"])


def test_a_baseline_that_is_missing_is_wrong_input(pytester):
    write_project(pytester)
    result = run_pytest(pytester, "--evalgate-gate", "--evalgate-baseline", "main.zip")
    result.stdout.fnmatch_lines(["FAILED evals/::gate - *main.zip*"])
    assert (result.ret, evalgate(pytester.path, ["--baseline", "main.zip"]).code) == (1, 2)


def test_the_gate_needs_no_other_setting(pytester):
    write_project(pytester, ini="[pytest]\n", refund=WRONG)
    run_pytest(pytester, "--evalgate-gate").assert_outcomes(passed=2, xfailed=1, failed=1)


def test_scenarios_fail_where_the_gate_is_deselected(pytester):
    write_project(pytester, greet=LOW)
    result = run_pytest(pytester, "--evalgate-gate", "-k", "greet")
    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines(["*scenarios, not the gate*"])
    run_pytest(pytester, "--evalgate-gate", "--lf").assert_outcomes(failed=1, deselected=1)  # the gate


def test_the_gate_comes_last_and_can_be_selected(pytester):
    write_project(pytester)
    pytester.makepyfile(test_z="def test_plain(): pass")
    result = run_pytest(pytester, "--evalgate-gate", "--collect-only", "-q", "-m", "eval")
    assert [line for line in result.stdout.lines if "::" in line][-1] == "evals/::gate"
    run_pytest(pytester, "--evalgate-gate", "-k", "gate and not refund").assert_outcomes(passed=1, deselected=4)


def test_reasons_of_a_gate_fit_a_screen(pytester):
    scenarios = "".join(
        f"  - {{id: s{number}, assertions: [{{type: output_contains, value: x, required: true}}]}}\n"
        for number in range(60)
    )
    write_project(pytester, f"suite: support\ntraces: [../traces/*.jsonl]\nscenarios:\n{scenarios}")
    write(pytester, {"traces/refund.jsonl": "".join(make_trace(f"s{number}", "No.") for number in range(60))})
    lines = run_pytest(pytester, "--evalgate-gate").stdout.lines
    start = next(number for number, line in enumerate(lines) if line.startswith("the gate: "))
    assert lines[start + 39] == "... 22 more lines: evalgate run 'evals/**/*.yaml'"
    assert lines[start + 38].startswith("- support / s37: hard_fail: ")
