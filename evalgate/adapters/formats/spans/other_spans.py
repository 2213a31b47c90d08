"""Lists the names of spans that are no call of a tool: a tracer may have recorded the function of a tool as another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.spans.dialects.attributes import ROLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.adapters.formats.spans.span import SpanNode

MAX_NAMES, MAX_LENGTH = 1_000, 200
"""Different names of a trace, and characters of each; more are left out."""
ENTITY, SDK_NAME = "traceloop.entity.name", "name"
"""Where Traceloop and the Agents SDK name the function of a span."""


def list_other_spans(nodes: Iterable[SpanNode]) -> list[str]:
    """Their different names, in the order of time."""
    found: dict[Any, None] = {}
    for node in nodes:
        if node.facts.kind != "tool" or (node.is_excluded and not _is_of_others(node)):
            found.update(dict.fromkeys(_list_names(node)))
            if len(found) > MAX_NAMES:
                break
    return [each[:MAX_LENGTH] for each in found if each and isinstance(each, str)][:MAX_NAMES]


def _list_names(node: SpanNode) -> Iterator[Any]:
    attributes = node.span.attributes
    yield node.span.name
    for each in (node.facts.tool_name, attributes.get(ENTITY), attributes.get(SDK_NAME)):
        if isinstance(each, str):
            yield each


def _is_of_others(node: SpanNode | None) -> bool:
    """Whether a span, or one above it, says that another than the agent called it."""
    while node is not None and ROLE not in node.span.attributes:
        node = node.parent
    return node is not None
