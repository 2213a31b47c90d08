"""How a run ended, as its spans say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.builder.run import add_warning
from evalgate.adapters.formats.core.builder.run_end import (
    PERSON,
    STEPS,
    TURNS,
    mark_failed_run,
    mark_incomplete,
    mark_stopped,
)
from evalgate.adapters.formats.core.usage import finish_reason
from evalgate.adapters.formats.messages.kept_elsewhere import list_objects
from evalgate.adapters.formats.messages.roles import read_forced_tool
from evalgate.adapters.formats.spans.aggregate import outermost_agents
from evalgate.adapters.formats.spans.span import BOUNDARY_KINDS, nodes_of_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.span import SpanNode
    from evalgate.models.trace.trace import Trace

STOPS = {
    "GraphInterrupt": PERSON,
    "NodeInterrupt": PERSON,
    "GraphRecursionError": STEPS,
    "MaxTurnsExceeded": TURNS,
    "UsageLimitExceeded": "the limit of usage",
}
"""Classes of exceptions by which frameworks stop a run that did not fail."""
MAX_TURNS = "Max turns exceeded"
"""What the OpenAI Agents SDK writes in its place."""
ONLY_CALL = "a span above the only model call is not recorded, so nothing says that the run ended there: export it too"
TOOL_CHOICE = ('"tool_choice"', "'tool_choice'")
LOST = "a span above calls is not recorded: the run was stopped before it ended, or not all of its spans were exported"


def add_status(trace: Trace, nodes: list[SpanNode], main: Sequence[ModelCall]) -> None:
    """Sets status and error as of the outermost agents, else of the last model call if nothing came after it."""
    agents = outermost_agents(nodes)
    last = max(main, key=lambda call: call.place, default=None)
    if last is not None:
        trace.finish_reason = finish_reason(last.get_fact("finish_reason"))
    failed = next((node for node in agents if _has_failed(node) and not _is_followed(node, agents)), None)
    if failed is None and not agents and last is not None and _has_failed(last.best):
        failed = None if _is_followed(last.best, nodes_of_kind(nodes, "tool")) else last.best
    if failed is not None:
        mark_span_failure(trace, failed.facts.error_type, failed.span.status_message)
    elif any(node.span.start_ns is not None and node.span.end_ns is None for node in agents):
        mark_incomplete(trace, "the agent's span has no end: the run was stopped, or exported before it ended")
    else:
        _judge_lost_root(trace, nodes)


def _has_failed(node: SpanNode) -> bool:
    """Whether its status says so, or the type of an error, which a span that ended well does not have."""
    return node.span.has_failed or node.facts.error_type is not None


def _judge_lost_root(trace: Trace, nodes: Sequence[SpanNode]) -> None:
    """Marks a run of which a span above model calls is missing, as that of a killed agent is, if no answer is the last.

    With an answer the missing span may be that of a service, which another program exports.
    """
    acts = [
        node for node in nodes if node.within is None and node.facts.kind in BOUNDARY_KINDS and not node.is_excluded
    ]
    lost = [node for node in acts if _has_lost_root(node)]
    if all(node.facts.kind != "inference" for node in lost):
        return
    last = max(lost, key=lambda node: node.start)
    if last.facts.kind == "tool" or (last.facts.kind == "inference" and _asks_for_tools(last)):
        mark_incomplete(trace, LOST)
    elif len(lost) == 1:
        add_warning(trace, "end_not_recorded", ONLY_CALL, "messages")


def _has_lost_root(node: SpanNode) -> bool:
    top = node
    while top.parent is not None:
        top = top.parent
    return not top.span.is_entry and (top.span.parent_id is not None or top.span.is_detached)


def _asks_for_tools(node: SpanNode) -> bool:
    """Whether its answer asks for tools. If the request names the one to call, it is an answer of a given form."""
    if any(read_forced_tool(one.get("tool_choice")) for one in list_objects([node.span.attributes], TOOL_CHOICE)):
        return False
    asked = any(message.calls for message in node.facts.output or ())
    return asked or finish_reason(node.facts.finish_reason) == "tool_calls"


def _is_followed(node: SpanNode, others: Iterable[SpanNode]) -> bool:
    """Whether another span began after this one had ended: the run went on."""
    end = node.span.end_ns
    return end is not None and any(each.span.start_ns is not None and each.span.start_ns >= end for each in others)


def mark_span_failure(trace: Trace, kind: str | None, message: str | None) -> None:
    """Marks a run whose span failed: frameworks end it by an exception too where it waits, or a limit is reached."""
    stopped_by = STOPS.get((kind or message or "").partition("(")[0].rpartition(".")[2].strip())
    if stopped_by is not None or message == MAX_TURNS:
        mark_stopped(trace, stopped_by or TURNS)
    else:
        mark_failed_run(trace, kind, message)
