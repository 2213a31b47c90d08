"""Reads Google ADK: sessions as its services store them, and events that a run returns or streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.adk import is_adk_event
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolResult, add_raw_message, mark_failed
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap, shorten
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    add_failed_call,
    add_warning,
    build_model_error,
    build_trace,
    join_loose,
    open_record,
)
from evalgate.adapters.formats.core.builder.run_end import LENGTH, mark_incomplete, mark_stopped
from evalgate.adapters.formats.core.builder.side_fields import identify_by_metadata, set_scenario_and_trial
from evalgate.adapters.formats.core.fields import (
    FieldError,
    dict_or_empty,
    do_each,
    flag,
    in_both_spellings,
    listing,
    mapping,
    milliseconds_between,
    plain_keys,
    prefix_errors,
    read_timestamp,
    required_text,
    text,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, words
from evalgate.adapters.formats.core.provider_response import read_provider_response
from evalgate.adapters.formats.core.strict_json import encode_text
from evalgate.adapters.formats.core.usage import finish_reason, sum_call_usages
from evalgate.adapters.formats.messages import gemini
from evalgate.adapters.formats.messages.gemini_side_calls import list_side_calls
from evalgate.adapters.formats.messages.known_fields import GEMINI_PART_FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import ErrorInfo, ToolCall, Trace, Warning_

USER = "user"
FASTEST_ANSWER_MS = 20.0
UNRECORDED = "an event names the long-running call `{}`, which no event holds: record all events of the session"


class AdkRun(MeteredConversation):
    """Collects a session's events for a trace. `unmetered` counts answers of agents without tokens.

    `is_cut`: the last event is only a part of an answer; `is_interrupted`: the user interrupted it.
    `is_stamped_early`: answers have the time of the request to the model, not that of its response.
    """

    def __init__(self) -> None:
        super().__init__()
        self.warnings: list[Warning_] = []
        self.error: ErrorInfo | None = None
        self.has_failed_call = False
        self.agent: str | None = None
        self.model: str | None = None
        self.started_at: str | None = None
        self.ended_at: str | None = None
        self.is_stamped_early = False
        self.is_cut = False
        self.is_interrupted = False
        self._calls: dict[str, ToolCall] = {}
        self._long_running: set[str] = set()
        self._times: dict[str, tuple[str, str]] = {}

    def add(self, recorded: dict[str, Any]) -> None:
        """Adds one event; partial events of a streamed answer are ignored."""
        event = plain_keys(recorded)
        options = event.get("options")
        early = options.get("partial") if isinstance(options, dict) else None
        self.is_cut = flag(event.get("partial", early), "partial") is True
        if self.is_cut:
            return
        self.is_interrupted = flag(event.get("interrupted"), "interrupted") is True
        author = required_text(event.get("author"), "author")
        at = read_timestamp(event.get("timestamp") or None, "timestamp")
        ids = listing(event.get("long_running_tool_ids"), "long_running_tool_ids")
        self._long_running.update(known for known in ids if isinstance(known, str))
        messages = _read_messages(event, author, at)
        has_spoken = author != USER and any(one.content or one.calls for one in messages)
        self._track_time(text(event.get("invocation_id"), "invocation_id") or "", at, has_spoken=has_spoken)
        for one in messages:
            self._add_message(one)
        if author != USER:
            self._meter(event, author, has_spoken=has_spoken)

    def is_waiting(self) -> bool:
        """True if the session ends before a long-running tool has answered."""
        calls = self.conversation.calls
        return bool(calls) and calls[-1]["status"] == "missing" and calls[-1]["id"] in self._long_running

    def find_unrecorded(self) -> str | None:
        """Why calls are missing, as a sentence: a tool began that runs on, and no event has its call."""
        missing = min(self._long_running - {call["id"] for call in self.conversation.calls}, default=None)
        return None if missing is None else UNRECORDED.format(shorten(missing))

    def working_ms(self) -> float:
        """Milliseconds from each message of the user to the last event of its invocation, summed."""
        return round(sum(milliseconds_between(*times) or 0.0 for times in self._times.values()), 6)

    def _track_time(self, invocation: str, at: str | None, *, has_spoken: bool) -> None:
        if at is None:
            return
        self.started_at, self.ended_at = self.started_at or at, at
        times = self._times.get(invocation)
        if times is not None and has_spoken:
            waited = milliseconds_between(times[1], at)
            self.is_stamped_early |= waited is not None and waited < FASTEST_ANSWER_MS
        started, _ = times or (at, at)
        self._times[invocation] = (started, at)

    def _add_message(self, message: RawMessage) -> None:
        first = []
        for result in message.answers:
            call = self._calls.get(result.id or "")
            if call is None or call["status"] == "missing":
                first.append(result)
            else:
                self._replace_result(call, result, message)
        message.answers = first
        if not (message.answers or message.content or message.calls or message.parts or message.reasoning):
            return
        before = len(self.conversation.calls)
        add_raw_message(self.conversation, message)
        for call in self.conversation.calls[before:]:
            if call["id"] is not None:
                self._calls[call["id"]] = call

    def _replace_result(self, call: ToolCall, result: ToolResult, raw_message: RawMessage) -> None:
        """Replaces the result of a long-running tool, which answers several times; the last answer counts."""
        content = result.content
        shown = encode_text(content)
        message = self.conversation.add_message("tool", shown)
        message["tool_call_id"], message["tool_name"] = result.id, call["name"]
        message["timestamp"], message["agent"] = raw_message.timestamp, raw_message.agent
        call["status"], call["error"] = "ok", None
        call["result"], call["result_text"] = content, shown
        if result.is_error:
            mark_failed(call)

    def _meter(self, event: dict[str, Any], author: str, *, has_spoken: bool) -> None:
        self._track_error(event, has_spoken=has_spoken)
        answer = read_provider_response({"usage_metadata": event.get("usage_metadata")})
        model = text(event.get("model_version"), "model_version") or None
        self.model = self.model or model
        if has_spoken:
            self.agent = self.agent or author
        if answer.usage is None or answer.usage["total_tokens"] is None:
            self.unmetered += has_spoken
            return
        self.add_llm_call(answer.usage, text(event.get("finish_reason"), "finish_reason"), model=model)

    def _track_error(self, event: dict[str, Any], *, has_spoken: bool) -> None:
        """Records an error; it ends the run only if no agent answers after it."""
        code = text(event.get("error_code"), "error_code") or None
        if code is None:
            if has_spoken and self.error is not None:
                message = "a model call failed before the agent continued"
                self.warnings.append({"code": "model_error", "message": message, "where": "events"})
                self.error = None
            return
        self.error = {"type": code, "message": text(event.get("error_message"), "error_message")}
        self.has_failed_call = not has_spoken and event.get("usage_metadata") is None


def _read_messages(event: dict[str, Any], author: str, at: str | None) -> list[RawMessage]:
    content = mapping(event.get("content"), "content")
    parts = listing(content.get("parts"), "content.parts")
    parts = [*list_side_calls(event, parts), *parts]
    if not parts:
        return []
    with prefix_errors("content"):
        found = gemini.read_message({**content, "role": USER if author == USER else "model", "parts": parts})
    for message in found:
        message.timestamp = at
        message.answers = [unwrap_result(answered) for answered in message.answers]
        if author != USER:
            message.agent = author
        if message.role == "assistant":
            message.model = text(event.get("model_version"), "model_version")
            message.finish_reason = text(event.get("finish_reason"), "finish_reason")
    return found


def unwrap_result(result: ToolResult) -> ToolResult:
    """The tool's own return value: ADK wraps values that are not objects as `result`."""
    content = result.content
    if not isinstance(content, dict):
        return result
    has_failed = result.is_error or content.get("status") == "error" or content.get("isError") is True
    if content.keys() == {"result"}:
        content = content["result"]
    return result._replace(content=content, is_error=has_failed)


