"""Builds conversations with the expressions of a suite; errors name the expression and what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from evalgate.adapters.formats.core.builder.conversation import Conversation, read_arguments, set_outcome
from evalgate.adapters.formats.core.builder.side_fields import add_call_details, add_listed_calls
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    any_value,
    describe_shape,
    identifier,
    read_timestamp,
    required_text,
    text,
    whole_number,
)
from evalgate.adapters.formats.core.strict_json import encode_json, encode_text, make_printable
from evalgate.adapters.formats.core.usage import to_milliseconds
from evalgate.measures.jmespath.query import QueryFailedError
from evalgate.suite.models import find_match

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.measures.jmespath.query import Query
    from evalgate.models.trace.trace import Message, Role
    from evalgate.suite.models import CustomMapping

Checked = TypeVar("Checked")
NOTHING = "finds nothing"


class FieldExpression:
    """Evaluates several expressions on one value: a run, a message or a call.

    For errors: `location` is the value's location in its run, `group` that of its expressions in `custom`.
    """

    __slots__ = ("_group", "_location", "_queries", "_value")

    def __init__(self, queries: Mapping[str, Query], value: Any, group: str = "", location: str = "") -> None:
        self._queries, self._value = queries, value
        self._group, self._location = group, location

    def has_expression(self, name: str) -> bool:
        """True if the suite has an expression for the field."""
        return name in self._queries

    def get(self, name: str, check: Callable[[Any, str], Checked | None]) -> Checked | None:
        """The value the expression finds, checked; None if there is no expression or it finds nothing."""
        query = self._queries.get(name)
        if query is None:
            return None
        where = f"{describe_expression(f'{self._group}{name}', query)}{self._location}"
        value = find_value(query, self._value, where)
        return None if value is None else check_value(value, check, where)

    def get_required(self, name: str, check: Callable[[Any, str], Checked | None]) -> Checked:
        """Like `get`, for a field with an expression; raises FieldError if it finds nothing."""
        value = self.get(name, check)
        if value is None:
            raise FieldError(
                f"{describe_expression(f'{self._group}{name}', self._queries[name])}{self._location}", NOTHING
            )
        return value


def describe_expression(name: str, query: Query) -> str:
    """An expression for an error: its location in the suite and its text."""
    return f"custom.{name} (`{make_printable(query.expression)}`)"


def find_value(query: Query, value: Any, where: str) -> Any:
    """The value an expression finds; raises FieldError if it fails on this value."""
    try:
        return query.search_value(value)
    except QueryFailedError as error:
        raise FieldError(where, f"fails: {error}") from None


def check_value(value: Any, check: Callable[[Any, str], Checked], where: str) -> Checked:
    """Checks the value with `check`; raises FieldError that says what was found."""
    try:
        return check(value, where)
    except FieldError as error:
        raise FieldError(error.path, f"{error.problem}: it found {describe_value(value)}") from None


def describe_value(value: Any) -> str:
    """A short description of a value for an error."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"`{make_printable(value)}`"
    if isinstance(value, int | float):
        return f"{value:g}"
    return describe_shape(value)


STANDARD_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
STATUS = {"ok": "ok", "error": "error", True: "ok", False: "error"}


def build_conversation(custom: CustomMapping, run: FieldExpression, value: Any) -> Conversation:
    """The conversation of a run: its messages; if these are not mapped, its input, calls and response."""
    conversation = Conversation()
    calls = [] if custom.calls is None else _read_listed_calls(custom, custom.calls, value)
    if run.has_expression("messages"):
        for number, message in enumerate(run.get_required("messages", require_list), 1):
            location = f" of message {number}"
            fields = FieldExpression(custom.message, message, "message.", location)
            add_message(conversation, custom, fields, _read_role(custom, fields, location), location)
        add_listed_calls(conversation, calls, "tool_calls")
        return conversation
    user_text = run.get("input", read_text)
    if user_text is not None:
        conversation.add_message("user", user_text)
    for call in calls:
        add_call(conversation, conversation.add_message("assistant", None), call)
    answer = run.get("response", read_text)
    if answer is not None:
        conversation.add_message("assistant", answer)
    return conversation


def read_text(value: Any, path: str) -> str:
    """Text; of a list of parts the text parts; any other value as JSON."""
    if isinstance(value, list):
        return read_content(value, path)[0] or encode_json(value)
    return value if isinstance(value, str) else encode_json(value)


def _read_parts(value: Any, path: str) -> tuple[str, list[dict[str, Any]] | None]:
    """The text, and the parts of a list if some are not text."""
    return read_text(value, path), read_content(value, path)[1] if isinstance(value, list) else None


def require_list(value: Any, path: str) -> list[Any]:
    """A list."""
    if isinstance(value, list):
        return value
    raise FieldError(path, "is not a list")


def _read_listed_calls(custom: CustomMapping, path: Query, value: Any) -> list[dict[str, Any]]:
    """The calls listed next to the messages; raises FieldError if the path finds nothing (a likely typo)."""
    where = describe_expression("tool_calls.path", path)
    found = find_value(path, value, where)
    if found is None:
        raise FieldError(where, f"{NOTHING}; append || `[]` if a run may have no calls")
    calls = check_value(found, require_list, where)
    return [read_call(custom, call, f" of call {number}") for number, call in enumerate(calls, 1)]


