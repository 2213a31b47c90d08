"""Merges the spans of one model call, and sums tokens and cost over all calls.

Several instrumentations often record one request, each in a separate span with the same usage; an agent's
span repeats the sum of its parts. Adding them all up would count tokens two and three times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.adapters.formats.core.usage import read_cost_usd, sum_usages
from evalgate.adapters.formats.spans.span import UNKNOWN, SpanNode, nodes_of_kind
from evalgate.models.trace.trace import unknown_cost, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.trace.trace import Cost, ModelError, Usage, Warning_


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


TOLERANCE = 1.01  # recorded totals may differ from sums by 1 % without a warning


class ModelCall(Struct, eq=False):
    """One request to a model: its most reliable span, and all spans that recorded the request.

    `continued_at` is when a request that holds its answer began.
    """

    best: SpanNode
    nodes: list[SpanNode]
    continued_at: int = UNKNOWN

    @property
    def usage(self) -> Usage | None:
        """Usage metered by the provider, else any recorded usage."""
        return self.best.facts.usage

    @property
    def start(self) -> int:
        """When the first of its spans began."""
        return min(node.start for node in self.nodes)

    @property
    def end(self) -> int:
        """When the most reliable span ended, or a request that holds its answer began, whichever came first."""
        return min(self.best.end, self.continued_at)

    @property
    def place(self) -> tuple[int, int, int]:
        """Sorts calls by when they ended; those that clocks can't tell apart as they began, then as recorded."""
        return self.end, self.start, self.best.position

    @property
    def owner(self) -> SpanNode | None:
        """The agent that made the request."""
        return self.best.owner

    @property
    def depth(self) -> int:
        """How many agents it runs under."""
        return self.best.depth

    @property
    def duration_ms(self) -> float | None:
        """How long the request took."""
        return duration_ms([self.best])

    def get_fact(self, name: str) -> Any:
        """The value of one fact: from the most reliable span, else from the innermost of the others."""
        for node in (self.best, *sorted(self.nodes, key=lambda node: -node.rank)):
            value = getattr(node.facts, name)
            if value is not None:
                return value
        return None

    def find_error(self) -> ModelError | None:
        """Why it failed: what its spans record, the outermost first; None if the outermost did not fail."""
        nodes = sorted(self.nodes, key=lambda node: node.rank)
        if not _has_failed(nodes[0]):
            return None
        failed = [node for node in nodes if _has_failed(node)]
        messages = [node.facts.error_message or node.span.status_message for node in failed]
        return {
            "type": next((node.facts.error_type for node in failed if node.facts.error_type), None),
            "message": next(filter(None, messages), None),
            "status_code": next((node.facts.error_status for node in failed if node.facts.error_status), None),
        }


class SpanUsage(Struct):
    """Tokens and cost of a trace."""

    usage: Usage = field(default_factory=unknown_usage)
    cost: Cost = field(default_factory=unknown_cost)
    warnings: list[Warning_] = field(default_factory=list)


def model_calls(nodes: list[SpanNode]) -> list[ModelCall]:
    """Every model request once, by start."""
    groups = _RequestGroups(_drop_wrappers(nodes_of_kind(nodes, "inference")))
    groups.join_equal_ids()
    groups.join_nested()
    calls = [ModelCall(max(group, key=_reliability), group) for group in groups.list_groups()]
    calls.sort(key=lambda call: (call.start, call.best.position))
    _end_before_continuation(calls)
    return calls


FOLLOWING = 8  # how many calls that began before a call ended may be the one that goes on with its answer


def _end_before_continuation(calls: Sequence[ModelCall]) -> None:
    """Notes when a call's answer was sent on, for clocks that let it end later.

    Node's spans begin at a whole millisecond and end an exact duration later: of calls within one millisecond, as a
    replay has them, the first may end last.
    """
    for at, call in enumerate(calls):
        for later in calls[at + 1 : at + 1 + FOLLOWING]:
            if later.start >= call.best.end:
                break
            if _goes_on(later, call):
                call.continued_at = later.start
                break


