"""Reads the vocabulary of OpenLLMetry (Traceloop) that extends the GenAI conventions, with flattened messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.messages.roles import ROLES
from evalgate.adapters.formats.messages.sniff_messages import read_payload
from evalgate.adapters.formats.spans.dialects.attributes import (
    decode,
    first,
    first_text,
    read_usage,
    tokens,
    unflatten,
)
from evalgate.adapters.formats.spans.span import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind
    from evalgate.models.trace.trace import Role


def read_traceloop(entries: Sequence[Mapping[str, Any]], speaker: Role) -> list[RawMessage]:
    """Reads messages of `gen_ai.prompt` or `gen_ai.completion`, as OpenLLMetry wrote them up to 0.5."""
    return [_traceloop_message(entry, speaker) for entry in entries]


def _traceloop_message(entry: Mapping[str, Any], speaker: Role) -> RawMessage:
    content = _join_text(decode(entry.get("content")))
    role: Role = ROLES.get(first_text(entry, "role") or "", speaker)
    if role == "tool":
        return RawMessage(
            "tool",
            answers=[ToolResult(first_text(entry, "tool_call_id"), first_text(entry, "name"), content)],
        )
    calls = []
    for call in unflatten(entry, "tool_calls"):
        name = first_text(call, "name", "function.name")
        if name is not None:
            calls.append(ToolRequest(first_text(call, "id"), name, first(call, "arguments", "function.arguments")))
    legacy = first_text(entry, "function_call.name")
    if legacy is not None:
        calls.append(ToolRequest(None, legacy, entry.get("function_call.arguments")))
    reason = first_text(entry, "finish_reason")
    thought = first_text(entry, "reasoning")
    return RawMessage(role, content, calls=calls, finish_reason=reason, reasoning=thought)


def _join_text(value: Any) -> str | None:
    """Text, or the text of a list of parts."""
    if value is None or type(value) is str:
        return value
    if type(value) is list:
        texts = [part.get("text") for part in value if type(part) is dict]
        known = [one for one in texts if type(one) is str]
        if known:
            return "\n".join(known)
    return encode_json(value)


KINDS: dict[str, SpanKind] = {"workflow": "agent", "agent": "agent", "tool": "tool", "task": "other"}
REQUESTS: dict[str, SpanKind] = {"chat": "inference", "completion": "inference", "embedding": "excluded"}
METADATA_PREFIX = "traceloop.association.properties."


def kind_of(span: Span) -> SpanKind | None:
    """The kind by `traceloop.span.kind`, else by the type of request."""
    kind = first_text(span.attributes, "traceloop.span.kind")
    if kind is not None:
        return KINDS.get(kind, "other")
    request = first_text(span.attributes, "llm.request.type")
    return None if request is None else REQUESTS.get(request, "other")


def add(span: Span, facts: SpanFacts) -> None:
    """Adds facts that the conventions do not cover, or named otherwise in earlier versions."""
    attributes = span.attributes
    facts.input = facts.input or read_traceloop(unflatten(attributes, "gen_ai.prompt"), "user") or None
    answered = read_traceloop(unflatten(attributes, "gen_ai.completion"), "assistant")
    facts.output = facts.output or answered or None
    if facts.finish_reason is None and answered:
        facts.finish_reason = answered[-1].finish_reason
    if facts.usage is not None and facts.usage["reasoning_output_tokens"] is None:
        facts.usage["reasoning_output_tokens"] = tokens(attributes, "llm.usage.reasoning_tokens")
    if facts.usage is None:
        facts.usage = read_usage(attributes, {"total_tokens": ("llm.usage.total_tokens",)})
    if facts.tool_definitions is None:
        facts.tool_definitions = _read_functions(attributes)
    for key, value in attributes.items():
        if key.startswith(METADATA_PREFIX):
            facts.metadata.setdefault(key.removeprefix(METADATA_PREFIX), value)
    if first_text(attributes, "traceloop.span.kind") is not None:
        _add_entity(span, facts)


def _read_functions(attributes: dict[str, Any]) -> list[dict[str, Any]] | None:
    return [
        {
            "name": one["name"],
            "description": one.get("description"),
            "parameters": decode(one.get("parameters")),
            "type": "function",
        }
        for one in unflatten(attributes, "llm.request.functions")
        if type(one.get("name")) is str
    ] or None


def _add_entity(span: Span, facts: SpanFacts) -> None:
    attributes = span.attributes
    name = first_text(attributes, "traceloop.entity.name", "traceloop.workflow.name")
    given = decode(attributes.get("traceloop.entity.input"))
    answered = decode(attributes.get("traceloop.entity.output"))
    if facts.kind == "tool":
        facts.tool_name = facts.tool_name or name or span.name.removesuffix(".tool")
        facts.arguments = _unwrap_arguments(given if facts.arguments is None else facts.arguments)
        facts.result = _unwrap_result(answered if facts.result is None else facts.result)
    elif facts.kind == "agent":
        facts.agent = facts.agent or name
        facts.input = facts.input or _read_messages(_unwrap(given, "inputs", "args"), "user")
        facts.output = facts.output or _read_messages(_unwrap(answered, "outputs", "output"), "assistant")


def _unwrap_arguments(value: Any) -> Any:
    """The arguments, without the tags and metadata that LangChain's callbacks add."""
    wrapper = decode(value)
    if type(wrapper) is not dict or "input_str" not in wrapper:
        return value
    inputs = decode(wrapper.get("inputs"))
    return inputs if type(inputs) is dict else unwrap_text(wrapper["input_str"])


def _unwrap_result(value: Any) -> Any:
    """The result, without the wrapper that LangChain's callbacks add."""
    wrapper = decode(value)
    if type(wrapper) is dict and wrapper and set(wrapper) <= {"output", "outputs", "kwargs"}:
        return first(wrapper, "output", "outputs")
    return value


def _unwrap(value: Any, *keys: str) -> Any:
    """The value inside a framework's wrapper of arguments or results."""
    if type(value) is not dict:
        return value
    found = first(value, *keys)
    return decode(found) if found is not None else value


def _read_messages(value: Any, speaker: Role) -> list[RawMessage] | None:
    """Messages from text or messages; None for other state of a chain."""
    return None if value is None else read_payload(value, speaker)


TRACELOOP = Dialect(kind_of, add)
