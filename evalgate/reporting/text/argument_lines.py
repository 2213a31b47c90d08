"""Where the arguments of a trace's calls came from, in words; worked out only for what is shown."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.provenance.leaves import is_free_text, list_leaves
from evalgate.measures.provenance.trace_sources import find_argument_sources
from evalgate.measures.redaction.redact import redact_value
from evalgate.measures.text.tool_words import changes_something
from evalgate.measures.values.json_values import show
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.measures.provenance.sources import FoundSources
    from evalgate.models.trace.trace import Trace

MAX_VALUES, MAX_SOURCES, MAX_SHOWN = 50, 3, 80
"""Values of one call, sources of one value, and characters of a value that are shown."""


class ArgumentLine(NamedTuple):
    """A value of a call: the argument's path, the value as JSON, and its sources."""

    path: str
    value: str
    sources: str
    is_nowhere: bool

    def __str__(self) -> str:
        return f"{self.path} {self.value} {self.sources}"


def list_argument_lines(trace: Trace, number: int) -> Iterator[ArgumentLine]:
    """Yields the values of a call (from 1 among the agent's own) that must come from somewhere, without free text."""
    sources = find_argument_sources(trace)
    leaves = (leaf for leaf in list_leaves(trace.agent_calls[number - 1]["arguments"]) if not is_free_text(leaf.value))
    for leaf in islice(leaves, MAX_VALUES):
        found = sources.find(number, leaf)
        value = show(redact_value({leaf.argument: leaf.value})[leaf.argument], MAX_SHOWN)  # before it is cut
        yield ArgumentLine(leaf.path, value, describe_sources(found), found.is_nowhere)


def describe_sources(found: FoundSources) -> str:
    """The sources of a value: `from user, result of call 2 (get_order)`, `from nowhere`, or why they are not known."""
    names = [each.describe() for each in found.sources]
    if found.unknown is not None:
        return f"may come from elsewhere: {found.unknown}"
    if found.is_nowhere:
        return f"from nowhere (before in the {names[0]})" if names else "from nowhere"
    left = len(names) - MAX_SOURCES
    return f"from {', '.join(names[:MAX_SOURCES])}" + (f" and {pluralize(left, 'more text')}" if left > 0 else "")


def list_changing_calls(trace: Trace) -> list[int]:
    """The numbers of the agent's calls that change something."""
    return [
        number
        for number, call in enumerate(trace.agent_calls, 1)
        if changes_something(call["name"], trace.tool_definitions, trace.tool_kinds)
    ]


def count_from_nowhere(trace: Trace) -> int:
    """How many values of calls that change something have no source."""
    return sum(line.is_nowhere for number in list_changing_calls(trace) for line in list_argument_lines(trace, number))