def _infer_status(fields: FieldExpression) -> str | None:
    """Ok for a call with a result, if the suite names the field of errors; it has none if it is given."""
    has_result = fields.get("result", any_value) is not None
    return "ok" if has_result and fields.has_expression("error") else None


def read_call(custom: CustomMapping, value: Any, location: str) -> dict[str, Any]:
    """One call, with the field names of a native trace."""
    fields = FieldExpression(custom.call, value, "tool_calls.", location)
    return {
        "name": fields.get_required("name", required_text),
        "id": fields.get("id", identifier),
        "arguments": fields.get("arguments", any_value),
        **_read_outcome(fields),
    }


def _read_outcome(fields: FieldExpression) -> dict[str, Any]:
    """How a call ended, with the field names of a native trace."""
    took, seconds = fields.get("duration_ms", amount), fields.get("duration_seconds", amount)
    return {
        "result": fields.get("result", any_value),
        "status": fields.get("status", _read_status) or _infer_status(fields),
        "error": fields.get("error", _read_error),
        "exit_code": fields.get("exit_code", whole_number),
        "duration_ms": took if seconds is None else to_milliseconds(seconds),
    }


def _read_status(value: Any, path: str) -> str:
    found = STATUS.get(value) if isinstance(value, str | bool) else None
    if found is None:
        raise FieldError(path, "is not one of ok, error, true, false")
    return found


def _read_error(value: Any, path: str) -> str | None:
    """The error as text, other values as JSON; None for false and empty values."""
    del path
    if value is True:
        return "the tool failed"
    return encode_text(value or None)


def add_message(
    conversation: Conversation, custom: CustomMapping, fields: FieldExpression, role: Role, location: str
) -> None:
    """Adds a message, with the calls and results that it holds; one of results only adds no other message."""
    listed = fields.get("tool_results", require_list) or []
    for number, result in enumerate(listed, 1):
        add_result(conversation, custom, result, f" of result {number}{location}")
    content, parts = fields.get("content", _read_parts) or (None, None)
    calls = fields.get("tool_calls", require_list) or [] if role != "tool" else []
    if listed and (role == "tool" or not (content or parts or calls)):
        return
    if role == "tool":
        _add_tool_message(conversation, fields, content)
    else:
        message = conversation.add_message(role, content)
        message["reasoning"] = fields.get("reasoning", text)
        for count, call in enumerate(calls, 1):
            add_call(conversation, message, read_call(custom, call, f" of call {count}{location}"))
    conversation.messages[-1]["parts"] = parts
    conversation.messages[-1]["timestamp"] = fields.get("timestamp", read_timestamp)


def add_call(conversation: Conversation, message: Message, details: dict[str, Any]) -> None:
    """Adds a call that a message requests, with what is known of its end."""
    made = conversation.add_call(message, details["id"], details["name"], read_arguments(details["arguments"]))
    add_call_details(made, details, "tool_calls")


def _add_tool_message(conversation: Conversation, fields: FieldExpression, content: str | None) -> None:
    call_id, tool = fields.get("tool_call_id", identifier), fields.get("tool_name", text)
    _, call = conversation.add_result(call_id, tool, content)
    error = fields.get("error", _read_error)
    if call is not None and fields.has_expression("error"):
        set_outcome(call, has_failed=error is not None)


def add_result(conversation: Conversation, custom: CustomMapping, value: Any, location: str) -> None:
    """Adds a result that an object in a message holds, and joins it with its call."""
    outcome = _read_outcome(FieldExpression(custom.call, value, "tool_calls.", location))
    _join_result(conversation, custom, value, outcome, location)


def add_result_entry(conversation: Conversation, custom: CustomMapping, value: Any, location: str) -> None:
    """Adds a result that is an entry of the run: what is no field of its call may be one of its message."""
    outcome = _read_outcome(FieldExpression(custom.call, value, "tool_calls.", location))
    about = FieldExpression(custom.message, value, "message.", location)
    if outcome["result"] is None:
        outcome["result"] = about.get("content", read_text)
    if about.has_expression("error") and outcome["error"] is None:
        outcome["error"] = about.get("error", _read_error)
        outcome["status"] = outcome["status"] or "ok"
    _join_result(conversation, custom, value, outcome, location)


def _join_result(
    conversation: Conversation, custom: CustomMapping, value: Any, outcome: dict[str, Any], location: str
) -> None:
    about = FieldExpression(custom.message, value, "message.", location)
    call_id = FieldExpression(custom.join, value, "join.", location).get("result_id", identifier)
    if not custom.join:
        call_id = about.get("tool_call_id", identifier)
    message, call = conversation.add_result(call_id, about.get("tool_name", text), encode_text(outcome["result"]))
    message["timestamp"] = about.get("timestamp", read_timestamp)
    if call is not None:
        add_call_details(call, outcome, "tool_calls")


def _read_role(custom: CustomMapping, fields: FieldExpression, location: str) -> Role:
    name = fields.get_required("role", required_text)
    role = custom.roles.get(name) or STANDARD_ROLES.get(name) or find_match(custom.roles, name)
    if role is None:
        where = f"{describe_expression('message.role', custom.message['role'])}{location}"
        raise FieldError(where, f"is `{make_printable(name)}`, which is not in `roles`")
    return role
