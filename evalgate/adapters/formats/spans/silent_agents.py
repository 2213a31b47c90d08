"""Finds agents below others of which nothing inside is recorded, such as those that run in another service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.spans.span import BOUNDARY_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.spans.span import SpanNode

REQUESTS = ("http.", "url.", "rpc.")
"""Starts of attributes of requests to another service."""
PROTOCOL = "a2a."
"""Begins the names of spans of the protocol between agents."""


def list_silent_agents(nodes: Sequence[SpanNode], agents: Sequence[SpanNode]) -> list[SpanNode]:
    """Those of the agents below which no model call, tool or agent is recorded, nor steps of their own process.

    Requests to another service are no steps. An agent that failed, or whose inside lost the link to it, is not silent.
    """
    above = {id(each) for node in nodes if node.facts.kind in BOUNDARY_KINDS for each in _list_above(node)}
    steps = {id(node.parent) for node in nodes if node.facts.kind == "other" and not _is_request(node)}
    lost = [node for node in nodes if _is_lost(node) and (node.facts.kind in BOUNDARY_KINDS or id(node) in above)]
    return [
        agent
        for agent in agents
        if not agent.span.has_failed
        and id(agent) not in above | steps
        and not any(agent.start <= each.start and each.end <= agent.end for each in lost)
    ]


def _list_above(node: SpanNode) -> Iterator[SpanNode]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _is_lost(node: SpanNode) -> bool:
    """Whether the span above was not recorded."""
    return node.parent is None and node.span.parent_id is not None


def _is_request(node: SpanNode) -> bool:
    return node.span.name.startswith(PROTOCOL) or any(key.startswith(REQUESTS) for key in node.span.attributes)
