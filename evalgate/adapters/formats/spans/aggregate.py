"""Which spans are the same call of a model, and what all calls together used and cost.

One request is often seen by several instrumentors, each with a span of its own that carries the same usage;
an agent's span restates the sum of its parts. Adding them all up counts tokens two and three times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.usage.usage_fields import recorded_cost, summed
from evalgate.adapters.formats.spans.same_request import by_response
from evalgate.adapters.formats.spans.tree import Node, of_kind
from evalgate.models.trace.trace import unknown_cost, unknown_usage
from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.trace.trace import Cost, Usage, Warning_

FULL = 1.01  # recorded totals may differ from sums by 1 % before anybody is told


@dataclass(slots=True, eq=False)
class ModelCall:
    """One request to a model: the span that knows it best, and the others that saw the same request."""

    best: Node
    nodes: list[Node]

    @property
    def usage(self) -> Usage | None:
        """What the provider metered, else what anybody recorded."""
        return self.best.facts.usage

    @property
    def start(self) -> int:
        """When the first of its spans began."""
        return min(node.start for node in self.nodes)

    @property
    def end(self) -> int:
        """When the span that knows it best ended."""
        return self.best.end

    @property
    def owner(self) -> Node | None:
        """The agent that asked."""
        return self.best.owner

    @property
    def depth(self) -> int:
        """How many agents it runs under."""
        return self.best.depth

    @property
    def duration_ms(self) -> float | None:
        """How long the request took."""
        return duration_ms([self.best])

    def told(self, name: str) -> Any:
        """One fact: as the span that knows best tells it, else as the innermost of the others does."""
        for node in (self.best, *sorted(self.nodes, key=lambda node: -node.rank)):
            value = getattr(node.facts, name)
            if value is not None:
                return value
        return None


@dataclass(slots=True)
class SpanUsage:
    """Tokens and cost of a trace."""

    usage: Usage = field(default_factory=unknown_usage)
    cost: Cost = field(default_factory=unknown_cost)
    warnings: list[Warning_] = field(default_factory=list)


def model_calls(nodes: list[Node]) -> list[ModelCall]:
    """Every request once, in the order they began."""
    groups = _Groups(_requests(of_kind(nodes, "inference")))
    groups.join_equal_ids()
    groups.join_nested()
    calls = [ModelCall(max(group, key=_knowledge), group) for group in groups.lists()]
    return sorted(calls, key=lambda call: (call.start, call.end, call.best.span.span_id))


def figures(nodes: list[Node], calls: list[ModelCall]) -> SpanUsage:
    """The sum over calls; where no call was metered, what the outermost agents say, once.

    Where only some calls were metered their sum would be too low: then it is what the agents say, or unknown.
    """
    found = SpanUsage()
    agents = _outermost(of_kind(nodes, "agent"))
    metered = [call.usage for call in calls if call.usage is not None]
    silent = sum(call.usage is None and not call.best.span.has_failed for call in calls)
    stated = _stated(agents)
    if metered and not silent:
        found.usage = _total(metered)
        found.warnings += _mismatch(found.usage, [a for a in agents if a.facts.is_metered])
    elif metered:
        found.usage = _at_least(metered, stated)
        said = f"{silent} of {len(calls)} model calls tell no tokens"
        found.warnings.append({"code": "tokens_incomplete", "message": said, "where": "usage"})
    elif stated is not None:
        found.usage = stated
    found.warnings += _cache_beside(found.usage)
    _add_cost(found, calls, agents)
    return found


def duration_ms(nodes: Iterable[Node]) -> float | None:
    """From the first start to the last end; None where either is unknown or they stand in wrong order."""
    times = [(node.span.start_ns, node.span.end_ns) for node in nodes]
    starts = [start for start, _ in times if start is not None]
    ends = [end for _, end in times if end is not None]
    if not starts or not ends or max(ends) < min(starts):
        return None
    return round((max(ends) - min(starts)) / 1e6, 6)


def outermost_agents(nodes: list[Node]) -> list[Node]:
    """Agents that run under no other."""
    return _outermost(of_kind(nodes, "agent"))


class _Groups:
    """Sets of spans that are the same request, joined step by step."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes
        self._leader = {id(node): node for node in nodes}

    def join_equal_ids(self) -> None:
        """The same id of a response is the same request."""
        for same in by_response(self._nodes):
            for node in same[1:]:
                self._join(same[0], node)

    def join_nested(self) -> None:
        """One within another, with no agent or tool between them, is the same request."""
        for node in self._nodes:
            if node.within is not None and id(node.within) in self._leader:
                self._join(node.within, node)

    def lists(self) -> list[list[Node]]:
        """The groups, each in the order of its spans."""
        found: dict[int, list[Node]] = {}
        for node in self._nodes:
            found.setdefault(id(self._top(node)), []).append(node)
        return list(found.values())

    def _join(self, one: Node, other: Node) -> None:
        self._leader[id(self._top(other))] = self._top(one)

    def _top(self, node: Node) -> Node:
        while (above := self._leader[id(node)]) is not node:
            self._leader[id(node)] = self._leader[id(above)]
            node = above
        return node


