"""Builds raw messages from one recorded message; content after a tool result starts a new message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.raw_message import RawMessage
from evalgate.adapters.formats.messages.seen_calls import SeenCalls
from evalgate.records import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.core.build.raw_message import ToolRequest, ToolResult


class MessageBuilder:
    """Collects the blocks of one message in order.

    A message may hold a call and its result (tools that run at the provider, parts of a user interface): it
    is split so that the result keeps its place. `template` has the role and other fields of each message.
    """

    def __init__(self, template: RawMessage) -> None:
        self._template = template
        self._done: list[RawMessage] = []
        self._start_message()

    def add_text(self, text: str | None) -> None:
        """Adds text of the message itself."""
        if text is not None:
            self._texts.append(text)
            self._parts.append({"type": "text", "text": text})

    def add_reasoning(self, text: str | None) -> None:
        """Adds reasoning of the model."""
        if text:
            self._reasoning.append(text)

    def add_other(self, kind: str) -> None:
        """Adds a part that is no text: only its type is kept."""
        self._parts.append({"type": kind})
        self._has_other = True

    def add_call(self, request: ToolRequest) -> None:
        """Adds a tool call."""
        self._message.calls.append(request)

    def add_listed_calls(self, calls: Sequence[ToolRequest]) -> None:
        """Adds tool calls from a second list of the same message, except those added already."""
        with_calls = [message for message in (*self._done, self._message) if message.calls]
        if not with_calls and len({request.id for request in calls}) == len(calls):
            self._message.calls += calls
            return
        seen = SeenCalls(with_calls)
        for request in calls:
            if not seen.has_call(request):
                self.add_call(request)
                seen.add(self._message, len(self._message.calls) - 1)

    def add_result(self, result: ToolResult) -> None:
        """Adds the result of a call in this message or in an earlier one."""
        (self._after if self._message.calls else self._message.answers).append(result)

    def start_after_results(self) -> None:
        """Starts a new message after the results so far, if there are any."""
        if self._after:
            self._finish_message()
            self._start_message()

    def build_messages(self) -> list[RawMessage]:
        """The message as one or several, at least one. The last one of its role has the finish reason."""
        if self._has_content() or not self._done:
            self._finish_message()
        matching = [message for message in self._done if message.role == self._template.role]
        if matching:
            matching[-1].finish_reason = self._template.finish_reason
        return self._done

    def _has_content(self) -> bool:
        return bool(self._parts or self._reasoning or self._message.calls or self._message.answers)

    def _start_message(self) -> None:
        self._message = replace(self._template, calls=[], answers=[], finish_reason=None)
        self._texts: list[str] = []
        self._reasoning: list[str] = []
        self._parts: list[dict[str, Any]] = []
        self._has_other = False
        self._after: list[ToolResult] = []

    def _finish_message(self) -> None:
        message = self._message
        message.content = "\n".join(self._texts) if self._texts else None
        message.reasoning = "\n".join(self._reasoning) if self._reasoning else None
        message.parts = self._parts if self._has_other else None
        self._done.append(message)
        if self._after:
            self._done.append(
                RawMessage("tool", answers=self._after, agent=message.agent, timestamp=message.timestamp)
            )
