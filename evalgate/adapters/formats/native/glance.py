"""Checks quickly whether the messages of a native trace are plain: nearly all are, and few are read again.

For a plain conversation it returns the facts that most checks need, in a tenth of the time that
`messages.read_conversation` takes, which reads every conversation that is not plain.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import BLANK_CALL, BLANK_MESSAGE, mark_failed
from evalgate.adapters.formats.core.builder.unread_calls import PRINTED
from evalgate.adapters.formats.core.content import read_content, read_plain_content
from evalgate.adapters.formats.core.fields import LARGEST_COUNT, LARGEST_NUMBER
from evalgate.adapters.formats.core.not_plain import NotPlain
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import to_milliseconds
from evalgate.adapters.formats.native.messages import CALL_FIELDS, LEVELS_ABOVE_ARGUMENTS, read_result_content
from evalgate.errors import TraceError
from evalgate.models.trace.glance import Glance

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, Response, ToolCall

MOST = 10_000
"""A conversation with more messages or calls is not plain."""
OF_MESSAGE, OF_RESULT, OF_CALL = 2, 3, len(CALL_FIELDS)
"""The number of fields of each: role and content; a result also has tool_call_id."""


def glance_at(document: dict[str, Any]) -> Glance | None:
    """The glance at a plain conversation; None if the careful reader has to read it."""
    messages = document.get("messages")
    if type(messages) is not list or not 0 < len(messages) <= MOST or "tool_calls" in document:
        return None
    try:
        return _look_at(messages)
    except (NotPlain, LookupError, TypeError, TraceError):
        return None


# Reading spends most of its time here, so the checks that nearly every message needs are inlined.
def _look_at(messages: list[dict[str, Any]]) -> Glance:  # noqa: C901, PLR0912
    called: list[str] = []
    waiting: set[str | None] = set()
    turns, answer, answered, instructions, opening, empty = 0, None, None, None, None, None
    for index, message in enumerate(messages):
        role, content = message["role"], message["content"]
        if role == "tool":
            call_id, seconds = message.get("tool_call_id"), message.get("duration_seconds")
            waiting.remove(call_id)
            is_timed = type(seconds) is float and 0 <= seconds <= LARGEST_NUMBER
            if len(message) != OF_RESULT + is_timed or type(content) is not str or call_id is None:
                _look_at_result(message, content)
            continue
        if type(content) is not str and content is not None:
            content = read_plain_content(content)
        if content and "(" in content and PRINTED in content:
            raise NotPlain
        if role == "assistant":
            if content:
                answer, answered = index, content
            elif content is not None and not message.get("tool_calls"):
                empty = index
            if len(message) != OF_MESSAGE:
                _look_at_calls(message, called, waiting)
        elif content is None or len(message) != OF_MESSAGE:
            raise NotPlain
        elif role == "user":
            turns += 1
            opening = opening or content
        elif role != "system":
            raise NotPlain
        elif not index:
            instructions = content
    if waiting or len(called) > MOST:
        raise NotPlain
    if answer is None and empty is not None:
        answer, answered = empty, ""
    response: Response = {"content": answered, "finish_reason": None, "message_index": answer}
    read = partial(read_plain, messages)
    return Glance(called, len(messages), turns, response, instructions, read, messages, opening)


def _look_at_result(message: dict[str, Any], content: Any) -> None:
    """Checks a result with more fields than text and duration."""
    seconds, code = message.get("duration_seconds"), message.get("exit_code")
    rest = len(message) - OF_MESSAGE - ("tool_call_id" in message)
    if seconds is not None:
        rest -= (type(seconds) is float or type(seconds) is int) and 0 <= seconds <= LARGEST_NUMBER
    if code is not None:
        rest -= type(code) is int and -LARGEST_COUNT <= code <= LARGEST_COUNT
    if rest and rest != (type(message.get("name")) is str) + (type(message.get("is_error")) is bool):
        raise NotPlain
    if type(content) is not str:
        read_result_content(content)


def _look_at_calls(message: dict[str, Any], called: list[str], waiting: set[str | None]) -> None:
    """Checks the calls of an assistant's message and adds them to those that wait for results."""
    calls = message["tool_calls"]
    if type(calls) is not list or len(message) != OF_MESSAGE + 1 or None in waiting:
        raise NotPlain
    for call in calls:
        name, arguments, call_id = call["name"], call["arguments"], call.get("id")
        if type(name) is not str or not name or type(arguments) is not dict or call_id in waiting:
            raise NotPlain
        if type(call_id) is not str or len(call) != OF_CALL:
            _require_alone(call, calls, waiting)
        for value in arguments.values():
            if type(value) is not str and (type(value) is dict or type(value) is list):
                require_shallow(arguments, LEVELS_ABOVE_ARGUMENTS)
                break
        waiting.add(call_id)
        called.append(name)


def _require_alone(call: dict[str, Any], calls: list[Any], waiting: set[str | None]) -> None:
    """Raises NotPlain for a call without an id, unless the next result must belong to it."""
    if call.get("id") is not None or waiting or len(calls) > 1 or not CALL_FIELDS.issuperset(call):
        raise NotPlain


def read_plain(recorded: list[dict[str, Any]]) -> tuple[list[Message], list[ToolCall]]:
    """The same messages and calls as `messages.read_conversation` builds."""
    messages: list[Message] = []
    calls: list[ToolCall] = []
    waiting: dict[str | None, ToolCall] = {}
    turn = step = 0
    for raw in recorded:
        role, content = raw["role"], raw["content"]
        turn += role == "user"
        message: Message = {
            **BLANK_MESSAGE,
            "index": len(messages),
            "turn": turn,
            "role": role,
            "content": content,
            "tool_calls": [],
        }
        messages.append(message)
        if role == "tool":
            _join_result(message, waiting.pop(raw.get("tool_call_id")), raw)
            continue
        if type(content) is not str and content is not None:
            message["content"], message["parts"] = read_content(content, "content")
        if role == "assistant":
            step += 1
            if "tool_calls" in raw:
                for call in _build_calls(message, raw["tool_calls"], len(calls), step):
                    waiting[call["id"]] = call
                    calls.append(call)
    return messages, calls


def _build_calls(message: Message, requests: list[dict[str, Any]], first: int, step: int) -> list[ToolCall]:
    """The calls that a message requests."""
    references = message["tool_calls"]
    calls: list[ToolCall] = []
    for index, request in enumerate(requests, first):
        call_id, name, arguments = request.get("id"), request["name"], request["arguments"]
        references.append({"id": call_id, "name": name, "arguments": arguments})
        calls.append(
            {
                **BLANK_CALL,
                "index": index,
                "turn": message["turn"],
                "step": step,
                "id": call_id,
                "name": name,
                "arguments": arguments,
            }
        )
    return calls


def _join_result(message: Message, call: ToolCall, raw: dict[str, Any]) -> None:
    """Joins a result with its call."""
    message["tool_call_id"] = call["id"]
    message["tool_name"] = raw.get("name") or call["name"]
    call["status"] = "ok"
    content = raw["content"]
    call["result"] = call["result_text"] = content
    if type(content) is not str:
        message["content"], message["parts"] = read_result_content(content)
        call["result_text"] = message["content"]
        if type(content) is not dict:
            call["result"] = message["content"]
    call["exit_code"] = raw.get("exit_code")
    seconds = raw.get("duration_seconds")
    if seconds is not None:
        call["duration_ms"] = to_milliseconds(float(seconds))
    if raw.get("is_error"):
        mark_failed(call)
