"""Langfuse, LangSmith and the OpenAI Agents SDK: real exports, with facts found in the raw files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import Trace

SHARED = Path(__file__).resolve().parents[4] / "shared" / "traces"
pytestmark = [
    pytest.mark.shared,
]


def read(path):
    records = list(TraceFiles(Workspace(None, str(SHARED))).read([path], ""))
    assert all(isinstance(record, Trace) for record in records), records
    (trace,) = records
    return trace


def langfuse(name):
    return read(f"langfuse/{name}.trace.json")


def summary(trace):
    usage = trace.usage
    return {
        "messages": "".join(message["role"][0] for message in trace.messages),
        "calls": [(call["name"], call["arguments"], call["status"]) for call in trace.tool_calls],
        "models": len(trace.llm_calls),
        "tokens": (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]),
        "cost": trace.cost["usd"] and round(trace.cost["usd"], 9),
        "ms": trace.latency["total_ms"],
        "answer": (trace.response["content"] or "")[:24],
        "status": trace.status,
        "warnings": sorted(warning["code"] for warning in trace.warnings),
    }


def exported(name):
    """The raw export: its trace and its observations by the first letters of their ids."""
    document = json.loads((SHARED / "langfuse" / f"{name}.trace.json").read_bytes())
    return document["trace"], {row["id"][:6]: row for row in document["observations"]}


def oracle(name, start):
    """How Langfuse itself reads the input and output of one observation, as lines; None where it doesn't."""
    readings = json.loads((SHARED / "langfuse" / f"{name}.chatml.json").read_bytes())
    (found,) = [reading for row_id, reading in readings.items() if row_id.startswith(start)]
    sides = [found[side] for side in ("input", "output") if side in found]
    if not any(side["success"] for side in sides):
        return None
    return [line for side in sides if side["success"] for message in side["data"] for line in lines(message)]


def lines(message):
    """A message of Langfuse as text: its content, its tool calls, its tool results."""
    role = {"model": "assistant", "developer": "system"}.get(message.get("role"), message.get("role"))
    content = message.get("content")
    if role == "tool" or message.get("tool_call_id"):
        return [f"result {shown(content)}"]
    found = [f"{role}: {shown(content)}"] if content else []
    for call in message.get("tool_calls") or []:
        arguments = json.dumps(json.loads(call["arguments"]), sort_keys=True)
        found.append(f"call {call['name']} {arguments} {call['id'] or '-'}")
    return found


def our_lines(trace):
    found = []
    for message in trace.messages:
        if message["role"] == "tool":
            found.append(f"result {shown(message['content'])}")
            continue
        found += [f"{message['role']}: {shown(message['content'])}"] if message["content"] else []
        for call in message["tool_calls"]:
            arguments = json.dumps(call["arguments"], sort_keys=True)
            found.append(f"call {call['name']} {arguments} {call['id'] or '-'}")
    return found


def shown(content):
    text = content if isinstance(content, str) else json.dumps(content)
    return f"({len(text)}) {text[:30]!r}"


def difference(own, theirs):
    """The lines of one side only, in order: `+` EvalGate, `-` Langfuse."""
    from difflib import ndiff

    return [line for line in ndiff(theirs or [], own) if line[0] in "+-"]


