"""Reads ATIF trajectories (`schema_version` ATIF-v1.x), as Harbor and exporters to it write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.atif.steps import AtifConversation, AtifPart
from evalgate.adapters.formats.core.build.conversation import first_instructions
from evalgate.adapters.formats.core.build.evalgate_metadata import mark, marks_of
from evalgate.adapters.formats.core.build.run_end import ends_the_run
from evalgate.adapters.formats.core.fields import (
    FieldError,
    count,
    listing,
    mapping,
    milliseconds_between,
    required_text,
    text,
)
from evalgate.adapters.formats.core.format import Identity, Reader
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.totals import (
    cost_of_calls,
    differs,
    is_known,
    mismatch,
    sum_of_calls,
)
from evalgate.adapters.formats.core.usage.usage_fields import (
    provider_and_model,
    recorded_cost,
    summed,
    total_tokens,
)
from evalgate.models.trace.trace import Cost, Trace, Usage, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Response, Warning_

FAMILY = "ATIF-v1."
DATA_SET_ID = "task_id"
FINISHING = frozenset({"finish", "submit"})


def split(document: Any) -> Sequence[Any]:
    """One trajectory, or a list of them."""
    return document if isinstance(document, list) else [document]


def build(record: Any) -> Trace:
    """Builds one trajectory with its embedded sub-agents."""
    require_shallow(record)
    trajectory = mapping(record, "")
    version = required_text(trajectory.get("schema_version"), "schema_version")
    if not version.startswith(FAMILY):
        raise FieldError("schema_version", "is none of ATIF-v1.0 and later, before 2")
    if not listing(trajectory.get("steps"), "steps"):
        raise FieldError("steps", "are missing")
    story = AtifConversation(trajectory)
    conversation = story.conversation
    own = story.parts[0]
    trace = Trace(
        text(trajectory.get("trajectory_id"), "trajectory_id")
        or text(trajectory.get("session_id"), "session_id")
        or "",
        conversation.messages,
        conversation.calls,
        _response(story),
        conversation_id=text(trajectory.get("session_id"), "session_id"),
        agent={"name": own.name, "version": text(trajectory["agent"].get("version"), "agent.version")}
        if trajectory.get("agent")
        else None,
        system_instructions=first_instructions(conversation.messages),
        started_at=own.first,
        ended_at=own.last,
        llm_calls=sorted((call for part in story.parts for call in part.llm_calls), key=_index),
        warnings=conversation.warnings(),
    )
    _describe(trace, trajectory, own)
    _measure(trace, story)
    _tell_what_is_missing(trace, story)
    return trace


def identify(record: Any) -> Identity:
    """Scenario and trial from the trajectory's `extra`."""
    return marks_of(record.get("extra"), DATA_SET_ID) if isinstance(record, dict) else (None, None)


def _index(call: Any) -> int:
    found: int = call["index"]
    return found


def _response(story: AtifConversation) -> Response:
    """The agent's last message; a sub-agent's messages are addressed to the agent, so they don't count."""
    said = story.answer
    if said is None:
        return {"content": None, "finish_reason": None, "message_index": None}
    return {
        "content": said["content"],
        "finish_reason": said["finish_reason"],
        "message_index": said["index"],
    }


def _describe(trace: Trace, trajectory: dict[str, Any], own: AtifPart) -> None:
    agent = mapping(trajectory.get("agent"), "agent")
    trace.metadata = dict(mapping(trajectory.get("extra"), "extra"))
    mark(trace, trace.metadata, DATA_SET_ID)
    trace.provider, trace.model = provider_and_model(own.model)
    if trace.model is None:
        named = next((call for call in own.llm_calls if call["model"]), None)
        trace.provider, trace.model = (named["provider"], named["model"]) if named else (None, None)
    definitions = listing(agent.get("tool_definitions"), "agent.tool_definitions")
    for number, value in enumerate(definitions):
        path = f"agent.tool_definitions[{number}]"
        tool = mapping(value, path)
        trace.tool_definitions.append(mapping(tool.get("function"), f"{path}.function") or tool)
    notes = text(trajectory.get("notes"), "notes")
    if notes:
        trace.metadata.setdefault("notes", notes)


