"""Reads the results of `promptfoo eval`: each test with each prompt and provider is a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    answer_beside_last_call,
    build_model_error,
    set_cost,
    set_final_response,
)
from evalgate.adapters.formats.core.builder.side_fields import (
    add_listed_calls,
    identify_by_metadata,
    set_scenario_and_trial,
)
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    dict_or_empty,
    flag,
    identifier,
    listing,
    mapping,
    prefix_errors,
    text,
)
from evalgate.adapters.formats.core.format import Identity, Reader, Shape, words
from evalgate.adapters.formats.core.strict_json import encode_text, require_shallow
from evalgate.adapters.formats.core.usage import TokenTable, build_score, distrust_cost, finish_reason, read_scores
from evalgate.adapters.formats.messages.blocks import MessageBuilder, get_first
from evalgate.adapters.formats.messages.kept_elsewhere import note_earlier
from evalgate.adapters.formats.messages.sniff_messages import sniff_messages
from evalgate.adapters.formats.promptfoo import find_results, is_result
from evalgate.adapters.formats.promptfoo.output_calls import read_output, read_raw
from evalgate.measures.values.json_values import decode_json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import ModelError, Trace, Usage

ERROR = 2
"""The reason of a failure when the provider failed, and not an assertion."""
TRACES, RUNS_TOOLS = "evalgate:traces", "evalgate:runs_tools"
TOOL_SETTINGS = ("functionToolCallbacks", "mcp")
MODEL_PROVIDERS = (
    *("openai", "anthropic", "azure", "azureopenai", "bedrock", "google", "vertex", "mistral", "groq", "cohere"),
    *("deepseek", "xai", "ollama", "openrouter", "togetherai", "together", "fireworks", "cerebras", "perplexity"),
    *("litellm", "vllm", "github", "huggingface", "cloudflare-ai", "databricks", "watsonx", "llamaapi", "nscale"),
)
"""Providers that call one model and write the calls it asked for into the output."""
AGENTS = frozenset({"agents", "assistant", "codex-sdk", "claude-agent-sdk", "claude-code", "realtime", "chatkit"})
"""Kinds of these providers that run tools themselves."""
NO_OUTPUT = "the output of the provider is not recorded"
ONLY_OUTPUT = (
    "only the provider's output is recorded, not the calls of the agent behind it: "
    "return them as `metadata.toolCalls` of the provider's response, or use promptfoo's tracing"
)
TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "mcp.tool.name")
TOOL_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool.arguments", "ai.toolCall.args", "input.value", "tool.input")
TOOL_RESULTS = ("gen_ai.tool.call.result", "tool.result", "ai.toolCall.result", "output.value", "tool.output")


def split(document: Any) -> Sequence[Any]:
    """The results of a document, each with its own spans."""
    results = find_results(document)
    if results is None:
        return document if isinstance(document, list) else [document]
    spans: dict[str, list[Any]] = {}
    for trace in listing(document.get("traces"), "traces"):
        if isinstance(trace, dict) and isinstance(trace.get("traceId"), str) and isinstance(trace.get("spans"), list):
            spans.setdefault(trace["traceId"], []).extend(trace["spans"])
    runs_tools = _runs_tools(document.get("config"))
    return [_add_facts(result, spans, runs_tools=runs_tools) for result in results]


def _add_facts(result: Any, spans: dict[str, list[Any]], *, runs_tools: bool) -> Any:
    """The result with what the document says about it."""
    found = spans.get(str(result.get("traceId"))) if isinstance(result, dict) else None
    if not found and not runs_tools:
        return result
    return {**mapping(result, ""), TRACES: found or [], RUNS_TOOLS: runs_tools}


def _runs_tools(config: Any) -> bool:
    """True if a provider of the configuration runs tools itself: then its output is not the model's."""
    providers = dict_or_empty(config).get("providers")
    entries = providers if isinstance(providers, list) else []
    settings = [dict_or_empty(dict_or_empty(entry).get("config")) for entry in entries]
    return any(setting.get(key) for setting in settings for key in TOOL_SETTINGS)


def identify(record: Any) -> Identity:
    """Scenario id and trial in the test's metadata, else its description."""
    if not isinstance(record, dict):
        return None, None
    scenario, trial = identify_by_metadata(_read_metadata(record))
    description = _find_description(record)
    return (description if scenario is None and isinstance(description, str) else scenario) or None, trial


def build(record: Any) -> Trace:
    """Builds the trace of one result."""
    require_shallow(record)
    if not is_result(record):
        raise FieldError("", "is not the result of a test")
    response = mapping(record.get("response"), "response")
    chat = MeteredConversation()
    chat.add_messages(_read_prompt(record, response))
    _add_answer(chat, response)
    listed = _list_calls(response, record)
    add_listed_calls(chat.conversation, listed, "response.metadata.toolCalls")
    chat.total = _read_usage(record, response)
    chat.failure = _read_failure(record, response)
    trace = chat.build_trace({}, None)
    _add_ids(trace, record)
    _add_figures(trace, record, response)
    _add_scores(trace, record)
    settings = [dict_or_empty(record.get("prompt")).get("config"), dict_or_empty(record.get("testCase")).get("options")]
    note_earlier(trace, [(None, [response.get("raw"), *settings])])
    if not trace.tool_calls and response.get("output") is None and trace.status != "error":
        add_gap(trace, "calls", NO_OUTPUT)
    is_listed = _response_metadata(response).get("toolCalls") is not None
    if not (trace.tool_calls or is_listed or _writes_calls(record, response)):
        add_gap(trace, "calls", ONLY_OUTPUT)
    return trace


