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

    def __init__(self, like: RawMessage) -> None:
        self._like = like
        self._done: list[RawMessage] = []
        self._renew()

    def text(self, words: str | None) -> None:
        """Adds text of the message itself."""
        if words is not None:
            self._texts.append(words)
            self._parts.append({"type": "text", "text": words})

    def thought(self, words: str | None) -> None:
        """Adds reasoning of the model."""
        if words:
            self._thoughts.append(words)

    def other(self, kind: str) -> None:
        """Adds a part that is no text: only its type is kept."""
        self._parts.append({"type": kind})
        self._has_other = True

    def call(self, asked: ToolRequest) -> None:
        """Adds a tool call."""
        self._said.calls.append(asked)

    def also(self, calls: Sequence[ToolRequest]) -> None:
        """Adds tool calls from a second list of the same message, except those added already."""
        before = [said for said in (*self._done, self._said) if said.calls]
        if not before and len({asked.id for asked in calls}) == len(calls):
            self._said.calls += calls
            return
        told = SeenCalls(before)
        for asked in calls:
            if not told.has(asked):
                self.call(asked)
                told.add(self._said, len(self._said.calls) - 1)

    def answer(self, answered: ToolResult) -> None:
        """Adds the result of a call in this message or in an earlier one."""
        (self._after if self._said.calls else self._said.answers).append(answered)

    def pause(self) -> None:
        """Starts a new message after the results so far, if there are any."""
        if self._after:
            self._finish()
            self._renew()

    def messages(self) -> list[RawMessage]:
        """The message as one or several, at least one. The last one of its role has the finish reason."""
        if self._is_spoken() or not self._done:
            self._finish()
        spoken = [said for said in self._done if said.role == self._like.role]
        if spoken:
            spoken[-1].finish_reason = self._like.finish_reason
        return self._done

    def _is_spoken(self) -> bool:
        return bool(self._parts or self._thoughts or self._said.calls or self._said.answers)

    def _renew(self) -> None:
        self._said = replace(self._like, calls=[], answers=[], finish_reason=None)
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._parts: list[dict[str, Any]] = []
        self._has_other = False
        self._after: list[ToolResult] = []

    def _finish(self) -> None:
        said = self._said
        said.content = "\n".join(self._texts) if self._texts else None
        said.reasoning = "\n".join(self._thoughts) if self._thoughts else None
        said.parts = self._parts if self._has_other else None
        self._done.append(said)
        if self._after:
            self._done.append(
                RawMessage("tool", answers=self._after, agent=said.agent, timestamp=said.timestamp)
            )
