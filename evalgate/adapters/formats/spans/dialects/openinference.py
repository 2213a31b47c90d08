"""Reads the vocabulary of OpenInference (Arize): `openinference.span.kind`, `llm.*`, `input.value`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.messages.sniff_messages import read_payload
from evalgate.adapters.formats.spans.dialects.attributes import (
    build_usage,
    complete,
    decode,
    dollars,
    first,
    first_text,
    list_texts,
    tokens,
    unflatten,
)
from evalgate.adapters.formats.spans.dialects.flat_messages import read_openinference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind
    from evalgate.models.trace.trace import Role, Usage

KINDS: dict[str, SpanKind] = {
    "LLM": "inference",
    "TOOL": "tool",
    "AGENT": "agent",
    "EMBEDDING": "excluded",
    "EVALUATOR": "excluded",
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
    facts.provider = facts.provider or first_text(attributes, "llm.provider", "llm.system")
    facts.model = facts.model or first_text(attributes, "llm.response.model_name", "llm.model_name")
    facts.usage = complete(facts.usage, _read_usage(attributes))
    if facts.cost_usd is None:
        facts.cost_usd = dollars(attributes, "llm.cost.total")
    facts.agent = facts.agent or first_text(attributes, "agent.name", "graph.node.name")
    facts.conversation_id = facts.conversation_id or first_text(attributes, "session.id")
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


def _read_usage(attributes: Mapping[str, Any]) -> Usage | None:
    def read_count(name: str) -> int | None:
        return tokens(attributes, f"llm.token_count.{name}")

    return build_usage(
        {
            "input_tokens": read_count("prompt"),
            "output_tokens": read_count("completion"),
            "total_tokens": read_count("total"),
            "cache_read_input_tokens": read_count("prompt_details.cache_read"),
            "cache_write_input_tokens": read_count("prompt_details.cache_write"),
            "reasoning_output_tokens": read_count("completion_details.reasoning"),
        }
    )


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
    facts.tool_name = facts.tool_name or first_text(attributes, "tool.name")
    facts.tool_call_id = facts.tool_call_id or first_text(attributes, "tool.id", "tool_call.id")
    if facts.arguments is None:
        facts.arguments = _arguments(attributes)
    if facts.result is None:
        facts.result = _result(attributes.get("output.value"))


def _arguments(attributes: Mapping[str, Any]) -> Any:
    """The tool's arguments: `tool.parameters`, or `input.value` of smolagents (schema in the former)."""
    given = decode(attributes.get("input.value"))
    if type(given) is dict and type(given.get("kwargs")) is dict and type(given.get("args")) is list:
        named = decode(attributes.get("tool.parameters"))
        names = list(named) if type(named) is dict else []
        return {**dict(zip(names, given["args"], strict=False)), **given["kwargs"]}
    return first(attributes, "tool.parameters", "tool_call.function.arguments", "input.value")


def _result(value: Any) -> Any:
    """The output; for a response in Gemini's format, only the tool's result."""
    found = decode(value)
    if type(found) is dict and {"id", "name", "response"} == set(found):
        return found["response"]
    return value
