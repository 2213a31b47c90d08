"""Reads the messages of an Inspect sample and resolves its attachments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import (
    Conversation,
    RawMessage,
    ToolRequest,
    ToolResult,
    add_raw_message,
    mark_failed,
)
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    filled_text,
    listing,
    mapping,
    prefix_errors,
    required_text,
    text,
)
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.messages.blocks import MessageBuilder, check_arguments
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role

ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
REFERENCES = ("attachment://", "tc://")
MAX_CHARS = 25_000_000


class Attachments:
    """Texts that a sample stores once and refers to by hash."""

    def __init__(self, texts: dict[str, Any]) -> None:
        self._texts = texts
        self._chars_left = MAX_CHARS
        self.missing = 0

    def resolve(self, value: Any) -> Any:
        """The value with its references replaced; raises TraceError if that exceeds MAX_CHARS."""
        if isinstance(value, str):
            return self._resolve_reference(value) if value.startswith(REFERENCES) else value
        if isinstance(value, list):
            return [self.resolve(inner) for inner in value]
        if isinstance(value, dict):
            return {key: self.resolve(inner) for key, inner in value.items()}
        return value

    def _resolve_reference(self, reference: str) -> str:
        found = self._texts.get(reference.partition("://")[2])
        if not isinstance(found, str):
            self.missing += 1
            return reference
        self._chars_left -= len(found)
        if self._chars_left < 0:
            raise TraceError(f"its attachments expand to more than {MAX_CHARS:,} characters")
        return found


class SampleMessages:
    """The conversation of a sample; `positions_by_id` maps message ids to turn and step."""

    def __init__(self, messages: list[Any], attachments: Attachments) -> None:
        self.conversation = Conversation()
        self.positions_by_id: dict[str, tuple[int, int]] = {}
        self.last_id: str | None = None
        for position, value in enumerate(messages):
            with prefix_errors("messages", position):
                self._add_message(mapping(attachments.resolve(value), ""))

    def _add_message(self, recorded: dict[str, Any]) -> None:
        role = required_text(recorded.get("role"), "role")
        if role == "tool":
            self._add_result(recorded)
            return
        if role not in ROLES:
            raise FieldError("role", "is not one of system, user, assistant, tool")
        builder = MessageBuilder(RawMessage(ROLES[role], model=text(recorded.get("model"), "model")))
        _add_content(builder, recorded.get("content"))
        call_count = len(self.conversation.calls)
        argument_errors = _add_calls(builder, recorded)
        for raw_message in builder.build_messages():
            add_raw_message(self.conversation, raw_message)
        for call in self.conversation.calls[call_count:]:
            if call["id"] in argument_errors:
                call["arguments_error"] = argument_errors[call["id"]]
                call["arguments_raw"] = encode_json(call["arguments"]) if call["arguments"] else None
                call["arguments"] = None
        if role == "assistant":
            self.last_id = text(recorded.get("id"), "id")
            if self.last_id is not None:
                message = self.conversation.messages[-1]
                self.positions_by_id[self.last_id] = message["turn"], self.conversation.step

    def _add_result(self, recorded: dict[str, Any]) -> None:
        content, parts = read_content(recorded.get("content"), "content")
        call_id = text(recorded.get("tool_call_id"), "tool_call_id") or None
        name = text(recorded.get("function"), "function") or None
        message, call = self.conversation.add_result(call_id, name, content)
        message["parts"] = parts
        error = mapping(recorded.get("error"), "error")
        if call is not None and not error:
            call["status"] = "ok"
        elif call is not None:
            mark_failed(call, text(error.get("type"), "error.type"))
            call["error"] = {
                "type": text(error.get("type"), "error.type"),
                "message": text(error.get("message"), "error.message") or content,
            }


def _add_content(builder: MessageBuilder, content: Any) -> None:
    if content is None or isinstance(content, str):
        builder.add_text(content)
        return
    for number, value in enumerate(listing(content, "content")):
        path = f"content[{number}]"
        part = mapping(value, path)
        kind = text(part.get("type"), f"{path}.type") or "text"
        if kind != "tool_use":
            builder.start_after_results()
        if kind == "text":
            builder.add_text(text(part.get("text"), f"{path}.text"))
        elif kind == "reasoning":
            reasoning = text(part.get("reasoning"), f"{path}.reasoning")
            builder.add_reasoning(text(part.get("summary"), f"{path}.summary") or reasoning)
        elif kind == "tool_use":
            _add_provider_call(builder, part, path)
        else:
            builder.add_other(kind)


def _add_provider_call(builder: MessageBuilder, part: dict[str, Any], path: str) -> None:
    call_id = text(part.get("id"), f"{path}.id") or None
    name = required_text(part.get("name"), f"{path}.name")
    builder.add_call(ToolRequest(call_id, name, part.get("arguments")))
    error = text(part.get("error"), f"{path}.error") or None
    builder.add_result(ToolResult(call_id, name, error or part.get("result"), error is not None))


def _add_calls(builder: MessageBuilder, recorded: dict[str, Any]) -> dict[str | None, str]:
    """Adds the calls listed next to the content; returns parse errors of arguments by call id."""
    argument_errors: dict[str | None, str] = {}
    for call in CALL.read_each(recorded.get("tool_calls"), "tool_calls"):
        builder.add_call(ToolRequest(call["id"], call["name"], call["arguments"]))
        if call["problem"]:
            argument_errors[call["id"]] = call["problem"]
    return argument_errors


CALL = FieldTable(
    id=filled_text, name=(required_text, "function"), arguments=check_arguments, problem=(text, "parse_error")
)
