"""Reads tau2-bench result files: one document with the settings of a run and its simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.builder.call_arguments import read_arguments
from evalgate.adapters.formats.core.builder.conversation import Conversation, get_instructions, mark_failed
from evalgate.adapters.formats.core.builder.evidence_gaps import note_unknown
from evalgate.adapters.formats.core.builder.known_shapes import find_unknown
from evalgate.adapters.formats.core.builder.run import add_failed_call, find_litellm_error
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    count,
    flag,
    identifier,
    listing,
    mapping,
    prefix_errors,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity, split_list
from evalgate.adapters.formats.core.strict_json import make_printable, require_shallow
from evalgate.adapters.formats.core.usage import (
    build_score,
    finish_reason,
    read_cost_usd,
    read_latency_seconds,
    read_provider_usage,
    split_provider_and_model,
    sum_call_usages,
)
from evalgate.adapters.formats.messages.known_fields import CHAT_FIELDS, PART_FIELDS
from evalgate.adapters.formats.messages.openai import read_conversation
from evalgate.models.trace.trace import LlmCall, Message, Role, Trace, TraceScore

if TYPE_CHECKING:
    from collections.abc import Sequence

ORDERLY_ENDS = frozenset({"user_stop", "agent_stop"})
SPEAKERS: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}


class Simulation(NamedTuple):
    """One simulation with the settings that its file has for all of them."""

    data: Any
    model: Any
    agent: Any
    domain: Any
    has_equal_durations: bool


def split(document: Any) -> Sequence[Simulation]:
    """The simulations, each with the agent's settings. `llm_args` is not read: it may hold an API key."""
    model, agent, domain = read_settings(document["info"])
    simulations = document["simulations"]
    durations = [run.get("duration") if isinstance(run, dict) else None for run in simulations]
    equal = len(durations) > 1 and durations[0] is not None and durations.count(durations[0]) == len(durations)
    return [Simulation(run, model, agent, domain, equal) for run in simulations]


