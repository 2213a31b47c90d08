"""Reads ATIF trajectories (`schema_version` ATIF-v1.x), as Harbor and exporters to it write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.atif.steps import AtifConversation, AtifPart
from evalgate.adapters.formats.core.builder.conversation import get_instructions
from evalgate.adapters.formats.core.builder.evalgate_metadata import identify_by_metadata, set_scenario_and_trial
from evalgate.adapters.formats.core.builder.run_end import mark_final_call
from evalgate.adapters.formats.core.fields import (
    FieldError,
    count,
    listing,
    mapping,
    milliseconds_between,
    required_text,
    text,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, split_list
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage.totals import (
    is_known,
    sum_call_costs,
    sum_call_usages,
    usages_differ,
    warn_of_mismatch,
)
from evalgate.adapters.formats.core.usage.usage_fields import (
    read_cost_usd,
    split_provider_and_model,
    sum_usages,
    total_tokens,
)
from evalgate.models.trace.trace import Cost, Trace, Usage, unknown_usage

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Response, Warning_

VERSION_PREFIX = "ATIF-v1."
DATA_SET_ID = "task_id"
FINISH_TOOLS = frozenset({"finish", "submit"})


def build(record: Any) -> Trace:
    """Builds one trajectory with its embedded sub-agents."""
    require_shallow(record)
    trajectory = mapping(record, "")
    version = required_text(trajectory.get("schema_version"), "schema_version")
    if not version.startswith(VERSION_PREFIX):
        raise FieldError("schema_version", "is not ATIF-v1.0 or a later ATIF-v1 version")
    if not listing(trajectory.get("steps"), "steps"):
        raise FieldError("steps", "is missing or empty")
    run = AtifConversation(trajectory)
    conversation = run.conversation
    own = run.parts[0]
    trace = Trace(
        text(trajectory.get("trajectory_id"), "trajectory_id")
        or text(trajectory.get("session_id"), "session_id")
        or "",
        conversation.messages,
        conversation.calls,
        _response(run),
        conversation_id=text(trajectory.get("session_id"), "session_id"),
        agent={"name": own.name, "version": text(trajectory["agent"].get("version"), "agent.version")}
        if trajectory.get("agent")
        else None,
        system_instructions=get_instructions(conversation.messages),
        started_at=own.started_at,
        ended_at=own.ended_at,
        llm_calls=sorted((call for part in run.parts for call in part.llm_calls), key=_call_index),
        warnings=conversation.list_warnings(),
    )
    _add_settings(trace, trajectory, own)
    _add_totals(trace, run)
    _warn_of_missing_steps(trace, run)
    return trace


def identify(record: Any) -> Identity:
    """Scenario and trial from the trajectory's `extra`."""
    return identify_by_metadata(record.get("extra"), DATA_SET_ID) if isinstance(record, dict) else (None, None)


def _call_index(call: Any) -> int:
    found: int = call["index"]
    return found


def _response(run: AtifConversation) -> Response:
    """The agent's last message; a sub-agent's messages are addressed to the agent, so they don't count."""
    message = run.answer
    if message is None:
        return {"content": None, "finish_reason": None, "message_index": None}
    return {
        "content": message["content"],
        "finish_reason": message["finish_reason"],
        "message_index": message["index"],
    }


def _add_settings(trace: Trace, trajectory: dict[str, Any], own: AtifPart) -> None:
    agent = mapping(trajectory.get("agent"), "agent")
    trace.metadata = dict(mapping(trajectory.get("extra"), "extra"))
    set_scenario_and_trial(trace, trace.metadata, DATA_SET_ID)
    trace.provider, trace.model = split_provider_and_model(own.model)
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