def split(documents: list[Any]) -> Sequence[Any]:
    """Every session of the file; all events outside of a session form one."""
    items = [item for document in documents for item in (document if isinstance(document, list) else [document])]
    return join_loose(items, is_adk_event, lambda events: {"events": events})


def build(record: Any) -> Trace:
    """Builds one session: a turn for each message of the user, agents' messages under their names."""
    session = plain_keys(open_record(record))
    events = listing(session.get("events"), "events")
    if not events:
        raise FieldError("events", "is missing or empty: nothing happened in this session")
    run = AdkRun()
    do_each(events, "events", run.add)
    conversation = run.conversation
    session_id = text(session.get("id"), "id") or None
    trace = build_trace(
        conversation,
        session_id,
        conversation_id=session_id,
        agent={"name": text(session.get("app_name"), "app_name") or run.agent, "framework": "google-adk"},
        model=run.model or _logged_model(session),
        started_at=run.started_at,
        ended_at=run.ended_at,
        llm_calls=run.llm_calls,
        warnings=conversation.list_warnings() + run.warnings,
    )
    set_scenario_and_trial(trace, mapping(session.get("state"), "state"))
    _set_status(trace, run)
    _add_totals(trace, run)
    unrecorded = run.find_unrecorded()
    if unrecorded is not None:
        add_gap(trace, "calls", unrecorded)
    if run.error is not None and run.has_failed_call:
        add_failed_call(trace, build_model_error(run.error["type"], run.error["message"]))
    return trace


