"""Reads what platforms record under names of their own: Langfuse, MLflow, LangSmith, and AWS in events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.fields import FieldError, amount
from evalgate.adapters.formats.core.langfuse_tokens import read_usage_details
from evalgate.adapters.formats.core.provider_response import read_provider_response
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.messages.roles import read_message
from evalgate.adapters.formats.messages.sniff_messages import read_exchange, read_payload
from evalgate.adapters.formats.spans.dialects.attributes import (
    SETTLED,
    add_usage,
    decode,
    first,
    first_text,
    list_texts,
    read_usage,
)
from evalgate.adapters.formats.spans.span import Dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind
    from evalgate.models.trace.trace import Role, Usage

KINDS: dict[str, SpanKind] = {
    "generation": "inference",
    "llm": "inference",
    "chat_model": "inference",
    "agent": "agent",
    "tool": "tool",
    "embedding": "excluded",
    "evaluator": "excluded",
}


class Platform(NamedTuple):
    """A platform's attribute names."""

    kind: str
    input: str
    output: str
    usage: str
    model: str
    cost: str
    metadata: str


LANGFUSE = Platform(
    kind="langfuse.observation.type",
    input="langfuse.observation.input",
    output="langfuse.observation.output",
    usage="langfuse.observation.usage_details",
    model="langfuse.observation.model.name",
    cost="langfuse.observation.cost_details",
    metadata="langfuse.trace.metadata.",
)
MLFLOW = Platform(
    kind="mlflow.spanType",
    input="mlflow.spanInputs",
    output="mlflow.spanOutputs",
    usage="mlflow.chat.tokenUsage",
    model="mlflow.llm.model",
    cost="mlflow.llm.cost",
    metadata="mlflow.trace.metadata.",
)
TOKENS = {
    "input_tokens": ("input", "input_tokens"),
    "output_tokens": ("output", "output_tokens"),
    "total_tokens": ("total", "total_tokens"),
}
TRACE_USAGE, TRACE_COST = "mlflow.trace.tokenUsage", "mlflow.trace.cost"
PLATFORMS = (LANGFUSE, MLFLOW)


def kind_of(span: Span) -> SpanKind | None:
    """The kind by the platform's attribute; unknown values are `other`."""
    for platform in PLATFORMS:
        kind = first_text(span.attributes, platform.kind)
        if kind is not None:
            return KINDS.get(kind.strip('"').lower(), "other")
    return None


def add(span: Span, facts: SpanFacts) -> None:
    """Adds facts from the platform's attributes that no earlier dialect has set."""
    for platform in PLATFORMS:
        if platform.kind in span.attributes or platform.input in span.attributes:
            _add(platform, span, facts)
    if MLFLOW.kind in span.attributes and span.parent_id is None:
        _add_whole_trace(span, facts)
    facts.tags += [tag for tag in list_texts(span.attributes.get("langfuse.trace.tags")) if tag not in facts.tags]


def _add(platform: Platform, span: Span, facts: SpanFacts) -> None:
    attributes = span.attributes
    given, answered = _parse(attributes.get(platform.input)), _parse(attributes.get(platform.output))
    facts.model = facts.model or first_text({platform.model: _parse(attributes.get(platform.model))}, platform.model)
    _add_usage(platform, span, facts)
    for key, value in attributes.items():
        if key.startswith(platform.metadata):
            facts.metadata.setdefault(key.removeprefix(platform.metadata), value)
    if facts.kind == "tool":
        facts.tool_name = facts.tool_name or span.name or None
        facts.arguments = given if facts.arguments is None else facts.arguments
        facts.result = answered if facts.result is None else facts.result
    elif facts.kind in ("inference", "agent"):
        facts.input = facts.input or (None if given is None else read_payload(given, "user"))
        facts.output = facts.output or (None if answered is None else read_payload(answered, "assistant"))
        facts.agent = facts.agent or (span.name if facts.kind == "agent" else None)


