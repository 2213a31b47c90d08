"""Models of `custom`, the format that a suite declares, as written: a part of the JSON Schema of suites."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from evalgate.strict_model import StrictModel
from evalgate.suite.suite_file import IgnoredPaths

Expression = Annotated[str, Field(min_length=1)]
TypeName = Annotated[str, Field(min_length=1, max_length=200)]
TypeNames = TypeName | list[TypeName]
EntryKind = Literal["call", "result", "assistant", "user", "system", "ignore"]
"""What an entry of a run is: a call, a result, a message, or nothing that is read; of patterns the first one wins."""
RoleName = Annotated[str, Field(max_length=100)]


class MessageFields(StrictModel):
    """Where the fields of a message are in it."""

    role: Expression = "role"
    content: Expression = "content"
    tool_calls: Expression = "tool_calls"
    tool_results: Expression | None = None
    tool_call_id: Expression = "tool_call_id"
    tool_name: Expression = "tool_name"
    error: Expression | None = None
    reasoning: Expression | None = None
    timestamp: Expression | None = None


class CallFields(StrictModel):
    """Where the fields of a tool call are in it; `path` leads from the run to a list of all calls."""

    path: Expression | None = None
    id: Expression = "id"
    name: Expression = "name"
    arguments: Expression = "arguments"
    result: Expression = "result"
    status: Expression | None = None
    error: Expression | None = None
    exit_code: Expression | None = None
    duration_ms: Expression | None = None
    duration_seconds: Expression | None = None


NO_TOOLS: Literal["none"] = "none"
CallsOrNone = Annotated[
    Annotated[CallFields, Tag("CallFields")] | Annotated[Literal["none"], Tag("none")],
    Discriminator(lambda value: NO_TOOLS if isinstance(value, str) else "CallFields"),
]


class CustomEntry(StrictModel):
    """Where the fields of a trace are: one JMESPath each, starting at the run unless noted otherwise.

    `records` leads from the document (or line) to the list of its runs. `roles` maps the role names that
    messages use to EvalGate's, with `*` for any text. `lines: run` joins the lines of a file to a list, which is one
    run, or several where `run_id` finds different values in them. `items` finds the entries of a run that are
    messages, calls and results, each of a type that `type_field` finds in it; `types` are, by what they are, a type or
    several, in which `*` is any text. `join` finds the id that a call and its result share, in the entry of each.
    `tool_calls: none` says that the agent has no tools. `ignore` lists fields that hold no calls; one with what has
    the shape of a call needs `even_calls`.
    """

    lines: Literal["trace", "run"] = "trace"
    run_id: Expression | None = None
    records: Expression | None = None
    id: Expression | None = None
    scenario_id: Expression | None = None
    trial: Expression | None = None
    input: Expression | None = None
    messages: Expression | None = None
    items: Expression | None = None
    type_field: Expression | None = None
    types: dict[EntryKind, TypeNames] | None = None
    join: dict[Literal["call_id", "result_id"], Expression] | None = None
    message: MessageFields = MessageFields.from_defaults()
    tool_calls: CallsOrNone = CallFields.from_defaults()
    response: Expression | None = None
    status: Expression | None = None
    error: Expression | None = None
    finish_reason: Expression | None = None
    model: Expression | None = None
    provider: Expression | None = None
    started_at: Expression | None = None
    ended_at: Expression | None = None
    cost_usd: Expression | None = None
    latency_seconds: Expression | None = None
    latency_ms: Expression | None = None
    input_tokens: Expression | None = None
    output_tokens: Expression | None = None
    total_tokens: Expression | None = None
    cache_read_input_tokens: Expression | None = None
    scores: Expression | None = None
    tags: Expression | None = None
    metadata: Expression | None = None
    roles: dict[RoleName, Literal["system", "user", "assistant", "tool"]] = Field(default_factory=dict)
    ignore: IgnoredPaths = Field(default_factory=list)
    even_calls: bool = False
