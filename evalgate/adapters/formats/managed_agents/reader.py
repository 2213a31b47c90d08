"""Reads sessions of Claude managed agents: events listed or streamed, bare or as a client received them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.evidence_gaps import Unknown, describe_unknown, note_unknown, pick_worse
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    add_failed_call,
    build_model_error,
    build_trace,
    measure_between,
)
from evalgate.adapters.formats.core.builder.run_end import PERSON, mark_incomplete, mark_stopped
from evalgate.adapters.formats.core.builder.side_fields import SCENARIO_KEY, TRIAL_KEY
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    FieldTable,
    count,
    do_each,
    flag,
    identifier,
    listing,
    mapping,
    milliseconds_between,
    read_at,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, build_identity, words
from evalgate.adapters.formats.core.provider_response import ANTHROPIC_USAGE
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import finish_reason, sum_call_usages
from evalgate.adapters.formats.managed_agents import session_event
from evalgate.models.trace.trace import Trace, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MODEL_ERRORS = ("model_", "billing_")
"""Starts of the types of errors of the model provider; the others are of MCP servers and the session."""
CALL_ID_KEYS = ("tool_use_id", "mcp_tool_use_id", "custom_tool_use_id")


class ManagedSession(Struct):
    """The state of a session while its events are read."""

    chat: MeteredConversation = field(default_factory=MeteredConversation)
    start_times: dict[str, str | None] = field(default_factory=dict)
    tool_names: dict[str, str] = field(default_factory=dict)
    response: RawMessage | None = None
    model: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    stop_reason: str | None = None
    error: dict[str, Any] | None = None
    has_failed_call: bool = False

    def flush(self) -> None:
        """Ends the current model response and adds it to the conversation."""
        if self.response is not None:
            self.chat.add_messages([self.response])
        self.response = None

    def current_response(self, event: dict[str, Any]) -> RawMessage:
        """The model response that the event belongs to."""
        self.has_failed_call = False
        if self.response is None:
            self.response = RawMessage("assistant", model=self.model, timestamp=_event_time(event))
        return self.response


def split(documents: list[Any]) -> Sequence[Any]:
    """All events as one session; a client's requests are ignored later, since the stream repeats them."""
    values: list[Any] = []
    for document in documents:
        listed = document.get("data") if isinstance(document, dict) else None
        if isinstance(listed, list):
            values += listed
        elif isinstance(document, list) and session_event(document) is None and not _is_request(document):
            values += document
        else:
            values.append(document)
    return [values]


def build(record: Any) -> Trace:
    """Builds one session; its events contain neither cost nor reasoning."""
    require_shallow(record)
    events = [found for found in map(session_event, record) if found is not None]
    head = next((event for event in events if event["type"] == "session"), {})
    session = ManagedSession(model=read_at(head, "agent.model.id", text))
    do_each(events, "events", lambda event: _handle_event(session, event))
    session.flush()
    trace = _build_trace(session)
    _add_settings(trace, head)
    note_unknown(trace, _find_unknown(record))
    return trace


def _find_unknown(record: list[Any]) -> Unknown | None:
    """The first event of unknown type that can be a call, else the first; requests of the client are known."""
    found: Unknown | None = None
    for number, value in enumerate(record):
        event = session_event(value) or (value if isinstance(value, dict) else {})
        kind = event.get("type")
        if isinstance(kind, str) and not (kind in HANDLERS or kind in HARMLESS or kind.endswith("_tool_use")):
            found = pick_worse(found, describe_unknown(f"event {number + 1}", kind, event))
    return found


def identify(record: Any) -> Identity:
    """Scenario and trial from the session's metadata."""
    events = (session_event(value) for value in record)
    for event in events:
        known = event.get("metadata") if event is not None and event["type"] == "session" else None
        if isinstance(known, dict):
            return build_identity(known.get(SCENARIO_KEY), known.get(TRIAL_KEY))
    return None, None


