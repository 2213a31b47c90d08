"""Reads CrewAI: the output of a crew, a task or an agent, or the events of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.agent_session import note_elsewhere
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import (
    CheckedConversation,
    join_loose,
    measure_between,
    open_record,
    set_final_response,
)
from evalgate.adapters.formats.core.builder.side_fields import SIDE_FIELDS, identify_by_side_fields, select_side_fields
from evalgate.adapters.formats.core.fields import dict_or_empty, listing, mapping, text, time
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, words
from evalgate.adapters.formats.core.usage import TokenTable
from evalgate.adapters.formats.crewai import is_agent_output, is_crew_output, is_event, is_event_log, is_task_output
from evalgate.adapters.formats.crewai.events import EventReader, add_task, clean_name, drop_wrapped, list_events
from evalgate.adapters.formats.messages.known_fields import PART_FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

ADVICE = "record CrewAI's events of tools, `tool_usage_started` and `tool_usage_finished`"
NO_MESSAGES = f"the output of a task has no `messages`: use a newer CrewAI, or {ADVICE}"
NO_CALL_EVENTS = f"no event of a model or a tool is recorded: {ADVICE}"
FRAMEWORK = "crewai"
DELEGATES = words("delegate_work_to_coworker ask_question_to_coworker")
"""Tools that run another agent of the crew: no output of a task has its calls, events of it do."""
OUTPUT_FIELDS = SIDE_FIELDS | words("""
    raw pydantic json_dict tasks_output token_usage usage_metrics agent_role messages tool_failures plan todos
    replan_count last_replan_reason events trace_id batch_id user_context execution_metadata privacy_level version
""")
NO_CALLS = words("""
    pydantic json_dict tool_failures todos from_task from_agent task crew inputs agent fingerprint_metadata
    available_functions callbacks agent_info user_context
""")
"""Fields with answers in an application's form, and descriptions of agents and tasks: no call is in them."""


def split(documents: list[Any]) -> Sequence[Any]:
    """Every run of the file; events that are lines of it form one run, and so do tasks in a list."""
    items = [item for value in documents for item in (_split_list(value) if isinstance(value, list) else [value])]
    records = join_loose(items, is_event, lambda events: {"events": events})
    return [{**one, "events": drop_wrapped(one["events"])} if is_event_log(one) else one for one in records]


def _split_list(values: list[Any]) -> list[Any]:
    if any(map(is_event, values)):
        return [{"events": values}]
    if values and all(map(is_task_output, values)):
        return [{"raw": values[-1].get("raw"), "tasks_output": values}]
    return values


def build(record: Any) -> Trace:
    """Builds one trace from an output, or from events."""
    document = open_record(record)
    chat = CheckedConversation(ADVICE)
    if is_task_output(document) and not is_crew_output(document):
        side_fields = {key: document[key] for key in SIDE_FIELDS if key in document}
        task = {key: value for key, value in document.items() if key not in SIDE_FIELDS}
        document = {**side_fields, "raw": document.get("raw"), "tasks_output": [task]}
    chat.check_fields(document, OUTPUT_FIELDS)
    build_from = _build_from_events if "events" in document else _build_from_output
    trace = build_from(chat, document)
    trace.trace_id = trace.trace_id or text(document.get("trace_id"), "trace_id") or ""
    chat.note_unknown(trace)
    return trace


def _build_from_output(chat: CheckedConversation, document: dict[str, Any]) -> Trace:
    tasks = listing(document.get("tasks_output"), "tasks_output")
    if is_agent_output(document) and not tasks:
        kept = {key: document.get(key) for key in ("raw", "messages", "tool_failures")}
        tasks = [{**kept, "agent": document.get("agent_role")}]
    has_messages = _add_tasks(chat, tasks)
    chat.total = USAGE.read_if_counted(document.get("token_usage", document.get("usage_metrics")), "token_usage")
    trace = chat.build_trace(select_side_fields(document), FRAMEWORK)
    set_final_response(trace, text(document.get("raw"), "raw"))
    if not has_messages:
        add_gap(trace, "calls", NO_MESSAGES)
    _note_coworkers(trace, [])
    return trace


