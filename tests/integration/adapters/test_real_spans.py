"""Spans of other projects: what is read of each file, each figure explained by the spans it comes from.

A row: messages; tool calls in order (`!` marks one without a result or with an error, `-` one without
arguments); tokens as the sum of the requests that were made, None where they were not counted, or in and out as an
agent's span says; cost; milliseconds of the outermost agent; the answer's first words; warnings.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import DamagedTrace, Trace

SHARED = Path(__file__).resolve().parents[4] / "shared" / "traces"
pytestmark = [
    pytest.mark.shared,
]
UNREAD = "missing_evidence"
REPLAY, MISSING, SILENT = "suspicious_latency", "results_missing", "content_not_captured"
WEATHER = "get_current_weather"


class Row(NamedTuple):
    messages: int
    calls: str
    tokens: list[int] | tuple[int, int] | None
    ms: float | None
    answer: str | None = ""  # how it begins, None if it is unknown
    warnings: tuple[str, ...] = ()
    cost: float | None = None


STRANDS = "otel-spans-strands-fixtures/"
REPLAYED = "otlp-json-replayed/"
OPENAI = f"{REPLAYED}contrib-openai-v2/test_chat_completions__test_chat_completion_"
SDK = f"{REPLAYED}openinference-claude-agent-sdk/test_instrumentor__test_"
ADK = f"{REPLAYED}openinference-google-adk/test_instrumentor__test_google_adk_instrumentor"
PYDANTIC = f"{REPLAYED}openinference-pydantic-ai/test_instrumentor__test_openai_"
SMOL = f"{REPLAYED}openinference-smolagents/test_instrumentor__"
ANTHROPIC = f"{REPLAYED}openllmetry-anthropic/"
LANGCHAIN = f"{REPLAYED}openllmetry-langchain/"
AGENTS = f"{REPLAYED}openllmetry-openai-agents/test_openai_agents__test_"
CHAT = f"{REPLAYED}openllmetry-openai/"
RECIPES = "transfer_to_recipe_editor_agent search_recipes plan_and_apply_recipe_modifications"
ENCODED = [
    Row(9, RECIPES, [131, 327, 714, 1292], 150.911584, "I've modified the Spaghetti Carbonara"),
    Row(
        7,
        "search_recipes plan_and_apply_recipe_modifications",
        [294, 690, 1241],
        123.239522,
        "Here's a modified",
    ),
]
SUMMARIES = "Here are concise summaries of the three articles"

ROWS: dict[str, list[Row]] = {
    # call_llm > generate_content > openai.chat carry the same 2,269 and 2,508: 14,331 where all are added
    "tempo/tempo_export_with_batches.json": [
        Row(5, "helm_list_releases", [2269, 2508], 4661.153, "There are two Helm releases currently deployed")
    ],
    # call_llm > openai.chat: 3,730 where both are added
    "jaeger/helm_2.json": [Row(3, "", [1865], 1976.84, "To help you effectively, could you please specify")],
    # the wrapper's own steps are not recorded: its usage is the request's
    "vercel-ai-sdk-spans/ai-generateText.json": [
        Row(2, "", [34], 1781.541, "Lines of code align"),
        Row(5, "", [59], 3034.733667, "3 + 3 equals 6."),
    ],
    # call_llm > generate_content: 157 + 51 and 222 + 33, thoughts (32 and 20) included
    f"{STRANDS}adk_live_spans.json": [Row(5, "calculator", [208, 255], 3442.801, "15 multiplied by 37 is 555.")],
    # no request has a span: 4 + 767 are on the agent's, and 32,308 cached tokens, more than the input they are beside
    f"{STRANDS}claude_adot_spans.json": [
        Row(4, "Agent Agent Bash Bash", (32312, 767), 31495.130082, "Here are your results", (), 0.0712653)
    ],
    f"{STRANDS}claude_live_spans.json": [
        Row(
            6,
            "Agent Agent Bash Bash Agent Bash",
            (132, 850),
            28861.19,
            "New York is 89°F and Seattle is 72°F",
        )
    ],
    # each of three requests repeats the first input only; its tool calls are written there as Python text
    f"{STRANDS}openai_agents_genai_adot_spans.json": [
        Row(
            4,
            "transfer_to_math_specialist! transfer_to_research_specialist! multiply_numbers",
            [195, 276, 323],
            4084.550841,
            "The product of 42 and 7 is 294.",
            (MISSING,),
        )
    ],
    # coordinator 248 + 299 + 438, research specialist 158 + 192, math specialist 207 + 237 + 344
    f"{STRANDS}openai_agents_genai_live_spans.json": [
        Row(
            7,
            "ask_research_specialist lookup_stock_price ask_math_specialist multiply_numbers multiply_numbers",
            [248, 158, 192, 299, 207, 237, 344, 438],
            18631.013,
            "The current stock price of Amazon (AMZN) is $240.98.",
        )
    ],
    f"{STRANDS}openai_agents_openinference_live_spans.json": [
        Row(
            5,
            "ask_math_specialist multiply_numbers divide_numbers divide_numbers",
            [239, 243, 261, 337, 342],
            6369.304,
            "The result of \\( 42 \\) multiplied by",
        )
    ],
    f"{STRANDS}openinference_adot_spans.json": [
        Row(3, "get_weather", None, 5000.0, "The weather in Alaska is -5C and snowy."),
        Row(2, "", None, 2000.0, "Why did the chicken cross the road?"),
    ],
    # the agent's span says 192, its requests 80 + 25 and 120 + 35
    f"{STRANDS}otel_genai_convention_spans.json": [
        Row(
            5,
            "get_weather get_weather!",
            [105, 155],
            6000.0,
            "The weather in Paris is rainy",
            ("total_mismatch",),
        )
    ],
    # 0.0028149 + 0.0026004
    f"{STRANDS}pydantic_ai_live_spans.json": [
        Row(5, "get_weather", [641, 688], 4518.945676, "The current weather in Seattle is 62°F", (), 0.0054153)
    ],
    # the agent's span restates 6,419
    f"{STRANDS}smolagents_live_spans.json": [
        Row(
            6,
            "python_interpreter- web_search final_answer",
            [2418, 4001],
            4071.29398,
            "The population of Tokyo is approximately 14 million",
        )
    ],
    # one trace id in three files of three tests: two of the requests have a span, one is logged only
    f"{OPENAI}multiple_choices_streaming_content_mode1.logs.jsonl": [
        Row(
            3,
            f"{WEATHER}! {WEATHER}!",
            [130, 126],
            50.325466,
            "",
            ("tokens_incomplete", REPLAY, "incomplete", MISSING),  # two requests below a span that is not recorded
        )
    ],
    f"{OPENAI}tool_calls_with_content_content_mode0.traces.jsonl": [
        Row(3, f"{WEATHER}! {WEATHER}!", [126], 2.458843, "", (REPLAY, MISSING)),
        Row(
            6,
            f"{WEATHER} {WEATHER}",
            [124],
            2.666661,
            "Today, the weather in Seattle is 50 degrees",
            (REPLAY,),
        ),
    ],
    # the messages are in log records, the tokens in spans of another file
    f"{OPENAI}tool_calls_with_content_content_mode1.logs.jsonl": [
        Row(3, f"{WEATHER}! {WEATHER}!", [126], 2.89593, "", (REPLAY, MISSING)),
        Row(
            6,
            f"{WEATHER} {WEATHER}",
            [124],
            3.282635,
            "Today, the weather in Seattle is 50 degrees",
            (REPLAY,),
        ),
    ],
    f"{SDK}client_real_agent_span.traces.jsonl": [Row(2, "", (17027, 4), 0.278268, "ok", (), 0.008627)],
    f"{SDK}query_real_agent_span.traces.jsonl": [Row(2, "", (17027, 4), 0.66099, "ok", (), 0.008627)],
    f"{SDK}client_tool_hooks_create_tool_spans.traces.jsonl": [
        Row(3, "Bash", (34361, 186), 1.217362, "    2440 /Users/REDACTED/openinference", (), 0.02298125)
    ],
    f"{ADK}.traces.jsonl": [Row(5, "get_weather", [113, 165], 185.366934, "OK. The weather in New York is sunny")],
    # the sub-agent's requests lie within its parent's: 459 and 512 are requests of their own
    f"{ADK}_multi_agent.traces.jsonl": [
        Row(
            4,
            "transfer_to_agent get_weather",
            [334, 459, 512],
            203.587559,
            "OK. The weather in New York is sunny",
        )
    ],
    f"{ADK}_multi_tool_call.traces.jsonl": [
        Row(7, "get_weather get_weather", [228, 209, 293], 200.195308, "The weather in New York is sunny")
    ],
    # a third span, "(merged tools)", is not a tool call
    f"{ADK}_parallel_tool_calls.traces.jsonl": [
        Row(6, "get_weather get_weather", None, 4.02027, "Both cities are sunny.")
    ],
    f"{ADK}_reasoning_content.traces.jsonl": [
        Row(3, "", [1259], 64.558983, "Here's a step-by-step reasoning", (REPLAY,))
    ],
    f"{PYDANTIC}agent_and_llm_spans_v2.traces.jsonl": [
        Row(5, "final_result", [95], 6.338691, '{"city":"Chicago","country":"USA"}', (), 0.0003725),
        Row(9, "final_result final_result", [134], 5.081232, '{"city":"Addis Ababa"', (REPLAY,), 0.0007775),
    ],
    f"{PYDANTIC}agent_plain_text_output_v2.traces.jsonl": [
        Row(2, "", [19], 42.108115, "Hello! How can I assist you today?", (), 0.000115)
    ],
    # the agent's span restates 113 + 22
    f"{PYDANTIC}tool_span_instrumentation_v5.traces.jsonl": [
        Row(4, "get_weather", [57, 78], 9.013066, "The weather in Paris is sunny.", (), 0.00003015)
    ],
    f"{SMOL}TestModels__test_openai_server_model_with_tool_has_expected_attributes.traces.jsonl": [
        Row(2, "get_weather!", [76], 21.668114, "", (MISSING,))
    ],
    # tokens of 0 on agents with a fake model are unknown
    f"{SMOL}TestRuns__test_multiagents.traces.jsonl": [
        Row(2, "final_answer final_answer", None, 39.387225, "Final report."),
        Row(2, "final_answer final_answer", None, 31.052212, "Final report."),
    ],
    f"{SMOL}TestRuns__test_streaming_and_non_streaming_code_agent_runs.traces.jsonl": [
        Row(2, "final_answer", None, 60.627824, "Test result from CodeAgent"),
        Row(2, "final_answer", None, 16.58543, "ToolCall(name='python_interpreter'", (UNREAD,)),
    ],
    f"{ANTHROPIC}test_messages__test_anthropic_tools_history_legacy.traces.jsonl": [
        Row(4, "get_weather get_time!", [626], 3.804616, None, (REPLAY, MISSING))
    ],
    f"{ANTHROPIC}test_messages__test_anthropic_tools_streaming_legacy.traces.jsonl": [
        Row(2, "get_weather! get_time!", [664], 3.491571, None, (REPLAY, MISSING))
    ],
    f"{ANTHROPIC}test_prompt_caching__test_anthropic_prompt_caching_async_stream_legacy.traces.jsonl": [
        Row(3, "", [1461], 4.115865, SUMMARIES, (REPLAY,)),
        Row(3, "", [1428], 3.156224, SUMMARIES, (REPLAY,)),
    ],
    f"{ANTHROPIC}test_prompt_caching__test_anthropic_prompt_caching_legacy.traces.jsonl": [
        Row(3, "", [1354], 3.138913, SUMMARIES, (REPLAY,)),
        Row(3, "", [1369], 2.271922, SUMMARIES, (REPLAY,)),
    ],
    f"{ANTHROPIC}test_prompt_caching__test_anthropic_prompt_caching_stream_legacy.traces.jsonl": [
        Row(3, "", [1371], 3.196676, SUMMARIES, (REPLAY,)),
        Row(3, "", [1391], 2.826436, SUMMARIES, (REPLAY,)),
    ],
    # the streamed answers record no tokens
    f"{LANGCHAIN}test_agents__test_agents.traces.jsonl": [
        Row(5, "tavily_search_results_json", None, 61.24456, "OpenLLMetry is an open-source project")
    ],
    f"{LANGCHAIN}test_agents__test_agents_with_events_with_content.logs.jsonl": [
        Row(5, "tavily_search_results_json", None, None, "OpenLLMetry is an open source project")
    ],
    f"{LANGCHAIN}test_lcel__test_simple_lcel_with_events_with_content.traces.jsonl": [
        Row(1, "Joke!", [109], 6.357162, "", (REPLAY, MISSING))
    ],
    f"{LANGCHAIN}test_lcel__test_simple_lcel_with_events_with_no_content.logs.jsonl": [
        Row(1, "Joke-!", [109], 5.330173, "", (REPLAY, MISSING))
    ],
    f"{AGENTS}recipe_workflow_agent_handoffs_with_function_tools.traces.jsonl": [
        Row(
            7,
            "search_recipes plan_and_apply_recipe_modifications",
            [205, 418, 727],
            49.551942,
            "Here's the modified Vegetarian Carbonara recipe",
            (REPLAY,),
        )
    ],
    f"{AGENTS}tool_call_and_result_attributes.traces.jsonl": [
        Row(5, "get_city_info", [89, 157], 27.298649, "London is the capital city of the United Kingdom")
    ],
    f"{CHAT}test_chat__test_chat_reasoning.traces.jsonl": [
        Row(2, "", [239], 6.928932, "3\n\nThere are three", (REPLAY,))
    ],
    f"{CHAT}test_chat__test_chat_tool_calls_with_events_with_content.logs.jsonl": [
        Row(3, WEATHER, [52], 4.37459, "The weather in San Francisco is 70 degrees")
    ],
    f"{CHAT}test_functions__test_open_ai_function_calls_tools_parallel.traces.jsonl": [
        Row(2, f"{WEATHER}! {WEATHER}!", [116], 3.224942, "", (REPLAY, MISSING))
    ],
    f"{CHAT}test_functions__test_open_ai_function_calls_tools_streaming_parallel.traces.jsonl": [
        Row(2, f"{WEATHER}! {WEATHER}!", None, 4.870055, "", (MISSING,))
    ],
    f"{CHAT}test_prompt_caching__test_openai_prompt_caching.traces.jsonl": [
        Row(3, "", [1464], 3.299652, "**OpenLLMetry Launches", (REPLAY,)),
        Row(3, "", [1502], 2.215562, "1. **Open-Source Library OpenLLMetry", (REPLAY,)),
    ],
    f"{CHAT}test_responses__test_responses_tool_calls.traces.jsonl": [
        Row(2, "get_weather! get_weather!", [102], 3.384974, "", (REPLAY, MISSING))
    ],
    "otlp-encodings/lines.jsonl": ENCODED,
}
REFUSED = {
    f"{LANGCHAIN}test_langgraph__test_context_detachment_error_handling.traces.jsonl",  # no model or tool calls
    f"{ANTHROPIC}test_messages__test_anthropic_tools_with_events_with_content.logs.jsonl",
    "otlp-json-spec-examples/logs.json",
}
PATTERNS = [
    *(
        "tempo/*.json",
        "jaeger/*.json",
        "vercel-ai-sdk-spans/*.json",
        f"{STRANDS}*spans.json",
        f"{REPLAYED}**/*.jsonl",
    ),
    *("otlp-encodings/*", "otlp-json-spec-examples/*.json"),
]


@pytest.fixture(scope="module")
def records():
    found: dict[str, list[Trace | DamagedTrace]] = {}
    for pattern in PATTERNS:
        for record in TraceFiles(Workspace(None, str(SHARED))).read([pattern], ""):
            found.setdefault(record.source.path, []).append(record)
    return found


def named(calls):
    marks = {True: "-", False: ""}
    return " ".join(
        call["name"] + marks[call["arguments"] is None] + ("" if call["status"] in ("ok", "unknown") else "!")
        for call in calls
    )


@pytest.mark.parametrize("path", ROWS, ids=lambda path: path.rpartition("/")[2])
def test_what_is_read_of_a_file(records, path):
    rows = [
        Row(
            len(trace.messages),
            named(trace.tool_calls),
            _tokens(trace),
            trace.latency["total_ms"],
            _begin(trace.response["content"], expected.answer),
            tuple(warning["code"] for warning in trace.warnings),
            None if trace.cost["usd"] is None else round(trace.cost["usd"], 9),
        )
        for trace, expected in zip(records[path], ROWS[path], strict=True)
    ]
    assert rows == ROWS[path]


def _begin(content, expected):
    """The beginning of an answer, as long as the expected one; an empty one is not compared."""
    return "" if expected == "" else content and content[: len(expected or content)]


def _tokens(trace):
    if trace.usage["source"] == "agent_span":
        return trace.usage["input_tokens"], trace.usage["output_tokens"]
    parts = [call["usage"]["total_tokens"] for call in trace.llm_calls if call["usage"] is not None]
    is_whole = bool(parts) and "tokens_incomplete" not in {warning["code"] for warning in trace.warnings}
    assert trace.usage["total_tokens"] == (sum(parts) if is_whole else None)
    return parts or None


def test_every_file_is_in_the_table_or_refused_with_a_reason(records):
    damaged = {path for path, found in records.items() if any(isinstance(one, DamagedTrace) for one in found)}
    assert damaged == REFUSED
    assert set(records) == set(ROWS) | REFUSED


@pytest.mark.parametrize(
    ("path", "right"),
    [
        ("tempo/tempo_export_with_batches.json", 4777),
        ("jaeger/helm_2.json", 1865),
        (f"{STRANDS}adk_live_spans.json", 463),
        (f"{STRANDS}smolagents_live_spans.json", 6419),
        (f"{PYDANTIC}tool_span_instrumentation_v5.traces.jsonl", 135),
        (f"{STRANDS}otel_genai_convention_spans.json", 260),
        (f"{ADK}_multi_agent.traces.jsonl", 1305),
        (f"{STRANDS}claude_adot_spans.json", 4 + 32_308 + 767),
        (f"{AGENTS}recipe_workflow_agent_handoffs_with_function_tools.traces.jsonl", 1350),
    ],
)
def test_tokens_equal_those_counted_by_hand(records, path, right):
    [trace] = records[path]
    assert trace.usage["total_tokens"] == right


def test_tokens_of_a_file_of_plain_attributes_add_up_by_hand(records):
    spans = json.loads((SHARED / STRANDS / "openai_agents_genai_live_spans.json").read_text())
    attributes = [one["attributes"] for one in spans]
    by_hand = sum(one.get("gen_ai.usage.total_tokens", 0) for one in attributes)
    [trace] = records[f"{STRANDS}openai_agents_genai_live_spans.json"]
    assert trace.usage["total_tokens"] == by_hand == 2123


def test_the_calls_of_sub_agents_bear_their_names(records):
    [trace] = records[f"{STRANDS}openai_agents_openinference_live_spans.json"]
    assert [call["agent"] for call in trace.tool_calls] == ["coordinator", *["math_specialist"] * 3]
    assert [call["step"] for call in trace.tool_calls] == [1, 2, 2, 3]


def test_times_errors_and_results_of_tools_come_from_spans(records):
    [trace] = records[f"{STRANDS}otel_genai_convention_spans.json"]
    paris, london = trace.tool_calls
    assert (paris["result"], paris["duration_ms"], paris["error"]) == ("rainy, 57°F", 1000.0, None)
    assert (london["status"], london["error"]["type"]) == ("error", "TimeoutError")
    assert paris["step"] == london["step"] == 1


def test_cached_and_reasoning_tokens_are_recorded(records):
    first, second = records[f"{CHAT}test_prompt_caching__test_openai_prompt_caching.traces.jsonl"]
    assert (first.usage["cache_read_input_tokens"], second.usage["cache_read_input_tokens"]) == (0, 1024)
    [thought] = records[f"{CHAT}test_chat__test_chat_reasoning.traces.jsonl"]
    assert thought.usage["reasoning_output_tokens"] == 192
