"""A figure compared with its value in the baseline of an earlier run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from in_process_command import evalgate

if TYPE_CHECKING:
    from pathlib import Path

CHECK = {"type": "convergence", "target": 0, "direction": "minimize", "name": "open errors", "required": True}


def write(folder: Path, answers: dict[str, str], **check: Any) -> None:
    scenarios = [{"id": id_, "assertions": [{**CHECK, **check}]} for id_ in answers]
    for suite in ("s", "t"):
        document = {"version": 1, "suite": suite, "traces": [f"{suite}.jsonl"], "scenarios": scenarios}
        (folder / f"{suite}.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        traces = [
            {
                "schema": "evalgate.trace/1",
                "trace_id": id_,
                "scenario_id": id_,
                "messages": [
                    {"role": "user", "content": "How many?"},
                    {"role": "assistant", "content": answer if suite == "s" else "100"},
                ],
            }
            for id_, answer in answers.items()
        ]
        (folder / f"{suite}.jsonl").write_text("\n".join(map(json.dumps, traces)), encoding="utf-8")


def words(folder: Path, output: str, *arguments: str) -> dict[str, str]:
    suites = [str(folder / "s.yaml"), str(folder / "t.yaml")]
    evalgate("run", *suites, "--output-dir", str(folder / output), *arguments)
    results = json.loads((folder / output / "results.json").read_bytes())
    return {
        scenario["id"]: scenario["trials"][0]["assertions"][0]["evidence"]["verdict"]
        for scenario in results["suites"][0]["scenarios"]
    }


@pytest.mark.parametrize("check", [{}, {"previous": "${baseline.trials[0].assertions[0].evidence.value}"}], ids=str)
def test_figure__is_compared_with_that_of_the_same_scenario_in_the_baseline(
    tmp_path: Path, check: dict[str, Any]
) -> None:
    write(tmp_path, {"a": "9", "b": "3"}, **check)
    assert words(tmp_path, "first") == {"a": "progress", "b": "progress"}
    write(tmp_path, {"a": "5", "b": "5", "new": "5"}, **check)
    baseline = ["--baseline", str(tmp_path / "first" / "baseline.zip")]
    assert words(tmp_path, "second", *baseline) == {"a": "progress", "b": "stall", "new": "progress"}
