"""Reads messages of Pydantic AI: requests and responses, in parts with a `part_kind`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import FieldError, do_each, listing, required_text, text, time
from evalgate.adapters.formats.core.strict_json import encode_text
from evalgate.adapters.formats.messages.blocks import MessageBuilder, check_arguments, read_each

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role

KINDS = ("request", "response")
CALLS = ("tool-call", "builtin-tool-call")


def is_shape(value: Any) -> bool:
    """True for a request or a response."""
    return type(value) is dict and value.get("kind") in KINDS and type(value.get("parts")) is list


def read_messages(value: Any) -> list[RawMessage]:
    """One request or response, or a list of them; changed instructions become a system message."""
    seen_instructions: list[str | None] = [None]

    def read_one(recorded: dict[str, Any]) -> list[RawMessage]:
        instructions = text(recorded.get("instructions"), "instructions")
        if not instructions or instructions == seen_instructions[-1]:
            return read_message(recorded)
        seen_instructions.append(instructions)
        return [RawMessage("system", instructions), *read_message(recorded)]

    return read_each(value, read_one)


def read_message(recorded: dict[str, Any]) -> list[RawMessage]:
    """One request or response without its instructions."""
    parts = listing(recorded.get("parts"), "parts")
    timestamp = time(recorded.get("timestamp"), "timestamp")
    if recorded.get("kind") == "response":
        return _read_response(recorded, parts, timestamp)
    messages: list[RawMessage] = []
    do_each(parts, "parts", lambda part: _add_request_part(messages, part, timestamp))
    return messages


def _add_request_part(messages: list[RawMessage], part: dict[str, Any], timestamp: str | None) -> None:
    kind = required_text(part.get("part_kind"), "part_kind")
    timestamp = time(part.get("timestamp"), "timestamp") or timestamp
    tool = text(part.get("tool_name"), "tool_name") or None
    if kind in CALLS:
        raise FieldError("part_kind", "is not part of a request")
    if kind == "tool-return" or (kind == "retry-prompt" and tool):
        answer = ToolResult(
            text(part.get("tool_call_id"), "tool_call_id") or None,
            tool,
            encode_text(part.get("content")) if kind == "retry-prompt" else part.get("content"),
            kind == "retry-prompt" or part.get("outcome") == "failed",
        )
        messages.append(RawMessage("tool", answers=[answer], timestamp=timestamp))
        return
    role: Role = "system" if kind == "system-prompt" else "user"
    if kind == "retry-prompt":
        messages.append(RawMessage(role, encode_text(part.get("content")), timestamp=timestamp))
        return
    content, parts = read_content(_add_content_types(part.get("content")), "content")
    messages.append(RawMessage(role, content, parts=parts, timestamp=timestamp))


def _add_content_types(content: Any) -> Any:
    """Copies `kind` to `type` in a user's images and files."""
    if type(content) is not list:
        return content
    return [{"type": item.get("kind") or "text", **item} if type(item) is dict else item for item in content]


def _read_response(recorded: dict[str, Any], parts: list[Any], timestamp: str | None) -> list[RawMessage]:
    model = text(recorded.get("model_name"), "model_name")
    finished = text(recorded.get("finish_reason"), "finish_reason")
    builder = MessageBuilder(RawMessage("assistant", model=model, finish_reason=finished, timestamp=timestamp))
    do_each(parts, "parts", lambda part: _add_response_part(builder, part))
    return builder.build_messages()


def _add_response_part(builder: MessageBuilder, part: dict[str, Any]) -> None:
    kind = required_text(part.get("part_kind"), "part_kind")
    tool = text(part.get("tool_name"), "tool_name") or None
    call_id = text(part.get("tool_call_id"), "tool_call_id") or None
    if kind == "builtin-tool-return":
        builder.add_result(ToolResult(call_id, tool, part.get("content")))
        return
    builder.start_after_results()
    if kind in CALLS or (tool is not None and "args" in part):
        builder.add_call(
            ToolRequest(call_id, required_text(tool, "tool_name"), check_arguments(part.get("args"), "args"))
        )
    elif kind == "text":
        builder.add_text(text(part.get("content"), "content"))
    elif kind == "thinking":
        builder.add_reasoning(text(part.get("content"), "content"))
    else:
        builder.add_other(kind)
