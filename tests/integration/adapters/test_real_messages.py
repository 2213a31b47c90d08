"""Sessions and messages that others recorded; the expected values were counted in the files by hand."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import Trace

SHARED = Path(__file__).resolve().parents[4] / "shared" / "traces"
pytestmark = [
    pytest.mark.shared,
]
UNKNOWN = {"usd": None, "source": "unknown"}
NO_TIME = {"total_ms": None, "source": "none"}


def read(path):
    (trace,) = TraceFiles(Workspace(None, str(SHARED))).read([path], "")
    assert isinstance(trace, Trace), trace
    return trace


def lines(path):
    return [orjson.loads(line) for line in (SHARED / path).read_bytes().splitlines()]


def document(path):
    return orjson.loads((SHARED / path).read_bytes())


def tokens(trace):
    return tuple(trace.usage[key] for key in ("input_tokens", "output_tokens", "total_tokens"))


def roles(trace):
    return [message["role"] for message in trace.messages]


def calls(trace):
    return [(call["name"], call["status"], call["exit_code"]) for call in trace.tool_calls]


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def test_claude_code_session():
    """Seven of eight lines are messages; the user waited from 10:00:00 to :20 and from 10:01:00 to :05."""
    trace = read("claude-code/simonw_sample_session.jsonl")
    assert (trace.source.format, trace.status, trace.trace_id) == ("claude-code", "ok", "test-session-id")
    assert roles(trace) == ["user", "assistant", "tool", "assistant", "tool", "user", "assistant"]
    assert trace.turn_count == 2
    assert calls(trace) == [("Write", "ok", None), ("Bash", "ok", 0)]
    assert trace.tool_calls[0]["arguments"]["file_path"] == "/project/hello.py"
    assert trace.tool_calls[1]["result"].startswith("[main abc1234]")
    assert trace.response["content"] == "Done! The hello function is ready."
    assert trace.latency == {"total_ms": 25_000.0, "source": "timestamps"}
    assert (tokens(trace), trace.cost) == ((None, None, None), UNKNOWN)
    assert codes(trace) == []


def test_claude_code_session_of_figures_alone():
    """Input counts the cache: 100 + 25 + 10, 200 + 50 + 20 and 300 + 0 + 40; sonnet wrote 175 of 250."""
    path = "claude-code/ccusage-session-alpha.chat.jsonl"
    usages = [line["message"]["usage"] for line in lines(path)]
    fresh = sum(usage["input_tokens"] for usage in usages)
    cached = sum(usage["cache_creation_input_tokens"] + usage["cache_read_input_tokens"] for usage in usages)
    trace = read(path)
    assert tokens(trace) == (fresh + cached, 250, fresh + cached + 250) == (745, 250, 995)
    assert (trace.usage["cache_read_input_tokens"], trace.usage["cache_write_input_tokens"]) == (70, 75)
    assert trace.cost["usd"] == pytest.approx(0.12 + 0.34 + 0.56)
    assert (trace.model, len(trace.llm_calls)) == ("claude-sonnet-4-20250514", 3)
    assert (trace.response["content"], trace.latency) == (None, NO_TIME)
    assert codes(trace) == ["content_not_captured", "missing_evidence", "missing_evidence"]


def test_codex_rollout_of_figures_alone():
    """The last total counts; it counts reasoning in addition to the output: 3,500 + 425 + 275 = 4,200."""
    path = "codex/ccusage-codex-session-alpha.jsonl"
    total = lines(path)[-1]["payload"]["info"]["total_token_usage"]
    trace = read(path)
    assert tokens(trace) == (3500, 425 + 275, total["total_tokens"])
    assert [call["usage"]["total_tokens"] for call in trace.llm_calls] == [1200, 3000]
    assert (trace.source.format, trace.model) == ("codex", "gpt-5.3-codex")
    assert (trace.messages, trace.cost, trace.latency) == ([], UNKNOWN, NO_TIME)
    assert codes(trace) == ["content_not_captured", "missing_evidence"]


def test_codex_events_cut_before_the_turn_was_completed():
    trace = read("otel-spans-strands-fixtures/codex_exec_json.json")
    assert (trace.source.format, trace.status) == ("codex", "incomplete")
    assert roles(trace) == ["assistant", "tool", "assistant"]
    assert calls(trace) == [("command_execution", "ok", 0)]
    assert trace.tool_calls[0]["arguments"]["command"].startswith("/bin/bash -lc 'cat /tmp")
    assert trace.response["content"].startswith("The skill specifies text extraction")
    assert codes(trace) == ["incomplete"]


def test_codex_items_cut_before_the_second_command_ended():
    trace = read("otel-spans-strands-fixtures/codex_session_rollout.json")
    assert (trace.source.format, trace.status) == ("codex", "ok")  # nothing says that it was stopped
    assert calls(trace) == [("exec_command", "ok", 0), ("exec_command", "missing", None)]
    assert trace.tool_calls[1]["arguments"]["cmd"] == "rg --files -g 'report.pdf' -g '*.pdf'"
    assert [call["step"] for call in trace.tool_calls] == [1, 2]
    assert trace.response["content"] is None
    assert codes(trace) == ["results_missing"]


def test_input_list_of_the_agents_sdk():
    name = "native_test_recipe_workflow_agent_handoffs_with_function_tools.input_list.json"
    recorded = document(f"openai-agents/{name}")
    trace = read(f"openai-agents/{name}")
    assert trace.source.format == "openai-responses"
    assert roles(trace) == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [call["name"] for call in trace.tool_calls] == [
        "search_recipes",
        "plan_and_apply_recipe_modifications",
    ]
    assert trace.tool_calls[0]["arguments"] == {"query": "carbonara"}
    assert [call["result"] for call in trace.tool_calls] == [
        item["output"] for item in recorded["input"] if item.get("type") == "function_call_output"
    ]
    assert trace.response["content"] == recorded["final_output"]
    assert trace.response["message_index"] == 5
    assert tokens(trace) == (1121, 229, 1350)
    assert (trace.status, trace.cost, trace.latency) == ("ok", UNKNOWN, NO_TIME)
    assert codes(trace) == []


def test_pydantic_ai_messages_with_a_tool():
    """43 + 70 tokens in, 14 + 8 out; from the prompt at .009697 s to the answer at .030964 s."""
    trace = read("pydantic-ai/test_openai_tool_span_instrumentation_v5.all_messages.json")
    assert (trace.source.format, trace.model, trace.provider) == (
        "pydantic-ai",
        "gpt-4o-mini-2024-07-18",
        "openai",
    )
    assert roles(trace) == ["user", "assistant", "tool", "assistant"]
    assert calls(trace) == [("get_weather", "ok", None)]
    assert trace.tool_calls[0]["arguments"] == {"city": "Paris"}
    assert trace.tool_calls[0]["result"] == "It's sunny in Paris."
    assert tokens(trace) == (113, 22, 135)
    assert trace.latency == {"total_ms": 21.267, "source": "timestamps"}
    assert trace.response["content"] == "The weather in Paris is sunny."
    assert (trace.finish_reason, trace.cost, codes(trace)) == ("stop", UNKNOWN, [])


def test_pydantic_ai_messages_that_end_with_an_output_tool():
    """Two answers of the history were never metered; of the two output calls the first was accepted."""
    trace = read("pydantic-ai/test_openai_agent_and_llm_spans_v2.all_messages.json")
    assert roles(trace) == ["user", "assistant", "user", "assistant", "user", "assistant", "tool", "tool"]
    assert calls(trace) == [("final_result", "ok", None), ("final_result", "ok", None)]
    assert trace.tool_calls[0]["step"] == trace.tool_calls[1]["step"]
    assert (tokens(trace), len(trace.llm_calls)) == ((75, 59, 134), 1)
    assert trace.response["content"] == '{"city":"Addis Ababa","country":"Ethiopia"}'
    assert trace.turn_count == 3
    assert trace.latency["source"] == "timestamps"
