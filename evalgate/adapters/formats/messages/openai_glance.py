"""Checks quickly whether messages of the OpenAI chat shape are plain, like `native.glance` for native ones.

For a plain conversation it returns the facts that most checks need; `messages.openai.read_conversation`
builds the messages when they are needed. It also reads every conversation that is not plain.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.unread_calls import ARGUMENT_KEYS, JSON_STARTS, NAME_KEYS, PRINTED
from evalgate.adapters.formats.core.content import may_hold_calls, read_plain_content
from evalgate.adapters.formats.core.not_plain import NotPlain
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason
from evalgate.adapters.formats.messages.openai import read_conversation
from evalgate.errors import TraceError
from evalgate.models.trace.glance import Glance

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, Response, ToolCall

MOST = 10_000
"""A conversation with more messages or calls is not plain."""
OF_MESSAGE = 2
"""The number of fields of nearly all messages: role and content."""
OF_RESULT, OF_CALL, OF_FUNCTION = 3, 3, 2
"""The same of a result, of a call and of its function."""
CALL_FIELDS = frozenset({"id", "type", "function", "index"})
BARE_FIELDS = frozenset({"id", "type", "name", "arguments", "index"})
TEXTS = ("name", "reasoning_content", "finish_reason")
MESSAGE_FIELDS = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "annotations", "audio", *TEXTS}
)
RESULT_FIELDS = frozenset({"role", "content", "tool_call_id", "name"})
"""Other fields may hold calls: the full reader looks into them."""


def glance_at_chat(messages: Any) -> Glance | None:
    """The glance at a plain conversation; None if the careful reader has to read it."""
    if type(messages) is not list or not 0 < len(messages) <= MOST:
        return None
    try:
        return _look_at(messages)
    except (NotPlain, LookupError, TypeError, TraceError):
        return None


# As in `native.glance`, the checks that nearly every message needs are inlined for speed.
def _look_at(messages: list[dict[str, Any]]) -> Glance:  # noqa: C901, PLR0912
    called: list[str] = []
    waiting: set[str] = set()
    turns, answer, answered, instructions, opening, empty = 0, None, None, None, None, None
    for index, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        if type(content) is not str and content is not None:
            content = read_plain_content(content)
        if role == "tool":
            waiting.remove(message["tool_call_id"])
            if len(message) != OF_RESULT or "content" not in message:
                _look_at_result(message)
            continue
        if content and "(" in content and PRINTED in content:
            raise NotPlain
        if role == "assistant":
            if content:
                answer, answered = index, content
            elif content is not None and not message.get("tool_calls"):
                empty = index
            calls = message.get("tool_calls")
            if len(message) != OF_MESSAGE + (calls is not None) or "content" not in message:
                _look_at_rest(message, content)
            if calls is not None:
                _look_at_calls(calls, called, waiting)
            continue
        is_bare = len(message) == OF_MESSAGE and "content" in message
        if not is_bare and (type(message.get("name", "")) is not str or not MESSAGE_FIELDS.issuperset(message)):
            raise NotPlain
        if role == "user":
            turns += 1
            opening = opening or content
        elif role != "system":
            raise NotPlain
        elif not index:
            instructions = content
    if waiting or len(called) > MOST or "content" not in messages[0]:
        raise NotPlain
    if answer is None and empty is not None:
        answer, answered = empty, ""
    reason = None if answer is None else finish_reason(messages[answer].get("finish_reason"))
    response: Response = {"content": answered, "finish_reason": reason, "message_index": answer}
    read = partial(_read_messages_and_calls, messages)
    return Glance(called, len(messages), turns, response, instructions, read, messages, opening)


def _look_at_rest(message: dict[str, Any], content: Any) -> None:
    """Checks fields that few assistant messages have."""
    if not MESSAGE_FIELDS.issuperset(message):
        raise NotPlain
    for name in TEXTS:
        value = message.get(name)
        if value is not None and (type(value) is not str or value.startswith(JSON_STARTS) or PRINTED in value):
            raise NotPlain
    if not message.get("tool_calls") and finish_reason(message.get("finish_reason")) == "tool_calls":
        raise NotPlain
    if message.get("annotations") or message.get("audio"):
        raise NotPlain  # they may hold calls
    if message.get("function_call") is not None or (content is None and message.get("refusal") is not None):
        raise NotPlain


def _look_at_calls(calls: Any, called: list[str], waiting: set[str]) -> None:
    """Checks the calls of a message and adds them to those that wait for results."""
    if type(calls) is not list:
        raise NotPlain
    for call in calls:
        call_id, function = call["id"], call.get("function")
        if function is None:  # some recorders omit it around name and arguments
            _look_at_bare_call(call)
            function = call
        elif len(function) != OF_FUNCTION or len(call) != OF_CALL or call.get("type") != "function":
            _look_at_call(call, function)
        name, arguments = function["name"], function["arguments"]
        if type(call_id) is not str or not call_id or call_id in waiting or type(name) is not str or not name:
            raise NotPlain
        if type(arguments) is not str:
            if type(arguments) is not dict:
                raise NotPlain
            for value in arguments.values():
                if type(value) is not str and (type(value) is dict or type(value) is list):
                    require_shallow(arguments)
                    break
        waiting.add(call_id)
        called.append(name)


def _look_at_result(message: dict[str, Any]) -> None:
    """Checks a result with other fields than role, id and content."""
    name = message.get("name")
    if (type(name) is not str and name is not None) or not RESULT_FIELDS.issuperset(message):
        raise NotPlain


def _look_at_call(call: dict[str, Any], function: dict[str, Any]) -> None:
    """Checks a call with other fields than id, type and function."""
    if len(function) != OF_FUNCTION or not CALL_FIELDS.issuperset(call) or type(call.get("type", "")) is not str:
        raise NotPlain


def _look_at_bare_call(call: dict[str, Any]) -> None:
    """Refuses other fields that may name a tool or hold a call."""
    if type(call.get("type", "")) is not str:
        raise NotPlain
    for name, value in call.items():
        if name not in BARE_FIELDS and (name in NAME_KEYS or name in ARGUMENT_KEYS or may_hold_calls(value)):
            raise NotPlain


def _read_messages_and_calls(messages: list[Any]) -> tuple[list[Message], list[ToolCall]]:
    conversation = read_conversation(messages, "messages")
    return conversation.messages, conversation.calls
