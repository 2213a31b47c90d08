"""Reads the messages of an Inspect sample and resolves its attachments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.conversation import Conversation, failed
from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest, ToolResult, add, written
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, required_text, text
from evalgate.adapters.formats.messages.message_builder import MessageBuilder
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
        self._left = MAX_CHARS
        self.missing = 0

    def resolved(self, value: Any) -> Any:
        """The value with its references replaced; raises TraceError if that exceeds MAX_CHARS."""
        if isinstance(value, str):
            return self._text(value) if value.startswith(REFERENCES) else value
        if isinstance(value, list):
            return [self.resolved(inner) for inner in value]
        if isinstance(value, dict):
            return {key: self.resolved(inner) for key, inner in value.items()}
        return value

    def _text(self, reference: str) -> str:
        found = self._texts.get(reference.partition("://")[2])
        if not isinstance(found, str):
            self.missing += 1
            return reference
        self._left -= len(found)
        if self._left < 0:
            raise TraceError(f"its attachments unfold to more than {MAX_CHARS:,} characters")
        return found


class SampleMessages:
    """The conversation of a sample; `positions_by_id` maps message ids to turn and step."""

    def __init__(self, messages: list[Any], attachments: Attachments) -> None:
        self.conversation = Conversation()
        self.by_id: dict[str, tuple[int, int]] = {}
        self.last_id: str | None = None
        for position, value in enumerate(messages):
            try:
                self._add(mapping(attachments.resolved(value), ""))
            except FieldError as error:
                raise error.under(f"messages[{position}]") from None

    def _add(self, recorded: dict[str, Any]) -> None:
        role = required_text(recorded.get("role"), "role")
        if role == "tool":
            self._answer(recorded)
            return
        if role not in ROLES:
            raise FieldError("role", "is none of system, user, assistant, tool")
        spoken = MessageBuilder(RawMessage(ROLES[role], model=text(recorded.get("model"), "model")))
        _speak(spoken, recorded.get("content"))
        before = len(self.conversation.calls)
        broken = _add_calls(spoken, recorded)
        for said in spoken.messages():
            add(self.conversation, said)
        for call in self.conversation.calls[before:]:
            if call["id"] in broken:
                call["arguments_error"] = broken[call["id"]]
                call["arguments_raw"] = written(call["arguments"]) if call["arguments"] else None
                call["arguments"] = None
        if role == "assistant":
            self.last_id = text(recorded.get("id"), "id")
            if self.last_id is not None:
                message = self.conversation.messages[-1]
                self.by_id[self.last_id] = message["turn"], self.conversation.step

    def _answer(self, recorded: dict[str, Any]) -> None:
        content, parts = read_content(recorded.get("content"), "content")
        call_id = text(recorded.get("tool_call_id"), "tool_call_id") or None
        name = text(recorded.get("function"), "function") or None
        message, call = self.conversation.answer(call_id, name, content)
        message["parts"] = parts
        error = mapping(recorded.get("error"), "error")
        if call is not None and error:
            failed(call, text(error.get("type"), "error.type"))
            call["error"] = {
                "type": text(error.get("type"), "error.type"),
                "message": text(error.get("message"), "error.message") or content,
            }


def _speak(spoken: MessageBuilder, content: Any) -> None:
    if content is None or isinstance(content, str):
        spoken.text(content)
        return
    for number, value in enumerate(listing(content, "content")):
        path = f"content[{number}]"
        part = mapping(value, path)
        kind = text(part.get("type"), f"{path}.type") or "text"
        if kind == "text":
            spoken.text(text(part.get("text"), f"{path}.text"))
        elif kind == "reasoning":
            thought = text(part.get("reasoning"), f"{path}.reasoning")
            spoken.thought(text(part.get("summary"), f"{path}.summary") or thought)
        elif kind == "tool_use":
            _run_at_provider(spoken, part, path)
        else:
            spoken.other(kind)


def _run_at_provider(spoken: MessageBuilder, part: dict[str, Any], path: str) -> None:
    call_id = text(part.get("id"), f"{path}.id") or None
    name = required_text(part.get("name"), f"{path}.name")
    spoken.call(ToolRequest(call_id, name, part.get("arguments")))
    error = text(part.get("error"), f"{path}.error") or None
    spoken.answer(ToolResult(call_id, name, error or part.get("result"), error is not None))


def _add_calls(spoken: MessageBuilder, recorded: dict[str, Any]) -> dict[str | None, str]:
    """Adds the calls listed next to the content; returns parse errors of arguments by call id."""
    broken: dict[str | None, str] = {}
    for number, value in enumerate(listing(recorded.get("tool_calls"), "tool_calls")):
        path = f"tool_calls[{number}]"
        call = mapping(value, path)
        call_id = text(call.get("id"), f"{path}.id") or None
        name = required_text(call.get("function"), f"{path}.function")
        given = call.get("arguments")
        if given is not None and not isinstance(given, str | dict):
            raise FieldError(f"{path}.arguments", "is neither an object nor text")
        spoken.call(ToolRequest(call_id, name, given))
        problem = text(call.get("parse_error"), f"{path}.parse_error")
        if problem:
            broken[call_id] = problem
    return broken
