"""Reads ATIF trajectories (`schema_version` ATIF-v1.x), as Harbor and exporters to it write them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.adapters.formats.core.builder.agent_session import ELSEWHERE
from evalgate.adapters.formats.core.builder.conversation import get_instructions, read_arguments
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    add_warning,
    build_trace,
    mark_final_call,
    measure_between,
    open_record,
    set_final_response,
)
from evalgate.adapters.formats.core.builder.side_fields import identify_by_metadata, set_scenario_and_trial
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    amount,
    count,
    dict_or_empty,
    do_each,
    filled_text,
    flag,
    listing,
    mapping,
    prefix_errors,
    read_at,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, split_list
from evalgate.adapters.formats.core.usage import (
    TokenTable,
    finish_reason,
    is_known,
    read_cost_usd,
    split_provider_and_model,
    sum_call_costs,
    sum_call_usages,
    sum_usages,
    usages_differ,
    warn_of_mismatch,
)
from evalgate.models.trace.actors import ROOT, ActorPaths
from evalgate.models.trace.final_answer import find_final_answer
from evalgate.models.trace.trace import Cost, LlmCall, Message, Role, ToolCall, Trace, Usage, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Warning_

ROLES: dict[Any, Role] = {"user": "user", "agent": "assistant", "system": "system"}


class AtifPart(Struct):
    """One trajectory of a run: the agent's, or a sub-agent's. `copied` counts the copied, skipped steps."""

    trajectory: dict[str, Any]
    name: str | None
    model: str | None
    is_own: bool
    actor: str = ROOT
    starter: ToolCall | None = None
    llm_calls: list[LlmCall] = field(default_factory=list)
    copied: int = 0
    started_at: str | None = None
    ended_at: str | None = None


class AtifConversation(MeteredConversation):
    """Collects a run for a trace. `external_subagents` counts sub-agents with steps in other files.

    Of these `started_elsewhere` were started by calls; what a step of the system started, as a summary, calls no tools.
    """

    def __init__(self, trajectory: dict[str, Any]) -> None:
        super().__init__()
        self.parts: list[AtifPart] = []
        self.inner: set[int] = set()  # indexes of messages of sub-agents, which are addressed to the agent
        self.external_subagents = self.started_elsewhere = 0
        self._paths = ActorPaths()
        self._add_trajectory(trajectory, None, None)

    def _add_trajectory(self, trajectory: dict[str, Any], outer: AtifPart | None, starter: ToolCall | None) -> None:
        """Adds a trajectory, and those of the sub-agents that it started; `outer` is None for the agent's own."""
        name, model = (read_at(trajectory, key, text) for key in ("agent.name", "agent.model_name"))
        part = AtifPart(trajectory, name, model, outer is None, starter=starter)
        part.actor = ROOT if outer is None else self._paths.add(outer.actor, name)
        self.parts.append(part)
        inner = _subagents_by_id(trajectory)
        steps = listing(trajectory.get("steps"), "steps")
        do_each(steps, "steps", lambda step: self._add_step(part, step, inner))
        for trajectory_id in list(inner):  # no step refers to these
            self._add_subagent(inner, trajectory_id, part, None)

    def _add_subagent(
        self, inner: dict[str, dict[str, Any]], name: str, outer: AtifPart, starter: ToolCall | None
    ) -> None:
        with prefix_errors("subagent_trajectories"):
            self._add_trajectory(inner.pop(name), outer, starter)

    def _add_step(self, part: AtifPart, step: dict[str, Any], inner: dict[str, dict[str, Any]]) -> None:
        if flag(step.get("is_copied_context"), "is_copied_context"):
            part.copied += 1
            return
        source = step.get("source")
        role = ROLES.get(source) if isinstance(source, str) else None
        if role is None:
            raise FieldError("source", "is not one of user, agent, system")
        at = time(step.get("timestamp"), "timestamp")
        part.started_at, part.ended_at = part.started_at or at, at or part.ended_at
        first_new = len(self.conversation.messages)
        calls = self._add_message(part, role, step)
        waiting = deque(calls)
        results = read_at(step, "observation.results", listing)

        def add_result(result: dict[str, Any]) -> None:
            self._add_subagents(result, inner, part, calls)
            self._add_result(role, waiting, result, is_only=len(results) == 1)

        do_each(results, "observation.results", add_result)
        for message in self.conversation.messages[first_new:]:
            message["timestamp"] = message["timestamp"] or at
            if message["index"] not in self.inner:
                message["agent"], message["actor"] = message["agent"] or part.name, part.actor
        for call in calls:
            call["started_at"], call["agent"], call["actor"] = at, part.name, part.actor
            call["started_by"] = None if part.starter is None else part.starter["index"]
        if not part.is_own:
            self.inner.update(range(first_new, len(self.conversation.messages)))

    def _add_message(self, part: AtifPart, role: Role, step: dict[str, Any]) -> list[ToolCall]:
        content, parts = read_content(step.get("message"), "message")
        if role != "assistant":
            if content or parts:
                message = self.conversation.add_message(role, content, is_input=part.is_own)
                message["parts"] = parts
            return []
        values = listing(step.get("tool_calls"), "tool_calls")
        message = self.conversation.add_message(role, content or (None if values else content))
        message["parts"] = parts
        message["reasoning"] = text(step.get("reasoning_content"), "reasoning_content")
        message["model"] = text(step.get("model_name"), "model_name") or part.model
        self._add_model_call(part, step, message)
        calls = CALL.read_each(values, "tool_calls")
        return [self.conversation.add_call(message, call["id"], call["name"], call["arguments"]) for call in calls]

    def _add_model_call(self, part: AtifPart, step: dict[str, Any], message: Message) -> None:
        """Adds the model call of a step; a step with `llm_call_count` 0 came from the runtime."""
        if count(step.get("llm_call_count"), "llm_call_count") == 0:
            return
        metrics = mapping(step.get("metrics"), "metrics")
        reason = dict_or_empty(metrics.get("extra")).get("finish_reason")
        message["finish_reason"] = finish_reason(reason if isinstance(reason, str) else None)
        provider, model = split_provider_and_model(message["model"])
        usage = STEP_USAGE.read(metrics, "metrics")
        is_counted = usage["input_tokens"] is not None or usage["output_tokens"] is not None
        cost = amount(metrics.get("cost_usd"), "metrics.cost_usd")
        part.llm_calls.append(
            self.add_llm_call(
                usage if is_counted else None, message["finish_reason"], provider=provider, model=model, cost_usd=cost
            )
        )

    def _add_subagents(
        self, result: dict[str, Any], inner: dict[str, dict[str, Any]], outer: AtifPart, calls: list[ToolCall]
    ) -> None:
        refs = result.get("subagent_trajectory_ref")
        for ref in refs if isinstance(refs, list) else [refs]:
            if not isinstance(ref, dict):
                continue
            name = ref.get("trajectory_id")
            if isinstance(name, str) and name in inner:  # each at most once, so that the search below stays rare
                by_id = [call for call in calls if call["id"] == result.get("source_call_id")] or calls
                self._add_subagent(inner, name, outer, by_id[0] if len(by_id) == 1 else None)
            else:
                self.external_subagents += 1
                self.started_elsewhere += bool(calls)

    def _add_result(self, role: Role, waiting: deque[ToolCall], result: dict[str, Any], *, is_only: bool) -> None:
        """Adds a result; without a call id it answers the calls of its step, or is an environment message."""
        content, parts = read_content(result.get("content"), "content")
        call_id = text(result.get("source_call_id"), "source_call_id") or None
        if call_id is not None:
            message, _ = self.conversation.add_result(call_id, None, content)
        elif content is None and parts is None:
            return
        else:
            message = self.conversation.add_message("system" if role == "system" else "tool", content)
            taken: list[ToolCall] = []
            while waiting and (is_only or not taken):
                call = waiting.popleft()
                if call["status"] == "missing":
                    call["status"], call["result"], call["result_text"] = "unknown", content, content
                    taken.append(call)
            if len(taken) == 1:
                message["tool_call_id"], message["tool_name"] = taken[0]["id"], taken[0]["name"]
            if role == "assistant" and not taken:  # what was run is in no list of calls, as that of Terminus 2
                self.conversation.orphans += 1
        message["parts"] = parts


