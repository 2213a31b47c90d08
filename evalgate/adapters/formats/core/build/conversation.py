"""Builds a conversation from messages: turns, steps, and tool calls joined with their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.result_pairing import PendingCalls

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.call_arguments import Arguments
    from evalgate.models.trace.trace import Message, Response, Role, ToolCall, Warning_


# Copying a blank record is faster than naming all its fields; a trace has dozens of records.
BLANK_MESSAGE: Message = {
    "index": 0,
    "turn": 0,
    "role": "user",
    "content": None,
    "tool_calls": [],
    "tool_name": None,
    "tool_call_id": None,
    "timestamp": None,
    "name": None,
    "agent": None,
    "model": None,
    "reasoning": None,
    "finish_reason": None,
    "parts": None,
}
BLANK_CALL: ToolCall = {
    "index": 0,
    "turn": 0,
    "step": 0,
    "id": None,
    "name": "",
    "arguments": None,
    "arguments_raw": None,
    "arguments_error": None,
    "result": None,
    "result_text": None,
    "status": "missing",
    "error": None,
    "exit_code": None,
    "duration_ms": None,
    "started_at": None,
    "requestor": "assistant",
    "agent": None,
}


class Conversation:
    """Collects the messages and tool calls of a trace, one message after the other."""

    __slots__ = ("_turn", "_unanswered", "calls", "messages", "orphans", "step")

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.calls: list[ToolCall] = []
        self.orphans = 0
        self.step = 0
        self._turn = 0
        self._unanswered = PendingCalls()

    def add_message(self, role: Role, content: str | None, *, is_input: bool = True) -> Message:
        """Adds a message: a user's starts a turn, an assistant's is a step (one response of the model).

        A user's message that is no input to the agent (a tool call of the user simulator) starts no turn.
        """
        if role == "user" and is_input:
            self._turn += 1
        elif role == "assistant":
            self.step += 1
        message: Message = {
            **BLANK_MESSAGE,
            "index": len(self.messages),
            "turn": self._turn,
            "role": role,
            "content": content,
            "tool_calls": [],
        }
        self.messages.append(message)
        return message

    def add_call(self, message: Message, call_id: str | None, name: str, arguments: Arguments) -> ToolCall:
        """Adds a tool call that the message requests; its status is `missing` until its result is added."""
        value, raw, error = arguments
        message["tool_calls"].append({"id": call_id, "name": name, "arguments": value})
        call: ToolCall = {
            **BLANK_CALL,
            "index": len(self.calls),
            "turn": self._turn,
            "step": self.step,
            "id": call_id,
            "name": name,
            "arguments": value,
            "arguments_raw": raw,
            "arguments_error": error,
        }
        if message["role"] == "user":
            call["requestor"] = "user"
        self.calls.append(call)
        self._unanswered.add(call)
        return call

    def add_result(
        self, call_id: str | None, tool: str | None, content: str | None
    ) -> tuple[Message, ToolCall | None]:
        """Adds a tool's message and joins it with its call, if there is one."""
        message = self.add_message("tool", content)
        message["tool_call_id"] = call_id
        call = self._unanswered.take(call_id, tool)
        if call is None:
            self.orphans += 1
            message["tool_name"] = tool
            return message, None
        message["tool_name"] = tool or call["name"]
        call["status"] = "ok"
        call["result"] = call["result_text"] = content
        return message, call

    def get_response(self) -> Response:
        """The last assistant message that has text; a later message without text or of a user is ignored."""
        for message in reversed(self.messages):
            if message["role"] == "assistant" and message["content"]:
                return {
                    "content": message["content"],
                    "finish_reason": message["finish_reason"],
                    "message_index": message["index"],
                }
        return {"content": None, "finish_reason": None, "message_index": None}

    def list_warnings(self) -> list[Warning_]:
        """Warnings about the conversation as a whole."""
        if not self.orphans:
            return []
        message = f"{self.orphans} tool results answer no recorded call"
        return [{"code": "result_without_call", "message": message, "where": "messages"}]


def mark_failed(call: ToolCall, kind: str | None = None) -> None:
    """Marks a call whose tool reported an error; its result is the error's message."""
    call["status"] = "error"
    call["error"] = {"type": kind, "message": call["result_text"]}


def get_instructions(messages: list[Message]) -> str | None:
    """The content of the first message, if it is a system message."""
    return messages[0]["content"] if messages and messages[0]["role"] == "system" else None


def find_opening_text(messages: list[Message]) -> str:
    """Text that distinguishes conversations of one file: the first user message, else the first of any role."""
    texts: list[Any] = [m["content"] for m in messages if m["role"] == "user" and m["content"]]
    texts += [m["content"] for m in messages if m["content"]]
    return texts[0] if texts else ""
