"""Reads salvo's traces: a stored run, or the view that salvo's (and EvalGate's) expressions query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import Conversation, get_instructions, read_arguments
from evalgate.adapters.formats.core.builder.run import (
    build_trace,
    identify_by,
    open_record,
    set_cost,
    set_final_response,
)
from evalgate.adapters.formats.core.builder.run_end import TURNS, mark_stopped
from evalgate.adapters.formats.core.builder.side_fields import add_listed_calls, read_latency_fields
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    count,
    dict_or_empty,
    do_each,
    filled_text,
    flag,
    identifier,
    listing,
    mapping,
    prefix_errors,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape
from evalgate.adapters.formats.core.usage import TokenTable, finish_reason, read_finish_reason, read_scores
from evalgate.models.trace.trace import Trace, unknown_usage

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role

ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "tool_result": "tool",
}


VIEW_KEYS, STORED_KEYS = ("turns", "tool_calls", "metadata"), ("messages", "tool_calls_made", "")
SHARED: dict[str, Any] = {
    "trace_id": text,
    "scenario_id": identifier,
    "trial": count,
    "provider": text,
    "model": text,
    "finish_reason": read_finish_reason,
}
RUN, STORED_RUN = FieldTable(**SHARED, started_at=time), FieldTable(**SHARED, started_at=(time, "timestamp"))
CALL = FieldTable(id=filled_text, name=required_text, arguments=lambda value, _: read_arguments(value))
USAGE = TokenTable("plain", input_tokens="input_tokens", output_tokens="output_tokens", total_tokens="total_tokens")


def build(record: Any) -> Trace:
    """Builds one run from a stored run or a view."""
    document = open_record(record)
    is_view = "turns" in document
    messages_key, calls_key, fields_key = VIEW_KEYS if is_view else STORED_KEYS
    conversation = Conversation()
    turns = listing(document.get(messages_key), messages_key)
    do_each(turns, messages_key, lambda turn: _add_turn(conversation, turn))
    add_listed_calls(conversation, listing(document.get(calls_key), calls_key), calls_key)
    fields = mapping(document.get(fields_key), fields_key) if is_view else document
    table = RUN if is_view else STORED_RUN
    trace = build_trace(
        conversation, system_instructions=get_instructions(conversation.messages), **table.read(fields, fields_key)
    )
    if not (trace.messages or trace.tool_calls):
        raise FieldError(messages_key, "is empty")
    _add_response(trace, document, is_view=is_view)
    _add_usage(trace, fields, f"{fields_key}." if fields_key else "")
    if flag(document.get("max_turns_hit"), "max_turns_hit"):
        mark_stopped(trace, TURNS)
    return trace


def identify(record: Any) -> Identity:
    """Scenario id and trial from the metadata of a view."""
    return identify_by("scenario_id", "trial")(dict_or_empty(record).get("metadata"))


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
        for call in CALL.read_each(turn.get("tool_calls"), "tool_calls"):
            conversation.add_call(message, call["id"], call["name"], call["arguments"])
    message["parts"] = parts
    message["timestamp"] = time(turn.get("timestamp"), "timestamp")


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
    with prefix_errors(prefix.removesuffix(".")):
        trace.usage = USAGE.read_if_counted(fields, "") or unknown_usage()
        trace.latency = read_latency_fields(fields)
        if prefix:
            trace.evaluations = read_scores(fields.get("evaluations"), "evaluations")
            trace.metadata = mapping(fields.get("custom"), "custom")
    set_cost(trace, fields.get("cost_usd"), f"{prefix}cost_usd")


TURN_FIELDS = frozenset({"content", "tool_calls", "usage", "metadata"})
SHAPES = (Shape(("turns", EACH), TURN_FIELDS), Shape(("messages", EACH), TURN_FIELDS))
READER = Reader(build=build, identify=identify, shapes=SHAPES)
