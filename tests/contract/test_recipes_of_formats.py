"""The mappings of docs/custom-formats.md read what they say: written files, and real ones where they are present."""

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
PAGE = (ROOT / "docs" / "custom-formats.md").read_text(encoding="utf-8")
LOG, RECIPES = PAGE.split("## A log of events\n")[1].split("## Recipes\n")
FENCE = re.compile(r"^```yaml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MAPPINGS = {
    re.sub(r"\W+", "-", section.partition("\n")[0].lower()): found.group(1)
    for section in RECIPES.split("\n## ")[0].split("\n### ")
    if (found := FENCE.search(section))
} | {"a-log-of-events": re.findall(r"^format: custom.*?(?=^scenarios)", LOG, re.DOTALL | re.MULTILINE)[0]}
MOST_LINES = 15
BOTH = ["lookup_order", "lookup_stock"]
ENDED, UNKNOWN, MISSING = ["ok", "error"], ["unknown"] * 2, ["missing"] * 2
WRITTEN: dict[str, tuple[str, list[str]]] = {
    "amp.json": ("amp", ENDED),
    "azure.json": ("azure-ai-evaluation-rows", UNKNOWN),
    "cline.json": ("cline", ENDED),
    "copilot.jsonl": ("copilot-cli", ENDED),
    "droid.jsonl": ("droid", ENDED),
    "droid-stream.jsonl": ("droid", ENDED),
    "events.jsonl": ("a-log-of-events", ENDED),
    "gemini-cli.jsonl": ("gemini-cli", ENDED),
    "hermes.jsonl": ("hermes", UNKNOWN),
    "kimi.jsonl": ("kimi", ENDED),
    "kiro.jsonl": ("kiro", ENDED),
    "letta.json": ("letta", ENDED),
    "opencode.jsonl": ("opencode", ENDED),
    "pi.jsonl": ("pi", ENDED),
    "qwen-code.jsonl": ("qwen-code", ENDED),
    "vscode-chat.json": ("vs-code-chat-export", MISSING),
}
"""By a file in the same shape: the recipe, and how its two calls ended."""
WITHOUT_QUESTION = {"opencode.jsonl"}
AZURE = ["fetch_weather", "fetch_weather", "opening_hours", "send_email"]
"""The calls of the whole conversation, of which each row repeats the first ones."""
KIMI = [*["Bash"] * 3, "Agent", "Glob", "Glob", "Write", "ExitPlanMode", "Bash", "Glob", "Glob", "Bash", "Read",
        "Bash", "Bash"]  # fmt: skip
QWEN = ["mcp__moraine__search_sessions", "shell", "shell"]
REAL: dict[str, tuple[str, int, list[str]]] = {
    "azure_eval.jsonl": ("azure-ai-evaluation-rows", 5, [*AZURE[:1], *AZURE[:2], *AZURE, *AZURE[:3], *AZURE]),
    "letta_memgpt_agent_with_convo.af": ("letta", 1, []),
    "cline_session.json": ("cline", 1, ["editor", "read_files", "editor", "run_commands", *["read_files"] * 3,
                                        *["editor", "read_files"] * 2]),
    "cline_success.json": ("cline", 1, ["read_files"]),
    "as_droid_session_store_large.jsonl": ("droid", 1, ["Execute"]),
    "as_droid_stream_json_large.jsonl": ("droid", 1, ["Shell"]),
    "as_qwen_04.jsonl": ("qwen-code", 1, ["read_file"]),
    "mor_qwen-code.jsonl": ("qwen-code", 1, QWEN),
    "as_kimi_small.jsonl": ("kimi", 1, []),
    "as_kimi_assistant_tools.jsonl": ("kimi", 1, KIMI),
}  # fmt: skip
"""By a real file: the recipe, the runs in it, and the calls that were counted by hand, or by its own reader."""
UNFINISHED = {
    "mor_qwen-code.jsonl": "does not name: `future_record`",
    "as_kimi_small.jsonl": "nothing that the agent did is recorded",
    "letta_memgpt_agent_with_convo.af": "nothing that the agent did is recorded",
}
"""Real files whose calls are incomplete, and why."""
SAME: dict[str, tuple[str, int]] = {
    "mor_pi.jsonl": ("pi", 1),
    "as_copilot_large.jsonl": ("copilot-cli", 2),
    "as_gemini_jsonl_v040.jsonl": ("gemini-cli", 1),
}
"""By a real file that has a built-in reader: the recipe that reads the same calls, and their number."""


def query(folder: Path, mapping: str, source: Path) -> list[dict[str, Any]]:
    """What is read from a file by a mapping."""
    return read(folder, mapping, source)[0]


def read(folder: Path, mapping: str, source: Path) -> tuple[list[dict[str, Any]], str]:
    """What is read from a file by a mapping, and the warnings about it."""
    name = f"trace{source.suffix}"
    (folder / name).write_bytes(source.read_bytes())
    (folder / "suite.yaml").write_text(
        f"suite: s\ntraces: [{name}]\n{mapping}scenarios: [{{id: '*', assertions: [{{contains: x}}]}}]\n"
    )
    done = command("query", "--config", "suite.yaml", name, cwd=str(folder))
    assert done.exit_code == 0, done.err
    out = done.out
    return [json.loads(out)] if out.startswith("{\n") else [json.loads(line) for line in out.splitlines()], done.err


