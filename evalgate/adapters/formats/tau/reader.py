"""Reads tau2-bench result files: one document with the settings of a run and its simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.builder.conversation import (
    Conversation,
    get_instructions,
    mark_failed,
    read_arguments,
    set_outcome,
)
from evalgate.adapters.formats.core.builder.evidence_gaps import find_unknown, note_unknown, note_unread_calls
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    add_failed_call,
    add_warning,
    answer_beside_last_call,
    build_trace,
    find_litellm_error,
    identify_by,
    open_record,
    set_cost,
)
from evalgate.adapters.formats.core.builder.run_end import (
    STEPS,
    TIME,
    TURNS,
    mark_failed_run,
    mark_stopped,
    warn_of_unknown_status,
)
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldError,
    FieldTable,
    count,
    dict_or_empty,
    do_each,
    filled_text,
    flag,
    identifier,
    listing,
    mapping,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, split_list
from evalgate.adapters.formats.core.strict_json import make_printable, require_shallow
from evalgate.adapters.formats.core.usage import (
    build_score,
    read_cost_usd,
    read_latency_seconds,
    read_provider_usage,
    split_provider_and_model,
    sum_call_usages,
)
from evalgate.adapters.formats.messages.known_fields import CHAT_FIELDS, PART_FIELDS
from evalgate.adapters.formats.messages.roles import read_conversation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Message, Role, Trace, TraceScore

ORDERLY_ENDS = frozenset({"user_stop", "agent_stop"})
LIMITS = {"max_steps": STEPS, "max_turns": TURNS, "timeout": TIME}
FAILED_ENDS = frozenset({"too_many_errors", "agent_error", "user_error", "unexpected_error", "infrastructure_error"})
"""Values of `termination_reason`: the run ended by itself, by a limit, or in an error."""
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
    agent, environment = dict_or_empty(info.get("agent_info")), dict_or_empty(info.get("environment_info"))
    return agent.get("llm"), agent.get("implementation"), environment.get("domain_name")


def build(record: Simulation) -> Trace:
    """Builds one simulation with the agent's tokens and cost; the simulated user's are not counted."""
    require_shallow(record.data)
    run = mapping(record.data, "")
    chat, model = MeteredConversation(), text(record.model, "info.agent_info.llm")
    messages = listing(run.get("messages"), "messages")
    do_each(messages, "messages", lambda message: _add_turn(chat, message, model))
    trace = build_trace(
        chat.conversation,
        text(run.get("id"), "id"),
        scenario_id=identifier(run.get("task_id"), "task_id"),
        trial=count(run.get("trial"), "trial"),
        agent={"name": text(record.agent, "info.agent_info.implementation"), "framework": "tau2"},
        started_at=time(run.get("start_time"), "start_time"),
        ended_at=time(run.get("end_time"), "end_time"),
        system_instructions=get_instructions(chat.conversation.messages),
        llm_calls=chat.llm_calls,
        evaluations=_read_scores(run),
        warnings=chat.conversation.list_warnings(),
    )
    trace.provider, trace.model = split_provider_and_model(record.model)
    if record.domain is not None:
        trace.metadata["domain"] = text(record.domain, "info.environment_info.domain_name")
    _add_end(trace, text(run.get("termination_reason"), "termination_reason"))
    _add_usage(trace, run, has_equal_durations=record.has_equal_durations)
    note_unknown(trace, find_unknown(run, SHAPES))
    note_unread_calls(trace, {key: run[key] for key in run.keys() - CONVERSATION}, EXPECTATIONS)
    return trace


def identify(record: Simulation) -> Identity:
    """Task id and trial."""
    return identify_by("task_id", "trial")(record.data)


def _add_turn(chat: MeteredConversation, recorded: dict[str, Any], model: str | None) -> None:
    """Adds a message, and the model call that it answers if its tokens are recorded."""
    message = _add_message(chat.conversation, recorded)
    if message["role"] != "assistant" or recorded.get("usage") is None:
        return
    usage = read_provider_usage(recorded["usage"], "usage")
    finished = dict_or_empty(recorded.get("raw_data")).get("finish_reason")
    cost = read_cost_usd(recorded.get("cost"), usage, "cost")[0]["usd"]
    call = chat.add_llm_call(usage, finished if isinstance(finished, str) else None, model=model, cost_usd=cost)
    message["finish_reason"] = call["finish_reason"]


CALL = FieldTable(id=filled_text, name=required_text, arguments=lambda value, _: read_arguments(value), requestor=text)


def _add_message(conversation: Conversation, recorded: dict[str, Any]) -> Message:
    role = required_text(recorded.get("role"), "role")
    content, parts = read_content(recorded.get("content"), "content")
    if role == "tool":
        message, call = conversation.add_result(text(recorded.get("id"), "id"), None, content)
        if call is not None:
            set_outcome(call, has_failed=flag(recorded.get("error"), "error"))
    elif role in SPEAKERS:
        calls = CALL.read_each(recorded.get("tool_calls"), "tool_calls")
        is_input = not calls or bool(content)
        message = conversation.add_message(SPEAKERS[role], content, is_input=is_input)
        for recorded_call in calls:
            call = conversation.add_call(message, *(recorded_call[key] for key in ("id", "name", "arguments")))
            if role == "user" and recorded_call["requestor"] == "user":  # the agent's messages hold its own calls only
                call["requestor"] = "user"
    else:
        raise FieldError("role", "is not one of system, user, assistant, tool")
    message["parts"] = parts
    message["timestamp"] = time(recorded.get("timestamp"), "timestamp")
    return message


def _add_end(trace: Trace, reason: str | None) -> None:
    if reason is None:
        return
    trace.finish_reason = "stop" if reason in ORDERLY_ENDS else reason
    if reason in LIMITS:
        mark_stopped(trace, LIMITS[reason])
    elif reason in FAILED_ENDS:
        mark_failed_run(trace, reason)
    elif reason not in ORDERLY_ENDS:
        warn_of_unknown_status(trace, reason, "termination_reason")
    trace.metadata["termination_reason"] = reason


def _add_usage(trace: Trace, run: dict[str, Any], *, has_equal_durations: bool) -> None:
    trace.usage, about_usage = sum_call_usages(trace.llm_calls, _count_answers(trace) - len(trace.llm_calls))
    trace.warnings += about_usage
    set_cost(trace, run.get("agent_cost"), "agent_cost")
    trace.latency = read_latency_seconds(run.get("duration"), "duration")
    if has_equal_durations:
        message = "all runs of the file took exactly the same time: the timestamps may be synthetic"
        add_warning(trace, "suspicious_latency", message, "duration")


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
CONVERSATION = frozenset({"messages", "ticks"})
"""Fields that are read whole; the simulated user calls tools in them, too."""
EXPECTATIONS = frozenset({"info", "reward_info", "evaluation_criteria", "tasks"})
"""Fields with the actions that a task expects."""
READER = Reader(
    build=build,
    identify=identify,
    shapes=(),
    split=split,
    without_calls=EXPECTATIONS,
)


ERROR_PREFIX = "Error"
FINAL_TOOL = "transfer_to_human_agents"
"""The environment ends the run after a call of this tool."""


def build_tau_bench(record: Any) -> Trace:
    """Builds one run. The files hold neither model, cost nor latency of the agent."""
    run = open_record(record)
    info = mapping(run.get("info"), "info")
    conversation = read_conversation(listing(run.get("traj"), "traj"), "traj")
    for call in conversation.calls:  # the environment reports errors only as text
        if (call["result_text"] or "").startswith(ERROR_PREFIX):
            mark_failed(call)
        elif call["status"] == "unknown":
            call["status"] = "ok"
    trace = build_trace(
        conversation,
        scenario_id=identifier(run.get("task_id"), "task_id"),
        trial=count(run.get("trial"), "trial"),
        agent={"framework": "tau-bench"},
        system_instructions=get_instructions(conversation.messages),
        evaluations=_read_rewards(run, info),
        warnings=conversation.list_warnings(),
    )
    if trace.called and trace.called[-1] == FINAL_TOOL:
        answer_beside_last_call(trace)
    error_message = text(info.get("error"), "info.error")
    if error_message is not None:
        trace.status, trace.error = "error", {"type": None, "message": error_message}
    failure = find_litellm_error(error_message)
    if failure is not None:
        add_failed_call(trace, failure)
    return trace


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
    identify=identify_by("task_id", "trial"),
    split=split_list,
    without_calls=EXPECTATIONS,
    shapes=TAU_BENCH_SHAPES,
)