def _handle_event(session: ManagedSession, event: dict[str, Any]) -> None:
    kind = event["type"]
    handle = HANDLERS.get(kind, _handle_tool_use if kind.endswith("_tool_use") else None)
    if event["type"] != "session":
        at = _event_time(event)
        session.started_at = session.started_at or at
        session.ended_at = at or session.ended_at
    if handle is not None:
        handle(session, event)


def _handle_user_message(session: ManagedSession, event: dict[str, Any]) -> None:
    session.flush()
    content, parts = read_content(event.get("content"), "content")
    session.chat.add_messages([RawMessage("user", content, timestamp=_event_time(event), parts=parts)])


def _handle_agent_message(session: ManagedSession, event: dict[str, Any]) -> None:
    content, parts = read_content(event.get("content"), "content")
    message = session.current_response(event)
    message.content = content if message.content is None else f"{message.content}\n{content or ''}"
    message.parts = [*(message.parts or []), *parts] if parts else message.parts


def _handle_tool_use(session: ManagedSession, event: dict[str, Any]) -> None:
    call_id = required_text(event.get("id"), "id")
    name = required_text(event.get("name"), "name")
    session.tool_names[call_id] = name
    session.current_response(event).calls.append(ToolRequest(call_id, name, mapping(event.get("input"), "input")))


def _handle_tool_result(session: ManagedSession, event: dict[str, Any]) -> None:
    session.flush()
    call_id = next((text(event[key], key) for key in CALL_ID_KEYS if event.get(key) is not None), None)
    content = _read_result(event.get("content"))
    is_error = flag(event.get("is_error"), "is_error") or False
    answered = ToolResult(call_id, session.tool_names.get(call_id or ""), content, is_error)
    session.chat.add_messages([RawMessage("tool", answers=[answered], timestamp=_event_time(event))])


def _handle_request_start(session: ManagedSession, event: dict[str, Any]) -> None:
    session.flush()
    session.start_times[str(event.get("id"))] = _event_time(event)


def _handle_request_end(session: ManagedSession, event: dict[str, Any]) -> None:
    session.flush()
    began = session.start_times.get(str(event.get("model_request_start_id")))
    recorded = event.get("model_usage")
    usage = ANTHROPIC_USAGE.read(recorded, "model_usage") if recorded else unknown_usage()
    duration = milliseconds_between(began, _event_time(event))
    session.chat.add_llm_call(usage, provider="anthropic", model=session.model, duration_ms=duration)


def _handle_idle(session: ManagedSession, event: dict[str, Any]) -> None:
    session.flush()
    session.stop_reason = read_at(event, "stop_reason.type", text)
    if session.stop_reason == "end_turn":
        session.error, session.has_failed_call = None, False  # the request was made again


def _handle_running(session: ManagedSession, event: dict[str, Any]) -> None:
    del event
    session.stop_reason = None


def _handle_error(session: ManagedSession, event: dict[str, Any]) -> None:
    session.flush()
    kind = read_at(event, "error.type", text) or event["type"].partition(".")[2]
    session.error = {"type": kind, "message": read_at(event, "error.message", text)}
    session.has_failed_call = kind.startswith(MODEL_ERRORS)


HANDLERS: dict[str, Callable[[ManagedSession, dict[str, Any]], None]] = {
    "user.message": _handle_user_message,
    "user.custom_tool_result": _handle_tool_result,
    "agent.message": _handle_agent_message,
    "agent.tool_use": _handle_tool_use,
    "agent.mcp_tool_use": _handle_tool_use,
    "agent.custom_tool_use": _handle_tool_use,
    "agent.tool_result": _handle_tool_result,
    "agent.mcp_tool_result": _handle_tool_result,
    "span.model_request_start": _handle_request_start,
    "span.model_request_end": _handle_request_end,
    "session.status_running": _handle_running,
    "session.status_idle": _handle_idle,
    "session.status_terminated": _handle_error,
    "session.error": _handle_error,
}


