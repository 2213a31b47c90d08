"""Reads messages and tool calls of a native trace; joins them unless the full form lists joined calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.call_arguments import read_arguments
from evalgate.adapters.formats.core.builder.conversation import Conversation, mark_failed
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    amount,
    any_value,
    flag,
    listing,
    one_of,
    required_text,
    text,
    time,
    whole_number,
)
from evalgate.adapters.formats.core.strict_json import encode_json, require_shallow
from evalgate.adapters.formats.core.usage import read_finish_reason, to_milliseconds
from evalgate.adapters.formats.native.parts import position, read_error_info, read_mappings

if TYPE_CHECKING:
    from evalgate.adapters.formats.native.parts import UnknownFields
    from evalgate.models.trace.trace import Message, Role, ToolCall

CALL = FieldTable(
    turn=position,
    step=position,
    id=text,
    name=required_text,
    arguments=any_value,
    arguments_raw=text,
    arguments_error=text,
    result=any_value,
    result_text=text,
    status=one_of("ok", "error", "missing"),
    error=read_error_info,
    exit_code=whole_number,
    duration_ms=amount,
    started_at=time,
    requestor=one_of("assistant", "user"),
    agent=text,
)
CALL_KEYS = CALL.keys | {"index", "type", "server", "span_id", "source"}
DETAILS = FieldTable(timestamp=time, agent=text, model=text, reasoning=text, finish_reason=read_finish_reason)
"""Fields that few messages have."""
LEVELS_ABOVE_ARGUMENTS = 5  # trace, messages, message, tool_calls, call
LEVELS_ABOVE_FIELDS = 3  # trace, messages, message
ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
BASIC_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
RESULT_FIELDS = frozenset({"is_error", "exit_code", "duration_seconds"})
MESSAGE_FIELDS = DETAILS.keys | {"parts", "turn", "tool_name"}
IGNORED_FIELDS = frozenset({"index", "finish_reason_raw", "span_id", "copied_context"})
KNOWN = BASIC_FIELDS | RESULT_FIELDS | MESSAGE_FIELDS | IGNORED_FIELDS
REQUEST_FIELDS = frozenset({"id", "name", "arguments"})


def read_conversation(document: dict[str, Any], unknown: UnknownFields) -> Conversation:
    """The messages in order. If the document lists `tool_calls`, these are used and nothing is joined."""
    recorded = document.get("messages")
    if type(recorded) is not list:
        raise FieldError("messages", "is missing" if recorded is None else "is not a list")
    is_joined = document.get("tool_calls") is not None
    conversation = Conversation()
    for number, message in enumerate(recorded):
        try:
            _add_message(conversation, message, unknown, is_joined=is_joined)
        except FieldError as error:
            raise error.with_prefix(f"messages[{number}]") from None
    if is_joined:
        conversation.calls = _read_calls(document["tool_calls"], unknown)
    return conversation


def _read_calls(recorded: Any, unknown: UnknownFields) -> list[ToolCall]:
    """The calls of a full native trace, joined with their results; the index of each is its position in the list."""
    require_shallow(recorded, 1)
    calls: list[Any] = [{"index": index, **call} for index, call in enumerate(CALL.read_each(recorded, "tool_calls"))]
    for call in recorded:
        unknown.check("tool_calls[]", call, CALL_KEYS, 3)
    return calls


def _add_message(conversation: Conversation, recorded: Any, unknown: UnknownFields, *, is_joined: bool) -> None:
    if type(recorded) is not dict:
        raise FieldError("", "is not an object")
    role, content, calls = recorded.get("role"), recorded.get("content"), recorded.get("tool_calls")
    if type(role) is not str or role not in ROLES:
        raise FieldError("role", "is missing" if role is None else "is not one of system, user, assistant, tool")
    if role == "tool" and not is_joined:
        _add_result(conversation, recorded, content, unknown)
        return
    if type(content) is not str and content is not None:
        _add_mixed_content(conversation.add_message(ROLES[role], None), content)
    else:
        conversation.add_message(ROLES[role], content)
    message = conversation.messages[-1]
    if is_joined:
        _add_references(message, recorded, unknown)
    elif calls is not None:
        _add_calls(conversation, message, calls, unknown)
    if len(recorded) > 1 + (content is not None) + (calls is not None):
        _add_optional_fields(message, recorded, unknown)


def _add_mixed_content(message: Message, content: Any) -> None:
    require_shallow(content, LEVELS_ABOVE_FIELDS)
    message["content"], message["parts"] = read_content(content, "content")


def _add_calls(conversation: Conversation, message: Message, recorded: Any, unknown: UnknownFields) -> None:
    for number, call in enumerate(listing(recorded, "tool_calls")):
        try:
            call_id, name = _id_and_name(call)
            conversation.add_call(message, call_id, name, read_arguments(call.get("arguments"), LEVELS_ABOVE_ARGUMENTS))
        except FieldError as error:
            raise error.with_prefix(f"tool_calls[{number}]") from None
        unknown.check("messages[].tool_calls[]", call, REQUEST_FIELDS, LEVELS_ABOVE_ARGUMENTS)


def _add_references(message: Message, recorded: dict[str, Any], unknown: UnknownFields) -> None:
    """Adds the calls of a message in the full form, which lists the joined calls separately."""
    message["tool_call_id"] = text(recorded.get("tool_call_id"), "tool_call_id")
    for number, call in enumerate(listing(recorded.get("tool_calls"), "tool_calls")):
        try:
            call_id, name = _id_and_name(call)
        except FieldError as error:
            raise error.with_prefix(f"tool_calls[{number}]") from None
        require_shallow(call, LEVELS_ABOVE_ARGUMENTS - 1)
        message["tool_calls"].append({"id": call_id, "name": name, "arguments": call.get("arguments")})
        unknown.check("messages[].tool_calls[]", call, REQUEST_FIELDS, LEVELS_ABOVE_ARGUMENTS)


def _id_and_name(call: Any) -> tuple[str | None, str]:
    if type(call) is not dict:
        raise FieldError("", "is not an object")
    call_id, name = call.get("id"), call.get("name")
    if type(call_id) is str and type(name) is str and name:
        return call_id, name
    return text(call_id, "id"), required_text(name, "name")


def _add_result(conversation: Conversation, recorded: dict[str, Any], content: Any, unknown: UnknownFields) -> None:
    """Adds a tool's message of the short form, which has the call's outcome next to its content."""
    call_id, tool = recorded.get("tool_call_id"), recorded.get("name")
    if type(call_id) is not str or type(tool) is not str:
        call_id, tool = text(call_id, "tool_call_id"), text(tool, "name")
    content_text, parts = (content, None) if type(content) is str else _read_result_content(content)
    message, call = conversation.add_result(call_id, tool, content_text)
    message["parts"] = parts
    if call is not None and type(content) is dict:
        call["result"] = content
    if len(recorded) > 1 + (content is not None) + (call_id is not None) + (tool is not None):
        if call is not None:
            _add_outcome(call, recorded)
        _add_optional_fields(message, recorded, unknown)


def _read_result_content(content: Any) -> tuple[str | None, list[dict[str, Any]] | None]:
    """The text and parts of a result; an object becomes JSON text, so that it can be searched."""
    require_shallow(content, LEVELS_ABOVE_FIELDS)
    return (encode_json(content), None) if type(content) is dict else read_content(content, "content")


def _add_outcome(call: ToolCall, recorded: dict[str, Any]) -> None:
    code, seconds, is_error = map(recorded.get, ("exit_code", "duration_seconds", "is_error"))
    if code is not None:
        call["exit_code"] = whole_number(code, "exit_code")
    if seconds is not None:
        call["duration_ms"] = to_milliseconds(amount(seconds, "duration_seconds") or 0.0)
    if is_error is not None and flag(is_error, "is_error"):
        mark_failed(call)


def _add_optional_fields(message: Message, recorded: dict[str, Any], unknown: UnknownFields) -> None:
    """Sets fields that few messages have and notes unknown ones."""
    if message["role"] != "tool" or recorded.get("tool_name") is not None:
        message["name"] = text(recorded.get("name"), "name")
    if not MESSAGE_FIELDS.isdisjoint(recorded):
        message.update(DETAILS.read(recorded))
        if recorded.get("tool_name") is not None:
            message["tool_name"] = text(recorded["tool_name"], "tool_name")
        if recorded.get("parts") is not None:
            _add_parts(message, recorded)
        if recorded.get("turn") is not None:
            message["turn"] = position(recorded["turn"], "turn")
    unknown.check("messages[]", recorded, KNOWN, LEVELS_ABOVE_FIELDS)


def _add_parts(message: Message, recorded: dict[str, Any]) -> None:
    require_shallow(recorded["parts"], LEVELS_ABOVE_FIELDS)
    message["parts"] = read_mappings(recorded["parts"], "parts")
    if "content" not in recorded:
        message["content"], _ = read_content(recorded["parts"], "parts")