def _requests(nodes: list[Node]) -> list[Node]:
    """Without those that only wrap several requests: such a span restates the sum of what it wraps."""
    inner: dict[int, list[Node]] = {}
    for node in nodes:
        if node.within is not None and node.within.facts.kind == "inference":
            inner.setdefault(id(node.within), []).append(node)
    wrappers = {wrapper for wrapper, wrapped in inner.items() if len(by_response(wrapped)) > 1}
    return [node for node in nodes if id(node) not in wrappers]


def _knowledge(node: Node) -> tuple[bool, bool, bool, int]:
    """What the provider itself metered comes before what others counted, the inner before the outer."""
    facts = node.facts
    has_usage = facts.usage is not None
    return has_usage and facts.is_metered, has_usage, facts.response_id is not None, node.rank


def _outermost(agents: list[Node]) -> list[Node]:
    known = {id(agent) for agent in agents}
    return [agent for agent in agents if agent.owner is None or id(agent.owner) not in known]


def _stated(agents: list[Node]) -> Usage | None:
    """What the outermost agents say they used, those together that say it."""
    stated = [agent.facts.usage for agent in agents if agent.facts.usage is not None]
    if not stated:
        return None
    one = stated[0] if len(stated) == 1 else _total(stated)
    return {**one, "source": "agent_span"}


def _at_least(metered: list[Usage], stated: Usage | None) -> Usage:
    """What agents say, where that is more than what some of their calls used: no call used nothing.

    The same number is a platform's own sum of what it knows.
    """
    known, whole = _total(metered)["total_tokens"], None if stated is None else stated["total_tokens"]
    if stated is None or known is None or whole is None or whole <= known:
        return unknown_usage()
    return stated


def _total(usages: list[Usage]) -> Usage:
    """The sum; where input and output are not told apart, of the totals."""
    total = summed(usages)
    if total["total_tokens"] is None:
        known = [usage["total_tokens"] for usage in usages if usage["total_tokens"] is not None]
        total["total_tokens"] = sum(known) if len(known) == len(usages) else None
    return total


def _mismatch(total: Usage, agents: list[Node]) -> list[Warning_]:
    """An agent's own total that is not the sum of its calls."""
    stated = [agent.facts.usage["total_tokens"] for agent in agents if agent.facts.usage is not None]
    known = [tokens for tokens in stated if tokens is not None]
    tokens = total["total_tokens"]
    if not known or len(known) < len(agents) or tokens is None or _is_near(sum(known), tokens):
        return []
    said = f"the agent's span says {sum(known):,} tokens, its model calls used {tokens:,}: their sum counts"
    return [{"code": "total_mismatch", "message": said, "where": "usage"}]


def _cache_beside(usage: Usage) -> list[Warning_]:
    """Some recorders leave cached tokens out of the input; the figures stay as recorded."""
    cached = (usage["cache_read_input_tokens"] or 0) + (usage["cache_write_input_tokens"] or 0)
    if usage["input_tokens"] is None or cached <= usage["input_tokens"]:
        return []
    said = f"{cached:,} cached tokens are not part of the {usage['input_tokens']:,} recorded input tokens"
    return [{"code": "cache_not_in_input", "message": said, "where": "usage"}]


def _is_near(one: float, other: float) -> bool:
    return max(one, other) <= min(one, other) * FULL


def _add_cost(found: SpanUsage, calls: list[ModelCall], agents: list[Node]) -> None:
    """What was recorded: of the calls where all of them tell a cost, else of the outermost agents.

    Where only some tell one, the cost of the whole is unknown.
    """
    parts = [_cost(found, call.told("cost_usd"), call.usage) for call in calls if not _is_free(call)]
    if None in parts or not parts:
        parts = _stated_costs(found, agents, sum(part for part in parts if part is not None)) or parts
    known = [part for part in parts if part is not None]
    if known and len(known) == len(parts):
        found.cost = {"usd": sum(known), "source": "recorded"}
    elif known:
        found.cost = {"usd": None, "source": "partial", "known_usd": sum(known)}


def _stated_costs(found: SpanUsage, agents: list[Node], known: float) -> list[float | None]:
    """What the agents say they cost, where all say it and it is more than what is known of their calls."""
    whole = [_cost(found, agent.facts.cost_usd, found.usage) for agent in agents]
    total = sum(part for part in whole if part is not None)
    return whole if not known or (None not in whole and total > known * FULL) else []


def _is_free(call: ModelCall) -> bool:
    """True for a request that failed and used nothing that anybody recorded."""
    return call.best.span.has_failed and call.usage is None and call.told("cost_usd") is None


def _cost(found: SpanUsage, usd: float | None, usage: Usage | None) -> float | None:
    cost, warnings = recorded_cost(usd, usage or unknown_usage(), "cost")
    found.warnings += [warning for warning in warnings if warning not in found.warnings]
    return cost["usd"]