@pytest.mark.parametrize("name", MAPPINGS)
def test_a_mapping_is_short(name: str) -> None:
    assert len(MAPPINGS[name].splitlines()) <= MOST_LINES


@pytest.mark.parametrize("file", WRITTEN)
def test_a_file_of_this_shape_is_read_with_its_messages_calls_and_results(file: str, tmp_path: Path) -> None:
    name, statuses = WRITTEN[file]
    (trace,) = query(tmp_path, MAPPINGS[name], ROOT / "tests/recipes" / file)
    assert [call["name"] for call in trace["tool_calls"]] == BOTH
    assert [call["status"] for call in trace["tool_calls"]] == statuses
    assert [call["arguments"] for call in trace["tool_calls"]] == [{"id": 42}] * 2
    if "missing" not in statuses:
        first, second = trace["tool_calls"]
        assert "shipped" in str(first["result"])
        assert "no such item" in f"{second['result']} {second['error']}"
    assert trace["response"]["content"] == "It has shipped."
    asked = [each["user"] for each in trace["exchanges"]]
    assert asked == ([] if file in WITHOUT_QUESTION else ["Where is order 42?"])
    assert trace["evidence"]["calls"] == "complete"


COPILOT_ERROR = {"type": "session.error", "data": {"errorType": "query", "message": "boom"}}
COPILOT_ABORT = {"type": "abort", "data": {"reason": "user initiated"}}


@pytest.mark.parametrize(
    ("added", "status"),
    [([COPILOT_ERROR], "error"), ([COPILOT_ABORT], "incomplete"), ([{"type": "session.idle"}], "ok")],
)
def test_the_mapping_of_copilot_reads_how_the_session_ended(added: list[Any], status: str, tmp_path: Path) -> None:
    session = (ROOT / "tests/recipes/copilot.jsonl").read_text()
    for number, lines in enumerate(([*added], [*added, *map(json.loads, session.splitlines()[-2:])])):
        source = tmp_path / f"{number}.jsonl"
        source.write_text(session + "".join(f"{json.dumps(each)}\n" for each in lines))
        (trace,) = query(tmp_path, MAPPINGS["copilot-cli"], source)
        assert trace["metadata"]["status"] == ("ok" if number else status)


@pytest.mark.parametrize("file", WRITTEN)
def test_a_gate_forbids_each_called_tool_and_passes_their_order(file: str, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes((ROOT / "tests/recipes" / file).read_bytes())
    verdicts = []
    checks = [
        *({"type": "forbidden_tools", "tools": [each]} for each in BOTH),
        {"type": "tool_sequence", "sequence": BOTH},
    ]
    for check in checks:
        scenario = {"id": "*", "assertions": [{**check, "required": True}]}
        suite = (
            f"version: 1\nsuite: s\ntraces: [t.json]\n{MAPPINGS[WRITTEN[file][0]]}scenarios: [{json.dumps(scenario)}]\n"
        )
        (tmp_path / "s.yaml").write_text(suite)
        result = evalgate(tmp_path, ["s.yaml", "--no-baseline-zip"])
        verdicts.append(result.results["suites"][0]["scenarios"][0]["verdict"])
    assert verdicts == ["HARD_FAIL", "HARD_FAIL", "PASS"]


def test_calls_that_are_not_recorded_are_unknown_not_none(tmp_path: Path) -> None:
    (trace,) = query(tmp_path, MAPPINGS["who-when"], ROOT / "tests/recipes/who-and-when.json")
    assert trace["metadata"]["tool_call_count"] is None
    assert trace["response"]["content"] == "It has shipped."


@pytest.mark.shared
@pytest.mark.parametrize("file", REAL)
def test_a_real_file_is_read_with_the_calls_that_were_counted(file: str, tmp_path: Path) -> None:
    name, runs, calls = REAL[file]
    traces, warnings = read(tmp_path, MAPPINGS[name], UNREAD / file)
    assert len(traces) == runs
    assert [call["name"] for trace in traces for call in trace["tool_calls"]] == calls
    for trace in traces:
        assert (trace["evidence"]["calls"] == "complete") == (file not in UNFINISHED)
    assert UNFINISHED.get(file, "") in warnings


@pytest.mark.shared
@pytest.mark.parametrize("file", SAME)
def test_a_mapping_reads_the_calls_that_the_reader_of_the_format_reads(file: str, tmp_path: Path) -> None:
    name, count = SAME[file]
    (mapped,) = query(tmp_path, MAPPINGS[name], UNREAD / file)
    done = command("query", "tool_calls", str(UNREAD / file), cwd=str(tmp_path))
    facts = ("name", "arguments", "id", "status")
    known = [[call[key] for key in facts] for call in json.loads(done.out) if call["requestor"] == "assistant"]
    assert [[call[key] for key in facts] for call in mapped["tool_calls"]] == known
    assert len(known) == count
