"""Groups spans that record the same model response, by its id, time and content."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.formats.spans.tree import SpanNode
    from evalgate.models.trace.trace import Usage


def group_by_response(nodes: Iterable[SpanNode]) -> list[list[SpanNode]]:
    """Groups spans (sorted by start) by the response they record; a span without an id is its only member.

    Test servers give every response the same id: a span that begins after the others of its id have ended,
    and records other tokens or another answer, is a separate request.
    """
    found: list[list[SpanNode]] = []
    latest: dict[str, tuple[list[SpanNode], SpanNode]] = {}
    for node in nodes:
        name = node.facts.response_id
        same, last = latest.get(name, (None, node)) if name else (None, node)
        if same is None or _is_another(last, node):
            same, last = [], node
            found.append(same)
        same.append(node)
        if name:
            latest[name] = same, max(last, node, key=_end)
    return found


def _is_another(one: SpanNode, later: SpanNode) -> bool:
    if one.span.end_ns is None or later.span.start_ns is None or later.start < one.end:
        return False
    output, later_output = one.facts.output, later.facts.output
    usage, later_usage = one.facts.usage, later.facts.usage
    if output is not None and later_output is not None and output != later_output:
        return True
    return usage is not None and later_usage is not None and _tokens(usage) != _tokens(later_usage)


def _tokens(usage: Usage) -> tuple[int | None, int | None]:
    return usage["input_tokens"], usage["output_tokens"]


def _end(node: SpanNode) -> int:
    return node.end
