"""Reads the vocabulary of OpenInference (Arize): `openinference.span.kind`, `llm.*`; messages in flat attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.messages.genai import parse_calls
from evalgate.adapters.formats.messages.roles import ROLES
from evalgate.adapters.formats.messages.sniff_messages import read_payload
from evalgate.adapters.formats.spans.dialects.attributes import (
    add_texts,
    add_usage,
    decode,
    dollars,
    first,
    first_text,
    list_texts,
    read_usage,
    unflatten,
)
from evalgate.adapters.formats.spans.span import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind
    from evalgate.models.trace.trace import Role

THOUGHTS = frozenset({"reasoning", "thinking"})
SHOWN_CALL, SHOWN_ANSWER = "tool-call", "tool-response"


def read_openinference(entries: Sequence[Mapping[str, Any]]) -> list[RawMessage]:
    """Reads messages of `llm.input_messages` or `llm.output_messages`."""
    parsed: list[RawMessage] = []
    for entry in entries:
        message = {key.removeprefix("message."): value for key, value in entry.items()}
        found = _openinference_message(message)
        is_shown = message.get("role") == SHOWN_CALL
        if parsed and is_shown and found.calls and parsed[-1].role == "assistant" and not parsed[-1].calls:
            parsed[-1].calls = found.calls
        elif parsed and _continues(parsed[-1], found):
            parsed[-1].calls += found.calls  # blocks of one message that were recorded one by one
        elif parsed and _is_thought(parsed[-1]) and found.role == "assistant" and found.reasoning is None:
            found.reasoning = parsed.pop().reasoning
            parsed.append(found)
        else:
            parsed.append(found)
    return parsed


def _openinference_message(message: Mapping[str, Any]) -> RawMessage:
    texts, thoughts, others = _read_contents(message)
    content = "\n".join(texts) if texts else None
    role = first_text(message, "role") or "assistant"
    calls = [_read_flat_call(call) for call in unflatten(message, "tool_calls")]
    calls += _read_calls_in_contents(message, {call.id for call in calls if call is not None})
    known: Role = ROLES.get(role, "assistant")
    if role == SHOWN_CALL and content is not None:
        shown = parse_calls(content)
        return RawMessage("assistant", None if shown else content, calls=shown)
    if known == "tool" or role == SHOWN_ANSWER:
        name = first_text(message, "name")
        return RawMessage("tool", answers=[ToolResult(first_text(message, "tool_call_id"), name, content)])
    legacy = first_text(message, "function_call_name")
    if legacy is not None:
        calls.append(ToolRequest(None, legacy, message.get("function_call_arguments_json")))
    reasoning = "\n".join(thoughts) if thoughts else None
    kept = [call for call in calls if call is not None]
    parts = [*({"type": "text", "text": one} for one in texts), *others] if others else None
    return RawMessage(known, content, calls=kept, reasoning=reasoning, parts=parts)


def _read_calls_in_contents(message: Mapping[str, Any], known: set[str | None]) -> list[ToolRequest]:
    """Calls among the content blocks, which tracers of Anthropic list among the message's calls too."""
    calls = [_read_flat_call(block) for block in unflatten(message, "contents")]
    return [call for call in calls if call is not None and (call.id is None or call.id not in known)]


def _read_contents(message: Mapping[str, Any]) -> tuple[list[str], list[str], list[dict[str, Any]]]:
    """Texts, thoughts, and the kinds of everything else."""
    texts: list[str] = []
    thoughts: list[str] = []
    others: list[dict[str, Any]] = []
    for entry in unflatten(message, "content"):
        texts += [entry[""]] if type(entry.get("")) is str else []
    for entry in unflatten(message, "contents"):
        kind = first_text(entry, "message_content.type") or "text"
        found = first_text(entry, "message_content.text")
        if _read_flat_call(entry) is not None:
            continue
        if kind in THOUGHTS:
            thoughts += [found] if found else []
        elif found is not None:
            texts.append(found)
        elif kind != "text":
            others.append({"type": kind})
    plain = first_text(message, "content")
    if plain is not None and plain != "\n".join(texts):  # some tracers record the text of the blocks once more
        texts.insert(0, plain)
    return texts, thoughts, others


def _read_flat_call(entry: Mapping[str, Any]) -> ToolRequest | None:
    name = first_text(entry, "tool_call.function.name")
    if name is None:
        return None
    return ToolRequest(first_text(entry, "tool_call.id"), name, entry.get("tool_call.function.arguments"))


def _continues(before: RawMessage, found: RawMessage) -> bool:
    """True for two messages in a row with calls only: the calls were requested together."""
    return (
        before.role == found.role == "assistant"
        and bool(before.calls)
        and bool(found.calls)
        and found.content is None
        and found.reasoning is None
    )


def _is_thought(message: RawMessage) -> bool:
    return message.reasoning is not None and message.content is None and not message.calls


KINDS: dict[str, SpanKind] = {
    "LLM": "inference",
    "TOOL": "tool",
    "AGENT": "agent",
    "EMBEDDING": "excluded",
    "EVALUATOR": "excluded",
}