def read_settings(info: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Model, agent and domain of a run."""
    agent, environment = info.get("agent_info"), info.get("environment_info")
    agent = agent if isinstance(agent, dict) else {}
    domain = environment.get("domain_name") if isinstance(environment, dict) else None
    return agent.get("llm"), agent.get("implementation"), domain


def build(record: Simulation) -> Trace:
    """Builds one simulation with the agent's tokens and cost; the simulated user's are not counted."""
    require_shallow(record.data)
    run = mapping(record.data, "")
    conversation, llm_calls = _build_conversation(run, text(record.model, "info.agent_info.llm"))
    trace = Trace(
        text(run.get("id"), "id") or "",
        conversation.messages,
        conversation.calls,
        conversation.get_response(),
        scenario_id=identifier(run.get("task_id"), "task_id"),
        trial=count(run.get("trial"), "trial"),
        agent={"name": text(record.agent, "info.agent_info.implementation"), "framework": "tau2"},
        started_at=time(run.get("start_time"), "start_time"),
        ended_at=time(run.get("end_time"), "end_time"),
        system_instructions=get_instructions(conversation.messages),
        llm_calls=llm_calls,
        evaluations=_read_scores(run),
        warnings=conversation.list_warnings(),
    )
    trace.provider, trace.model = split_provider_and_model(record.model)
    if record.domain is not None:
        trace.metadata["domain"] = text(record.domain, "info.environment_info.domain_name")
    _add_end(trace, text(run.get("termination_reason"), "termination_reason"))
    _add_usage(trace, run, has_equal_durations=record.has_equal_durations)
    note_unknown(trace, find_unknown(run, SHAPES))
    return trace


def identify(record: Simulation) -> Identity:
    """Task id and trial."""
    run = record.data
    return build_identity(run.get("task_id"), run.get("trial")) if isinstance(run, dict) else (None, None)


def _build_conversation(run: dict[str, Any], model: str | None) -> tuple[Conversation, list[LlmCall]]:
    conversation = Conversation()
    llm_calls: list[LlmCall] = []
    for number, recorded in enumerate(listing(run.get("messages"), "messages")):
        with prefix_errors(f"messages[{number}]"):
            message = _add_message(conversation, mapping(recorded, ""))
            if message["role"] == "assistant" and recorded.get("usage") is not None:
                llm_calls.append(_llm_call(recorded, conversation, len(llm_calls), model))
    return conversation, llm_calls


def _add_message(conversation: Conversation, recorded: dict[str, Any]) -> Message:
    role = required_text(recorded.get("role"), "role")
    content, parts = read_content(recorded.get("content"), "content")
    if role == "tool":
        message, call = conversation.add_result(text(recorded.get("id"), "id"), None, content)
        if call is not None and flag(recorded.get("error"), "error"):
            mark_failed(call)
    elif role in SPEAKERS:
        calls = listing(recorded.get("tool_calls"), "tool_calls")
        is_input = not calls or bool(content)
        message = conversation.add_message(SPEAKERS[role], content, is_input=is_input)
        for number, call in enumerate(calls):
            _add_call(conversation, message, call, f"tool_calls[{number}]")
    else:
        raise FieldError("role", "is not one of system, user, assistant, tool")
    message["parts"] = parts
    message["timestamp"] = time(recorded.get("timestamp"), "timestamp")
    return message


def _add_call(conversation: Conversation, message: Message, value: Any, path: str) -> None:
    recorded = mapping(value, path)
    name = required_text(recorded.get("name"), f"{path}.name")
    call_id = text(recorded.get("id"), f"{path}.id") or None
    call = conversation.add_call(message, call_id, name, read_arguments(recorded.get("arguments")))
    if text(recorded.get("requestor"), f"{path}.requestor") == "user":
        call["requestor"] = "user"


def _llm_call(recorded: dict[str, Any], conversation: Conversation, index: int, model: str | None) -> LlmCall:
    usage = read_provider_usage(recorded["usage"], "usage")
    raw = recorded.get("raw_data")
    finished = raw.get("finish_reason") if isinstance(raw, dict) else None
    message = conversation.messages[-1]
    message["finish_reason"] = finish_reason(finished if isinstance(finished, str) else None)
    return {
        "index": index,
        "turn": message["turn"],
        "step": conversation.step,
        "provider": None,
        "model": model,
        "response_id": None,
        "usage": usage,
        "cost_usd": read_cost_usd(recorded.get("cost"), usage, "cost")[0]["usd"],
        "duration_ms": None,
        "finish_reason": message["finish_reason"],
    }


def _add_end(trace: Trace, reason: str | None) -> None:
    if reason is None:
        return
    trace.finish_reason = "stop" if reason in ORDERLY_ENDS else reason
    if reason == "max_steps":
        trace.status = "incomplete"
    elif reason not in ORDERLY_ENDS:
        trace.status, trace.error = "error", {"type": reason, "message": None}
    trace.metadata["termination_reason"] = reason


def _add_usage(trace: Trace, run: dict[str, Any], *, has_equal_durations: bool) -> None:
    trace.usage, about_usage = sum_call_usages(trace.llm_calls, _count_answers(trace) - len(trace.llm_calls))
    trace.cost, warnings = read_cost_usd(run.get("agent_cost"), trace.usage, "agent_cost")
    trace.warnings += about_usage + warnings
    trace.latency = read_latency_seconds(run.get("duration"), "duration")
    if has_equal_durations:
        message = "all runs of the file took exactly the same time: the timestamps may be synthetic"
        trace.warnings.append({"code": "suspicious_latency", "message": message, "where": "duration"})


def _count_answers(trace: Trace) -> int:
    """The number of model answers; a greeting before the user's first message is not one."""
    roles = [message["role"] for message in trace.messages]
    first_user = roles.index("user") if "user" in roles else 0
    return max(roles[first_user:].count("assistant"), len(trace.llm_calls))


def _read_scores(run: dict[str, Any]) -> list[TraceScore]:
    reward_info = mapping(run.get("reward_info"), "reward_info")
    found = []
    if reward_info.get("reward") is not None:
        found.append(build_score("reward", reward_info["reward"], "reward_info.reward"))
    for name, value in mapping(reward_info.get("reward_breakdown"), "reward_info.reward_breakdown").items():
        found.append(build_score(f"reward.{name}", value, f"reward_info.reward_breakdown.{make_printable(name)}"))
    return found


MESSAGE_FIELDS = frozenset({"content", "tool_calls", "usage", "raw_data", "errors", "tool_messages"})
SHAPES = (Shape(("messages", EACH), MESSAGE_FIELDS), Shape(("messages", EACH, "content", EACH), PART_FIELDS))
EXPECTATIONS = frozenset({"info", "reward_info", "evaluation_criteria", "tasks"})
"""Fields with the actions that a task expects."""
READER = Reader(
    build=build,
    identify=identify,
    split=split,
    without_calls=EXPECTATIONS,
)


ERROR_PREFIX = "Error"


def build_tau_bench(record: Any) -> Trace:
    """Builds one run. The files hold neither model, cost nor latency of the agent."""
    require_shallow(record)
    run = mapping(record, "")
    info = mapping(run.get("info"), "info")
    conversation = read_conversation(listing(run.get("traj"), "traj"), "traj")
    _mark_errors(conversation)
    trace = Trace(
        "",
        conversation.messages,
        conversation.calls,
        conversation.get_response(),
        scenario_id=identifier(run.get("task_id"), "task_id"),
        trial=count(run.get("trial"), "trial"),
        agent={"framework": "tau-bench"},
        system_instructions=get_instructions(conversation.messages),
        evaluations=_read_rewards(run, info),
        warnings=conversation.list_warnings(),
    )
    error_message = text(info.get("error"), "info.error")
    if error_message is not None:
        trace.status, trace.error = "error", {"type": None, "message": error_message}
    failure = find_litellm_error(error_message)
    if failure is not None:
        add_failed_call(trace, failure)
    return trace


def identify_run(record: Any) -> Identity:
    """Task id and trial."""
    return build_identity(record.get("task_id"), record.get("trial")) if isinstance(record, dict) else (None, None)


def _mark_errors(conversation: Conversation) -> None:
    """Marks failed calls; the environment reports errors only as text."""
    for call in conversation.calls:
        if (call["result_text"] or "").startswith(ERROR_PREFIX):
            mark_failed(call)


def _read_rewards(run: dict[str, Any], info: dict[str, Any]) -> list[TraceScore]:
    reward_info = mapping(info.get("reward_info"), "info.reward_info")
    breakdown = mapping(reward_info.get("info"), "info.reward_info.info")
    found = [] if run.get("reward") is None else [build_score("reward", run["reward"], "reward")]
    for name, value in breakdown.items():
        if type(value) is int or type(value) is float:
            found.append(build_score(f"reward.{name}", value, f"info.reward_info.info.{make_printable(name)}"))
    return found


TAU_BENCH_SHAPES = (Shape(("traj", EACH), CHAT_FIELDS), Shape(("traj", EACH, "content", EACH), PART_FIELDS))
TAU_BENCH_READER = Reader(
    build=build_tau_bench,
    identify=identify_run,
    split=split_list,
    without_calls=EXPECTATIONS,
    shapes=TAU_BENCH_SHAPES,
)
