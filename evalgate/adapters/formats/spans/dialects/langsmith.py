"""Reads the spans of LangSmith's SDK: `langsmith.span.kind`, inputs in `gen_ai.prompt`, outputs in `gen_ai.completion`.

As langsmith 0.15.0 writes them with LANGSMITH_TRACING_MODE=otel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.provider_response import read_provider_response
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.messages.sniff_messages import read_exchange, read_payload
from evalgate.adapters.formats.spans.dialects.attributes import complete, decode, first_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

KIND = "langsmith.span.kind"
KINDS: dict[str, SpanKind] = {"llm": "inference", "tool": "tool", "embedding": "excluded"}
INPUTS, OUTPUTS = "gen_ai.prompt", "gen_ai.completion"
METADATA, TAGS = "langsmith.metadata.", "langsmith.span.tags"
THREAD_KEYS = ("thread_id", "conversation_id", "session_id")


def kind_of(span: Span) -> SpanKind | None:
    """The kind of the run; the outermost chain is the agent, the others repeat their parts."""
    kind = first_text(span.attributes, KIND) if KIND in span.attributes else None
    if kind is None:
        return None
    return KINDS.get(kind, "agent" if span.parent_id is None else "other")


def add(span: Span, facts: SpanFacts) -> None:
    """Adds inputs, outputs and metadata of the run."""
    attributes = span.attributes
    if KIND not in attributes or first_text(attributes, KIND) is None:
        return
    _add_metadata(attributes, facts)
    inputs, outputs = decode(attributes.get(INPUTS)), decode(attributes.get(OUTPUTS))
    if facts.kind == "tool":
        facts.tool_name = facts.tool_name or span.name or None
        add_tool_exchange(facts, inputs, outputs)
    elif facts.kind in ("inference", "agent"):
        facts.input, facts.output = read_exchange(inputs, outputs)
    if facts.kind == "inference":
        answer = read_provider_response(outputs)
        facts.usage = complete(facts.usage, answer.usage)
        facts.finish_reason = facts.finish_reason or answer.finish_reason
        facts.model = answer.model or facts.model
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
        if span.parent_id is not None and span.parent_id not in ids and KIND in span.attributes:
            span.parent_id = None
    return list(spans)


def _add_metadata(attributes: dict[str, Any], facts: SpanFacts) -> None:
    found = {key.removeprefix(METADATA): value for key, value in attributes.items() if key.startswith(METADATA)}
    for key, value in found.items():
        if not key.startswith(("ls_", "LANGSMITH_")):
            facts.metadata.setdefault(key, value)
    facts.conversation_id = facts.conversation_id or first_text(found, *THREAD_KEYS)
    tags = first_text(attributes, TAGS)
    facts.tags += [tag for tag in (tags or "").split(", ") if tag and tag not in facts.tags]


def _unwrap_only(value: Any, key: str) -> Any:
    """The object (also as text) under the only key of an object, else None."""
    if not isinstance(value, dict) or list(value) != [key]:
        return None
    inner = unwrap_text(value[key])
    return inner if isinstance(inner, dict) else None