def _add_whole_trace(span: Span, facts: SpanFacts) -> None:
    """Adds tokens and cost of the whole trace to its first span, which is the agent's unless it is a request."""
    usage = _read_usage(span.resource.get(TRACE_USAGE))
    cost = decode(span.resource.get(TRACE_COST))
    total = amount(cost.get("total_cost"), TRACE_COST) if type(cost) is dict else None
    if usage is None and total is None:
        return
    if facts.kind == "other":
        facts.kind = "agent"
        _add(MLFLOW, span, facts)
    if facts.usage is None:
        facts.usage, facts.is_metered = usage, False
    facts.cost_usd = total if facts.cost_usd is None else facts.cost_usd


def _parse(value: Any) -> Any:
    """Decodes a value from JSON text: MLflow writes every value as JSON, even text in quotes."""
    return unwrap_text(value) if type(value) is str and value.startswith('"') else decode(value)


def _add_usage(platform: Platform, span: Span, facts: SpanFacts) -> None:
    counts = decode(span.attributes.get(platform.usage))
    if type(counts) is dict:
        found = read_usage_details(counts) if platform is LANGFUSE else read_usage(counts, TOKENS)
        add_usage(facts, found, SETTLED)
    cost: Any = decode(span.attributes.get(platform.cost))
    if facts.cost_usd is None and type(cost) is dict:
        facts.cost_usd = amount(cost.get("total", cost.get("total_cost")), f"attributes.{platform.cost}")


def _read_usage(value: Any) -> Usage | None:
    counts = decode(value)
    return read_usage(counts, TOKENS) if type(counts) is dict else None


LANGSMITH_KIND = "langsmith.span.kind"
LANGSMITH_KINDS: dict[str, SpanKind] = {"llm": "inference", "tool": "tool", "embedding": "excluded"}
LANGSMITH_INPUTS, LANGSMITH_OUTPUTS = "gen_ai.prompt", "gen_ai.completion"
LANGSMITH_METADATA, LANGSMITH_TAGS = "langsmith.metadata.", "langsmith.span.tags"
THREAD_KEYS = ("thread_id", "conversation_id", "session_id")


def _find_langsmith_kind(span: Span) -> SpanKind | None:
    """The kind of the run; the outermost chain is the agent, the others repeat their parts."""
    kind = first_text(span.attributes, LANGSMITH_KIND) if LANGSMITH_KIND in span.attributes else None
    if kind is None:
        return None
    return LANGSMITH_KINDS.get(kind, "agent" if span.parent_id is None else "other")


def _add_langsmith(span: Span, facts: SpanFacts) -> None:
    """Adds inputs, outputs and metadata of the run."""
    attributes = span.attributes
    if LANGSMITH_KIND not in attributes or first_text(attributes, LANGSMITH_KIND) is None:
        return
    _add_langsmith_metadata(attributes, facts)
    inputs, outputs = decode(attributes.get(LANGSMITH_INPUTS)), decode(attributes.get(LANGSMITH_OUTPUTS))
    if facts.kind == "tool":
        facts.tool_name = facts.tool_name or span.name or None
        add_tool_exchange(facts, inputs, outputs)
    elif facts.kind in ("inference", "agent"):
        facts.input, facts.output = read_exchange(inputs, outputs)
    if facts.kind == "inference":
        answer = read_provider_response(outputs)
        add_usage(facts, answer.usage, SETTLED)
        facts.finish_reason = facts.finish_reason or answer.finish_reason
        named = facts.output[-1].model if facts.output else None
        facts.model = answer.model or named or facts.model
        facts.response_id = facts.response_id or answer.id
    elif facts.kind == "agent":
        facts.agent = facts.agent or span.name or None


def add_tool_exchange(facts: SpanFacts, inputs: Any, outputs: Any) -> None:
    """Adds the arguments and the result of a tool's run; a result may be a message of LangChain."""
    unwrapped = _unwrap_only(inputs, "input")
    facts.arguments = inputs if unwrapped is None else unwrapped
    result = outputs.get("output", outputs) if isinstance(outputs, dict) else outputs
    messages = read_payload(result, "tool") if isinstance(result, dict) else None
    if messages and messages[0].answers:
        answer = messages[0].answers[0]
        facts.tool_call_id, facts.result = facts.tool_call_id or answer.id, answer.content
        if answer.is_error:
            facts.error_type = "error"
    else:
        facts.result = result


