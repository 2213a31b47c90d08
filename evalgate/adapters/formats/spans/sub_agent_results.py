"""Results of sub-agents' tool calls, found in the input of their later model calls."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.builder.conversation import build_call_key, conversation_from_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.core.builder.conversation import CallKey
    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.models.trace.trace import ToolCall


class SubAgentResults:
    """Results of sub-agents' tool calls, found in the input of their later model calls."""

    def __init__(self, calls: Sequence[ModelCall]) -> None:
        self._last: dict[int, ModelCall] = {id(call.owner): call for call in calls}
        self._known: dict[int, dict[str | CallKey, deque[ToolCall]]] = {}

    def fill(self, call: ModelCall, blank: ToolCall) -> None:
        """Copies the result into a call if a later model call of the same agent contains it."""
        owner = id(call.owner)
        if owner not in self._known:
            self._known[owner] = _answered_calls(self._last[owner])
        answers = self._known[owner].get(
            build_call_key(blank["name"], blank["arguments"]) if blank["id"] is None else blank["id"]
        )
        if not answers:
            return
        answer = answers.popleft()
        for name in ("result", "result_text", "status", "error", "exit_code"):
            blank[name] = answer[name]


def _answered_calls(last: ModelCall) -> dict[str | CallKey, deque[ToolCall]]:
    """The answered calls in a model's input, by id, else by name and arguments."""
    found: dict[str | CallKey, deque[ToolCall]] = defaultdict(deque)
    for call in conversation_from_messages(last.get_fact("input") or []).calls:
        key = build_call_key(call["name"], call["arguments"]) if call["id"] is None else call["id"]
        if call["status"] != "missing":
            found[key].append(call)
    return found
