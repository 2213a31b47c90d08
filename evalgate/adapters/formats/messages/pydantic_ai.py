"""Reads messages of Pydantic AI: requests and responses, in parts with a `part_kind`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest, ToolResult, written
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import FieldError, listing, required_text, text, time
from evalgate.adapters.formats.messages.blocks import arguments
from evalgate.adapters.formats.messages.message_builder import MessageBuilder
from evalgate.adapters.formats.messages.message_lists import do_each, read_each

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role

KINDS = ("request", "response")
CALLS = ("tool-call", "builtin-tool-call")


def is_shape(value: Any) -> bool:
    """True for a request or a response."""
    return type(value) is dict and value.get("kind") in KINDS and type(value.get("parts")) is list


def read(value: Any) -> list[RawMessage]:
    """One request or response, or a list of them; changed instructions become a system message."""
    told: list[str | None] = [None]

    def read_one(recorded: dict[str, Any]) -> list[RawMessage]:
        instructions = text(recorded.get("instructions"), "instructions")
        if not instructions or instructions == told[-1]:
            return read_message(recorded)
        told.append(instructions)
        return [RawMessage("system", instructions), *read_message(recorded)]

    return read_each(value, read_one)


def read_message(recorded: dict[str, Any]) -> list[RawMessage]:
    """One request or response without its instructions."""
    parts = listing(recorded.get("parts"), "parts")
    when = time(recorded.get("timestamp"), "timestamp")
    if recorded.get("kind") == "response":
        return _response(recorded, parts, when)
    said: list[RawMessage] = []
    do_each(parts, "parts", lambda part: _add_request_part(said, part, when))
    return said


def _add_request_part(said: list[RawMessage], part: dict[str, Any], when: str | None) -> None:
    kind = required_text(part.get("part_kind"), "part_kind")
    when = time(part.get("timestamp"), "timestamp") or when
    tool = text(part.get("tool_name"), "tool_name") or None
    if kind in CALLS:
        raise FieldError("part_kind", "is no part of a request")
    if kind == "tool-return" or (kind == "retry-prompt" and tool):
        answer = ToolResult(
            text(part.get("tool_call_id"), "tool_call_id") or None,
            tool,
            _told(part.get("content")) if kind == "retry-prompt" else part.get("content"),
            kind == "retry-prompt" or part.get("outcome") == "failed",
        )
        said.append(RawMessage("tool", answers=[answer], timestamp=when))
        return
    role: Role = "system" if kind == "system-prompt" else "user"
    if kind == "retry-prompt":
        said.append(RawMessage(role, _told(part.get("content")), timestamp=when))
        return
    content, parts = read_content(_typed(part.get("content")), "content")
    said.append(RawMessage(role, content, parts=parts, timestamp=when))


def _typed(content: Any) -> Any:
    """Copies `kind` to `type` in a user's images and files."""
    if type(content) is not list:
        return content
    return [{"type": item.get("kind") or "text", **item} if type(item) is dict else item for item in content]


def _told(content: Any) -> str | None:
    """The reason for a retry: text, or a list of validation errors as JSON text."""
    return content if content is None or type(content) is str else written(content)


def _response(recorded: dict[str, Any], parts: list[Any], when: str | None) -> list[RawMessage]:
    model = text(recorded.get("model_name"), "model_name")
    finished = text(recorded.get("finish_reason"), "finish_reason")
    spoken = MessageBuilder(RawMessage("assistant", model=model, finish_reason=finished, timestamp=when))
    do_each(parts, "parts", lambda part: _add_response_part(spoken, part))
    return spoken.messages()


def _add_response_part(spoken: MessageBuilder, part: dict[str, Any]) -> None:
    kind = required_text(part.get("part_kind"), "part_kind")
    tool = text(part.get("tool_name"), "tool_name") or None
    call_id = text(part.get("tool_call_id"), "tool_call_id") or None
    if kind == "builtin-tool-return":
        spoken.answer(ToolResult(call_id, tool, part.get("content")))
        return
    spoken.pause()
    if kind in CALLS or (tool is not None and "args" in part):
        spoken.call(
            ToolRequest(call_id, required_text(tool, "tool_name"), arguments(part.get("args"), "args"))
        )
    elif kind == "text":
        spoken.text(text(part.get("content"), "content"))
    elif kind == "thinking":
        spoken.thought(text(part.get("content"), "content"))
    else:
        spoken.other(kind)
