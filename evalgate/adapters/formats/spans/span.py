"""A span as any tracer records it, the facts it holds about a run, and the tree of the spans of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct, field

from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.models.trace.trace import TraceScore, Usage, Warning_


SpanKind = Literal["inference", "tool", "agent", "other", "excluded"]
"""The role of a span in the run of an agent.

`inference`: one request to a model. `tool`: one execution of a tool. `agent`: an agent, a workflow or a chain
of them, whose usage repeats that of its parts. `other`: anything else (HTTP, queues, wrappers), which still
links spans. `excluded`: a judge, a user simulator or an embedding, whose cost is not the agent's.
"""


NO_SPAN = "no-span"
"""The span id given to log records that name no span."""


class SpanEvent(NamedTuple):
    """A span event, or a log record that names the span."""

    name: str
    time_ns: int | None
    attributes: dict[str, Any]
    body: Any = None


class Span(Struct):
    """One span from any encoding: ids as lower-case text, times in ns since 1970, plain values.

    Attribute values are text, numbers, booleans, lists or objects, never the wrappers of an encoding.
    `is_from_logs`: it is known from log records only, so its name, parent and end are unknown.
    `unknown_fields`: names of recorded fields that were not read. `dropped`: how many attributes and how many events
    (or attributes of events) the tracer left out, for a limit of its own. `is_detached`: its parent is not recorded,
    and `parent_id` was removed. `is_entry`: its parent is in another program, or of no interest to the tracer.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start_ns: int | None = None
    end_ns: int | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    resource: dict[str, Any] = field(default_factory=dict)
    scope: str | None = None
    events: list[SpanEvent] = field(default_factory=list)
    has_failed: bool = False
    status_message: str | None = None
    is_from_logs: bool = False
    unknown_fields: tuple[str, ...] = ()
    dropped: tuple[int, int] = (0, 0)
    is_detached: bool = False
    is_entry: bool = False


class SpanFacts(Struct):
    """What one span records, in one vocabulary for all dialects; None if unknown.

    `input` is everything the model was given, usually the whole conversation so far; `output` is its answer.
    `is_metered`: the usage comes from the provider's response, not from a platform that counted tokens
    itself. Arguments and results are kept as recorded: objects or text. `error_status` is the HTTP status of a
    failed request.
    """

    kind: SpanKind
    provider: str | None = None
    model: str | None = None
    response_id: str | None = None
    usage: Usage | None = None
    counted_as: str = "genai"
    is_metered: bool = True
    cost_usd: float | None = None
    finish_reason: str | None = None
    input: list[RawMessage] | None = None
    output: list[RawMessage] | None = None
    system: str | None = None
    tool_definitions: list[dict[str, Any]] | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    arguments: Any = None
    result: Any = None
    exit_code: int | None = None
    error_type: str | None = None
    error_message: str | None = None
    error_status: int | None = None
    agent: str | None = None
    framework: str | None = None
    conversation_id: str | None = None
    scenario_id: str | None = None
    trial: int | None = None
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    evaluations: list[TraceScore] = field(default_factory=list)
    warnings: list[Warning_] = field(default_factory=list)


BOUNDARY_KINDS = frozenset({"inference", "tool", "agent"})
UNKNOWN = 1 << 80  # sorts after every time


class Dialect(NamedTuple):
    """A vocabulary of attributes: finds the kind of a span (None if not its own), and adds what it names."""

    find_kind: Callable[[Span], SpanKind | None]
    add: Callable[[Span, SpanFacts], None]


class SpanNode(Struct, eq=False):
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
    position: int = 0

    @property
    def start(self) -> int:
        """Start time for sorting; a span without a time comes last."""
        return UNKNOWN if self.span.start_ns is None else self.span.start_ns

    @property
    def end(self) -> int:
        """End time for sorting; a span without an end ends when it began."""
        return self.start if self.span.end_ns is None else self.span.end_ns


def build_tree(spans: Sequence[Span], read_facts: Callable[[Span], SpanFacts]) -> list[SpanNode]:
    """One node for each span, by start, those with equal starts as recorded, after the spans that contain them.

    Raises TraceError for values too deep or refused by a dialect.
    """
    nodes = [SpanNode(span, read_facts(_require_shallow_span(span)), position=at) for at, span in enumerate(spans)]
    nodes.sort(key=lambda node: node.span.span_id)
    _link_parents(nodes)
    _break_cycles(nodes)
    _set_ranks(nodes)
    _set_owners(sorted(nodes, key=lambda node: node.rank))
    nodes.sort(key=lambda node: (node.start, node.rank, node.position))
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


MAX_SPANS = 200_000


class SpanFile(Struct):
    """The contents of all documents of one input.

    Each of `logs` is a span with one log record as its only event; nothing but its ids is known.
    `damaged` maps a trace id to the first error in its spans, and "" to the first error of unknown traces.
    `unplaced` counts events of agents and models that name no trace.
    `missing` says why spans are missing from the file, if any are known to.
    `max_records` bounds the number of spans and log records together.
    """

    spans: list[Span] = field(default_factory=list)
    logs: list[Span] = field(default_factory=list)
    damaged: dict[str, TraceError] = field(default_factory=dict)
    unplaced: int = 0
    missing: str | None = None
    max_records: int = MAX_SPANS

    def add(self, span: Span) -> None:
        """Adds a span; raises TraceError if there are too many."""
        self._require_capacity()
        self.spans.append(span)

    def add_log(self, log: Span) -> None:
        """Adds a log record; raises TraceError if there are too many."""
        self._require_capacity()
        self.logs.append(log)

    def mark_damaged(self, trace_id: str, error: TraceError) -> None:
        """Marks a trace as unreadable because of an error in one of its spans or log records."""
        self.damaged.setdefault(trace_id, error)

    def _require_capacity(self) -> None:
        if len(self.spans) + len(self.logs) >= self.max_records:
            raise TraceError(f"it contains more than {self.max_records:,} spans and log records")