def _add_totals(trace: Trace, run: AtifConversation) -> None:
    own, *inner = run.parts
    usage, usd, warnings = _trajectory_usage(own)
    cost, about_cost = read_cost_usd(usd, usage, "final_metrics.total_cost_usd")
    steps, incomplete = sum_call_usages(own.llm_calls)
    steps = unknown_usage() if incomplete else steps
    others = [_trajectory_usage(part) for part in inner]
    known = [found for found, _, _ in others if is_known(found)]
    parts = sum_usages([steps, *known]) if is_known(steps) else unknown_usage()
    if others and is_known(usage) and not usages_differ(usage, steps):  # the total leaves sub-agents out
        source = usage["source"]
        usage = sum_usages([usage, *known])
        usage["source"] = source
        costs = [read_cost_usd(theirs, found, "")[0]["usd"] for found, theirs, _ in others]
        cost = _sum_costs(cost, costs)
        if len(known) < len(others):
            usage = unknown_usage()
            message = f"{len(others) - len(known)} of {len(others)} sub-agents record no tokens"
            warnings.append({"code": "tokens_incomplete", "message": message, "where": "usage"})
    trace.usage, trace.cost = usage, cost
    reason = "; sub-agents in other files may be the reason" if run.external_subagents else ""
    trace.warnings += [*warnings, *warn_of_mismatch(usage, parts, "final_metrics", reason), *about_cost]
    total = milliseconds_between(own.started_at, own.ended_at)
    if total:
        trace.latency = {"total_ms": total, "source": "timestamps"}


def _sum_costs(own: Cost, others: list[float | None]) -> Cost:
    """Sums the costs; unknown if only some of them are known."""
    known = [cost for cost in others if cost is not None]
    if own["usd"] is None:
        return own
    if len(known) < len(others):
        return {"usd": None, "source": "partial"}
    return {"usd": own["usd"] + sum(known), "source": own["source"]}


def _trajectory_usage(part: AtifPart) -> tuple[Usage, float | None, list[Warning_]]:
    """Tokens and cost of one trajectory: its recorded totals, else the sum of its steps.

    A segment that continues an earlier one begins with copied steps and repeats the totals of the whole
    session, so only the sum of its own steps counts.
    """
    final = mapping(part.trajectory.get("final_metrics"), "final_metrics")
    steps, warnings = sum_call_usages(part.llm_calls)
    cost = sum_call_costs(part.llm_calls)
    total = unknown_usage()
    total["input_tokens"] = count(final.get("total_prompt_tokens"), "final_metrics.total_prompt_tokens")
    total["output_tokens"] = count(final.get("total_completion_tokens"), "final_metrics.total_completion_tokens")
    total["cache_read_input_tokens"] = count(final.get("total_cached_tokens"), "final_metrics.total_cached_tokens")
    total["total_tokens"] = total_tokens(total)
    total["source"] = "recorded_total"
    recorded = read_cost_usd(final.get("total_cost_usd"), unknown_usage(), "final_metrics.total_cost_usd")[0]
    if part.copied and usages_differ(total, steps) and not warnings:
        return steps, cost, []
    cost = cost if recorded["usd"] is None else recorded["usd"]
    return (total, cost, []) if is_known(total) else (steps, cost, warnings)


def _warn_of_missing_steps(trace: Trace, run: AtifConversation) -> None:
    calls = trace.tool_calls
    if calls and calls[-1]["name"] in FINISH_TOOLS and trace.messages[-1]["tool_calls"]:
        mark_final_call(calls[-1])
    copied = run.parts[0].copied
    if copied:
        message = f"{copied} steps copied from an earlier trajectory are left out"
        trace.warnings.append({"code": "copied_context", "message": message, "where": "steps"})
    if run.external_subagents:
        message = f"{run.external_subagents} sub-agents have their steps in other files, not in this trace"
        trace.warnings.append({"code": "subagent_elsewhere", "message": message, "where": "steps"})


STEP_FIELDS = frozenset({"message", "tool_calls", "observation", "metrics", "extra", "reasoning_content"})
SHAPES = (
    Shape(("steps", EACH), STEP_FIELDS),
    Shape(("steps", EACH, "observation"), frozenset({"results", "extra"})),
    Shape(("subagent_trajectories", EACH, "steps", EACH), STEP_FIELDS),
)
READER = Reader(build=build, identify=identify, split=split_list, shapes=SHAPES, copy_flag="is_copied_context")
