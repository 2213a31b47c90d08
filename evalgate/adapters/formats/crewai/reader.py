"""Reads CrewAI: the output of a crew, a task or an agent, or the events of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import MeteredConversation, set_final_response
from evalgate.adapters.formats.core.builder.side_fields import identify_by_side_fields
from evalgate.adapters.formats.core.builder.unknown_parts import UnknownParts
from evalgate.adapters.formats.core.fields import (
    count,
    listing,
    mapping,
    milliseconds_between,
    prefix_errors,
    text,
    time,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import total_tokens
from evalgate.adapters.formats.crewai import is_agent_output, is_crew_output, is_event, is_event_log, is_task_output
from evalgate.adapters.formats.crewai.events import EventReader, add_task, drop_wrapped, list_events
from evalgate.adapters.formats.messages.known_fields import PART_FIELDS
from evalgate.models.trace.trace import Usage, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

ADVICE = "record CrewAI's events of tools, `tool_usage_started` and `tool_usage_finished`"
NO_MESSAGES = f"the output of a task has no `messages`: use a newer CrewAI, or {ADVICE}"
NO_CALL_EVENTS = f"no event of a model or a tool is recorded: {ADVICE}"
FRAMEWORK = "crewai"
SIDE_FIELDS = frozenset(
    {
        *("id", "model", "provider", "metadata", "scenario_id", "trial", "tools", "scores"),
        *("cost", "cost_usd", "latency_ms", "latency_seconds"),
    }
)
OUTPUT_FIELDS = SIDE_FIELDS | {
    *("raw", "pydantic", "json_dict", "tasks_output", "token_usage", "usage_metrics", "agent_role", "messages"),
    *("tool_failures", "plan", "todos", "replan_count", "last_replan_reason", "events", "trace_id", "batch_id"),
    *("user_context", "execution_metadata", "privacy_level", "version"),
}
NO_CALLS = frozenset(
    {
        *("pydantic", "json_dict", "tool_failures", "todos", "from_task", "from_agent", "task", "crew", "inputs"),
        *("agent", "fingerprint_metadata", "available_functions", "callbacks", "agent_info", "user_context"),
    }
)
"""Fields with answers in an application's form, and descriptions of agents and tasks: no call is in them."""


def split(documents: list[Any]) -> Sequence[Any]:
    """Every run of the file; events that are lines of it form one run, and so do tasks in a list."""
    records: list[Any] = []
    loose: list[Any] = []
    for document in documents:
        if is_event(document):
            if not loose:
                records.append({"events": loose})
            loose.append(document)
        elif isinstance(document, list):
            records += _split_list(document)
        else:
            records.append(document)
    return [_drop_wrapped(record) for record in records]


def _drop_wrapped(record: Any) -> Any:
    return {**record, "events": drop_wrapped(record["events"])} if is_event_log(record) else record


def _split_list(values: list[Any]) -> list[Any]:
    if any(map(is_event, values)):
        return [{"events": values}]
    if values and all(map(is_task_output, values)):
        return [{"raw": values[-1].get("raw"), "tasks_output": values}]
    return values


def build(record: Any) -> Trace:
    """Builds one trace from an output, or from events."""
    require_shallow(record)
    document = mapping(record, "")
    unknown = UnknownParts(ADVICE)
    if is_task_output(document) and not is_crew_output(document):
        side_fields = {key: document[key] for key in SIDE_FIELDS if key in document}
        task = {key: value for key, value in document.items() if key not in SIDE_FIELDS}
        document = {**side_fields, "raw": document.get("raw"), "tasks_output": [task]}
    unknown.check_fields(document, OUTPUT_FIELDS, "")
    build_from = _build_from_events if "events" in document else _build_from_output
    trace = build_from(document, unknown)
    trace.trace_id = trace.trace_id or text(document.get("trace_id"), "trace_id") or ""
    unknown.note_gap(trace)
    return trace