def identify(record: Any) -> Identity:
    """Scenario and trial, if the `state` of the session names them."""
    return identify_by_metadata(dict_or_empty(record).get("state"))


def _logged_model(session: dict[str, Any]) -> str | None:
    """The model of the first logged request, which early sessions keep outside of the events."""
    logs = session.get("event_logs")
    first = logs[0] if isinstance(logs, list) and logs else None
    request = first.get("model_request") if isinstance(first, dict) else None
    model = request.get("model") if isinstance(request, dict) else None
    return model if isinstance(model, str) and model else None


def _set_status(trace: Trace, run: AdkRun) -> None:
    last = next((message for message in reversed(trace.messages) if message["role"] == "assistant"), None)
    trace.finish_reason = None if last is None else last["finish_reason"]
    if run.error is not None:
        trace.error = run.error
        trace.finish_reason = finish_reason(run.error["type"])
        if trace.finish_reason == "length":
            mark_stopped(trace, LENGTH)
        else:
            trace.status = "error"
    elif run.is_waiting():
        mark_stopped(trace, "a wait for a long-running tool")
    elif run.is_cut or run.is_interrupted:
        mark_incomplete(trace, f"the last answer {'is only a part of one' if run.is_cut else 'was interrupted'}")


def _add_totals(trace: Trace, run: AdkRun) -> None:
    trace.usage, warnings = sum_call_usages(run.llm_calls, run.unmetered)
    trace.warnings += warnings
    total = run.working_ms()
    if run.is_stamped_early:
        message = "answers have the time at which the model was called: the duration of the last call is not recorded"
        add_warning(trace, "suspicious_latency", message, "events")
    elif total:
        trace.latency = {"total_ms": total, "source": "timestamps"}


EVENT_FIELDS = in_both_spellings(
    words("""
        content usage_metadata actions options state context state_delta grounding_metadata citation_metadata
        custom_metadata long_running_tool_ids logprobs_result cache_metadata input_transcription output_transcription
        live_session_resumption_update node_info output
    """)
)


SHAPES = (
    Shape(("events", EACH), EVENT_FIELDS),
    Shape(("events", EACH, "content"), frozenset({"parts"})),
    Shape(("events", EACH, "content", "parts", EACH), GEMINI_PART_FIELDS),
)
"""Of the sessions that an agent's run stores."""
READER = Reader(build=build, identify=identify, split=split, shapes=SHAPES)