NAMES = (
    *("agno-2025-06-11", "beeai-2025-08-01", "crewai-2025-07-11", "google-adk-2025-08-28", "koog-2025-08-26"),
    *("langgraph-js-2025-10-30", "llamaindex-2025-06-05", "microsoft-agent-2025-12-17"),
    *("openai-agents-2025-09-30", "vercel-aisdk-2025-11-17", "vertex-ai-2025-08-01"),
)
LANGFUSE = {
    # The provider's own answers are in the outer generations: 163 + 20 and 663 + 225 tokens, as the inner
    # ones say too. Langfuse counted the outer ones again: 777 and 1,991. Costs were provided by the inner ones.
    "agno-2025-06-11": ("suata", 2, (826, 245, 1071), 3.645e-05 + 0.000234449999, "To find out what's curre"),
    # No event records tokens: Langfuse counted those in the export, of the input alone.
    "beeai-2025-08-01": ("suaaa", 3, (None, None, None), None, "Barcelona is a vibrant c"),
    "crewai-2025-07-11": ("suaa", 1, (190, 164, 354), 0.0001269, "```html\n<!DOCTYPE html>\n"),
    "google-adk-2025-08-28": ("suata", 2, (28 + 39, 3 + 6, 31 + 45), 4e-06 + 6.3e-06, "Hello Langfuse 👋!\n"),
    "koog-2025-08-26": ("suatata", 2, (None, None, None), None, "Hello my darling Bob! An"),
    # 64 tokens of reasoning are counted beside the 35 of the second answer: 179 + 35 + 64 = 278, its total.
    "langgraph-js-2025-10-30": (
        *("uata", 2, (142 + 179, 24 + 35 + 64, 166 + 278)),
        *(8.35e-05 + 0.00024275, "It's always sunny in San"),
    ),
    "llamaindex-2025-06-05": ("ua", 1, (13, 81, 94), 0.000842499999, "Langfuse is a tool desig"),
    # The agent's row says 224, which Langfuse counted.
    "microsoft-agent-2025-12-17": (
        *("suata", 2, (77 + 216, 86 + 20, 163 + 236)),
        *(0.00019125 + 9.4e-05, "Current conditions in To"),
    ),
    "openai-agents-2025-09-30": (
        "suata",
        2,
        (55 + 85, 15 + 29, 70 + 114),
        0.00023 + 0.000402,
        "The weather in Tokyo is ",
    ),
    # The outer generation says 57, which Langfuse counted; the run ends with the tool.
    "vercel-aisdk-2025-11-17": ("ua", 1, (62, 85, 147), 0.000927499999, ""),
    # 5 + 845 are 1,173 short of the total: thoughts, which count as output. Langfuse's price left them out.
    "vertex-ai-2025-08-01": ("ua", 1, (5, 2018, 2023), None, "**Langfuse** is an **ope"),
}


@pytest.mark.parametrize("name", NAMES)
def test_langfuse_exports_match_the_raw_files(name):
    trace = langfuse(name)
    roles, models, tokens, cost, answer = LANGFUSE[name]
    found = summary(trace)
    assert (found["messages"], found["models"], found["answer"]) == (roles, models, answer)
    assert found["tokens"] == tokens
    assert trace.cost["usd"] == (cost and pytest.approx(cost))
    assert (trace.source.format, trace.status) == ("langfuse", "ok")
    assert found["warnings"] == (["estimated_usage"] if tokens[2] is None else [])


@pytest.mark.parametrize("name", NAMES)
def test_langfuse_latency_and_scores_are_those_of_the_trace(name):
    trace, (raw, _) = langfuse(name), exported(name)
    assert trace.latency["total_ms"] == pytest.approx(raw["latency"] * 1000)
    assert [(e["name"], e["score_value"]) for e in trace.evaluations] == [
        (score["name"], score["value"]) for score in raw["scores"]
    ]
    assert trace.trace_id == raw["id"]
    assert trace.tags == raw["tags"]
    assert raw["sessionId"] in (None, trace.conversation_id)


TOOLS = {
    "agno-2025-06-11": [("duckduckgo_search", {"query": "currently trending on Twitter"}, "6581e1")],
    "beeai-2025-08-01": [
        ("Wikipedia", {"query": "Tourism in Barcelona"}, "fce707"),
        ("OpenMeteoTool", {"location_name": "Barcelona", "country": "Spain"}, "96cb19"),
    ],
    "google-adk-2025-08-28": [("say_hello", {}, None)],
    "koog-2025-08-26": [("HelloTool", {"name": "Bob"}, "66f269"), ("ByeTool", {"name": "Bob"}, "331884")],
    "langgraph-js-2025-10-30": [("get_weather", {"city": "San Francisco"}, None)],
    "microsoft-agent-2025-12-17": [("get_weather", {"location": "Tokyo, Japan"}, None)],
    "openai-agents-2025-09-30": [("get_weather", {"city": "Tokyo"}, "5b99c3")],
    "vercel-aisdk-2025-11-17": [("getWeather", {"location": "San Francisco"}, None)],
}


@pytest.mark.parametrize("name", NAMES)
def test_langfuse_calls_of_tools_are_counted_once_with_their_results(name):
    trace, (_, rows) = langfuse(name), exported(name)
    expected = TOOLS.get(name, [])
    assert [(call["name"], call["arguments"]) for call in trace.tool_calls] == [one[:2] for one in expected]
    for call, (_, _, start) in zip(trace.tool_calls, expected, strict=True):
        assert call["status"] == "ok"
        assert call["result_text"]
        if start is not None:
            assert call["result_text"] == rows[start]["output"]