def _goes_on(later: ModelCall, call: ModelCall) -> bool:
    """Whether a request holds the messages of another, and after them an answer."""
    given, before = later.get_fact("input") or [], call.get_fact("input") or []
    at = len(before)
    return 0 < at < len(given) and given[at].role == "assistant" and given[:at] == before


def sort_failed_last(calls: Sequence[ModelCall]) -> list[ModelCall]:
    """The calls by start; the one that ended last is last if it failed, since nothing followed it."""
    last = max(calls, key=lambda call: call.place, default=None)
    if last is None or last.find_error() is None:
        return list(calls)
    return [*(call for call in calls if call is not last), last]


def compute_usage(nodes: list[SpanNode], calls: list[ModelCall]) -> SpanUsage:
    """Sums tokens and cost over calls; if no call records usage, takes that of the outermost agents.

    If only some calls record usage, their sum is too low: the agents' usage counts if larger, else unknown.
    """
    found = SpanUsage()
    agents = _outermost(nodes_of_kind(nodes, "agent"))
    metered = [call.usage for call in calls if call.usage is not None]
    unmetered = sum(call.usage is None and not call.best.span.has_failed for call in calls)
    stated = _sum_agent_usage(agents)
    if metered and not unmetered:
        found.usage = _sum_usages(metered)
        found.warnings += _mismatch_warnings(found.usage, [a for a in agents if a.facts.is_metered])
    elif metered:
        found.usage = _agent_usage_if_larger(metered, stated)
        message = f"{unmetered} of {len(calls)} model calls record no tokens"
        found.warnings.append({"code": "tokens_incomplete", "message": message, "where": "usage"})
    elif stated is not None:
        found.usage = stated
    _add_cost(found, calls, agents)
    return found


def duration_ms(nodes: Iterable[SpanNode]) -> float | None:
    """From the first start to the last end; None if either is unknown or the end precedes the start."""
    times = [(node.span.start_ns, node.span.end_ns) for node in nodes]
    starts = [start for start, _ in times if start is not None]
    ends = [end for _, end in times if end is not None]
    if not starts or not ends or max(ends) < min(starts):
        return None
    return round((max(ends) - min(starts)) / 1e6, 6)


def outermost_agents(nodes: list[SpanNode]) -> list[SpanNode]:
    """Agents that run under no other."""
    return _outermost(nodes_of_kind(nodes, "agent"))


class _RequestGroups:
    """Disjoint sets of spans, one for each request."""

    def __init__(self, nodes: list[SpanNode]) -> None:
        self._nodes = nodes
        self._leader = {id(node): node for node in nodes}

    def join_equal_ids(self) -> None:
        """Joins spans with the same response id."""
        for same in group_by_response(self._nodes):
            for node in same[1:]:
                self._join(same[0], node)

    def join_nested(self) -> None:
        """Joins a span with the one around it if no agent or tool is between them."""
        for node in self._nodes:
            if node.within is not None and id(node.within) in self._leader:
                self._join(node.within, node)

    def list_groups(self) -> list[list[SpanNode]]:
        """The groups, each in the order of its spans."""
        found: dict[int, list[SpanNode]] = {}
        for node in self._nodes:
            found.setdefault(id(self._find_leader(node)), []).append(node)
        return list(found.values())

    def _join(self, one: SpanNode, other: SpanNode) -> None:
        self._leader[id(self._find_leader(other))] = self._find_leader(one)

    def _find_leader(self, node: SpanNode) -> SpanNode:
        while (above := self._leader[id(node)]) is not node:
            self._leader[id(node)] = self._leader[id(above)]
            node = above
        return node


def _drop_wrappers(nodes: list[SpanNode]) -> list[SpanNode]:
    """Drops spans that only wrap several requests: their usage repeats the sum of those."""
    inner: dict[int, list[SpanNode]] = {}
    for node in nodes:
        if node.within is not None and node.within.facts.kind == "inference":
            inner.setdefault(id(node.within), []).append(node)
    wrappers = {wrapper for wrapper, wrapped in inner.items() if len(group_by_response(wrapped)) > 1}
    return [node for node in nodes if id(node) not in wrappers]