def _read_prompt(record: dict[str, Any], response: dict[str, Any]) -> list[RawMessage]:
    """The prompt that was sent: text, or chat messages as JSON text."""
    recorded = response.get("prompt")
    if not recorded:
        recorded = mapping(record.get("prompt"), "prompt").get("raw")
    decoded = decode_json_text(recorded)
    if type(decoded) is list:
        found = sniff_messages(decoded)
        if found is not None:
            return found
    if recorded is None or recorded == "":
        return []
    return [RawMessage("user", encode_text(recorded))]


def _add_answer(chat: MeteredConversation, response: dict[str, Any]) -> None:
    """Adds the answer: the output, and calls and results in it or in the raw response."""
    output = response.get("output")
    with prefix_errors("response.output"):
        calls, is_all = read_output(output)
    reason = text(response.get("finishReason"), "response.finishReason")
    raw = read_raw(response.get("raw"))
    builder = MessageBuilder(RawMessage("assistant", finish_reason=reason))
    inner = [message for message in raw if message.role != "user" or message.answers]
    if len(inner) > 1:
        chat.add_messages(message for message in inner if message.calls or message.answers)
        inner = []
    if not is_all and output is not None:
        builder.add_text(encode_text(output))
    for call in calls:
        builder.add_call(call)
    for message in inner:
        builder.add_listed_calls(message.calls)
    if output is not None or calls or inner:
        chat.add_messages(builder.build_messages())


def _response_metadata(response: dict[str, Any]) -> dict[str, Any]:
    return mapping(response.get("metadata"), "response.metadata")


