"""Selects the calls that a check judges: those of one tool and action, or those of tools that it forbids."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.text.globs import find_names, matches_id
from evalgate.measures.text.plain_text import mark_part, mark_unseen
from evalgate.measures.text.similar_names import find_denied, find_similar_name, is_written_alike, spell_out
from evalgate.measures.values.json_values import json_equal, mark_name, shorten, show
from evalgate.models.trace.actors import ROOT
from evalgate.models.trace.trace import list_arguments, list_names
from evalgate.models.trace.trace_view import is_captured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.trace.trace import ToolCall, Trace

    NumberedCall = tuple[int, ToolCall]

TRAJECTORY_NAMES = (
    "trajectory",
    "trajectory-match",
    "trajectory:tool-sequence",
    "tool-trajectory",
    "tool-trajectory-avg-score",
    "tool-correctness",
    "toolcorrectness",
)
"""What other tools call a check of all calls as one list."""
MAX_MAKERS = 3
"""Agents that a reason names, those that made most of the calls."""
MAX_ACTION = 1_000
"""Characters of an action."""
MAX_LISTED = 12
"""Calls that a reason or evidence lists; the rest is counted."""


class CallFilter(NamedTuple):
    """Selects all calls of `tool` (a name or glob, or several), or those whose argument `argument` is `action`.

    A check that limits what a tool is called with (`is_limit`) must not be evaded by a name or action written alike.
    """

    tool: str | tuple[str, ...]
    action: str | None = None
    argument: str = "action"
    is_limit: bool = False

    def __str__(self) -> str:
        """Returns the filter in words."""
        tool = _format_either(self.patterns)
        return tool if self.action is None else f"{tool} with {self.argument} {show(self.action, 40)}"

    def mark(self) -> str:
        """Returns the filter in words, with the names and the value marked as parts of a sentence."""
        tool = _format_either(self.patterns, mark_name)
        return tool if self.action is None else f"{tool} with {mark_part(f'{self.argument}: {show(self.action, 40)}')}"

    @property
    def patterns(self) -> tuple[str, ...]:
        """The names and globs of the tools."""
        return (self.tool,) if isinstance(self.tool, str) else self.tool

    def select(self, trace: Trace) -> SelectedCalls:
        """Selects calls of the agent, numbered from 1 among all its calls."""
        found = SelectedCalls([], [])
        calls = trace.agent_calls
        tools = self._find_tools(trace)
        for number, call in enumerate(calls, 1):
            if tools.isdisjoint(list_names(call) if self.is_limit else (call["name"],)):
                continue
            if self._is_action(call["arguments"]):
                found.matching.append((number, call))
            elif not is_captured(call):
                found.possible.append((number, call))
        return found

    def _find_tools(self, trace: Trace) -> set[str]:
        """The names in the trace that the filter means."""
        if self.is_limit:
            names = {name for names in trace.called_names for name in names}
            return {name for name in names if find_denied(self.patterns, name) is not None}
        tools = set[str]()
        for each in self.patterns:
            tools.update(find_names(each, trace.called) if "*" in each else (each,))
        return tools

    def has_action(self, call: ToolCall) -> bool:
        """Returns whether what was asked for, or what ran, has the action."""
        return any(map(self._is_action, list_arguments(call)))

    def may_have_action(self, call: ToolCall) -> bool:
        """Returns whether the call may have the action, as its arguments were not captured."""
        return not is_captured(call)

    def _is_action(self, arguments: Any) -> bool:
        if self.action is None:
            return True
        if not isinstance(arguments, dict):
            return False
        return json_equal(arguments.get(self.argument), self.action) or (self.is_limit and self._is_alike(arguments))

    def _is_alike(self, arguments: dict[str, Any]) -> bool:
        """Whether an argument that is written like that of the action has it, written alike or in a list."""
        actions = (
            each
            for name, value in arguments.items()
            if is_written_alike(self.argument, str(name))
            for each in (value if isinstance(value, list) else [value])
        )
        return any(
            isinstance(each, str) and len(each) <= MAX_ACTION and is_written_alike(str(self.action), each)
            for each in actions
        )


def _format_either(patterns: Sequence[str], cut: Callable[[str, int], str] = shorten) -> str:
    """Formats names as `a, b or c`; counts those beyond the first twelve."""
    *head, last = (cut(each, 60) for each in patterns[: MAX_LISTED + 1])
    if len(patterns) > MAX_LISTED + 1:
        last = f"{len(patterns) - MAX_LISTED} others"
    return f"{', '.join(head)} or {last}" if head else last


class SelectedCalls(NamedTuple):
    """Calls that match, and calls that may match: their arguments were not captured."""

    matching: list[NumberedCall]
    possible: list[NumberedCall]


def find_first(calls: Sequence[NumberedCall]) -> NumberedCall:
    """The first of the calls, at least one; of those of one message, which have no order, by name and arguments."""
    step = calls[0][1]["step"]
    made = takewhile(lambda each: each[1]["step"] == step, calls) if step else calls[:1]
    return min(made, key=lambda each: (each[1]["name"], show(each[1]["arguments"], 200)))


def format_times(count: int) -> str:
    """Formats how often, in words.

    >>> format_times(1), format_times(3)
    ('once', '3 times')
    """
    return "once" if count == 1 else f"{count:,} times"


def format_calls(count: int | str, target: str | None = None) -> str:
    """Formats a number of calls, of all tools if there is no target.

    >>> format_calls(1), format_calls(3, "search"), format_calls("no", "search")
    ('1 tool call', '3 calls of search', 'no call of search')
    """
    shown = count if isinstance(count, str) else f"{count:,}"
    noun = "call" if count in (1, "no") else "calls"
    return f"{shown} tool {noun}" if target is None else f"{shown} {noun} of {target}"


def format_names(names: Sequence[str]) -> str:
    """Formats names as a list; counts those beyond the first twelve."""
    head = ", ".join(shorten(name, 60) for name in names[:MAX_LISTED])
    return head if len(names) <= MAX_LISTED else f"{head} and {len(names) - MAX_LISTED} more"


def mark_names(names: Sequence[str]) -> str:
    """Formats names as `format_names` does, each marked as a part of a sentence."""
    head = ", ".join(mark_name(name) for name in names[:MAX_LISTED])
    return head if len(names) <= MAX_LISTED else f"{head} and {len(names) - MAX_LISTED} more"


def describe_other_calls(trace: Trace, wanted: Sequence[str] = ()) -> str:
    """Describes which tools were called instead of the wanted ones, for the end of a reason."""
    names = list(dict.fromkeys(trace.called))
    if not names:
        return "no tool was"
    return f"only {mark_names(names)} {'was' if len(names) == 1 else 'were'}{suggest_name(wanted, names)}"


def suggest_name(wanted: Sequence[str], called: Sequence[str]) -> str:
    """Asks for the called tool that a wanted one may be a misspelling of; empty without one."""
    found = (find_similar_name(each, called) for each in wanted if "*" not in each and each not in called)
    similar = next(filter(None, found), None)
    return f", did you mean {mark_name(similar)}?" if similar else ""


def name_makers(actors: Sequence[str | None]) -> str:
    """Names who made calls, for the end of a phrase; empty if that was the main agent or is not known.

    >>> name_makers(["root/a", "root/a"]), name_makers(["root", "root/a"]), name_makers(["root", None])
    (', by `root/a`', ', 1 by `root/a`', '')
    """
    counts = Counter(each for each in actors if each not in (None, ROOT)).most_common(MAX_MAKERS)
    if counts and counts[0][1] == len(actors):
        return f", by {mark_name(str(counts[0][0]))}"
    return "".join(f", {count:,} by {mark_name(str(actor))}" for actor, count in counts)


def name_call(number: int, actor: str | None) -> str:
    """The number of a call, from 1, and who made it if that was not the main agent.

    >>> name_call(2, "root"), name_call(2, "root/a")
    ('call 2', 'call 2, by `root/a`')
    """
    return f"call {number:,}{name_makers([actor])}"


def describe_unwanted(target: str, calls: Sequence[str]) -> str:
    """Describes calls, as `name_call` does, of a tool that must not be called.

    >>> describe_unwanted("`refund`", ["call 2"]), describe_unwanted("`refund`", ["call 2", "call 5"])
    ('`refund` must not be called, but was (call 2)', '`refund` must not be called, but was 2 times (first: call 2)')
    """
    made = f"({calls[0]})" if len(calls) == 1 else f"{format_times(len(calls))} (first: {calls[0]})"
    return f"{target} must not be called, but was {made}"


@lru_cache(maxsize=8_192)
def _find_pattern(denial: Denial, name: str) -> str | None:
    if any(matches_id(each, name) for each in denial.not_meant):
        return next((each for each in denial.patterns if matches_id(each, name)), None)
    return find_denied(denial.patterns, name)


class DeniedCall(NamedTuple):
    """A call, numbered from 1, the name that is denied, the pattern that denies it, and who made the call."""

    number: int
    name: str
    pattern: str
    actor: str | None

    @property
    def place(self) -> str:
        """Which call it is."""
        return name_call(self.number, self.actor)


class Denial(NamedTuple):
    """Tools that must not be called; a name in `not_meant` is denied only if it is written like a pattern."""

    patterns: tuple[str, ...]
    not_meant: tuple[str, ...] = ()

    def find_pattern(self, name: str) -> str | None:
        """Returns the pattern that denies a name, None if nothing does."""
        return _find_pattern(self, name)

    def list_calls(self, trace: Trace) -> list[DeniedCall]:
        """Returns the denied calls of the agent in order, each with the first of its names that is denied."""
        found = []
        for number, call in enumerate(trace.agent_calls, 1):
            for name in list_names(call):
                if (pattern := self.find_pattern(name)) is not None:
                    found.append(DeniedCall(number, name, pattern, call["actor"]))
                    break
        return found


def describe_denied(calls: Sequence[DeniedCall], trace: Trace) -> str:
    """Describes denied calls, at least one: the first name with its calls, then the other names."""
    first, _ = find_first([(each.number, trace.agent_calls[each.number - 1]) for each in calls])
    name, pattern = next((each.name, each.pattern) for each in calls if each.number == first)
    others = dict.fromkeys(each.name for each in calls if each.name != name)
    by = "" if pattern == name else f", forbidden by {mark_name(pattern)}"
    rest = f"; nor must {mark_names([show_denied(each, pattern) for each in others])}" if others else ""
    places = [each.place for each in calls if each.name == name]
    return f"{describe_unwanted(mark_name(show_denied(name, pattern)), places)}{by}{rest}"


def show_denied(name: str, pattern: str) -> str:
    """Returns a name with what can't be seen marked, and spelled out if it is only written like the pattern."""
    return mark_unseen(name) if matches_id(pattern, name) else spell_out(name)
