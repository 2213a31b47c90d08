"""The input `mutation-score`: how many small changes a changed suite notices, and how many the baseline's did."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from request_builder import make_request

from evalgate.application.judge.judge import judge
from evalgate.application.messages.request import Tools
from evalgate.bootstrap.shell_tools import Place, build_shell_tools
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.settings.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "version: 1\nsuite: shop\ntraces: ['traces/*.json']\nscenarios:\n  - id: refund\n    threshold: 1.0\n    assertions:\n"
CHECKS = ("      - {type: not_empty}\n", "      - {type: tool_called, tool: look}\n")


def write(folder: Path, checks: int) -> None:
    (folder / "traces").mkdir(exist_ok=True)
    call = {"id": "c1", "name": "look", "arguments": {"order": "A-17"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "where is A-17"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "shipped"},
        {"role": "assistant", "content": "It is shipped."},
    ]
    trace = {"schema": "evalgate.trace/1", "trace_id": "t1", "scenario_id": "refund", "messages": messages}
    (folder / "traces/a.json").write_text(json.dumps(trace))
    (folder / "suite.yaml").write_text(HEAD + "".join(CHECKS[:checks]))


def run(folder: Path, name: str, *, is_requested: bool, baseline: str | None = None) -> tuple[Any, str]:
    tools = build_shell_tools(Place(str(folder), name, "1767323045"), Limits(), progress_to=None)
    info = None if baseline is None else BaselineInfo("given", path=baseline)
    request = make_request(configs=["suite.yaml"], baseline=info, mutation_score=is_requested)
    judgement = judge(request, tools)
    return judgement.results, str(judgement.files["comment.md"], "utf-8")


def test_a_changed_suite_is_compared_with_its_version_in_the_baseline(tmp_path: Path):
    write(tmp_path, 1)
    run(tmp_path, "main", is_requested=True)
    write(tmp_path, 2)
    results, comment = run(tmp_path, "head", is_requested=True, baseline="main/baseline.zip")
    assert results["mutations"] == [
        {"suite": "shop", "score": 3 / 7, "changes": 7, "baseline_score": 2 / 7, "baseline_changes": 7}
    ]
    assert "**The changed suites notice** ` shop ` 43% of 7 small changes, before 29%" in comment
    results, comment = run(tmp_path, "off", is_requested=False, baseline="main/baseline.zip")
    assert "mutations" not in results
    assert "small changes" not in comment


def test_an_unchanged_suite_is_not_mentioned(tmp_path: Path):
    write(tmp_path, 1)
    run(tmp_path, "main", is_requested=True)
    results, comment = run(tmp_path, "head", is_requested=True, baseline="main/baseline.zip")
    assert "mutations" not in results
    assert "small changes" not in comment


def test_no_judge_is_made_that_would_leave_a_requested_score_out():
    names = [name for name in Tools.__struct_fields__ if name != "make_mutation_comparer"]
    with pytest.raises(TypeError, match="make_mutation_comparer"):
        Tools(**dict.fromkeys(names))
