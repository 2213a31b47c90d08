"""Real sessions of ../shared/unread: the calls that were counted by hand, and what a gate says of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from command import evalgate
from documents import ROOT

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from pathlib import Path

UNREAD = ROOT.parent / "shared" / "unread"
pytestmark = [
    pytest.mark.shared,
]


class Expected(NamedTuple):
    """What a file records; each call is its name, its arguments, its status and how its result begins."""

    format: str
    calls: list[tuple[str, Any, str, str | None]]
    model: str | None
    tokens: tuple[int, int] | None
    answer: str | None
    cost: float | None = None


FILES = {
    "as_gemini_jsonl_v040.jsonl": Expected(
        "gemini-cli",
        [
            (
                "run_shell_command",
                {"command": "ls -F", "description": "List files in the current directory."},
                "ok",
                "Output: AgentSessions/",
            )
        ],
        "gemini-3-flash-preview",
        (11_855 + 12_069, 81 + 147),
        "Hello! I listed the files.",
    ),
    "mor_opencode.jsonl": Expected(
        "opencode",
        [
            ("bash", {"cmd": "pwd"}, "ok", "/work/opencode-demo"),
            ("bash", {"cmd": "cat missing.txt"}, "error", "No such file or directory"),
        ],
        "glm-5.2",
        (20 + 7, 5),
        None,
        0.001,
    ),
    "agui_parallel.json": Expected(
        "ag-ui",
        [
            ("get_weather", {"city": "Paris"}, "unknown", "{"),
            ("get_current_time", {"timezone": "Asia/Tokyo"}, "unknown", "{"),
        ],
        None,
        (495, 488),
        "",
    ),
    "mono_test_ms_framework_single_agent.json": Expected(
        "span-list",
        [("book_flight", {"from_airport": "JFK", "to_airport": "SFO"}, "ok", "<coroutine")],
        "kshitiz-gpt",
        (145 + 200, 26 + 26),
        "Your flight from JFK to SFO",
    ),
    "mor_pi.jsonl": Expected(
        "pi",
        [("read", {"path": "Cargo.toml"}, "ok", "[package]")],
        "Arcee AI/Trinity Large Thinking",
        (11 + 3 + 2, 7),
        None,
        0.0033,
    ),
    "as_copilot_small.jsonl": Expected(
        "copilot",
        [
            ("shell", {"command": "ls"}, "ok", "a.txt\nb.txt"),
            ("[trimmed for fixture]", {}, "error", "[trimmed for fixture]"),
        ],
        "gpt-5-mini",
        None,
        "[trimmed for fixture]",
    ),
    "as_copilot_large.jsonl": Expected(
        "copilot",
        [
            ("bash", {"command": "printf 'line1\\nline2\\nline3\\n'"}, "ok", "line1\nline2"),
            ("bash", {"command": "echo hi"}, "missing", None),
        ],
        "gpt-5",
        None,
        None,
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_is_read_with_all_that_it_records(name: str) -> None:
    expected, trace = FILES[name], read(name)
    calls = [
        (call["name"], call["arguments"], call["status"], (call["result_text"] or "")[:30])
        for call in trace.agent_calls
    ]
    wanted = [(*call[:3], (call[3] or "")[:30]) for call in expected.calls]
    assert [(*call[:3], call[3][: len(want[3])]) for call, want in zip(calls, wanted, strict=True)] == wanted
    assert trace.source.format == expected.format
    assert trace.model == expected.model
    assert trace.cost["usd"] == expected.cost
    tokens = (trace.usage["input_tokens"], trace.usage["output_tokens"])
    assert tokens == (expected.tokens or (None, None))
    assert (trace.response["content"] or "").startswith(expected.answer or "")
    assert (trace.response["content"] is None) == (expected.answer is None)


@pytest.mark.parametrize("name", FILES)
def test_a_gate_forbids_each_called_tool_and_passes_their_order(name: str, tmp_path: Path) -> None:
    names = [call[0] for call in FILES[name].calls]
    checks = [{"type": "forbidden_tools", "tools": [each]} for each in dict.fromkeys(names)]
    scenarios = {f"no {check['tools'][0]}": [check] for check in checks}
    scenarios["order"] = [{"type": "tool_sequence", "sequence": names}]
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / name).write_bytes((UNREAD / name).read_bytes())
    verdicts = {}
    for scenario, assertions in scenarios.items():
        suite = {
            "version": 1,
            "suite": "s",
            "traces": ["t/*"],
            "scenarios": [{"id": "*", "assertions": [{**each, "required": True} for each in assertions]}],
        }
        (tmp_path / "s.yaml").write_text(json.dumps(suite))
        result = evalgate(tmp_path, ["s.yaml", "--no-baseline-zip"])
        (judged,) = result.results["suites"][0]["scenarios"]
        verdicts[scenario] = judged["verdict"]
    assert verdicts.pop("order") == "PASS"
    assert set(verdicts.values()) == {"HARD_FAIL"}


def test_spans_of_monocle_of_several_agents() -> None:
    trace = read("mono_test_crewai_multi_agent.json")
    assert trace.called == ["book_hotel", "book_flight"]
    assert trace.tool_calls[0]["arguments"]["hotel_name"] == "Marriott"
    assert (trace.model, trace.usage["total_tokens"], trace.gaps) == ("gpt-4.1", 381 + 444 + 419 + 526 + 462, {})


def test_a_conversation_of_openhands_that_was_cut_out_of_a_longer_one() -> None:
    trace = read("oh_events.jsonl")
    assert [(call["name"], call["status"]) for call in trace.tool_calls] == [("terminal", "error")] * 2
    assert [sorted(call["arguments"]) for call in trace.tool_calls] == [["command", "security_risk", "summary"]] * 2
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (107_458, 1_347)
    assert (trace.model, trace.cost["usd"]) == ("minimax-m2.7", None)
    assert "calls" in trace.gaps, "a result without its call"


def read(name: str) -> Trace:
    """The only trace of a file."""
    (trace,) = TraceFiles(Workspace(None, str(UNREAD))).read([name], "")
    assert isinstance(trace, Trace), trace.reason
    return trace
