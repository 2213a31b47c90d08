"""Reads tau-bench result files: a list of runs, each with task, trial, reward and conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.conversation import Conversation, failed, first_instructions
from evalgate.adapters.formats.core.fields import count, identifier, listing, mapping, text
from evalgate.adapters.formats.core.format import Identity, Reader, identity
from evalgate.adapters.formats.core.strict_json import require_shallow, shown
from evalgate.adapters.formats.core.usage.usage_fields import evaluation
from evalgate.adapters.formats.messages.openai import read_messages
from evalgate.models.trace.trace import Trace, TraceScore

if TYPE_CHECKING:
    from collections.abc import Sequence

ERROR_PREFIX = "Error"


def split(document: Any) -> Sequence[Any]:
    """Returns the runs of a document."""
    return document if isinstance(document, list) else [document]


def build(record: Any) -> Trace:
    """Builds one run. The files hold neither model, cost nor latency of the agent."""
    require_shallow(record)
    run = mapping(record, "")
    info = mapping(run.get("info"), "info")
    conversation = read_messages(listing(run.get("traj"), "traj"), "traj")
    _mark_errors(conversation)
    trace = Trace(
        "",
        conversation.messages,
        conversation.calls,
        conversation.response(),
        scenario_id=identifier(run.get("task_id"), "task_id"),
        trial=count(run.get("trial"), "trial"),
        agent={"framework": "tau-bench"},
        system_instructions=first_instructions(conversation.messages),
        evaluations=_evaluations(run, info),
        warnings=conversation.warnings(),
    )
    crashed = text(info.get("error"), "info.error")
    if crashed is not None:
        trace.status, trace.error = "error", {"type": None, "message": crashed}
    return trace


def identify(record: Any) -> Identity:
    """Task id and trial."""
    return identity(record.get("task_id"), record.get("trial")) if isinstance(record, dict) else (None, None)


def _mark_errors(conversation: Conversation) -> None:
    """Marks failed calls; the environment reports errors only as text."""
    for call in conversation.calls:
        if (call["result_text"] or "").startswith(ERROR_PREFIX):
            failed(call)


def _evaluations(run: dict[str, Any], info: dict[str, Any]) -> list[TraceScore]:
    reward_info = mapping(info.get("reward_info"), "info.reward_info")
    breakdown = mapping(reward_info.get("info"), "info.reward_info.info")
    found = [] if run.get("reward") is None else [evaluation("reward", run["reward"], "reward")]
    for name, value in breakdown.items():
        if type(value) is int or type(value) is float:
            found.append(evaluation(f"reward.{name}", value, f"info.reward_info.info.{shown(name)}"))
    return found


READER = Reader(
    build=build,
    identify=identify,
    split=split,
)
