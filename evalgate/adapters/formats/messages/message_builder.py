"""Builds raw messages from one recorded message; content after a tool result starts a new message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.call_identity import build_recorded_call_key
from evalgate.adapters.formats.core.builder.raw_message import RawMessage
from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.adapters.formats.core.builder.call_identity import CallKey
    from evalgate.adapters.formats.core.builder.raw_message import ToolRequest, ToolResult


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
        """Adds a part that is not text: only its type is kept."""
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
            self._done.append(RawMessage("tool", answers=self._after, agent=message.agent, timestamp=message.timestamp))


class SeenCalls:
    """Calls by id, name and arguments: the id is not enough, as some recorders give all calls the same.

    Blocks of a streamed response may lack the arguments that the second list has.
    """

    def __init__(self, messages: Iterable[RawMessage]) -> None:
        self._calls: set[tuple[str | None, CallKey]] = set()
        self._keys: set[CallKey] = set()
        self._names: set[tuple[str | None, str]] = set()
        self._incomplete: dict[tuple[str | None, str], tuple[RawMessage, int]] = {}
        for message in messages:
            for index, request in enumerate(message.calls):
                key = _build_key(request)
                self._keys.add(key)
                self._remember(message, index, None)
                if request.id is None:
                    self._calls.add((None, key))
                else:
                    self.add(message, index)

    def add(self, message: RawMessage, index: int) -> None:
        """Adds a call; one without an id is ignored, so it never matches another call of the same list."""
        request = message.calls[index]
        if request.id is not None:
            self._calls.add((request.id, _build_key(request)))
            self._remember(message, index, request.id)

    def has_call(self, request: ToolRequest) -> bool:
        """True for a call that was added before; fills in its arguments if they were missing."""
        key = _build_key(request)
        if request.id is None:
            is_same = key in self._keys
        else:
            is_same = (request.id, key) in self._calls or (None, key) in self._calls
        if is_same:
            return True
        if not request.arguments:
            return (request.id, request.name) in self._names
        incomplete = self._incomplete.pop((request.id, request.name), None)
        if incomplete is None:
            return False
        message, index = incomplete
        message.calls[index] = message.calls[index]._replace(arguments=request.arguments)
        self.add(message, index)
        return True

    def _remember(self, message: RawMessage, index: int, call_id: str | None) -> None:
        request = message.calls[index]
        self._names.add((call_id, request.name))
        if not request.arguments or read_arguments(request.arguments).error is not None:
            self._incomplete.setdefault((call_id, request.name), (message, index))


def _build_key(request: ToolRequest) -> CallKey:
    return build_recorded_call_key(request.name, request.arguments)