def _build_from_output(document: dict[str, Any], unknown: UnknownParts) -> Trace:
    chat = MeteredConversation()
    tasks = listing(document.get("tasks_output"), "tasks_output")
    if is_agent_output(document) and not tasks:
        kept = {key: document.get(key) for key in ("raw", "messages", "tool_failures")}
        tasks = [{**kept, "agent": document.get("agent_role")}]
    has_messages = _add_tasks(chat, tasks, unknown)
    used = document.get("token_usage", document.get("usage_metrics"))
    chat.total = None if used is None else _read_usage(mapping(used, "token_usage"))
    trace = chat.build_trace(_list_side_fields(document), FRAMEWORK)
    set_final_response(trace, text(document.get("raw"), "raw"))
    if not has_messages:
        add_gap(trace, "calls", NO_MESSAGES)
    return trace


def _add_tasks(chat: MeteredConversation, tasks: list[Any], unknown: UnknownParts) -> bool:
    """Adds the tasks; false if the messages of one are not recorded."""
    earlier: dict[Any, list[Any]] = {}
    has_all = bool(tasks)
    for number, value in enumerate(tasks):
        with prefix_errors(f"tasks_output[{number}]"):
            task = mapping(value, "")
            agent = text(task.get("agent"), "agent")
            has_all = add_task(chat, task, earlier.get(agent, []), unknown) and has_all
            earlier[agent] = listing(task.get("messages"), "messages")
    return has_all


def _build_from_events(document: dict[str, Any], unknown: UnknownParts) -> Trace:
    events = list_events(listing(document["events"], "events"))
    reader = EventReader(events, unknown)
    reader.read()
    trace = None
    if not (reader.has_tools or reader.has_models):
        trace = _build_from_finished_tasks(document, events, unknown)
    if trace is None:
        trace = reader.chat.build_trace(_list_side_fields(document), FRAMEWORK)
        if not (reader.has_tools or reader.has_models):
            add_gap(trace, "calls", NO_CALL_EVENTS)
    set_final_response(trace, reader.final)
    if reader.error is not None:
        trace.status, trace.error = "error", reader.error
    trace.warnings += [{"code": "model_error", "message": found, "where": None} for found in reader.failed_models]
    _add_times(trace, events)
    return trace


def _build_from_finished_tasks(
    document: dict[str, Any], events: list[dict[str, Any]], unknown: UnknownParts
) -> Trace | None:
    """The trace from the outputs of finished tasks, which have the messages; None without any."""
    outputs = [event["output"] for event in events if event.get("type") == "task_completed" and "output" in event]
    if not outputs or not all(type(output) is dict and output.get("messages") for output in outputs):
        return None
    return _build_from_output({**document, "tasks_output": outputs}, unknown)


def _add_times(trace: Trace, events: list[dict[str, Any]]) -> None:
    """Sets the times of the first and the last event, and the latency between them."""
    times = [time(event.get("timestamp"), f"events[{number}].timestamp") for number, event in enumerate(events)]
    known = sorted(when for when in times if when is not None)
    if not known:
        return
    trace.started_at, trace.ended_at = known[0], known[-1]
    total = milliseconds_between(known[0], known[-1])
    if len(known) > 1 and total is not None and trace.latency["total_ms"] is None:
        trace.latency = {"total_ms": total, "source": "timestamps"}


def _list_side_fields(document: dict[str, Any]) -> dict[str, Any]:
    return {key: document[key] for key in SIDE_FIELDS if document.get(key) is not None}


def _read_usage(data: dict[str, Any]) -> Usage | None:
    """The tokens of all model calls; 0 means that they were not counted."""
    usage = unknown_usage()
    fields = ("prompt_tokens", "completion_tokens", "cached_prompt_tokens", "cache_creation_tokens", "reasoning_tokens")
    found = [count(data.get(key), f"token_usage.{key}") for key in fields]
    usage["input_tokens"], usage["output_tokens"], usage["cache_read_input_tokens"] = found[:3]
    usage["cache_write_input_tokens"], usage["reasoning_output_tokens"] = found[3:]
    total = count(data.get("total_tokens"), "token_usage.total_tokens")
    usage["total_tokens"] = total_tokens(usage) if total is None else total
    usage["source"] = "recorded_total"
    return usage if usage["total_tokens"] else None


SHAPES = (
    Shape(("tasks_output", EACH, "messages", EACH, "content", EACH), PART_FIELDS),
    Shape(("messages", EACH, "content", EACH), PART_FIELDS),
)
READER = Reader(build=build, identify=identify_by_side_fields, split=split, without_calls=NO_CALLS, shapes=SHAPES)
