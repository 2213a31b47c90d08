"""Reads what monocle (Okahu) records: types in `span.type`, names in `entity.N`, content in events `data.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.core.strict_json import encode_text
from evalgate.adapters.formats.core.usage import finish_reason
from evalgate.adapters.formats.spans.dialects.attributes import first_text, read_usage
from evalgate.adapters.formats.spans.span import Dialect

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind
    from evalgate.models.trace.trace import Role

MARK = "monocle_apptrace.version"
KINDS: dict[str, SpanKind] = {
    "inference": "inference",
    "inference.framework": "inference",
    "agentic.tool.invocation": "tool",
    "agentic.mcp.invocation": "tool",
    "agentic.invocation": "agent",
    "agentic.turn": "agent",
    "agentic.request": "agent",
    "embedding": "excluded",
    "embedding.modelapi": "excluded",
}
"""Of `span.type`. `inference.modelapi` is the request inside an inference, `workflow` the process."""
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
}
TOKENS = {
    "input_tokens": ("prompt_tokens",),
    "output_tokens": ("completion_tokens",),
    "total_tokens": ("total_tokens",),
}
INPUT_PREFIX = "input: "
CALLS = "tools"


def _find_kind(span: Span) -> SpanKind | None:
    if MARK not in span.attributes:
        return None
    return KINDS.get(first_text(span.attributes, "span.type") or "", "other")


def _add(span: Span, facts: SpanFacts) -> None:
    """Adds the facts of a span of monocle."""
    if MARK not in span.attributes or facts.kind not in ("inference", "tool", "agent"):
        return
    events = {event.name: event.attributes for event in span.events}
    given = events.get("data.input", {}).get("input")
    answered = events.get("data.output", {}).get("response")
    name = first_text(span.attributes, "entity.1.name")
    if facts.kind == "tool":
        facts.tool_name = facts.tool_name or name
        facts.arguments = _read_arguments(given) if facts.arguments is None else facts.arguments
        facts.result = answered if facts.result is None else facts.result
    elif facts.kind == "agent":
        facts.agent = facts.agent or name
        _add_turn(facts, given, answered)
    else:
        facts.model = facts.model or first_text(span.attributes, "entity.2.name")
        metadata = events.get("metadata", {})
        facts.usage = facts.usage or read_usage(metadata, TOKENS)
        facts.finish_reason = facts.finish_reason or finish_reason(first_text(metadata, "finish_reason"))
        facts.input = facts.input or _read_messages(given)
        facts.output = facts.output or _read_messages(answered)


def _add_turn(facts: SpanFacts, given: Any, answered: Any) -> None:
    """Adds what an agent was asked and answered, as text."""
    asked = [each for each in (given if isinstance(given, list) else [given]) if isinstance(each, str)]
    if asked and facts.input is None:
        facts.input = [RawMessage("user", "\n".join(asked))]
    if isinstance(answered, str) and facts.output is None:
        facts.output = [RawMessage("assistant", answered)]


def _read_arguments(given: Any) -> Any:
    """The arguments of a tool, which are recorded as Python prints them."""
    value = given[0] if isinstance(given, list) and len(given) == 1 else given
    return unwrap_text(value.removeprefix(INPUT_PREFIX)) if isinstance(value, str) else value


def _read_messages(value: Any) -> list[RawMessage] | None:
    """Messages, each an object with the role as its only key; results of tools are in the tools' own spans."""
    found: list[RawMessage] = []
    for each in value if isinstance(value, list) else [value]:
        entry = unwrap_text(each)
        for role, content in entry.items() if isinstance(entry, dict) else ():
            if role == CALLS:
                found.append(RawMessage("assistant", calls=_read_calls(content)))
            elif role in ROLES:
                found.append(RawMessage(ROLES[role], _read_text(content)))
    return found or None


def _read_calls(value: Any) -> list[ToolRequest]:
    calls = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]
    return [
        ToolRequest(one.get("tool_id") or None, one["tool_name"], one.get("tool_arguments") or None)
        for one in calls
        if isinstance(one.get("tool_name"), str) and one["tool_name"]
    ]


def _read_text(content: Any) -> str | None:
    if isinstance(content, list) and all(
        isinstance(part, dict) and isinstance(part.get("text"), str) for part in content
    ):
        return "\n".join(part["text"] for part in content)
    return encode_text(content)


MONOCLE = Dialect(_find_kind, _add)
