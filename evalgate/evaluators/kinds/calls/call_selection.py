"""Selects the calls that a check judges: those of one tool, and of one action if the suite names one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.text.globs import find_names
from evalgate.measures.values.json_values import json_equal, shorten, show
from evalgate.models.trace.trace_view import is_captured

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ToolCall, Trace

    NumberedCall = tuple[int, ToolCall]


class CallFilter(NamedTuple):
    """Selects all calls of `tool` (a name or glob), or those whose argument `argument` is `action`."""

    tool: str
    action: str | None = None
    argument: str = "action"

    def __str__(self) -> str:
        """Returns the filter in words."""
        tool = shorten(self.tool, 60)
        return tool if self.action is None else f"{tool} with {self.argument} {show(self.action, 40)}"

    def select(self, trace: Trace) -> SelectedCalls:
        """Selects calls of the agent, numbered from 1 among all its calls."""
        found = SelectedCalls([], [])
        calls = trace.agent_calls
        tool = self.tool
        tools = find_names(tool, [call["name"] for call in calls]) if "*" in tool else (tool,)
        for number, call in enumerate(calls, 1):
            if call["name"] not in tools:
                continue
            if self.action is None or self._is_action(call):
                found.matching.append((number, call))
            elif not is_captured(call):
                found.possible.append((number, call))
        return found

    def _is_action(self, call: ToolCall) -> bool:
        arguments = call["arguments"]
        return isinstance(arguments, dict) and json_equal(arguments.get(self.argument), self.action)


class SelectedCalls(NamedTuple):
    """Calls that match, and calls that may match: their arguments were not captured."""

    matching: list[NumberedCall]
    possible: list[NumberedCall]


def format_times(count: int) -> str:
    """Formats how often, in words.

    >>> format_times(1), format_times(3)
    ('once', '3 times')
    """
    return "once" if count == 1 else f"{count:,} times"


def format_calls(count: int | str, target: CallFilter | str | None = None) -> str:
    """Formats a number of calls, of all tools if there is no target.

    >>> format_calls(1), format_calls(3, "search"), format_calls("no", "search")
    ('1 tool call', '3 calls of search', 'no call of search')
    """
    shown = count if isinstance(count, str) else f"{count:,}"
    noun = "call" if count in (1, "no") else "calls"
    return f"{shown} tool {noun}" if target is None else f"{shown} {noun} of {target}"
