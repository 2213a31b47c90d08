from __future__ import annotations

import io

from evalgate.action import describe_bug, run
from evalgate.adapters.github.workflow_step import WorkflowStep


class Broken(dict):
    def get(self, key, default=None):
        raise RuntimeError("hidden")


def test_a_bug_exits_with_70_and_a_report_without_any_input_text(tmp_path):
    console = io.StringIO()
    assert run(Broken(), WorkflowStep(console, str(tmp_path / "output"))) == 70
    assert (tmp_path / "output").read_text().startswith("verdict=cannot_judge\nexit-code=70\n")
    assert "EvalGate has a bug: RuntimeError" in console.getvalue()
    assert "hidden" not in console.getvalue()
    assert "Traceback" not in console.getvalue()


def test_a_bug_report_has_files_and_lines():
    try:
        raise ValueError("hidden")
    except ValueError as bug:
        lines = describe_bug(bug)
    assert lines[0].startswith("EvalGate has a bug: ValueError (evalgate ")
    assert "test_action.py:" in lines[1]


def test_outside_github_the_error_names_evalgate_run(tmp_path):
    console = io.StringIO()
    assert run({}, WorkflowStep(console, str(tmp_path / "output"))) == 2
    assert "evalgate run" in console.getvalue()
    assert "exit-code=2" in (tmp_path / "output").read_text()
