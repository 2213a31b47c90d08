"""OpenAI chat recordings: a list of messages, `{"messages": [...]}`, a raw completion, or lines of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.trace_formats.conversation import Conversation, first_instructions
from evalgate.adapters.trace_formats.fields import (
    FieldError,
    amount,
    identifier,
    listing,
    mapping,
    text,
    whole,
)
from evalgate.adapters.trace_formats.figures import (
    finish_reason,
    provider_usage,
    recorded_cost,
    recorded_scores,
    recorded_seconds,
)
from evalgate.adapters.trace_formats.openai_messages import add_message, is_message, read_messages
from evalgate.adapters.trace_formats.shapes import Identity, Reader, identity
from evalgate.adapters.trace_formats.strict_json import require_shallow
from evalgate.models.trace import Latency, Trace, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

OWN_SCHEMA = "evalgate."
SCENARIO_KEY = "evalgate.scenario.id"


def claims(value: Any) -> bool:
    """True for one conversation or a list of them."""
    return _is_conversation(value) or (isinstance(value, list) and bool(value) and _is_conversation(value[0]))


def split(document: Any) -> Sequence[Any]:
    """The conversations of a document."""
    return [document] if _is_conversation(document) or not isinstance(document, list) else document


def build(record: Any) -> Trace:
    """One conversation, with the figures that stand beside it."""
    require_shallow(record)
    beside = {"messages": record} if isinstance(record, list) else mapping(record, "")
    conversation = read_messages(listing(beside.get("messages"), "messages"), "messages")
    finished = _add_choice(conversation, beside)
    if not conversation.messages:
        raise FieldError("messages", "is missing or empty")
    trace = Trace(
        text(beside.get("id"), "id") or "",
        conversation.messages,
        conversation.calls,
        conversation.response(),
        model=text(beside.get("model"), "model"),
        provider=text(beside.get("provider"), "provider"),
        finish_reason=finished,
        system_instructions=first_instructions(conversation.messages),
        tool_definitions=_tools(beside.get("tools")),
        metadata=mapping(beside.get("metadata"), "metadata"),
        warnings=conversation.warnings(),
    )
    trace.scenario_id = identifier(_scenario(beside), "scenario_id")
    trace.trial = whole(beside.get("trial"), "trial")
    _add_figures(trace, beside)
    return trace


def identify(record: Any) -> Identity:
    """Ids that stand beside the messages."""
    return identity(_scenario(record), record.get("trial")) if isinstance(record, dict) else (None, None)


def _is_conversation(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and is_message(value[0])
    if not isinstance(value, dict) or str(value.get("schema", "")).startswith(OWN_SCHEMA):
        return False
    messages, choices = value.get("messages"), value.get("choices")
    if isinstance(messages, list) and "simulations" not in value:
        return not messages or is_message(messages[0])
    return (
        isinstance(choices, list)
        and bool(choices)
        and isinstance(choices[0], dict)
        and "message" in choices[0]
    )


def _scenario(beside: dict[str, Any]) -> Any:
    metadata = beside.get("metadata")
    named = metadata.get(SCENARIO_KEY) if isinstance(metadata, dict) else None
    return beside.get("scenario_id") if named is None else named


def _add_choice(conversation: Conversation, beside: dict[str, Any]) -> str | None:
    """The answer of a raw completion comes after its request's messages; returns why it ended."""
    finished = finish_reason(text(beside.get("finish_reason"), "finish_reason"))
    choices = listing(beside.get("choices"), "choices")
    if choices:
        choice = mapping(choices[0], "choices[0]")
        try:
            add_message(conversation, choice.get("message"))
        except FieldError as error:
            raise error.under("choices[0].message") from None
        finished = finish_reason(text(choice.get("finish_reason"), "choices[0].finish_reason")) or finished
        conversation.messages[-1]["finish_reason"] = finished
    return finished


def _add_figures(trace: Trace, beside: dict[str, Any]) -> None:
    trace.usage = provider_usage(beside.get("usage"), "usage")
    trace.cost, warnings = _cost(beside, trace.usage)
    trace.warnings += warnings
    trace.latency = _latency(beside)
    trace.evaluations = recorded_scores(beside.get("scores"), "scores")


def _cost(beside: dict[str, Any], usage: Usage) -> Any:
    key = "cost_usd" if beside.get("cost_usd") is not None else "cost"
    value = beside.get(key)
    if isinstance(value, dict):
        key, value = "cost.usd", value.get("usd")
    return recorded_cost(value, usage, key)


def _latency(beside: dict[str, Any]) -> Latency:
    """Only keys that name their unit: a bare `latency` could be anything."""
    if beside.get("latency_ms") is not None:
        return {"total_ms": amount(beside["latency_ms"], "latency_ms"), "source": "recorded"}
    return recorded_seconds(beside.get("latency_seconds"), "latency_seconds")


def _tools(value: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, tool in enumerate(listing(value, "tools")):
        outer = mapping(tool, f"tools[{number}]")
        inner = mapping(outer.get("function", outer), f"tools[{number}].function")
        found.append({key: inner[key] for key in ("name", "description", "parameters") if key in inner})
    return found


READER = Reader(
    name="openai-chat",
    needs='messages with `role` and `content`, as a list or under "messages"',
    claims=claims,
    build=build,
    identify=identify,
    split=split,
)
