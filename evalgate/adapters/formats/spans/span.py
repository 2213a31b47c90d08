"""A span as any tracer records it, and the facts it holds about an agent's run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.records import dataclass, field

if TYPE_CHECKING:
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


@dataclass(slots=True)
class Span:
    """One span from any encoding: ids as lower-case text, times in ns since 1970, plain values.

    Attribute values are text, numbers, booleans, lists or objects, never the wrappers of an encoding.
    `is_from_logs`: it is known from log records only, so its name, parent and end are unknown.
    `unknown_fields`: names of recorded fields that were not read.
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


@dataclass(slots=True)
class SpanFacts:
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