TEXTS = {
    "provider": ("llm.provider", "llm.system"),
    "model": ("llm.response.model_name", "llm.model_name"),
    "agent": ("agent.name", "graph.node.name"),
    "conversation_id": ("session.id",),
    "finish_reason": ("llm.finish_reason",),
}
TOKENS = {
    "input_tokens": ("prompt",),
    "output_tokens": ("completion",),
    "total_tokens": ("total",),
    "cache_read_input_tokens": ("prompt_details.cache_read",),
    "cache_write_input_tokens": ("prompt_details.cache_write",),
    "reasoning_output_tokens": ("completion_details.reasoning",),
}
HANDOFF = "handoff to "
"""Name of a handoff span between agents; the model's message already records the call for it."""


def kind_of(span: Span) -> SpanKind | None:
    """The kind by `openinference.span.kind`; chains, retrievers and guardrails are `other`."""
    kind = first_text(span.attributes, "openinference.span.kind")
    if kind is None:
        return None
    if kind.upper() == "TOOL" and span.name.startswith(HANDOFF) and "tool.name" not in span.attributes:
        return "other"
    return KINDS.get(kind.upper(), "other")


def add(span: Span, facts: SpanFacts) -> None:
    """Adds all facts that the vocabulary names."""
    attributes = span.attributes
    add_texts(facts, attributes, TEXTS)
    add_usage(facts, read_usage(attributes, TOKENS, "llm.token_count."), "openinference")
    if facts.cost_usd is None:
        facts.cost_usd = dollars(attributes, "llm.cost.total")
    facts.tags += [tag for tag in list_texts(attributes.get("tag.tags")) if tag not in facts.tags]
    metadata = decode(attributes.get("metadata"))
    if type(metadata) is dict:
        facts.metadata.update(metadata)
    if first_text(attributes, "openinference.span.kind") is None:
        return
    if facts.kind == "tool":
        _add_tool(attributes, facts)
    elif facts.kind in ("inference", "agent"):
        _add_messages(attributes, facts)
        facts.agent = facts.agent or (span.name.removesuffix(".run") if facts.kind == "agent" else None)


def _add_messages(attributes: Mapping[str, Any], facts: SpanFacts) -> None:
    given = read_openinference(unflatten(attributes, "llm.input_messages"))
    answered = read_openinference(unflatten(attributes, "llm.output_messages"))
    facts.input = facts.input or given or _read_messages(attributes.get("input.value"), "user")
    facts.output = facts.output or answered or _read_messages(attributes.get("output.value"), "assistant")
    if facts.kind == "inference" and facts.tool_definitions is None:
        schemas = [decode(one.get("tool.json_schema")) for one in unflatten(attributes, "llm.tools")]
        facts.tool_definitions = [tool for tool in map(_read_definition, schemas) if tool is not None] or None


def _read_messages(value: Any, speaker: Role) -> list[RawMessage] | None:
    """Reads the input or output of a whole run: messages in JSON, a task, or plain text."""
    found = decode(value)
    if type(found) is dict and type(found.get("task")) is str:
        return [RawMessage(speaker, found["task"])]
    if type(found) in (int, float, bool):
        return None
    return read_payload(value, speaker)


def _read_definition(schema: Any) -> dict[str, Any] | None:
    inner = schema.get("function", schema) if type(schema) is dict else None
    if type(inner) is not dict or type(inner.get("name")) is not str:
        return None
    parameters = first(inner, "parameters", "input_schema")
    described = inner.get("description")
    return {"name": inner["name"], "description": described, "parameters": parameters, "type": "function"}


def _add_tool(attributes: Mapping[str, Any], facts: SpanFacts) -> None:
    add_texts(facts, attributes, {"tool_name": ("tool.name",), "tool_call_id": ("tool.id", "tool_call.id")})
    if facts.arguments is None:
        facts.arguments = _arguments(attributes)
    if facts.result is None:
        facts.result = _result(attributes.get("output.value"))


def _arguments(attributes: Mapping[str, Any]) -> Any:
    """The tool's arguments: `tool.parameters`, or `input.value` where the former is the schema of what it takes."""
    given = decode(attributes.get("input.value"))
    if type(given) is dict and type(given.get("kwargs")) is dict and type(given.get("args")) is list:
        named = decode(attributes.get("tool.parameters"))
        names = list(named) if type(named) is dict else []
        return {**dict(zip(names, given["args"], strict=False)), **given["kwargs"]}
    named = ("tool_call.function.arguments", "input.value")
    return (
        first(attributes, *named)
        if _is_schema(attributes.get("tool.parameters"))
        else first(attributes, "tool.parameters", *named)
    )


def _is_schema(value: Any) -> bool:
    """Whether it is the JSON Schema of an object, which this field is meant for; some tracers put arguments there."""
    found = decode(value)
    return type(found) is dict and found.get("type") == "object" and type(found.get("properties")) is dict


def _result(value: Any) -> Any:
    """The output; for a response in Gemini's format, only the tool's result."""
    found = decode(value)
    if type(found) is dict and {"id", "name", "response"} == set(found):
        return found["response"]
    return value


OPENINFERENCE = Dialect(kind_of, add)
