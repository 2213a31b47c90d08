"""Which arguments of calls that change something had a source in every passing trace."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

from evalgate.measures.provenance.leaves import is_free_text, list_leaves
from evalgate.measures.provenance.trace_sources import find_argument_sources
from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.tool_words import changes_something, find_parameters
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalgate.measures.provenance.leaves import Leaf
    from evalgate.models.trace.trace import Trace

LEAST_TRACES = 3
"""Traces that must call a tool."""
MAX_TOOLS, MAX_ALLOWED, MAX_VALUE = 50, 10, 40
SCENARIOS_OF_A_WORD = 2
"""Scenarios in which a value stands nowhere, from which on it is a word that the agent knows, not an invention."""
_WORD = re.compile(r"[^\W\d]+(?:[ _-][^\W\d]+)*")


class _Argument(Struct):
    """An argument of a tool in all traces: values with a source, and those that stand nowhere with their scenarios."""

    grounded: int = 0
    is_doubtful: bool = False
    nowhere: dict[Any, set[str]] = field(default_factory=dict)

    @property
    def allowed(self) -> list[str] | None:
        """Values that need no source; None if some stand nowhere that are no such words."""
        words = [
            value
            for value, scenarios in self.nowhere.items()
            if isinstance(value, str)
            and len(value) <= MAX_VALUE
            and len(scenarios) >= SCENARIOS_OF_A_WORD
            and _WORD.fullmatch(value)
        ]
        is_complete = not self.is_doubtful and len(words) == len(self.nowhere) <= MAX_ALLOWED
        return sorted(words) if is_complete else None


class _Tool(Struct):
    """A tool that changes something: in how many traces it is called, and its arguments by name.

    `defined` are those that its definition has, `given` those that a call had.
    """

    traces: int = 0
    defined: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    arguments: dict[str, _Argument] = field(default_factory=lambda: defaultdict(_Argument))

    @property
    def is_grounded(self) -> bool:
        """Whether a check of it would judge a value."""
        return any(each.grounded and each.allowed is not None for each in self.arguments.values())


class SourceCheck(NamedTuple):
    """A check as written in a suite, and how many values it is learnt from."""

    entry: dict[str, Any]
    reason: str


def list_defined_arguments(trace: Trace, tool: str) -> frozenset[str]:
    """The arguments that the definition of a tool in a trace has."""
    properties = (find_parameters(tool, trace.tool_definitions) or {}).get("properties")
    return frozenset(properties if isinstance(properties, dict) else ())


def infer_sources(scenarios: Mapping[str, Sequence[Trace]], named: Collection[str]) -> Iterator[SourceCheck]:
    """Yields one check of all tools whose arguments have sources, and one of each with exceptions or allowed values.

    `scenarios` are passing traces by scenario, `named` the tools that a suite may name.
    """
    observed = _observe(scenarios, named)
    tools = {name: each for name, each in observed.items() if each.traces >= LEAST_TRACES and each.is_grounded}
    plain = [name for name, each in tools.items() if not _list_exceptions(each) and not _list_allowed(each)]
    if plain:
        entry = {"type": "grounded_arguments", "tools": plain}
        yield SourceCheck(entry, _count([tools[name] for name in plain]))
    for name, tool in tools.items():
        if name not in plain:
            exceptions, allowed = _list_exceptions(tool), _list_allowed(tool)
            own: dict[str, Any] = {"type": "grounded_arguments", "tools": [name]}
            own |= {"except": exceptions} if exceptions else {}
            own |= {"allow": allowed} if allowed else {}
            yield SourceCheck(own, _count([tool]))


def _observe(scenarios: Mapping[str, Sequence[Trace]], named: Collection[str]) -> dict[str, _Tool]:
    found: dict[str, _Tool] = {}
    for scenario, trials in scenarios.items():
        for trace in trials:
            changing = {
                name for name in trace.called if changes_something(name, trace.tool_definitions, trace.tool_kinds)
            }
            for name in sorted(changing):
                if name in named and (name in found or len(found) < MAX_TOOLS):
                    tool = found.setdefault(name, _Tool())
                    tool.traces += 1
                    tool.defined |= list_defined_arguments(trace, name)
            _observe_trace(trace, scenario, {name: found[name] for name in changing if name in found})
    return dict(sorted(found.items()))


def _observe_trace(trace: Trace, scenario: str, tools: dict[str, _Tool]) -> None:
    for number, call in enumerate(trace.agent_calls, 1):
        if call["name"] in tools:
            tools[call["name"]].given.update(call["arguments"] if isinstance(call["arguments"], dict) else ())
            for leaf in list_leaves(call["arguments"]):
                if not is_free_text(leaf.value):
                    _observe_value(trace, number, leaf, scenario, tools[call["name"]].arguments[leaf.argument])


def _observe_value(trace: Trace, number: int, leaf: Leaf, scenario: str, argument: _Argument) -> None:
    sources = find_argument_sources(trace).find(number, leaf)
    if sources.unknown is not None:
        argument.is_doubtful = True
    elif sources.is_nowhere:
        argument.nowhere.setdefault(leaf.value, set()).add(scenario)
    else:
        argument.grounded += 1


def _list_exceptions(tool: _Tool) -> list[str]:
    """Arguments of which values stand nowhere, and those that no call had: where these come from, no trace shows."""
    unknown = (name for name in tool.defined - tool.given if redact(name) == name)
    return sorted({*unknown, *(name for name, each in tool.arguments.items() if each.allowed is None)})


def _list_allowed(tool: _Tool) -> dict[str, list[str]]:
    return {name: each.allowed for name, each in sorted(tool.arguments.items()) if each.allowed}


def _count(tools: Sequence[_Tool]) -> str:
    """How many values had a source."""
    values = sum(each.grounded for tool in tools for each in tool.arguments.values() if each.allowed is not None)
    return f"{pluralize(values, 'value')} had a source"