def clear_parents(spans: Sequence[Span]) -> list[Span]:
    """Makes roots of the SDK's runs whose parent is not recorded: it starts each trace with an invented one."""
    ids = {span.span_id for span in spans}
    for span in spans:
        if span.parent_id is not None and span.parent_id not in ids and LANGSMITH_KIND in span.attributes:
            span.parent_id = None
    return list(spans)


def _add_langsmith_metadata(attributes: dict[str, Any], facts: SpanFacts) -> None:
    found = {
        key.removeprefix(LANGSMITH_METADATA): value
        for key, value in attributes.items()
        if key.startswith(LANGSMITH_METADATA)
    }
    for key, value in found.items():
        if not key.startswith(("ls_", "LANGSMITH_")):
            facts.metadata.setdefault(key, value)
    facts.conversation_id = facts.conversation_id or first_text(found, *THREAD_KEYS)
    tags = first_text(attributes, LANGSMITH_TAGS)
    facts.tags += [tag for tag in (tags or "").split(", ") if tag and tag not in facts.tags]


def _unwrap_only(value: Any, key: str) -> Any:
    """The object (also as text) under the only key of an object, else None."""
    if not isinstance(value, dict) or list(value) != [key]:
        return None
    inner = unwrap_text(value[key])
    return inner if isinstance(inner, dict) else None


LANGSMITH = Dialect(_find_langsmith_kind, _add_langsmith)


def _find_aws_kind(span: Span) -> SpanKind | None:
    """The kind by output: generations of a model, a tool's message, or messages of an agent."""
    if not span.events:
        return None
    answered = unwrap_text(_aws_content(span, "output"))
    if type(answered) is not dict:
        return None
    if type(answered.get("generations")) is list:
        return "inference"
    if answered.get("type") == "tool" and type(answered.get("name")) is str:
        return "tool"
    is_state = "remaining_steps" in (given if type(given := unwrap_text(_aws_content(span, "input"))) is dict else ())
    return "agent" if type(answered.get("messages")) is list and not is_state else None


def _add_aws(span: Span, facts: SpanFacts) -> None:
    """Adds input and output from the body, if the span has none elsewhere."""
    if not span.events or facts.kind not in ("inference", "tool", "agent"):
        return
    given, answered = _aws_content(span, "input"), _aws_content(span, "output")
    output = unwrap_text(answered)
    if facts.kind == "tool":
        if type(output) is dict and facts.tool_name is None and type(output.get("name")) is str:
            facts.tool_name = output["name"]
            facts.tool_call_id = first(output, "tool_call_id")
            facts.arguments, facts.result = unwrap_text(given), output.get("content")
            facts.error_type = "error" if output.get("status") == "error" else None
        return
    facts.input = facts.input or _read_aws_messages(given, "user")
    facts.output = facts.output or _read_generation(output) or _read_aws_messages(answered, "assistant")


def _read_generation(output: Any) -> list[RawMessage] | None:
    """The first generation: its text and its tool calls."""
    generation = output.get("generations") if type(output) is dict else None
    while type(generation) is list and generation:
        generation = generation[0]
    if type(generation) is not dict:
        return None
    message = generation.get("message")
    calls = message.get("tool_calls") if type(message) is dict else None
    recorded = {"role": "assistant", "content": generation.get("text"), "tool_calls": calls}
    try:
        return read_message(recorded)
    except FieldError:
        return None


def _aws_content(span: Span, name: str) -> Any:
    """The content of the only message under `name`; the list of messages if there are several."""
    for event in span.events:
        body = event.body
        side = body.get(name) if type(body) is dict else None
        listed = side.get("messages") if type(side) is dict else None
        if type(listed) is list and listed:
            only = listed[0] if len(listed) == 1 else None
            return only.get("content") if type(only) is dict else listed
    return None


def _read_aws_messages(value: Any, speaker: Role) -> list[RawMessage] | None:
    return None if value is None else read_payload(value, speaker)


AWS = Dialect(_find_aws_kind, _add_aws)


PLATFORM = Dialect(kind_of, add)
