"""Workers of pytest-xdist, and projects that have no suite."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pytest_projects import make_trace, run_pytest, start_pytest, write, write_project

WRONG = make_trace("refund", "No.")
COUNT = """
import evalgate.features.testing.judging as judging

class Counted(judging.SessionJudge):
    def _judge(self):
        with open({path!r}, "a") as file:
            file.write("judged\\n")
        return super()._judge()

judging.SessionJudge = Counted
"""


def test_workers_judge_once(pytester):
    write_project(pytester, refund=WRONG)
    pytester.makeconftest(COUNT.format(path=str(pytester.path / "judged.txt")))
    result = start_pytest(pytester, "-n", "4", "--dist", "each", "--evalgate-gate", "--junitxml=junit.xml")
    result.assert_outcomes(passed=8, xfailed=4, failed=4)
    assert (pytester.path / "judged.txt").read_text() == "judged\n"
    assert (pytester.path / "junit.xml").read_text().count('name="evalgate.verdict"') == 16
    assert not list(Path(pytester.path).glob("**/*.lock"))


def test_workers_report_what_one_process_does(pytester):
    write_project(pytester, refund=WRONG)
    result = start_pytest(pytester, "-n", "2", "--dist", "loadgroup", "-m", "eval")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["HARD FAIL  refund", "*scenarios, not the gate*", "FAILED evals/support.yaml::refund*"]
    )


def test_a_project_without_suites_loads_nothing(pytester):
    pytester.makepyfile(
        "import sys\ndef test_plain(): assert not [n for n in sys.modules if n.startswith('evalgate.t')]"
    )
    result = start_pytest(pytester, "--strict-markers")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*evalgate*not the gate*")


def test_the_plugin_loads_only_itself():
    """An unrelated project imports the package's one-line module and this one: less than 1 ms of its start."""
    code = "import sys, pytest; before = set(sys.modules); import evalgate.pytest_plugin; print(*set(sys.modules) - before)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(found.stdout.split()) == {"evalgate", "evalgate.pytest_plugin"}


def test_markers_are_registered(pytester):
    pytester.makepyfile("import pytest\n@pytest.mark.eval\n@pytest.mark.evalgate_tag('money')\ndef test_plain(): pass")
    run_pytest(pytester, "--strict-markers", "-m", "eval").assert_outcomes(passed=1)
    write(pytester, {"pytest.ini": "[pytest]\n"})
    run_pytest(pytester, "--markers").stdout.fnmatch_lines(["@pytest.mark.eval:*", "@pytest.mark.evalgate_tag(name):*"])