CALL = FieldTable(
    id=(filled_text, "tool_call_id"),
    name=(required_text, "function_name"),
    arguments=lambda value, _: read_arguments(value),
)


def _subagents_by_id(trajectory: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for number, value in enumerate(listing(trajectory.get("subagent_trajectories"), "subagent_trajectories")):
        path = f"subagent_trajectories[{number}]"
        inner = mapping(value, path)
        name = text(inner.get("trajectory_id"), f"{path}.trajectory_id") or path
        if name in found:
            raise FieldError(f"{path}.trajectory_id", "is also the id of another sub-agent")
        found[name] = inner
    return found


VERSION_PREFIX = "ATIF-v1."
DATA_SET_ID = "task_id"
FINISH_TOOLS = frozenset({"finish", "submit", "mark_task_complete"})


def build(record: Any) -> Trace:
    """Builds one trajectory with its embedded sub-agents."""
    trajectory = open_record(record)
    version = required_text(trajectory.get("schema_version"), "schema_version")
    if not version.startswith(VERSION_PREFIX):
        raise FieldError("schema_version", "is not ATIF-v1.0 or a later ATIF-v1 version")
    if not listing(trajectory.get("steps"), "steps"):
        raise FieldError("steps", "is missing or empty")
    run = AtifConversation(trajectory)
    conversation = run.conversation
    own = run.parts[0]
    session_id = text(trajectory.get("session_id"), "session_id")
    trace = build_trace(
        conversation,
        text(trajectory.get("trajectory_id"), "trajectory_id") or session_id,
        conversation_id=session_id,
        agent={"name": own.name, "version": text(trajectory["agent"].get("version"), "agent.version")}
        if trajectory.get("agent")
        else None,
        system_instructions=get_instructions(conversation.messages),
        started_at=own.started_at,
        ended_at=own.ended_at,
        llm_calls=run.llm_calls,
        warnings=conversation.list_warnings(),
    )
    _add_answer(trace, run)
    _add_settings(trace, trajectory, own)
    _add_totals(trace, run)
    _warn_of_missing_steps(trace, run)
    return trace


def identify(record: Any) -> Identity:
    """Scenario and trial, if the `extra` of the trajectory names them."""
    return identify_by_metadata(dict_or_empty(record).get("extra"), DATA_SET_ID)


def _add_settings(trace: Trace, trajectory: dict[str, Any], own: AtifPart) -> None:
    trace.metadata = dict(mapping(trajectory.get("extra"), "extra"))
    set_scenario_and_trial(trace, trace.metadata, DATA_SET_ID)
    trace.provider, trace.model = split_provider_and_model(own.model)
    if trace.model is None:
        named = next((call for call in own.llm_calls if call["model"]), None)
        trace.provider, trace.model = (named["provider"], named["model"]) if named else (None, None)

    def add_tool(tool: dict[str, Any]) -> None:
        trace.tool_definitions.append(mapping(tool.get("function"), "function") or tool)

    do_each(read_at(trajectory, "agent.tool_definitions", listing), "agent.tool_definitions", add_tool)
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
    latency = measure_between(own.started_at, own.ended_at)
    if latency["total_ms"]:
        trace.latency = latency


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
    total = FINAL_USAGE.read(final, "final_metrics")
    recorded = read_cost_usd(final.get("total_cost_usd"), unknown_usage(), "final_metrics.total_cost_usd")[0]
    if part.copied and usages_differ(total, steps) and not warnings:
        return steps, cost, []
    cost = cost if recorded["usd"] is None else recorded["usd"]
    return (total, cost, []) if is_known(total) else (steps, cost, warnings)


def _add_answer(trace: Trace, run: AtifConversation) -> None:
    """The answer is the message of the call that ends the run, the text beside this call, or what follows all calls."""
    own = [message for message in trace.messages if message["index"] not in run.inner]
    last = trace.tool_calls[-1] if trace.tool_calls else None
    has_finished = last is not None and last["name"] in FINISH_TOOLS
    trace.response = find_final_answer(own, ends_with_call=has_finished)
    if last is None or not has_finished:
        return
    if trace.messages[-1]["tool_calls"]:
        mark_final_call(last)
    answer = dict_or_empty(last["arguments"]).get("message")
    set_final_response(trace, answer if isinstance(answer, str) else None, _find_last_calling(own))


def _find_last_calling(messages: Sequence[Message]) -> Message | None:
    return next((message for message in reversed(messages) if message["tool_calls"]), None)


def _warn_of_missing_steps(trace: Trace, run: AtifConversation) -> None:
    copied = run.parts[0].copied
    if copied:
        add_warning(trace, "copied_context", f"{copied} steps copied from an earlier trajectory are left out", "steps")
    if run.external_subagents:
        message = f"{run.external_subagents} sub-agents have their steps in other files, not in this trace"
        add_warning(trace, "subagent_elsewhere", message, "steps")
    if run.started_elsewhere:
        add_gap(trace, "calls", ELSEWHERE.format(run.started_elsewhere))


STEP_USAGE = TokenTable(
    "atif", input_tokens="prompt_tokens", output_tokens="completion_tokens", cache_read_input_tokens="cached_tokens"
)
FINAL_USAGE = TokenTable(
    "atif",
    input_tokens="total_prompt_tokens",
    output_tokens="total_completion_tokens",
    cache_read_input_tokens="total_cached_tokens",
)


STEP_FIELDS = frozenset({"message", "tool_calls", "observation", "metrics", "extra", "reasoning_content"})
SHAPES = (
    Shape(("steps", EACH), STEP_FIELDS),
    Shape(("steps", EACH, "observation"), frozenset({"results", "extra"})),
    Shape(("subagent_trajectories", EACH, "steps", EACH), STEP_FIELDS),
)
READER = Reader(build=build, identify=identify, split=split_list, shapes=SHAPES, copy_flag="is_copied_context")
