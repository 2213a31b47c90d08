"""A scenario without a trace names the ids of traces that are like its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command import evalgate

from evalgate.reporting.text.sentences import unmark_parts

if TYPE_CHECKING:
    from pathlib import Path

SUITE = "version: 1\nsuite: s\ntraces: [all.jsonl]\nscenarios:\n  - {{id: '{}', assertions: [{{type: not_empty}}]}}\n"
HINT = "; traces without a scenario have similar ids, did you mean "


@pytest.mark.parametrize(
    ("wanted", "found", "hint"),
    [
        ("refund", ["refund-1", "refund-2", "chat"], '"refund-1", "refund-2"?'),
        ("refund-*", ["Refund", "chat"], '"Refund"?'),
        ("pr-vewer#5", ["pr-viewer#5", "chat"], '"pr-viewer#5"?'),
        ("task", [f"task-{number}" for number in range(5)], '"task-0", "task-1", "task-2" and 2 more?'),
        ("refund", ["chat", "parcel"], None),
    ],
)
def test_an_id_that_no_trace_has_is_explained(tmp_path: Path, wanted: str, found: list[str], hint: str | None) -> None:
    traces = [{"schema": "evalgate.trace/1", "scenario_id": each, "messages": [TURN, ANSWER]} for each in found]
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, traces)))
    (tmp_path / "suite.yaml").write_text(SUITE.format(wanted))
    (scenario,) = evalgate(tmp_path, ["suite.yaml", "--no-baseline-zip"]).results["suites"][0]["scenarios"]
    assert scenario["verdict"] == "MISSING"
    expected = "" if hint is None else f"{HINT}{hint}"
    assert unmark_parts(scenario["reason"]) == f"no trace was recorded for it{expected}"


TURN, ANSWER = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
