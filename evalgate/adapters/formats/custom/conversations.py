"""Builds the conversation of a run from what the expressions of a suite find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.conversation import Conversation, failed
from evalgate.adapters.formats.core.build.listed_calls import add_facts, add_made
from evalgate.adapters.formats.core.build.raw_message import written
from evalgate.adapters.formats.core.call_arguments import Arguments, read_arguments
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    identifier,
    required_text,
    text,
    whole,
)
from evalgate.adapters.formats.core.strict_json import shown
from evalgate.adapters.formats.core.timestamps import moment
from evalgate.adapters.formats.core.usage.usage_fields import milliseconds
from evalgate.adapters.formats.custom.expressions import (
    NOTHING,
    FieldExpression,
    anything,
    checked,
    find,
    label,
)

if TYPE_CHECKING:
    from evalgate.measures.jmespath.query import Query
    from evalgate.models.trace.trace import Role
    from evalgate.suite.custom_format import Custom

OUR_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
STATUS = {"ok": "ok", "error": "error", True: "ok", False: "error"}


def converse(custom: Custom, run: FieldExpression, value: Any) -> Conversation:
    """The conversation of a run: its messages; if these are not mapped, its input, calls and response."""
    conversation = Conversation()
    calls = [] if custom.calls is None else _listed_calls(custom, custom.calls, value)
    if run.says("messages"):
        for number, message in enumerate(run.required("messages", required_list)):
            _add_message(conversation, custom, message, number)
        add_made(conversation, calls, "tool_calls")
        return conversation
    asked = run.get("input", words)
    if asked is not None:
        conversation.say("user", asked)
    for number, call in enumerate(calls):
        message = conversation.say("assistant", None)
        arguments = read_arguments(call["arguments"])
        add_facts(
            conversation.call(message, call["id"], call["name"], arguments), call, f"tool_calls[{number}]"
        )
    answer = run.get("response", words)
    if answer is not None:
        conversation.say("assistant", answer)
    return conversation


def words(value: Any, path: str) -> str:
    """Text; of a list of parts the text parts; any other value as JSON."""
    if isinstance(value, list):
        return read_content(value, path)[0] or written(value)
    return value if isinstance(value, str) else written(value)


def required_list(value: Any, path: str) -> list[Any]:
    """A list."""
    if isinstance(value, list):
        return value
    raise FieldError(path, "is not a list")


def _listed_calls(custom: Custom, path: Query, value: Any) -> list[dict[str, Any]]:
    """The calls listed next to the messages; raises FieldError if the path finds nothing (a likely typo)."""
    where = label("tool_calls.path", path)
    found = find(path, value, where)
    if found is None:
        raise FieldError(where, f"{NOTHING}; end it with || `[]` where a run may have no calls")
    calls = checked(found, required_list, where)
    return [_call(custom, call, f" of call {number}") for number, call in enumerate(calls, 1)]


def _call(custom: Custom, value: Any, place: str) -> dict[str, Any]:
    """One call, with the field names of a native trace."""
    asked = FieldExpression(custom.call, value, "tool_calls.", place)
    took, seconds = asked.get("duration_ms", amount), asked.get("duration_seconds", amount)
    return {
        "name": asked.required("name", required_text),
        "id": asked.get("id", identifier),
        "arguments": asked.get("arguments", anything),
        "result": asked.get("result", anything),
        "status": asked.get("status", _status),
        "error": asked.get("error", _error),
        "exit_code": asked.get("exit_code", whole),
        "duration_ms": took if seconds is None else milliseconds(seconds),
    }


def _status(value: Any, path: str) -> str:
    found = STATUS.get(value) if isinstance(value, str | bool) else None
    if found is None:
        raise FieldError(path, "is none of ok, error, true, false")
    return found


def _error(value: Any, path: str) -> str | None:
    """The error as text, other values as JSON; None for false and empty values."""
    del path
    if value is True:
        return "the tool failed"
    return (value if isinstance(value, str) else written(value)) if value else None


def _add_message(conversation: Conversation, custom: Custom, value: Any, number: int) -> None:
    place = f" of message {number + 1}"
    asked = FieldExpression(custom.message, value, "message.", place)
    role = _role(custom, asked, place)
    content = asked.get("content", words)
    if role == "tool":
        _add_result(conversation, asked, content)
    else:
        message = conversation.say(role, content)
        message["reasoning"] = asked.get("reasoning", text)
        for count, call in enumerate(asked.get("tool_calls", required_list) or [], 1):
            facts = _call(custom, call, f" of call {count}{place}")
            arguments: Arguments = read_arguments(facts["arguments"])
            made = conversation.call(message, facts["id"], facts["name"], arguments)
            add_facts(made, facts, "tool_calls")
    conversation.messages[-1]["timestamp"] = asked.get("timestamp", moment)


def _add_result(conversation: Conversation, asked: FieldExpression, content: str | None) -> None:
    call_id, tool = asked.get("tool_call_id", identifier), asked.get("tool_name", text)
    _, call = conversation.answer(call_id, tool, content)
    error = asked.get("error", _error)
    if error is not None and call is not None:
        failed(call)


def _role(custom: Custom, asked: FieldExpression, place: str) -> Role:
    said = asked.required("role", required_text)
    role = custom.roles.get(said) or OUR_ROLES.get(said)
    if role is None:
        where = f"{label('message.role', custom.message['role'])}{place}"
        raise FieldError(where, f"is `{shown(said)}`, which `roles` does not translate")
    return role
