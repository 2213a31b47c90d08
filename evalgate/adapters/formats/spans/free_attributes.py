"""Lists the attributes that no tracer defines: a recorder may keep anything in them, also what was done."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.builder.evidence_gaps import PROGRAM_FIELDS, shorten
from evalgate.adapters.formats.core.format import words
from evalgate.adapters.formats.spans.unread_attributes import READ_PREFIXES, describe, find_role, may_hold_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.adapters.formats.spans.span import SpanNode

VOCABULARIES = (
    *READ_PREFIXES,
    *("openinference.", "langfuse.", "langsmith.", "mlflow.", "lk.", "mcp.", "tool.", "logfire.", "smolagents."),
    *("claude_code.", "evalgate.", "http.", "url.", "db.", "rpc.", "messaging.", "graphql.", "aws.", "faas."),
    *("service.", "process.", "host.", "os.", "container.", "k8s.", "cloud.", "deployment.", "vcs.", "cicd."),
)
"""Starts of the attributes that tracers define: of agents, models, HTTP, databases, queues, and of the program."""
PLATFORM_FIELDS = words("""
    row attributes metadata inputs outputs input output data extra tags attachments handoffs response exception
    events error tools final_result all_messages_events raw_input
""")
"""Fields that platforms and SDKs keep as attributes of their spans."""


class AttributePlace(NamedTuple):
    """Where an attribute is."""

    key: str
    node: SpanNode


def list_free_attributes(nodes: Iterable[SpanNode]) -> Iterator[tuple[AttributePlace, Any]]:
    """Attributes of spans and events that are in no tracer's vocabulary and hold objects or lists.

    Those of a resource or a scope describe the program that recorded the spans, before the agent did anything.
    """
    for node in nodes:
        is_tools = node.facts.kind == "tool" or (node.within is not None and node.within.facts.kind == "tool")
        if is_tools or node.is_excluded:
            continue  # what a tool did to fulfil its call
        for attributes in (node.span.attributes, *(event.attributes for event in node.span.events)):
            for key, each in attributes.items():
                if may_hold_objects(each) and not is_vocabulary(key):
                    yield AttributePlace(key, node), each


def describe_attribute(place: AttributePlace) -> str:
    """The place of an attribute, for people."""
    return f"`{shorten(place.key)}` of {describe(place.node)}"


@lru_cache(maxsize=4_096)
def is_vocabulary(key: str) -> bool:
    """True for an attribute that a tracer defines, or that describes the program."""
    is_named = key in PLATFORM_FIELDS or key.partition(".")[0] in PROGRAM_FIELDS
    return is_named or key.startswith(VOCABULARIES) or find_role(key) == "skipped"