def _list_calls(response: dict[str, Any], record: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls in the provider's metadata, else those in the spans of promptfoo's tracing."""
    metadata = _response_metadata(response)
    recorded = metadata.get("toolCalls") or dict_or_empty(record.get("metadata")).get("toolCalls")
    calls = [_read_listed(call, number) for number, call in enumerate(listing(recorded, "response.metadata.toolCalls"))]
    return calls or [call for span in listing(record.get(TRACES), "traces") for call in _read_span(span)]


def _read_listed(value: Any, number: int) -> dict[str, Any]:
    path = f"response.metadata.toolCalls[{number}]"
    call = mapping(value, path)
    inner = mapping(call.get("function"), f"{path}.function")
    recorded = get_first(call, ("input", "arguments", "args"))
    found = {
        "id": call.get("id", call.get("toolCallId")),
        "name": call.get("name", call.get("toolName", inner.get("name"))),
        "arguments": inner.get("arguments") if recorded is None else recorded,
        "result": get_first(call, ("output", "result")),
    }
    if flag(call.get("is_error", call.get("isError")), f"{path}.is_error"):
        found["status"] = "error"
    return found


def _read_span(value: Any) -> list[dict[str, Any]]:
    """The call in a tool's span, as attributes name it."""
    attributes = dict_or_empty(dict_or_empty(value).get("attributes"))
    name = get_first(attributes, TOOL_NAMES)
    if not isinstance(name, str):
        return []
    arguments = decode_json_text(get_first(attributes, TOOL_ARGUMENTS))
    call = {"name": name, "arguments": arguments, "result": get_first(attributes, TOOL_RESULTS)}
    if value.get("statusCode") == ERROR:
        call["error"] = value.get("statusMessage") or "the tool failed"
    return [call]


def _writes_calls(record: dict[str, Any], response: dict[str, Any]) -> bool:
    """True if the provider writes the calls of its model into the output, and runs none of them itself."""
    if record.get(TRACES) or any(message.calls or message.answers for message in read_raw(response.get("raw"))):
        return True
    if flag(response.get("isRefusal"), "response.isRefusal") or record.get("failureReason") == ERROR:
        return True
    return not record.get(RUNS_TOOLS) and _calls_one_model(record)


def _read_failure(record: dict[str, Any], response: dict[str, Any]) -> ModelError | None:
    """Why the provider's model failed; None if it did not, or if the provider is an agent or a script."""
    error = text(response.get("error"), "response.error")
    if not (record.get("failureReason") == ERROR or error) or not _calls_one_model(record):
        return None
    return build_model_error(None, error or text(record.get("error"), "error"))


def _calls_one_model(record: dict[str, Any]) -> bool:
    """True if the provider calls one model and runs no tools itself."""
    provider = str(mapping(record.get("provider"), "provider").get("id") or "")
    kind, _, rest = provider.partition(":")
    return kind in MODEL_PROVIDERS and AGENTS.isdisjoint(rest.split(":"))


def _read_metadata(record: dict[str, Any]) -> dict[str, Any]:
    test = dict_or_empty(record.get("testCase"))
    return {**dict_or_empty(record.get("metadata")), **dict_or_empty(test.get("metadata"))}


def _find_description(record: dict[str, Any]) -> Any:
    return record.get("description") or dict_or_empty(record.get("testCase")).get("description")


def _add_ids(trace: Trace, record: dict[str, Any]) -> None:
    """Adds scenario, provider and prompt; provider and prompt are tags, so that variants can be matched."""
    trace.trace_id = text(record.get("id"), "id") or ""
    metadata = _read_metadata(record)
    set_scenario_and_trial(trace, metadata)
    if trace.scenario_id is None:
        trace.scenario_id = identifier(_find_description(record) or None, "description")
    provider = mapping(record.get("provider"), "provider")
    names = {
        "provider": text(provider.get("label"), "provider.label") or text(provider.get("id"), "provider.id"),
        "prompt": text(mapping(record.get("prompt"), "prompt").get("label"), "prompt.label"),
    }
    kind, _, model = (text(provider.get("id"), "provider.id") or "").partition(":")
    if kind in MODEL_PROVIDERS:
        trace.provider, trace.model = kind, model.rpartition(":")[2] or None
    trace.tags = [f"{key}:{name}" for key, name in names.items() if name and (key == "provider" or "\n" not in name)]
    kept = {key: value for key, value in metadata.items() if isinstance(value, str | int | float)}
    trace.metadata = {**kept, **{key: name for key, name in names.items() if name}, "test": record["testIdx"]}


def _add_figures(trace: Trace, record: dict[str, Any], response: dict[str, Any]) -> None:
    """Adds how the test ended, its cost and latency; an answer from promptfoo's cache took no time to speak of."""
    trace.finish_reason = finish_reason(text(response.get("finishReason"), "response.finishReason"))
    cost = record["cost"] if record.get("cost") is not None else response.get("cost")
    set_cost(trace, cost or None, "cost")
    distrust_cost(trace, [amount(response.get("cost"), "response.cost") or 0], "response.cost")
    took = amount(record.get("latencyMs"), "latencyMs")
    if took and not flag(response.get("cached"), "response.cached"):
        trace.latency = {"total_ms": took, "source": "recorded"}
    error = text(response.get("error"), "response.error")
    if record.get("failureReason") == ERROR or error:
        trace.status = "error"
        trace.error = {"type": None, "message": error or text(record.get("error"), "error")}
    output = response.get("output")
    answer_beside_last_call(trace)  # the output is the answer, whatever calls it has
    if isinstance(output, str) and output and trace.response["content"] is None:
        set_final_response(trace, output)


def _read_usage(record: dict[str, Any], response: dict[str, Any]) -> Usage | None:
    """The tokens of the provider; those of graders are not the agent's."""
    usage = USAGE.read_if_counted(response.get("tokenUsage") or record.get("tokenUsage"), "tokenUsage")
    if usage is None:
        return None
    tokens_in, tokens_out = usage["input_tokens"], usage["output_tokens"]
    if not (tokens_in or tokens_out):
        usage["input_tokens"] = usage["output_tokens"] = None
    usage["total_tokens"] = usage["total_tokens"] or (tokens_in or 0) + (tokens_out or 0)
    return usage


USAGE = TokenTable(
    "promptfoo",
    input_tokens="prompt",
    output_tokens="completion",
    total_tokens="total",
    reasoning_output_tokens="completionDetails.reasoning",
)


def _add_scores(trace: Trace, record: dict[str, Any]) -> None:
    """Adds promptfoo's own verdict: `pass`, `score`, and named scores."""
    trace.evaluations = [
        build_score("pass", float(bool(flag(record["success"], "success"))), "success"),
        build_score("score", record.get("score"), "score"),
        *read_scores(record.get("namedScores"), "namedScores"),
    ]
    grading = mapping(record.get("gradingResult"), "gradingResult")
    trace.evaluations[0]["explanation"] = text(grading.get("reason"), "gradingResult.reason")


RESULT_FIELDS = frozenset(
    {
        *("testCase", "provider", "prompt", "vars", "response", "gradingResult", "namedScores", "metadata"),
        *("tokenUsage", "error", "description", TRACES),
    }
)
RESPONSE_FIELDS = words("""
    output raw metadata tokenUsage prompt logProbs guardrails audio video images inputMaterialization materializedVars
    providerTransformedOutput error
""")
SHAPES = (Shape((), RESULT_FIELDS), Shape(("response",), RESPONSE_FIELDS))
WITHOUT_CALLS = frozenset({"testCase", "vars", "gradingResult", "namedScores", "provider", "prompt", TRACES})
READER = Reader(
    build=build,
    identify=identify,
    split=split,
    shapes=SHAPES,
    without_calls=WITHOUT_CALLS,
)
