"""Adds tool calls that a trace lists separately, in addition to its messages or instead of them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.call_arguments import read_arguments
from evalgate.adapters.formats.core.builder.conversation import BLANK_CALL, Conversation, mark_failed
from evalgate.adapters.formats.core.fields import amount, count, mapping, required_text, text, whole_number
from evalgate.adapters.formats.core.strict_json import encode_json

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ToolCall


def add_listed_calls(conversation: Conversation, listed: list[Any], path: str) -> None:
    """Joins each listed call with a call in the messages: by id, else the next with its name.

    A call that is in no message is added.
    """
    message_calls = _MessageCalls(conversation.calls)
    for number, value in enumerate(listed):
        item_path = f"{path}[{number}]"
        recorded = mapping(value, item_path)
        name = required_text(recorded.get("name"), f"{item_path}.name")
        call = message_calls.take(text(recorded.get("id"), f"{item_path}.id"), name)
        add_call_details(call or _add_unmatched_call(conversation, recorded, item_path), recorded, item_path)


class _MessageCalls:
    """The calls in the messages; each can be taken once."""

    def __init__(self, calls: list[ToolCall]) -> None:
        self._by_id: dict[str, deque[ToolCall]] = {}
        self._by_name: dict[str, deque[ToolCall]] = {}
        self._taken: set[int] = set()
        for call in calls:
            self._by_name.setdefault(call["name"], deque()).append(call)
            if call["id"] is not None:
                self._by_id.setdefault(call["id"], deque()).append(call)

    def take(self, call_id: str | None, name: str) -> ToolCall | None:
        """The next call with this id, else with this name."""
        return self._take_next(self._by_id, call_id) or self._take_next(self._by_name, name)

    def _take_next(self, queues: dict[str, deque[ToolCall]], key: str | None) -> ToolCall | None:
        queue = queues.get(key, deque()) if key else deque()
        while queue:
            call = queue.popleft()
            if call["index"] not in self._taken:
                self._taken.add(call["index"])
                return call
        return None


def _add_unmatched_call(conversation: Conversation, recorded: dict[str, Any], path: str) -> ToolCall:
    value, raw, error = read_arguments(recorded.get("arguments"))
    call: ToolCall = {
        **BLANK_CALL,
        "index": len(conversation.calls),
        "turn": count(recorded.get("turn"), f"{path}.turn") or 0,
        "step": count(recorded.get("step"), f"{path}.step") or len(conversation.calls) + 1,
        "id": text(recorded.get("id"), f"{path}.id"),
        "name": required_text(recorded.get("name"), f"{path}.name"),
        "arguments": value,
        "arguments_raw": raw,
        "arguments_error": error,
    }
    conversation.calls.append(call)
    return call


def add_call_details(call: ToolCall, recorded: dict[str, Any], path: str) -> None:
    """Sets a call's recorded result, status, error, exit code, duration and requestor."""
    result = recorded.get("result")
    if result is not None:
        call["result"] = result
        call["result_text"] = result if isinstance(result, str) else encode_json(result)
    status, error = recorded.get("status"), recorded.get("error")
    if status == "error" or error:
        mark_failed(call)
    elif (result is not None or status == "ok") and call["status"] == "missing":
        call["status"] = "ok"
    if isinstance(error, dict):
        kind, message = text(error.get("type"), f"{path}.error.type"), error.get("message")
        call["error"] = {"type": kind, "message": text(message, f"{path}.error.message")}
    elif error:
        call["error"] = {"type": None, "message": text(error, f"{path}.error")}
    code = whole_number(recorded.get("exit_code"), f"{path}.exit_code")
    call["exit_code"] = call["exit_code"] if code is None else code
    took = amount(recorded.get("duration_ms"), f"{path}.duration_ms")
    call["duration_ms"] = call["duration_ms"] if took is None else took
    if recorded.get("requestor") == "user":
        call["requestor"] = "user"
