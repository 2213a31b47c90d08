"""Builds the tree of one trace's spans with their facts, in an order independent of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

    FactsReader = Callable[[Span], SpanFacts]

BOUNDARY_KINDS = frozenset({"inference", "tool", "agent"})
UNKNOWN = 1 << 80  # sorts after every time


@dataclass(slots=True, eq=False)
class SpanNode:
    """A span in the tree: `rank` counts the spans above it, `depth` the agents among them.

    `within` is the nearest model call, tool or agent above, `owner` the nearest agent.
    """

    span: Span
    facts: SpanFacts
    parent: SpanNode | None = None
    within: SpanNode | None = None
    owner: SpanNode | None = None
    rank: int = 0
    depth: int = 0
    is_excluded: bool = False

    @property
    def start(self) -> int:
        """Start time for sorting; a span without a time comes last."""
        return UNKNOWN if self.span.start_ns is None else self.span.start_ns

    @property
    def end(self) -> int:
        """End time for sorting; a span without an end ends when it began."""
        return self.start if self.span.end_ns is None else self.span.end_ns


def build_tree(spans: Sequence[Span], read_facts: FactsReader) -> list[SpanNode]:
    """One node for each span, by start; raises TraceError for values too deep or refused by a dialect."""
    nodes = [SpanNode(span, read_facts(_require_shallow_span(span))) for span in spans]
    nodes.sort(key=lambda node: node.span.span_id)
    _link_parents(nodes)
    _break_cycles(nodes)
    _set_ranks(nodes)
    _set_owners(sorted(nodes, key=lambda node: node.rank))
    nodes.sort(key=lambda node: (node.start, node.rank, node.end, node.span.span_id))
    return nodes


def nodes_of_kind(nodes: Iterable[SpanNode], kind: SpanKind) -> list[SpanNode]:
    """The nodes of a kind, without excluded ones."""
    return [node for node in nodes if node.facts.kind == kind and not node.is_excluded]


def _require_shallow_span(span: Span) -> Span:
    for value in span.attributes.values():
        require_shallow(value)
    for event in span.events:
        require_shallow(event.attributes)
        require_shallow(event.body)
    return span


def _link_parents(nodes: list[SpanNode]) -> None:
    by_id: dict[str, SpanNode] = {}
    for node in nodes:
        by_id.setdefault(node.span.span_id, node)
    for node in nodes:
        parent = by_id.get(node.span.parent_id or "")
        node.parent = None if parent is node else parent


def _break_cycles(nodes: list[SpanNode]) -> None:
    """Breaks parent cycles: the span with the smallest id becomes a root."""
    done: set[int] = set()
    for node in nodes:
        path: dict[int, SpanNode] = {}
        here: SpanNode | None = node
        while here is not None and id(here) not in done and id(here) not in path:
            path[id(here)] = here
            here = here.parent
        if here is not None and id(here) in path:
            cycle = list(path.values())
            min(cycle[cycle.index(here) :], key=lambda one: one.span.span_id).parent = None
        done.update(path)


def _set_ranks(nodes: list[SpanNode]) -> None:
    done: set[int] = set()
    for node in nodes:
        path: list[SpanNode] = []
        here: SpanNode | None = node
        while here is not None and id(here) not in done:
            path.append(here)
            here = here.parent
        rank = -1 if here is None else here.rank
        for above in reversed(path):
            rank += 1
            above.rank = rank
            done.add(id(above))


def _set_owners(nodes: list[SpanNode]) -> None:
    """Sets owners, depth and exclusion; expects parents first."""
    for node in nodes:
        parent = node.parent
        node.is_excluded = node.facts.kind == "excluded"
        if parent is None:
            continue
        node.is_excluded = node.is_excluded or parent.is_excluded
        node.within = parent if parent.facts.kind in BOUNDARY_KINDS else parent.within
        is_agent = parent.facts.kind == "agent"
        node.owner = parent if is_agent else parent.owner
        node.depth = parent.depth + is_agent
