"""The mappings of docs/custom-formats.md read what they say: files of ours, and real ones where they are present."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from documents import ROOT
from in_process_command import evalgate as command

if TYPE_CHECKING:
    from pathlib import Path

UNREAD = ROOT.parent / "shared" / "unread"
PAGE = (ROOT / "docs" / "custom-formats.md").read_text(encoding="utf-8").split("## Recipes\n")[1]
PAGE = PAGE.split("\n## ")[0]
MAPPINGS = {
    re.sub(r"\W+", "-", title.lower()): mapping
    for title, mapping in re.findall(r"^### (.+?)\n.*?^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
}
MOST_LINES = 15
BOTH = ["lookup_order", "lookup_stock"]
OURS: dict[str, tuple[str, list[str], list[str]]] = {
    "amp": ("amp.json", BOTH, ["ok", "error"]),
    "azure-ai-evaluation-rows": ("azure.json", BOTH, ["unknown", "unknown"]),
    "cline": ("cline.json", BOTH, ["ok", "error"]),
    "letta": ("letta.json", BOTH, ["ok", "error"]),
    "vs-code-chat-export": ("vscode-chat.json", BOTH, ["missing", "missing"]),
}
"""By the heading of the recipe: a file in the same shape, its calls and how they ended."""
AZURE = ["fetch_weather", "fetch_weather", "opening_hours", "send_email"]
"""The calls of the whole conversation, of which each row repeats the first ones."""
REAL: dict[str, tuple[str, int, list[str]]] = {
    "azure-ai-evaluation-rows": ("azure_eval.jsonl", 5, [*AZURE[:1], *AZURE[:2], *AZURE, *AZURE[:3], *AZURE]),
    "letta": ("letta_memgpt_agent_with_convo.af", 1, []),
    "cline": ("cline_session.json", 1, ["editor", "read_files", "editor", "run_commands", *["read_files"] * 3,
                                        *["editor", "read_files"] * 2]),
}  # fmt: skip


def query(folder: Path, mapping: str, source: Path) -> list[dict[str, Any]]:
    """What is read from a file by a mapping."""
    name = f"trace{source.suffix}"
    (folder / name).write_bytes(source.read_bytes())
    (folder / "suite.yaml").write_text(
        f"suite: s\ntraces: [{name}]\n{mapping}scenarios: [{{id: '*', assertions: [{{contains: x}}]}}]\n"
    )
    done = command("query", "--config", "suite.yaml", name, cwd=str(folder))
    assert done.exit_code == 0, done.err
    out = done.out
    return [json.loads(out)] if out.startswith("{\n") else [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("name", MAPPINGS)
def test_a_mapping_is_short(name: str) -> None:
    assert len(MAPPINGS[name].splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", OURS)
def test_a_file_of_this_shape_is_read_with_its_messages_calls_and_results(name: str, tmp_path: Path) -> None:
    file, calls, statuses = OURS[name]
    (trace,) = query(tmp_path, MAPPINGS[name], ROOT / "tests/recipes" / file)
    assert [call["name"] for call in trace["tool_calls"]] == calls
    assert [call["status"] for call in trace["tool_calls"]] == statuses
    assert [call["arguments"] for call in trace["tool_calls"]] == [{"id": 42}] * 2
    if "missing" not in statuses:
        results = [call["result"] for call in trace["tool_calls"]]
        assert ["shipped" in str(results[0]), "no such item" in str(results[1])] == [True, True]
    assert trace["response"]["content"] == "It has shipped."
    assert trace["exchanges"][0]["user"] == "Where is order 42?"


@pytest.mark.parametrize("name", OURS)
def test_a_gate_forbids_each_called_tool_and_passes_their_order(name: str, tmp_path: Path) -> None:
    file, calls, _ = OURS[name]
    (tmp_path / "t.json").write_bytes((ROOT / "tests/recipes" / file).read_bytes())
    verdicts = []
    checks = [
        *({"type": "forbidden_tools", "tools": [each]} for each in calls),
        {"type": "tool_sequence", "sequence": calls},
    ]
    for check in checks:
        scenario = {"id": "*", "assertions": [{**check, "required": True}]}
        suite = f"version: 1\nsuite: s\ntraces: [t.json]\n{MAPPINGS[name]}scenarios: [{json.dumps(scenario)}]\n"
        (tmp_path / "s.yaml").write_text(suite)
        result = evalgate(tmp_path, ["s.yaml", "--no-baseline-zip"])
        verdicts.append(result.results["suites"][0]["scenarios"][0]["verdict"])
    assert verdicts == ["HARD_FAIL", "HARD_FAIL", "PASS"]


def test_calls_that_are_not_recorded_are_unknown_not_none(tmp_path: Path) -> None:
    (trace,) = query(tmp_path, MAPPINGS["who-when"], ROOT / "tests/recipes/who-and-when.json")
    assert trace["metadata"]["tool_call_count"] is None
    assert trace["response"]["content"] == "It has shipped."


@pytest.mark.shared
@pytest.mark.skipif(not UNREAD.is_dir(), reason="the recordings of others are not part of the project")
@pytest.mark.parametrize("name", REAL)
def test_a_real_file_is_read_with_the_calls_that_were_counted(name: str, tmp_path: Path) -> None:
    file, runs, calls = REAL[name]
    traces = query(tmp_path, MAPPINGS[name], UNREAD / file)
    assert len(traces) == runs
    assert [call["name"] for trace in traces for call in trace["tool_calls"]] == calls