# Where the conversation comes from, and how Langfuse reads that observation differently: `+` EvalGate, `-` Langfuse.
ORACLE = {
    # It can't read messages that were turned into Python text one by one; its list holds tools instead.
    "agno-2025-06-11": (
        "b38a82",
        [
            "+ system: (89) '<additional_information>\\n- Use'",
            "+ user: (38) 'What is currently trending on '",
            '+ call duckduckgo_search {"query": "currently trending on Twitter"} call_VybxG748CQId8Xxo6wb2pWy1',
            '+ result (2008) \'[\\n  {\\n    "title": "Twitter. I\'',
        ],
    ),
    # It keeps lists of text parts as JSON; the answer is in another observation, of the agent.
    "beeai-2025-08-01": (
        "4c5c5a",
        [
            '- user: (268) \'[{"type": "text", "text": "Mes\'',
            '- assistant: (3730) \'[{"type": "text", "text": "Tho\'',
            '- assistant: (1183) \'[{"type": "text", "text": "Tho\'',
            '+ user: (236) "Message: I\'m planning a trip t"',
            "+ assistant: (3601) 'Thought: I will first research'",
            "+ assistant: (1031) 'Thought: I found information a'",
            "+ assistant: (1099) 'Barcelona is a vibrant city kn'",
        ],
    ),
    # It does not read bare text as an answer; CrewAI's own result is an excerpt of that answer.
    "crewai-2025-07-11": (
        "231c43",
        [
            "+ assistant: (630) 'I now can give a great answer '",
            "+ assistant: (583) '```html\\n<!DOCTYPE html>\\n<html '",
        ],
    ),
    # A function's response is a tool result and not a user message.
    "google-adk-2025-08-28": (
        "bded67",
        [
            '- user: (31) \'{"greeting":"Hello Langfuse 👋"\'',
            '+ result (31) \'{"greeting":"Hello Langfuse 👋"\'',
        ],
    ),
    # The framework writes calls as the text of tool messages.
    "koog-2025-08-26": (
        "e44e72",
        [
            '- result (124) \'[{"function":{"name":"HelloToo\'',
            '+ call HelloTool {"name": "Bob"} call_n2HaWg9KFP0BZDqXv6G4b3nJ',
            '- result (122) \'[{"function":{"name":"ByeTool"\'',
            '+ call ByeTool {"name": "Bob"} call_dOeEHJDI0liHrCdFWTpkTsuO',
        ],
    ),
    # The tool's name is in the place of the role.
    "langgraph-js-2025-10-30": (
        "0856a1",
        [
            '- get_weather: (35) "It\'s always sunny in San Franc"',
            '+ result (35) "It\'s always sunny in San Franc"',
        ],
    ),
    # It reads neither `args` nor bare text.
    "llamaindex-2025-06-05": (
        "7ca8b2",
        ["+ user: (17) 'What is Langfuse?'", "+ assistant: (475) 'Langfuse is a tool designed to'"],
    ),
    "microsoft-agent-2025-12-17": ("4cd6ca", []),
    # The instructions are in the answer, next to the messages.
    "openai-agents-2025-09-30": ("90d947", ["+ system: (24) 'You are a helpful agent.'"]),
    "vercel-aisdk-2025-11-17": ("91a17a", []),
    "vertex-ai-2025-08-01": ("125abc", []),
}


@pytest.mark.parametrize("name", NAMES)
def test_langfuse_messages_are_those_langfuse_reads_itself_or_the_difference_is_explained(name):
    start, explained = ORACLE[name]
    assert difference(our_lines(langfuse(name)), oracle(name, start)) == explained


LANGSMITH = {
    "langsmith_js_wrap_openai_default.json": ((9, 9, 18), 1115, "gpt-4o-mini-2024-07-18"),
    "langsmith_py_wrap_openai_reasoning.json": ((43, 2497, 2540), 15138.093, "o1-mini-2024-09-12"),
    "langsmith_py_wrap_openai_stream.json": ((9, 9, 18), 1328.441, "gpt-4o-mini-2024-07-18"),
    "langsmith_py_wrap_openai_stream_no_usage.json": ((None, None, None), 927.004, "gpt-4o-mini-2024-07-18"),
}


@pytest.mark.parametrize("name", LANGSMITH)
def test_langsmith_batches_are_one_call_of_a_model(name):
    trace, (tokens, latency, model) = read(f"langsmith/{name}"), LANGSMITH[name]
    raw = json.loads((SHARED / "langsmith" / name).read_bytes())
    found = summary(trace)
    assert (found["messages"], found["models"], found["tokens"]) == ("ua", 1, tokens)
    assert found["ms"] == pytest.approx(latency, abs=0.002)
    assert (trace.model, trace.provider, trace.status) == (model, "openai", "ok")
    assert trace.messages[0]["content"] == raw["post"][0]["inputs"]["messages"][0]["content"]
    assert trace.response["content"] == raw["patch"][0]["outputs"]["choices"][0]["message"]["content"]
    assert trace.response["finish_reason"] == "stop"
    assert trace.trace_id == raw["post"][0]["id"]
    assert (trace.cost["usd"], trace.warnings) == (None, [])


