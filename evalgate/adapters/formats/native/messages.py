"""Reads messages and tool calls of a native trace; joins them unless the full form lists joined calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import Conversation, mark_failed
from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    count,
    flag,
    listing,
    required_text,
    text,
    time,
    whole_number,
)
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import to_milliseconds
from evalgate.adapters.formats.native.calls import read_calls
from evalgate.adapters.formats.native.parts import read_finish_reason, read_free_mappings

if TYPE_CHECKING:
    from evalgate.adapters.formats.native.unknown_fields import UnknownFields
    from evalgate.models.trace.trace import Message, Role, ToolCall

LEVELS_ABOVE_ARGUMENTS = 5  # trace, messages, message, tool_calls, call
LEVELS_ABOVE_FIELDS = 3  # trace, messages, message
ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
BASIC_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
RESULT_FIELDS = frozenset({"is_error", "exit_code", "duration_seconds"})
MESSAGE_FIELDS = frozenset({"timestamp", "agent", "model", "reasoning", "finish_reason", "parts", "turn", "tool_name"})
IGNORED_FIELDS = frozenset({"index", "finish_reason_raw", "span_id", "copied_context"})
KNOWN = BASIC_FIELDS | RESULT_FIELDS | MESSAGE_FIELDS | IGNORED_FIELDS
CALL_FIELDS = frozenset({"id", "name", "arguments"})


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
        conversation.calls = read_calls(document["tool_calls"], unknown)
    return conversation


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
    message["content"], message["parts"] = read_content(content, "content")


def _add_calls(conversation: Conversation, message: Message, recorded: Any, unknown: UnknownFields) -> None:
    for number, call in enumerate(listing(recorded, "tool_calls")):
        try:
            call_id, name = _id_and_name(call)
            conversation.add_call(message, call_id, name, read_arguments(call.get("arguments"), LEVELS_ABOVE_ARGUMENTS))
        except FieldError as error:
            raise error.with_prefix(f"tool_calls[{number}]") from None
        if len(call) > len(CALL_FIELDS) or not call.keys() <= CALL_FIELDS:
            _note_call_fields(call, unknown)


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
        _note_call_fields(call, unknown)


def _id_and_name(call: Any) -> tuple[str | None, str]:
    if type(call) is not dict:
        raise FieldError("", "is not an object")
    call_id, name = call.get("id"), call.get("name")
    if type(call_id) is str and type(name) is str and name:
        return call_id, name
    return text(call_id, "id"), required_text(name, "name")


def _note_call_fields(call: dict[str, Any], unknown: UnknownFields) -> None:
    for field in sorted(call.keys() - CALL_FIELDS):
        unknown.add("messages[].tool_calls[]", field, CALL_FIELDS)


def _add_result(conversation: Conversation, recorded: dict[str, Any], content: Any, unknown: UnknownFields) -> None:
    """Adds a tool's message of the short form, which has the call's outcome next to its content."""
    call_id, tool = recorded.get("tool_call_id"), recorded.get("name")
    if type(call_id) is not str or type(tool) is not str:
        call_id, tool = text(call_id, "tool_call_id"), text(tool, "name")
    content_text, parts = (content, None) if type(content) is str else read_result_content(content)
    message, call = conversation.add_result(call_id, tool, content_text)
    message["parts"] = parts
    if call is not None and type(content) is dict:
        call["result"] = content
    if len(recorded) > 1 + (content is not None) + (call_id is not None) + (tool is not None):
        if call is not None:
            _add_outcome(call, recorded)
        _add_optional_fields(message, recorded, unknown)


def read_result_content(content: Any) -> tuple[str | None, list[dict[str, Any]] | None]:
    """The text and parts of a result; an object becomes JSON text, so that it can be searched."""
    if type(content) is not dict:
        return read_content(content, "content")
    import orjson

    require_shallow(content, LEVELS_ABOVE_FIELDS)
    return orjson.dumps(content, option=orjson.OPT_SORT_KEYS).decode(), None


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
        message["timestamp"] = time(recorded.get("timestamp"), "timestamp")
        message["agent"] = text(recorded.get("agent"), "agent")
        message["model"] = text(recorded.get("model"), "model")
        message["reasoning"] = text(recorded.get("reasoning"), "reasoning")
        message["finish_reason"] = read_finish_reason(recorded.get("finish_reason"), "finish_reason")
        if recorded.get("tool_name") is not None:
            message["tool_name"] = text(recorded["tool_name"], "tool_name")
        if recorded.get("parts") is not None:
            _add_parts(message, recorded)
        if recorded.get("turn") is not None:
            message["turn"] = count(recorded["turn"], "turn") or 0
    if not KNOWN.issuperset(recorded):
        for field in sorted(recorded.keys() - KNOWN):
            require_shallow(recorded[field], LEVELS_ABOVE_FIELDS)
            unknown.add("messages[]", field, KNOWN)


def _add_parts(message: Message, recorded: dict[str, Any]) -> None:
    message["parts"] = read_free_mappings(recorded["parts"], "parts")
    if "content" not in recorded:
        message["content"], _ = read_content(recorded["parts"], "parts")