def _reliability(node: SpanNode) -> tuple[bool, bool, bool, int]:
    """Sort key: usage metered by the provider beats usage counted by others; inner spans beat outer ones."""
    facts = node.facts
    has_usage = facts.usage is not None
    return has_usage and facts.is_metered, has_usage, facts.response_id is not None, node.rank


def _has_failed(node: SpanNode) -> bool:
    return node.span.has_failed or node.facts.error_type is not None


def _outermost(agents: list[SpanNode]) -> list[SpanNode]:
    known = {id(agent) for agent in agents}
    return [agent for agent in agents if agent.owner is None or id(agent.owner) not in known]


def _sum_agent_usage(agents: list[SpanNode]) -> Usage | None:
    """Sums the usage of those outermost agents that record any."""
    stated = [agent.facts.usage for agent in agents if agent.facts.usage is not None]
    if not stated:
        return None
    one = stated[0] if len(stated) == 1 else _sum_usages(stated)
    return {**one, "source": "agent_span"}


def _agent_usage_if_larger(metered: list[Usage], stated: Usage | None) -> Usage:
    """The agents' usage if it is larger than the sum of the metered calls, since no call uses 0 tokens.

    An equal number is only a platform's sum of the known calls, so the usage is unknown.
    """
    known, whole = _sum_usages(metered)["total_tokens"], None if stated is None else stated["total_tokens"]
    if stated is None or known is None or whole is None or whole <= known:
        return unknown_usage()
    return stated


def _sum_usages(usages: list[Usage]) -> Usage:
    """Sums usages; sums only the totals if input and output are not recorded separately."""
    total = sum_usages(usages)
    if total["total_tokens"] is None:
        known = [usage["total_tokens"] for usage in usages if usage["total_tokens"] is not None]
        total["total_tokens"] = sum(known) if len(known) == len(usages) else None
    return total


def _mismatch_warnings(total: Usage, agents: list[SpanNode]) -> list[Warning_]:
    """Warns if the agents' recorded total differs from the sum of their calls."""
    stated = [agent.facts.usage["total_tokens"] for agent in agents if agent.facts.usage is not None]
    known = [tokens for tokens in stated if tokens is not None]
    tokens = total["total_tokens"]
    if not known or len(known) < len(agents) or tokens is None or _is_near(sum(known), tokens):
        return []
    message = f"the agent's span records {sum(known):,} tokens, its model calls used {tokens:,}: their sum is used"
    return [{"code": "total_mismatch", "message": message, "where": "usage"}]


def _is_near(one: float, other: float) -> bool:
    return max(one, other) <= min(one, other) * TOLERANCE


def _add_cost(found: SpanUsage, calls: list[ModelCall], agents: list[SpanNode]) -> None:
    """Adds the recorded cost: of the calls if all of them have one, else of the outermost agents.

    If only some have one, the total is unknown.
    """
    parts = [_cost(found, call.get_fact("cost_usd"), call.usage) for call in calls if not _is_free(call)]
    if None in parts or not parts:
        parts = _agent_costs(found, agents, sum(part for part in parts if part is not None)) or parts
    known = [part for part in parts if part is not None]
    if known and len(known) == len(parts):
        found.cost = {"usd": sum(known), "source": "recorded"}
    elif known:
        found.cost = {"usd": None, "source": "partial", "known_usd": sum(known)}


def _agent_costs(found: SpanUsage, agents: list[SpanNode], known: float) -> list[float | None]:
    """The agents' costs if no call has one, or if all agents have one and their sum is larger."""
    whole = [_cost(found, agent.facts.cost_usd, found.usage) for agent in agents]
    total = sum(part for part in whole if part is not None)
    return whole if not known or (None not in whole and total > known * TOLERANCE) else []


def _is_free(call: ModelCall) -> bool:
    """True for a failed request without recorded usage or cost."""
    return call.best.span.has_failed and call.usage is None and call.get_fact("cost_usd") is None


def _cost(found: SpanUsage, usd: float | None, usage: Usage | None) -> float | None:
    cost, warnings = read_cost_usd(usd, usage or unknown_usage(), "cost")
    found.warnings += [warning for warning in warnings if warning not in found.warnings]
    return cost["usd"]
