"""Which spans of tools are one execution: those of one call, one below the other, as several tracers record it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import are_equal_arguments
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.spans.span import nodes_of_kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.formats.spans.span import SpanFacts, SpanNode


def list_executions(nodes: Iterable[SpanNode]) -> list[SpanNode]:
    """The outermost span of each execution, with what only the spans of it below record."""
    tools = nodes_of_kind(nodes, "tool")
    outermost: dict[int, SpanNode] = {}
    below: dict[tuple[int, str | None], SpanNode] = {}
    for node in sorted(tools, key=lambda node: node.rank):
        outer = outermost.get(id(node.within))
        same_place = id(node.within), node.span.scope
        if outer is None or not _is_same_call(outer.facts, node.facts) or _is_again(below.get(same_place)):
            outermost[id(node)] = node
        else:
            outermost[id(node)], below[same_place] = outer, node
            _add_facts(outer.facts, node)
    return [node for node in tools if outermost[id(node)] is node]


def _is_same_call(outer: SpanFacts, inner: SpanFacts) -> bool:
    """True if nothing tells the spans apart: the tool's name, the call's id, or the arguments."""
    ids = {outer.tool_call_id, inner.tool_call_id} - {None}
    is_named = outer.tool_name == inner.tool_name or (inner.tool_name is None and _have_same_id(outer, inner))
    if len(ids) > 1 or not is_named:
        return False
    one, other = _read(outer.arguments), _read(inner.arguments)
    is_other_form = isinstance(one, dict) != isinstance(other, dict)
    return is_other_form or are_equal_arguments(one, other) or are_equal_arguments(other, one)


def _read(recorded: Any) -> Any:
    """The arguments of a span as a value; None if they are not recorded, or as blank text."""
    return None if isinstance(recorded, str) and not recorded.strip() else unwrap_text(recorded)


def _is_again(before: SpanNode | None) -> bool:
    """Whether another span at the same place shows that the tool ran before; after a failure it is the same call."""
    return before is not None and not (before.span.has_failed or before.facts.error_type)


def _have_same_id(outer: SpanFacts, inner: SpanFacts) -> bool:
    return outer.tool_call_id is not None and outer.tool_call_id == inner.tool_call_id


def _add_facts(outer: SpanFacts, inner: SpanNode) -> None:
    """Adds what the outer span lacks; an error too where both have the id of the call."""
    facts = inner.facts
    if _have_same_id(outer, facts):
        failed = facts.error_type or ("error" if inner.span.has_failed else None)
        outer.error_type = outer.error_type or failed
    if isinstance(_read(facts.arguments), dict) and not isinstance(_read(outer.arguments), dict):
        outer.arguments = facts.arguments
    for name in ("tool_call_id", "arguments", "result", "exit_code"):
        if getattr(outer, name) is None:
            setattr(outer, name, getattr(facts, name))