def _note_coworkers(trace: Trace, events: list[dict[str, Any]]) -> None:
    """Makes calls incomplete for the work that an agent gave to another one of which there is no event."""
    asked = [call for call in trace.tool_calls if clean_name(call["name"]) in DELEGATES]
    if not asked:
        return
    seen = {clean_name(role) for event in events if isinstance(role := event.get("agent_role"), str)}
    names = [dict_or_empty(call["arguments"]).get("coworker") for call in asked]
    unseen = sum(not isinstance(name, str) or clean_name(name) not in seen for name in names)
    note_elsewhere(trace, unseen)


def _add_tasks(chat: CheckedConversation, tasks: list[Any]) -> bool:
    """Adds the tasks; false if the messages of one are not recorded."""
    earlier: dict[Any, list[Any]] = {}
    has_all = bool(tasks)
    for number, value in enumerate(tasks):
        with chat.at(f"tasks_output[{number}]"):
            task = mapping(value, "")
            agent = text(task.get("agent"), "agent")
            has_all = add_task(chat, task, earlier.get(agent, [])) and has_all
            earlier[agent] = listing(task.get("messages"), "messages")
    return has_all


def _build_from_events(chat: CheckedConversation, document: dict[str, Any]) -> Trace:
    events = list_events(listing(document["events"], "events"))
    reader = EventReader(chat, events)
    chat.do_each(events, "events", reader.add_event)
    trace = None
    if not (reader.has_tools or reader.has_models):
        trace = _build_from_finished_tasks(chat, document, events)
    if trace is None:
        trace = chat.build_trace(select_side_fields(document), FRAMEWORK)
        if not (reader.has_tools or reader.has_models):
            add_gap(trace, "calls", NO_CALL_EVENTS)
        _note_coworkers(trace, events)
    set_final_response(trace, reader.final)
    if reader.error is not None:
        trace.status, trace.error = "error", reader.error
    trace.warnings += [{"code": "model_error", "message": found, "where": None} for found in reader.failed_models]
    _add_times(trace, events)
    return trace


def _build_from_finished_tasks(
    chat: CheckedConversation, document: dict[str, Any], events: list[dict[str, Any]]
) -> Trace | None:
    """The trace from the outputs of finished tasks, which have the messages; None without any."""
    outputs = [event["output"] for event in events if event.get("type") == "task_completed" and "output" in event]
    if not outputs or not all(type(output) is dict and output.get("messages") for output in outputs):
        return None
    tasks = CheckedConversation(ADVICE)
    tasks.unknown = chat.unknown
    return _build_from_output(tasks, {**document, "tasks_output": outputs})


def _add_times(trace: Trace, events: list[dict[str, Any]]) -> None:
    """Sets the times of the first and the last event, and the latency between them."""
    times = [time(event.get("timestamp"), f"events[{number}].timestamp") for number, event in enumerate(events)]
    known = sorted(when for when in times if when is not None)
    if not known:
        return
    trace.started_at, trace.ended_at = known[0], known[-1]
    if len(known) > 1 and trace.latency["total_ms"] is None:
        trace.latency = measure_between(known[0], known[-1])


USAGE = TokenTable(
    "crewai",
    input_tokens="prompt_tokens",
    output_tokens="completion_tokens",
    total_tokens="total_tokens",
    cache_read_input_tokens="cached_prompt_tokens",
    cache_write_input_tokens="cache_creation_tokens",
    reasoning_output_tokens="reasoning_tokens",
)


SHAPES = (
    Shape(("tasks_output", EACH, "messages", EACH, "content", EACH), PART_FIELDS),
    Shape(("messages", EACH, "content", EACH), PART_FIELDS),
)
READER = Reader(build=build, identify=identify_by_side_fields, split=split, without_calls=NO_CALLS, shapes=SHAPES)
