"""Reads tau-bench result files: a list of runs, each with task, trial, reward and conversation."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.builder.conversation import Conversation, get_instructions, mark_failed
from evalgate.adapters.formats.core.builder.llm_calls import add_failed_call, find_litellm_error
from evalgate.adapters.formats.core.fields import count, identifier, listing, mapping, text
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity, split_list
from evalgate.adapters.formats.core.strict_json import make_printable, require_shallow
from evalgate.adapters.formats.core.usage.usage_fields import build_score
from evalgate.adapters.formats.messages.known_fields import CHAT_FIELDS, PART_FIELDS
from evalgate.adapters.formats.messages.openai import read_conversation
from evalgate.adapters.formats.tau.tau2_reader import EXPECTATIONS
from evalgate.models.trace.trace import Trace, TraceScore

ERROR_PREFIX = "Error"


def build(record: Any) -> Trace:
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
        evaluations=_read_scores(run, info),
        warnings=conversation.list_warnings(),
    )
    error_message = text(info.get("error"), "info.error")
    if error_message is not None:
        trace.status, trace.error = "error", {"type": None, "message": error_message}
    failure = find_litellm_error(error_message)
    if failure is not None:
        add_failed_call(trace, failure)
    return trace


def identify(record: Any) -> Identity:
    """Task id and trial."""
    return build_identity(record.get("task_id"), record.get("trial")) if isinstance(record, dict) else (None, None)


def _mark_errors(conversation: Conversation) -> None:
    """Marks failed calls; the environment reports errors only as text."""
    for call in conversation.calls:
        if (call["result_text"] or "").startswith(ERROR_PREFIX):
            mark_failed(call)


def _read_scores(run: dict[str, Any], info: dict[str, Any]) -> list[TraceScore]:
    reward_info = mapping(info.get("reward_info"), "info.reward_info")
    breakdown = mapping(reward_info.get("info"), "info.reward_info.info")
    found = [] if run.get("reward") is None else [build_score("reward", run["reward"], "reward")]
    for name, value in breakdown.items():
        if type(value) is int or type(value) is float:
            found.append(build_score(f"reward.{name}", value, f"info.reward_info.info.{make_printable(name)}"))
    return found


SHAPES = (Shape(("traj", EACH), CHAT_FIELDS), Shape(("traj", EACH, "content", EACH), PART_FIELDS))
READER = Reader(
    build=build,
    identify=identify,
    split=split_list,
    without_calls=EXPECTATIONS,
    shapes=SHAPES,
)
