"""What is known while the messages of one run are read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.call_identity import build_recorded_call_key
from evalgate.adapters.formats.core.builder.llm_calls import MeteredConversation
from evalgate.adapters.formats.core.builder.unknown_parts import UnknownParts
from evalgate.adapters.formats.core.usage.usage_fields import read_provider_usage

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from evalgate.adapters.formats.core.builder.raw_message import ToolRequest

ADVICE = "record each call as a `ToolCallRequestEvent`, or as content of type `function_call`"


class SavedRun:
    """The conversation so far, and the agents that speak for a person.

    Saved states, summaries and approvals repeat calls: one with the same id, name and arguments is the same call,
    as often as it was read. The id is not enough, because some models number the calls of each answer from 0.
    """

    def __init__(self, users: Iterable[str]) -> None:
        self.chat = MeteredConversation()
        self.unknown = UnknownParts(ADVICE)
        self.users = frozenset(users)
        self.thoughts: dict[str | None, str | None] = {}
        self.read: Counter[Hashable] = Counter()
        self.unsummarized: Counter[Hashable] = Counter()
        self.approvals: Counter[Hashable] = Counter()

    def remember(self, calls: Iterable[ToolRequest]) -> None:
        """Remembers calls that are added."""
        for call in calls:
            self.read[name_call(call)] += 1
            self.unsummarized[name_call(call)] += 1

    def take_new(self, calls: Iterable[ToolRequest], repeated: Counter[Hashable]) -> list[ToolRequest]:
        """The calls that are not among the repeated ones, each of which counts once; remembers them."""
        new = []
        for call in calls:
            key = name_call(call)
            if repeated[key] > 0:
                repeated[key] -= 1
            else:
                new.append(call)
                self.read[key] += 1
        return new

    def add_usage(self, value: Any, path: str, *, is_expected: bool) -> None:
        """Adds the model call that a message records; a recorder without tokens writes 0."""
        usage = None if value is None else read_provider_usage(value, path)
        if usage is None or not usage["total_tokens"]:
            self.chat.unmetered += is_expected
        else:
            self.chat.add_llm_call(usage)


def name_call(call: ToolRequest) -> Hashable:
    """What identifies a call."""
    return call.id, build_recorded_call_key(call.name, call.arguments)
