"""Reads salvo's traces: a stored run, or the view that salvo's (and EvalGate's) expressions query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.call_arguments import read_arguments
from evalgate.adapters.formats.core.builder.conversation import Conversation, get_instructions
from evalgate.adapters.formats.core.builder.listed_calls import add_listed_calls
from evalgate.adapters.formats.core.builder.run import mark_incomplete, set_final_response, warn_of_missing_results
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    count,
    do_each,
    flag,
    identifier,
    listing,
    mapping,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import (
    finish_reason,
    read_cost_usd,
    read_latency_seconds,
    read_scores,
    total_tokens,
)
from evalgate.models.trace.trace import Latency, Trace, Usage, unknown_usage

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, Role, ToolCall

ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "tool_result": "tool",
}


def build(record: Any) -> Trace:
    """Builds one run from a stored run or a view."""
    require_shallow(record)
    document = mapping(record, "")
    is_view = "turns" in document
    messages_key, calls_key, fields_key = (
        ("turns", "tool_calls", "metadata") if is_view else ("messages", "tool_calls_made", "")
    )
    conversation = _build_conversation(listing(document.get(messages_key), messages_key), messages_key)
    add_listed_calls(conversation, listing(document.get(calls_key), calls_key), calls_key)
    time_key = "started_at" if is_view else "timestamp"
    fields = mapping(document.get(fields_key), fields_key) if is_view else document
    prefix = f"{fields_key}." if fields_key else ""
    trace = Trace(
        text(fields.get("trace_id"), f"{prefix}trace_id") or "",
        conversation.messages,
        conversation.calls,
        conversation.get_response(),
        scenario_id=identifier(fields.get("scenario_id"), f"{prefix}scenario_id"),
        trial=count(fields.get("trial"), f"{prefix}trial"),
        provider=text(fields.get("provider"), f"{prefix}provider"),
        model=text(fields.get("model"), f"{prefix}model"),
        finish_reason=finish_reason(text(fields.get("finish_reason"), f"{prefix}finish_reason")),
        started_at=time(fields.get(time_key), f"{prefix}{time_key}"),
        system_instructions=get_instructions(conversation.messages),
        warnings=[*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)],
    )
    if not (trace.messages or trace.tool_calls):
        raise FieldError(messages_key, "is empty")
    _add_response(trace, document, is_view=is_view)
    _add_usage(trace, fields, prefix)
    if flag(document.get("max_turns_hit"), "max_turns_hit"):
        mark_incomplete(trace, "the turn limit ended the run before the agent finished")
    return trace


def identify(record: Any) -> Identity:
    """Scenario id and trial from the metadata of a view."""
    metadata = record.get("metadata") if isinstance(record, dict) else None
    if not isinstance(metadata, dict):
        return None, None
    return build_identity(metadata.get("scenario_id"), metadata.get("trial"))


def _build_conversation(turns: list[Any], path: str) -> Conversation:
    conversation = Conversation()
    do_each(turns, path, lambda turn: _add_turn(conversation, turn))
    return conversation


def _add_turn(conversation: Conversation, turn: dict[str, Any]) -> None:
    role = ROLES.get(required_text(turn.get("role"), "role"))
    if role is None:
        raise FieldError("role", "is not one of system, user, assistant, tool, tool_result")
    content, parts = read_content(turn.get("content"), "content")
    if role == "tool":
        call_id, tool = (
            text(turn.get("tool_call_id"), "tool_call_id"),
            text(turn.get("tool_name"), "tool_name"),
        )
        message, _ = conversation.add_result(call_id, tool, content)
    else:
        message = conversation.add_message(role, content)
        for number, value in enumerate(listing(turn.get("tool_calls"), "tool_calls")):
            _add_call(conversation, message, mapping(value, f"tool_calls[{number}]"), f"tool_calls[{number}]")
    message["parts"] = parts
    message["timestamp"] = time(turn.get("timestamp"), "timestamp")


def _add_call(conversation: Conversation, message: Message, value: dict[str, Any], path: str) -> ToolCall:
    name = required_text(value.get("name"), f"{path}.name")
    call_id = text(value.get("id"), f"{path}.id") or None
    return conversation.add_call(message, call_id, name, read_arguments(value.get("arguments")))


def _add_response(trace: Trace, document: dict[str, Any], *, is_view: bool) -> None:
    if is_view:
        response = mapping(document.get("response"), "response")
        answer, ended = text(response.get("content"), "response.content"), response.get("finish_reason")
        trace.finish_reason = trace.finish_reason or finish_reason(text(ended, "response.finish_reason"))
    else:
        answer = text(document.get("final_content"), "final_content")
    if answer != trace.response["content"]:
        set_final_response(trace, answer)


def _add_usage(trace: Trace, fields: dict[str, Any], prefix: str) -> None:
    trace.usage = _read_usage(fields, prefix)
    trace.cost, warnings = read_cost_usd(fields.get("cost_usd"), trace.usage, f"{prefix}cost_usd")
    trace.warnings += warnings
    trace.latency = _read_latency(fields, prefix)
    if prefix:
        trace.evaluations = read_scores(fields.get("evaluations"), f"{prefix}evaluations")
        trace.metadata = mapping(fields.get("custom"), f"{prefix}custom")


def _read_usage(fields: dict[str, Any], prefix: str) -> Usage:
    """Zeros in all counts mean that tokens were not counted."""
    usage = unknown_usage()
    usage["input_tokens"] = count(fields.get("input_tokens"), f"{prefix}input_tokens")
    usage["output_tokens"] = count(fields.get("output_tokens"), f"{prefix}output_tokens")
    total = count(fields.get("total_tokens"), f"{prefix}total_tokens")
    usage["total_tokens"] = total_tokens(usage) if total is None else total
    if not any((usage["input_tokens"], usage["output_tokens"], usage["total_tokens"])):
        return unknown_usage()
    usage["source"] = "recorded_total"
    return usage


def _read_latency(fields: dict[str, Any], prefix: str) -> Latency:
    if fields.get("latency_ms") is not None:
        return {"total_ms": amount(fields["latency_ms"], f"{prefix}latency_ms"), "source": "recorded"}
    return read_latency_seconds(fields.get("latency_seconds"), f"{prefix}latency_seconds")


TURN_FIELDS = frozenset({"content", "tool_calls", "usage", "metadata"})
SHAPES = (Shape(("turns", EACH), TURN_FIELDS), Shape(("messages", EACH), TURN_FIELDS))
READER = Reader(build=build, identify=identify, shapes=SHAPES)
