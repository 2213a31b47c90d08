"""Reads salvo's traces: a stored run, or the view that salvo's (and EvalGate's) expressions query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.conversation import Conversation, first_instructions
from evalgate.adapters.formats.core.build.listed_calls import add_made
from evalgate.adapters.formats.core.build.run_end import handed_in, incomplete, missing_results
from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    count,
    flag,
    identifier,
    listing,
    mapping,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.format import Identity, Reader, identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import (
    finish_reason,
    recorded_cost,
    recorded_scores,
    recorded_seconds,
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
    said, made, facts = (
        ("turns", "tool_calls", "metadata") if is_view else ("messages", "tool_calls_made", "")
    )
    conversation = _converse(listing(document.get(said), said), said)
    add_made(conversation, listing(document.get(made), made), made)
    began = "started_at" if is_view else "timestamp"
    beside = mapping(document.get(facts), facts) if is_view else document
    prefix = f"{facts}." if facts else ""
    trace = Trace(
        text(beside.get("trace_id"), f"{prefix}trace_id") or "",
        conversation.messages,
        conversation.calls,
        conversation.response(),
        scenario_id=identifier(beside.get("scenario_id"), f"{prefix}scenario_id"),
        trial=count(beside.get("trial"), f"{prefix}trial"),
        provider=text(beside.get("provider"), f"{prefix}provider"),
        model=text(beside.get("model"), f"{prefix}model"),
        finish_reason=finish_reason(text(beside.get("finish_reason"), f"{prefix}finish_reason")),
        started_at=time(beside.get(began), f"{prefix}{began}"),
        system_instructions=first_instructions(conversation.messages),
        warnings=[*conversation.warnings(), *missing_results(conversation.calls)],
    )
    if not (trace.messages or trace.tool_calls):
        raise FieldError(said, "is empty")
    _add_response(trace, document, is_view=is_view)
    _add_figures(trace, beside, prefix)
    if flag(document.get("max_turns_hit"), "max_turns_hit"):
        incomplete(trace, "a limit on turns ended the run before the agent did")
    return trace


def identify(record: Any) -> Identity:
    """Scenario id and trial from the metadata of a view."""
    metadata = record.get("metadata") if isinstance(record, dict) else None
    if not isinstance(metadata, dict):
        return None, None
    return identity(metadata.get("scenario_id"), metadata.get("trial"))


def _converse(turns: list[Any], path: str) -> Conversation:
    conversation = Conversation()
    for number, value in enumerate(turns):
        try:
            _add_turn(conversation, mapping(value, ""))
        except FieldError as error:
            raise error.under(f"{path}[{number}]") from None
    return conversation


def _add_turn(conversation: Conversation, turn: dict[str, Any]) -> None:
    role = ROLES.get(required_text(turn.get("role"), "role"))
    if role is None:
        raise FieldError("role", "is none of system, user, assistant, tool, tool_result")
    content, parts = read_content(turn.get("content"), "content")
    if role == "tool":
        call_id, tool = (
            text(turn.get("tool_call_id"), "tool_call_id"),
            text(turn.get("tool_name"), "tool_name"),
        )
        message, _ = conversation.answer(call_id, tool, content)
    else:
        message = conversation.say(role, content)
        for number, value in enumerate(listing(turn.get("tool_calls"), "tool_calls")):
            _ask(conversation, message, mapping(value, f"tool_calls[{number}]"), f"tool_calls[{number}]")
    message["parts"] = parts
    message["timestamp"] = time(turn.get("timestamp"), "timestamp")


def _ask(conversation: Conversation, message: Message, value: dict[str, Any], path: str) -> ToolCall:
    name = required_text(value.get("name"), f"{path}.name")
    call_id = text(value.get("id"), f"{path}.id") or None
    return conversation.call(message, call_id, name, read_arguments(value.get("arguments")))


def _add_response(trace: Trace, document: dict[str, Any], *, is_view: bool) -> None:
    if is_view:
        response = mapping(document.get("response"), "response")
        answer, ended = text(response.get("content"), "response.content"), response.get("finish_reason")
        trace.finish_reason = trace.finish_reason or finish_reason(text(ended, "response.finish_reason"))
    else:
        answer = text(document.get("final_content"), "final_content")
    if answer != trace.response["content"]:
        handed_in(trace, answer)


def _add_figures(trace: Trace, beside: dict[str, Any], prefix: str) -> None:
    trace.usage = _usage(beside, prefix)
    trace.cost, warnings = recorded_cost(beside.get("cost_usd"), trace.usage, f"{prefix}cost_usd")
    trace.warnings += warnings
    trace.latency = _latency(beside, prefix)
    if prefix:
        trace.evaluations = recorded_scores(beside.get("evaluations"), f"{prefix}evaluations")
        trace.metadata = mapping(beside.get("custom"), f"{prefix}custom")


def _usage(beside: dict[str, Any], prefix: str) -> Usage:
    """Zeros in all counts mean that tokens were not counted."""
    usage = unknown_usage()
    usage["input_tokens"] = count(beside.get("input_tokens"), f"{prefix}input_tokens")
    usage["output_tokens"] = count(beside.get("output_tokens"), f"{prefix}output_tokens")
    total = count(beside.get("total_tokens"), f"{prefix}total_tokens")
    usage["total_tokens"] = total_tokens(usage) if total is None else total
    if not any((usage["input_tokens"], usage["output_tokens"], usage["total_tokens"])):
        return unknown_usage()
    usage["source"] = "recorded_total"
    return usage


def _latency(beside: dict[str, Any], prefix: str) -> Latency:
    if beside.get("latency_ms") is not None:
        return {"total_ms": amount(beside["latency_ms"], f"{prefix}latency_ms"), "source": "recorded"}
    return recorded_seconds(beside.get("latency_seconds"), f"{prefix}latency_seconds")


READER = Reader(build=build, identify=identify)
