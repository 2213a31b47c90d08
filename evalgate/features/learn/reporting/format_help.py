"""Says in lines what a proposed mapping found and did not, and what is read with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.trace.trace import Trace

NAMES = {"list": "the list of entries", "role": "the role or type", "text": "the text", "call": "the tool of a call"}
MOST_TOOLS = 10


def describe_search(found: Mapping[str, str], missing: Sequence[str]) -> Iterator[str]:
    """What was found, then what was not."""
    for name, place in found.items():
        yield f"found: {NAMES[name]}: {place}"
    for each in missing:
        yield f"not found: {each}"


def describe_reading(traces: Sequence[Trace], refused: Sequence[str]) -> Iterator[str]:
    """What is read with the mapping."""
    calls = [call["name"] for trace in traces for call in trace.agent_calls]
    tools = list(dict.fromkeys(calls))
    shown = f" ({', '.join(tools[:MOST_TOOLS])}{', ...' if len(tools) > MOST_TOOLS else ''})" if tools else ""
    messages = sum(len(trace.messages) for trace in traces)
    if traces:
        figures = [pluralize(len(traces), "run"), pluralize(messages, "message"), pluralize(len(calls), "call")]
        yield f"read with it: {', '.join(figures)}{shown}"
    for reason in dict.fromkeys(trace.gaps["calls"] for trace in traces if "calls" in trace.gaps):
        yield f"calls are incomplete: {reason}"
    for reason in dict.fromkeys(refused):
        yield f"not read with it: {reason}"
