"""A quick look at the messages of a native trace: nearly all are plain, and few are ever read again.

What `messages.read_conversation` would make of a plain conversation without a word of complaint is told here
at a tenth of the price. Whatever is not plain is left to it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.trace_formats.fields import LARGEST_COUNT, LARGEST_NUMBER
from evalgate.adapters.trace_formats.native.plain import read_plain
from evalgate.adapters.trace_formats.strict_json import CONTAINERS, require_shallow
from evalgate.errors import TraceError
from evalgate.models.glance import Glance

if TYPE_CHECKING:
    from evalgate.models.trace import Response

MOST = 10_000
"""Messages and calls beyond which a conversation is not plain."""
ABOVE_ARGUMENTS = 5
OF_RESULT = 3
"""Fields that every result has: role, tool_call_id and content."""


class Plain(NamedTuple):
    """A plain conversation: what was seen of it, its last answer, and what the system said first."""

    glance: Glance
    response: Response
    instructions: str | None


class _NotPlain(Exception):
    """Something that has to be read with care."""


def glance_at(document: dict[str, Any]) -> Plain | None:
    """What one look tells, None where the messages have to be read with care."""
    messages = document.get("messages")
    if type(messages) is not list or not 0 < len(messages) <= MOST or "tool_calls" in document:
        return None
    called: list[str] = []
    waiting: set[str] = set()
    turns, response = 0, None
    try:
        for index, message in enumerate(messages):
            role = message["role"]
            if role == "tool":
                _look_at_result(message, waiting)
            elif role == "assistant":
                if _has_words(message, called, waiting):
                    response = index
            else:
                turns += _is_input(message, role)
        first = messages[0]
    except (_NotPlain, LookupError, TypeError, TraceError):
        return None
    if waiting or len(called) > MOST:
        return None
    glance = Glance(called, len(messages), turns, partial(read_plain, messages))
    return Plain(
        glance, _response(messages, response), first["content"] if first["role"] == "system" else None
    )


def _look_at_result(message: dict[str, Any], waiting: set[str]) -> None:
    waiting.remove(message["tool_call_id"])
    if type(message["content"]) is not str:
        raise _NotPlain
    if len(message) == OF_RESULT:
        return
    rest = len(message) - OF_RESULT
    seconds, code = message.get("duration_seconds"), message.get("exit_code")
    if seconds is not None:
        rest -= (type(seconds) is float or type(seconds) is int) and 0 <= seconds <= LARGEST_NUMBER
    if code is not None:
        rest -= type(code) is int and -LARGEST_COUNT <= code <= LARGEST_COUNT
    if rest and rest != (type(message.get("name")) is str) + (type(message.get("is_error")) is bool):
        raise _NotPlain


def _has_words(message: dict[str, Any], called: list[str], waiting: set[str]) -> bool:
    """True where an assistant's message has text; its calls begin to wait for their results."""
    content = message["content"]
    if type(content) is not str and content is not None:
        raise _NotPlain
    if len(message) > 2:  # noqa: PLR2004  (role and content)
        calls = message["tool_calls"]
        if type(calls) is not list or len(message) > 3:  # noqa: PLR2004  (and tool_calls)
            raise _NotPlain
        for call in calls:
            call_id, name, arguments = call["id"], call["name"], call["arguments"]
            if (
                type(call_id) is not str
                or call_id in waiting
                or type(name) is not str
                or not name
                or type(arguments) is not dict
                or len(call) > 3  # noqa: PLR2004  (these three)
            ):
                raise _NotPlain
            if not CONTAINERS.isdisjoint(map(type, arguments.values())):
                require_shallow(arguments, ABOVE_ARGUMENTS)
            waiting.add(call_id)
            called.append(name)
    return bool(content)


def _is_input(message: dict[str, Any], role: Any) -> bool:
    """True for a user's message, False for one of the system."""
    if type(message["content"]) is not str or len(message) > 2:  # noqa: PLR2004  (role and content)
        raise _NotPlain
    if role == "user":
        return True
    if role == "system":
        return False
    raise _NotPlain


def _response(messages: list[dict[str, Any]], index: int | None) -> Response:
    content = None if index is None else messages[index]["content"]
    return {"content": content, "finish_reason": None, "message_index": index}
