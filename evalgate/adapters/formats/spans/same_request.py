"""Which spans tell of the same response of a model, by its id and by what else they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.formats.spans.tree import Node
    from evalgate.models.trace.trace import Usage


def by_response(nodes: Iterable[Node]) -> list[list[Node]]:
    """Spans by the response they tell of, given in the order they began; one without an id is by itself.

    Servers for tests give the same id to every response: what begins after the others of its id have ended,
    and tells of other tokens or of another answer, is a request of its own.
    """
    found: list[list[Node]] = []
    latest: dict[str, tuple[list[Node], Node]] = {}
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


def _is_another(one: Node, later: Node) -> bool:
    if one.span.end_ns is None or later.span.start_ns is None or later.start < one.end:
        return False
    said, told = one.facts.output, later.facts.output
    used, metered = one.facts.usage, later.facts.usage
    if said is not None and told is not None and said != told:
        return True
    return used is not None and metered is not None and _tokens(used) != _tokens(metered)


def _tokens(usage: Usage) -> tuple[int | None, int | None]:
    return usage["input_tokens"], usage["output_tokens"]


def _end(node: Node) -> int:
    return node.end