def test_langsmith_records_reasoning_and_cached_tokens():
    usage = read("langsmith/langsmith_py_wrap_openai_reasoning.json").usage
    outputs = json.loads((SHARED / "langsmith/langsmith_py_wrap_openai_reasoning.json").read_bytes())["patch"][0]
    details = outputs["outputs"]["usage_metadata"]
    assert usage["reasoning_output_tokens"] == details["output_token_details"]["reasoning"]
    assert usage["cache_read_input_tokens"] == details["input_token_details"]["cache_read"]


SESSIONS = {
    # 2 + 0 + 7,126 and 2 + 25 + 7,174 tokens in.
    "anthropic_managed_builtin_tools.jsonl": (
        *("uata", [("bash", "ok")], (14329, 80, 14409), 5537.366),
        *("The current date and tim", "claude-sonnet-5"),
    ),
    "anthropic_managed_custom_tools.jsonl": (
        *("uata", [("get_weather", "ok")], (14476, 80, 14556), 8998.346),
        *("It's currently **23°C an", "claude-sonnet-5"),
    ),
    # The first tool was refused by its user.
    "anthropic_managed_mcp_tools_reject.jsonl": (
        *("uatata", [("web_search_exa", "error"), ("web_fetch", "ok")], (33803, 314, 34117), 10442.995),
        *("The **langchain-ai/langs", "claude-opus-4-8"),
    ),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_sessions_of_managed_agents_are_conversations(name):
    trace = read(f"langsmith/{name}")
    roles, calls, tokens, latency, answer, model = SESSIONS[name]
    found = summary(trace)
    assert (found["messages"], found["tokens"], found["ms"]) == (roles, tokens, latency)
    assert [(call["name"], call["status"]) for call in trace.tool_calls] == calls
    assert (found["answer"], trace.model, trace.status) == (answer, model, "ok")
    assert trace.source.format == "claude-managed-agents"
    raw = (SHARED / "langsmith" / name).read_text()
    events = [json.loads(line)[1] for line in raw.splitlines() if line]
    metered = [e["model_usage"] for e in events if isinstance(e, dict) and "model_usage" in e]
    assert tokens[:2] == (
        sum(sum(count for key, count in usage.items() if "input" in key) for usage in metered),
        sum(usage["output_tokens"] for usage in metered),
    )
    assert len(metered) == found["models"]


AGENTS = {
    "native_test_recipe_workflow_agent_handoffs_with_function_tools": (
        *(3, (1121, 229, 1350), 91.256),
        ["search_recipes", "plan_and_apply_recipe_modifications"],
    ),
    "native_test_router_analytics_complete_workflow": (
        *(5, (1070, 280, 1350), 85.881),
        ["analyze_data", "process_results", "generate_report"],
    ),
}


@pytest.mark.parametrize("name", AGENTS)
def test_spans_of_the_agents_sdk_are_counted_once(name):
    trace = read(f"openai-agents/{name}.spans.jsonl")
    models, tokens, latency, tools = AGENTS[name]
    found = summary(trace)
    assert (found["models"], found["tokens"], found["ms"]) == (models, tokens, latency)
    raw = (SHARED / "openai-agents" / f"{name}.spans.jsonl").read_text()
    spans = [json.loads(line) for line in raw.splitlines()]
    functions = [span["span_data"] for span in spans if span.get("span_data", {}).get("type") == "function"]
    assert [call["name"] for call in trace.tool_calls] == tools == [data["name"] for data in functions]
    assert [call["arguments"] for call in trace.tool_calls] == [json.loads(data["input"]) for data in functions]
    assert [call["result_text"] for call in trace.tool_calls] == [data["output"] for data in functions]
    assert "content_not_captured" in found["warnings"]
    assert trace.source.format == "openai-agents"


def test_saved_states_of_the_agents_sdk_are_unfinished_runs():
    waiting, begun = read("openai-agents/v1_13_pending_tool_approval.json"), read("openai-agents/v1_17.json")
    assert [m["content"] for m in waiting.messages] == ["historical input", None]
    (call,) = waiting.tool_calls
    assert (call["name"], call["arguments"], call["status"]) == (
        "historical_approval",
        {"account_id": "account-1"},
        "missing",
    )
    assert [m["content"] for m in begun.messages] == ["historical input"]
    assert waiting.status == begun.status == "incomplete"
    assert waiting.usage["total_tokens"] is begun.usage["total_tokens"] is None