HARMLESS = words("""
    session user.interrupt user.tool_confirmation user.define_outcome agent.thinking agent.thread_message_sent
    agent.thread_message_received agent.thread_context_compacted session.status_rescheduled session.deleted
    session.updated session.thread_created session.thread_status_running session.thread_status_idle
    session.thread_status_rescheduled session.thread_status_terminated session_thread session_resource_deleted
    span.outcome_evaluation_start span.outcome_evaluation_ongoing span.outcome_evaluation_end workflow_run.created
    workflow_run.error workflow_run.phase_started workflow_run.phase_ended workflow_run.status_running
    workflow_run.status_idle workflow_run.status_ended
""")
"""Types of events about the session, which are no calls."""


def _read_result(value: Any) -> str | None:
    """The text of a result, with the text of text documents."""
    blocks: list[Any] = []
    for block in listing(value, "content") if not isinstance(value, str) else [value]:
        source = block.get("source") if isinstance(block, dict) else None
        if isinstance(source, dict) and source.get("type") == "text":
            blocks.append({"type": "text", "text": source.get("data")})
        else:
            blocks.append(block)
    return read_content(blocks, "content")[0]


def _build_trace(session: ManagedSession) -> Trace:
    usage, about_usage = sum_call_usages(session.chat.llm_calls)
    trace = build_trace(
        session.chat.conversation,
        provider="anthropic",
        model=session.model,
        started_at=session.started_at,
        ended_at=session.ended_at,
        llm_calls=session.chat.llm_calls,
        usage=usage,
        latency=measure_between(session.started_at, session.ended_at),
    )
    trace.warnings += about_usage
    if session.error is not None:
        trace.status = "error"
        trace.error = {"type": session.error["type"], "message": session.error["message"]}
    elif session.stop_reason == "requires_action":
        mark_stopped(trace, PERSON)
    elif session.stop_reason is None:
        mark_incomplete(trace, "the session is not idle: it was stopped, or its events end before it did")
    trace.finish_reason = finish_reason(session.stop_reason)
    if session.error is not None and session.has_failed_call:
        add_failed_call(trace, build_model_error(session.error["type"], session.error["message"]))
    return trace


def _add_settings(trace: Trace, head: dict[str, Any]) -> None:
    found = HEAD.read(head)
    trace.trace_id, trace.name, trace.metadata = found["id"] or "", found["title"], found["metadata"]
    trace.agent = {"name": found["agent"], "framework": "claude-managed-agents"}
    trace.system_instructions = found["system"]
    trace.tool_definitions = [
        {
            "name": tool["name"],
            "description": tool.get("description"),
            "parameters": tool.get("input_schema"),
            "type": "function",
        }
        for tool in found["tools"]
        if isinstance(tool, dict) and isinstance(tool.get("name"), str)
    ]
    trace.scenario_id = identifier(trace.metadata.get(SCENARIO_KEY), f"metadata.{SCENARIO_KEY}")
    trace.trial = count(trace.metadata.get(TRIAL_KEY), f"metadata.{TRIAL_KEY}")


HEAD = FieldTable(
    id=text,
    title=text,
    metadata=mapping,
    agent=(text, "agent.name"),
    system=(text, "agent.system"),
    tools=(listing, "agent.tools"),
)


def _is_request(value: list[Any]) -> bool:
    return bool(value) and isinstance(value[0], str)


def _event_time(event: dict[str, Any]) -> str | None:
    return time(event.get("processed_at"), "processed_at")


EVENT_HOLDERS = words("""
    agent content input model_usage usage stats tags vault_ids stop_reason metadata resources error events event data
    rubric outcome_evaluations environment
""")
READER = Reader(build=build, identify=identify, shapes=(Shape((EACH,), EVENT_HOLDERS),), split=split)