def _measure(trace: Trace, story: AtifConversation) -> None:
    own, *inner = story.parts
    usage, usd, warnings = _figures(own)
    cost, about_cost = recorded_cost(usd, usage, "final_metrics.total_cost_usd")
    steps, incomplete = sum_of_calls(own.llm_calls)
    steps = unknown_usage() if incomplete else steps
    others = [_figures(part) for part in inner]
    known = [found for found, _, _ in others if is_known(found)]
    parts = summed([steps, *known]) if is_known(steps) else unknown_usage()
    if others and is_known(usage) and not differs(usage, steps):  # the total leaves sub-agents out
        source = usage["source"]
        usage = summed([usage, *known])
        usage["source"] = source
        costs = [recorded_cost(theirs, found, "")[0]["usd"] for found, theirs, _ in others]
        cost = _together(cost, costs)
        if len(known) < len(others):
            usage = unknown_usage()
            said = f"{len(others) - len(known)} of {len(others)} sub-agents tell no tokens"
            warnings.append({"code": "tokens_incomplete", "message": said, "where": "usage"})
    trace.usage, trace.cost = usage, cost
    reason = "; sub-agents in other files may be the reason" if story.elsewhere else ""
    trace.warnings += [*warnings, *mismatch(usage, parts, "final_metrics", reason), *about_cost]
    total = milliseconds_between(own.first, own.last)
    if total:
        trace.latency = {"total_ms": total, "source": "timestamps"}


def _together(own: Cost, others: list[float | None]) -> Cost:
    """Sums the costs; unknown if only some of them are known."""
    known = [cost for cost in others if cost is not None]
    if own["usd"] is None:
        return own
    if len(known) < len(others):
        return {"usd": None, "source": "partial"}
    return {"usd": own["usd"] + sum(known), "source": own["source"]}


def _figures(part: AtifPart) -> tuple[Usage, float | None, list[Warning_]]:
    """Tokens and cost of one trajectory: its recorded totals, else the sum of its steps.

    A segment that continues an earlier one begins with copied steps and repeats the totals of the whole
    session, so only the sum of its own steps counts.
    """
    final = mapping(part.trajectory.get("final_metrics"), "final_metrics")
    steps, warnings = sum_of_calls(part.llm_calls)
    cost = cost_of_calls(part.llm_calls)
    total = unknown_usage()
    total["input_tokens"] = count(final.get("total_prompt_tokens"), "final_metrics.total_prompt_tokens")
    total["output_tokens"] = count(
        final.get("total_completion_tokens"), "final_metrics.total_completion_tokens"
    )
    total["cache_read_input_tokens"] = count(
        final.get("total_cached_tokens"), "final_metrics.total_cached_tokens"
    )
    total["total_tokens"] = total_tokens(total)
    total["source"] = "recorded_total"
    recorded = recorded_cost(final.get("total_cost_usd"), unknown_usage(), "final_metrics.total_cost_usd")[0]
    if part.copied and differs(total, steps) and not warnings:
        return steps, cost, []
    cost = cost if recorded["usd"] is None else recorded["usd"]
    return (total, cost, []) if is_known(total) else (steps, cost, warnings)


def _tell_what_is_missing(trace: Trace, story: AtifConversation) -> None:
    calls = trace.tool_calls
    if calls and calls[-1]["name"] in FINISHING and trace.messages[-1]["tool_calls"]:
        ends_the_run(calls[-1])
    copied = story.parts[0].copied
    if copied:
        said = f"{copied} steps copied from an earlier trajectory are left out"
        trace.warnings.append({"code": "copied_context", "message": said, "where": "steps"})
    if story.elsewhere:
        said = f"{story.elsewhere} sub-agents have their steps in other files, not in this trace"
        trace.warnings.append({"code": "subagent_elsewhere", "message": said, "where": "steps"})


READER = Reader(build=build, identify=identify, split=split)
