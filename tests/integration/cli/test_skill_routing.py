"""`expected_skill` of scenarios: a check of each, and precision and recall of all in the report's figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from command import evalgate

if TYPE_CHECKING:
    from pathlib import Path

EXPECTED = {"a": "pdf", "b": "pdf*", "c": "docx", "d": None, "e": None}
USED = {"a": ["documents:pdf"], "b": ["docx", "pdf-forms"], "c": [], "d": [], "e": ["deploy"]}


def written(folder: Path, used: dict[str, list[str]], **status: Any) -> None:
    scenarios = [{"id": each, "expected_skill": skill, "assertions": []} for each, skill in EXPECTED.items()]
    suite = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "scenarios": scenarios}
    (folder / "s.yaml").write_text(json.dumps(suite))
    (folder / "traces").mkdir(exist_ok=True)
    for scenario, skills in used.items():
        messages: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]
        for skill in skills:
            call = {"id": skill, "name": "Skill", "arguments": {"skill": skill}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": skill, "content": "Launching skill", **status})
        messages.append({"role": "assistant", "content": "done"})
        trace = {"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages}
        (folder / f"traces/{scenario}.json").write_text(json.dumps(trace))


def test_the_figures_of_a_suite(tmp_path: Path) -> None:
    written(tmp_path, USED)
    ran = evalgate(tmp_path, ["s.yaml"])
    suite = ran.results["suites"][0]
    assert suite["skills"] == {
        "trials": 5,
        "right": 2,
        "wrong": 2,
        "missed": 1,
        "precision": 0.5,
        "recall": 0.666666667,
    }
    assert [each["verdict"] for each in suite["scenarios"]] == ["PASS", "PASS", "FAIL", "PASS", "FAIL"]
    comment = (tmp_path / ".evalgate/comment.md").read_text()
    assert "precision 0.50 (2 of 4), recall 0.67 (2 of 3) in 5 trials" in comment


def test_a_skill_that_failed_to_load_is_neither_used_nor_right(tmp_path: Path) -> None:
    written(tmp_path, {"a": ["pdf"]}, is_error=True)
    suite = evalgate(tmp_path, ["s.yaml"]).results["suites"][0]
    assert (suite["skills"]["right"], suite["skills"]["wrong"], suite["skills"]["missed"]) == (0, 0, 1)
    assert (suite["skills"]["precision"], suite["skills"]["recall"]) == (None, 0.0)


def test_a_suite_that_expects_none_has_no_such_figure(tmp_path: Path) -> None:
    written(tmp_path, USED)
    (tmp_path / "s.yaml").write_text(
        "{version: 1, suite: s, traces: [traces/*.json], scenarios: [{id: '*', assertions: [{contains: done}]}]}"
    )
    assert "skills" not in evalgate(tmp_path, ["s.yaml"]).results["suites"][0]
