"""Reads the events of CrewAI's bus: calls of models and tools."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.adapters.formats.core.builder.conversation import (
    RawMessage,
    ToolRequest,
    ToolResult,
    build_recorded_call_key,
    mark_failed,
    read_arguments,
)
from evalgate.adapters.formats.core.builder.run import CheckedConversation, build_model_error
from evalgate.adapters.formats.core.fields import (
    dict_or_empty,
    listing,
    mapping,
    milliseconds_between,
    prefix_errors,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.format import words
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.core.usage import read_provider_usage, split_provider_and_model
from evalgate.adapters.formats.crewai import OWN_FAMILIES
from evalgate.adapters.formats.messages import roles
from evalgate.adapters.formats.messages.blocks import check_arguments
from evalgate.adapters.formats.messages.known_fields import CHAT_FIELDS
from evalgate.adapters.formats.messages.roles import read_request

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ErrorInfo

MESSAGE_FIELDS = CHAT_FIELDS | {"tool_call_id", "raw_tool_call_parts", "files"}
TASK_FIELDS = words("""
    description name expected_output summary raw pydantic json_dict agent output_format messages tool_failures
""")
ACTION = re.compile(r"Action[ \t]*\d*[ \t]*:(.*?)Action[ \t]*\d*[ \t]*Input[ \t]*\d*[ \t]*:(.*)", re.DOTALL)
OBSERVATION = "\nObservation:"
FINAL_ANSWER = "Final Answer:"
CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


def add_task(chat: CheckedConversation, task: dict[str, Any], earlier: list[Any]) -> bool:
    """Adds the messages of a task but for earlier ones, which an agent keeps; false if none are recorded."""
    chat.check_fields(task, TASK_FIELDS)
    agent = text(task.get("agent"), "agent")
    messages = listing(task.get("messages"), "messages")
    if not messages:
        prompt, raw = text(task.get("description"), "description"), text(task.get("raw"), "raw")
        chat.add_messages([RawMessage("user", prompt), RawMessage("assistant", raw, agent=agent)])
        return False
    start = len(earlier) if earlier and messages[: len(earlier)] == earlier else 0
    for number, value in enumerate(messages[start:], start):
        with chat.at(f"messages[{number}]"):
            chat.add_messages(read_message(chat, mapping(value, ""), agent))
    failures = listing(task.get("tool_failures"), "tool_failures")
    chat.do_each(failures, "tool_failures", lambda failure: _mark_failure(chat, failure))
    return True


def read_message(chat: CheckedConversation, message: dict[str, Any], agent: str | None) -> list[RawMessage]:
    """One message with a role; a call that the model wrote as text is a call."""
    chat.check_fields(message, MESSAGE_FIELDS)
    found = roles.read_message(message)
    for one in [one for one in found if one.role == "assistant"]:
        one.agent = agent
        if not one.calls:
            found += read_text_call(one)
    return found


def read_text_call(message: RawMessage) -> list[RawMessage]:
    """Reads the call in a text of the form `Action: ... Action Input: ...`; returns its result, if it is there."""
    words, found, observation = (message.content or "").partition(OBSERVATION)
    action = None if FINAL_ANSWER in words else ACTION.search(words)
    name = "" if action is None else clean_name(action.group(1))
    if action is None or not name:
        return []
    message.calls = [ToolRequest(None, name, action.group(2).strip().strip("`").strip())]
    result = RawMessage("tool", answers=[ToolResult(None, name, observation.strip())], agent=message.agent)
    return [result] if found else []


def clean_name(name: str) -> str:
    """The name under which CrewAI finds a tool: in lower case, with underscores."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return NOT_IN_NAMES.sub("_", CAPITAL.sub("_", plain.strip()).lower().replace("'", "")).strip("_")


def _mark_failure(chat: CheckedConversation, failure: dict[str, Any]) -> None:
    """Marks the call whose tool reported a failure."""
    name = required_text(failure.get("tool_name"), "tool_name")
    calls = chat.conversation.calls
    failed = next((call for call in calls if call["name"] == name and call["status"] in ("ok", "unknown")), None)
    if failed is not None:
        mark_failed(failed)


STARTED = ("tool_usage_started", "mcp_tool_execution_started")
FINISHED = ("tool_usage_finished", "mcp_tool_execution_completed")
FAILED = (
    *("tool_usage_error", "tool_validate_input_error", "tool_selection_error", "tool_execution_error"),
    *("mcp_tool_execution_failed", "tool_failure_detected"),
)
FAILURE_DETECTED = "tool_failure_detected"
TOOL_EVENTS = frozenset({*STARTED, *FINISHED, *FAILED})
PROMPTS = {"agent_execution_started": "task_prompt", "lite_agent_execution_started": "messages"}
OUTPUTS = ("agent_execution_completed", "lite_agent_execution_completed")
ENDS = ("crew_kickoff_completed", "flow_finished")
FAILURES = ("crew_kickoff_failed", "flow_failed", "agent_execution_error", "lite_agent_execution_error")
MODEL_FAILED, MODEL_DONE, MODEL_STARTED = "llm_call_failed", "llm_call_completed", "llm_call_started"


class OpenCall(Struct):
    """A call without a result: requested by a model, or started by its tool."""

    name: str
    key: Any
    call_id: str | None
    event_id: str | None = None
    is_started: bool = False
    has_failed: bool = False


class EventReader:
    """Reads events in order; calls that a model requests and those that tools report are the same calls."""

    def __init__(self, chat: CheckedConversation, events: list[dict[str, Any]]) -> None:
        self.chat = chat
        self.final: str | None = None
        self.error: ErrorInfo | None = None
        self.failed_models: list[str] = []
        kinds = {event.get("type") for event in events if type(event.get("type")) is str}
        self.has_tools = not kinds.isdisjoint(TOOL_EVENTS)
        self._has_started = not kinds.isdisjoint(STARTED)
        self.has_models = not kinds.isdisjoint({MODEL_DONE, MODEL_FAILED})
        self._open: list[OpenCall] = []
        self._closed: OpenCall | None = None
        self._begun: dict[str, str | None] = {}

    def add_event(self, event: dict[str, Any]) -> None:
        """Adds one event; raises FieldError."""
        kind = required_text(event.get("type"), "type")
        agent, when = text(event.get("agent_role"), "agent_role"), time(event.get("timestamp"), "timestamp")
        if kind in TOOL_EVENTS or kind == MODEL_DONE:
            self.chat.failure = None  # the agent went on
        if kind in TOOL_EVENTS:
            self._add_tool_event(event, kind, agent, when)
        elif kind == MODEL_STARTED:
            self._begun[str(event.get("call_id"))] = when
            self._add_first_prompt(event)
        elif kind == MODEL_DONE:
            self._add_first_prompt(event)
            self._add_answer(event, agent, when)
        elif kind in PROMPTS:
            self._add_prompt(event.get(PROMPTS[kind]), agent, when)
        elif kind in OUTPUTS and not self.has_models:
            answer = RawMessage("assistant", _to_text(event.get("output")), agent=agent, timestamp=when)
            self.chat.add_messages([answer])
        elif kind in ENDS:
            output = event.get("output", event.get("result"))
            self.final = _to_text(output.get("raw") if type(output) is dict and "raw" in output else output)
            self.error = None  # the agent was run again
        elif kind in FAILURES or kind == MODEL_FAILED:
            self._add_failure(event, kind)
        elif not kind.startswith(OWN_FAMILIES):
            self.chat.add_unknown(kind)

    def _add_failure(self, event: dict[str, Any], kind: str) -> None:
        message = text(event.get("error"), "error")
        if kind == MODEL_FAILED:
            self.failed_models.append(f"a model call failed: {message or 'no reason is recorded'}")
            self.chat.failure = build_model_error(None, message)
        else:
            self.error = {"type": None, "message": message}

    def _add_prompt(self, value: Any, agent: str | None, when: str | None) -> None:
        chat = self.chat
        if type(value) is list:
            chat.do_each(value, "messages", lambda one: chat.add_messages(read_message(chat, one, agent)))
        else:
            chat.add_messages([RawMessage("user", text(value, "prompt"), timestamp=when)])

    def _add_first_prompt(self, event: dict[str, Any]) -> None:
        """The request of the first model call is the prompt, if no event of an agent has it."""
        if not self.chat.conversation.messages and event.get("messages"):
            self._add_prompt(event["messages"], None, None)

    def _add_answer(self, event: dict[str, Any], agent: str | None, when: str | None) -> None:
        response = event.get("response")
        provider, model = split_provider_and_model(event.get("model"))
        reason = text(event.get("finish_reason"), "finish_reason")
        raw = RawMessage("assistant", agent=agent, timestamp=when, model=model, finish_reason=reason)
        listed = response if type(response) is list else dict_or_empty(response).get("tool_calls")
        if type(listed) is list and listed:
            raw.calls = [self._read_call(value, f"response[{number}]") for number, value in enumerate(listed)]
            raw.content = _to_text(dict_or_empty(response).get("content"))
        else:
            raw.content = _to_text(response)
        results = [] if self.has_tools or raw.calls else read_text_call(raw)
        self.chat.add_messages([raw, *results])
        self._open = [call for call in self._open if call.is_started]
        self._open += [OpenCall(call.name, _build_key(call.name, call.arguments), call.id) for call in raw.calls]
        usage = event.get("usage")
        self.chat.add_llm_call(
            None if usage is None else read_provider_usage(usage, "usage"),
            provider=provider,
            model=model,
            response_id=text(event.get("response_id"), "response_id"),
            reason=reason,
            duration_ms=milliseconds_between(self._begun.get(str(event.get("call_id"))), when),
        )

    def _read_call(self, value: Any, path: str) -> ToolRequest:
        """A call as OpenAI, Anthropic or Gemini write it."""
        with prefix_errors(path):
            call = mapping(value, "")
            if call.get("function") is not None or "arguments" in call or "args" in call:
                return read_request(call)
            name = required_text(call.get("name"), "name")
            return ToolRequest(text(call.get("id"), "id"), name, check_arguments(call.get("input"), "input"))

    def _add_tool_event(self, event: dict[str, Any], kind: str, agent: str | None, when: str | None) -> None:
        name = required_text(event.get("tool_name"), "tool_name")
        arguments = check_arguments(event.get("tool_args"), "tool_args")
        if kind in STARTED:
            found = self._find_open(name, arguments, None, is_started=False)
            call = found or self._add_call(event, name, arguments, agent)
            call.is_started, call.event_id = True, text(event.get("event_id"), "event_id")
            return
        started = text(event.get("started_event_id"), "started_event_id")
        found = self._find_open(name, arguments, started, is_started=True)
        if kind == FAILURE_DETECTED and found is not None:
            found.has_failed = True  # the event of its end follows
            return
        if found is None and self._repeats_end(kind, _build_key(name, arguments)):
            return
        self._end_call(event, kind, found or self._add_call(event, name, arguments, agent), when)

    def _end_call(self, event: dict[str, Any], kind: str, call: OpenCall, when: str | None) -> None:
        self._open.remove(call)
        self._closed = call
        call.has_failed = call.has_failed or kind in FAILED or event.get("failure") is not None
        output = event.get("error") if kind in FAILED else event.get("output", event.get("result"))
        content = event.get("failure") if output is None else output
        name = text(event.get("tool_name"), "tool_name")
        answer = ToolResult(call.call_id, name, content, call.has_failed)
        agent = text(event.get("agent_role"), "agent_role")
        self.chat.add_messages([RawMessage("tool", answers=[answer], agent=agent, timestamp=when)])
        self._add_duration(event)

    def _repeats_end(self, kind: str, key: Any) -> bool:
        """Whether the call that ended last is meant: several parts of CrewAI report one failure."""
        if self._closed is None or self._closed.key != key:
            return False
        if kind in FAILED:
            call = next(call for call in reversed(self.chat.conversation.calls) if call["status"] != "missing")
            call["status"] = "error"
            call["error"] = call["error"] or {"type": None, "message": call["result_text"]}
            return True
        return self._has_started and self._closed.has_failed

    def _add_duration(self, event: dict[str, Any]) -> None:
        ended = event.get("finished_at", event.get("completed_at"))
        duration = milliseconds_between(time(event.get("started_at"), "started_at"), time(ended, "finished_at"))
        answered = [call for call in self.chat.conversation.calls if call["status"] != "missing"]
        if duration is not None and answered:
            answered[-1]["duration_ms"] = duration

    def _find_open(self, name: str, arguments: Any, event_id: str | None, *, is_started: bool) -> OpenCall | None:
        """The call that an event is about: by the event that started it, else by arguments, else by name."""
        named = [call for call in self._open if call.name == clean_name(name)]
        by_event = [call for call in named if event_id is not None and call.event_id == event_id]
        known = by_event or [call for call in named if call.is_started is is_started] or (named if is_started else [])
        key = _build_key(name, arguments)
        return next((call for call in known if call.key == key), known[0] if known else None)

    def _add_call(self, event: dict[str, Any], name: str, arguments: Any, agent: str | None) -> OpenCall:
        """Adds a call that no model's answer has, to the last answer if no result came after it."""
        conversation = self.chat.conversation
        if not conversation.messages or conversation.messages[-1]["role"] != "assistant":
            self.chat.add_messages([RawMessage("assistant", agent=agent)])
        call_id = text(event.get("event_id"), "event_id")
        call = conversation.add_call(conversation.messages[-1], call_id, name, read_arguments(arguments))
        call["agent"] = agent
        call["started_at"] = time(event.get("started_at", event.get("timestamp")), "started_at")
        added = OpenCall(clean_name(name), _build_key(name, arguments), call_id)
        self._open.append(added)
        return added


def drop_wrapped(values: list[Any]) -> list[Any]:
    """The events without those of an MCP server's tools that are calls of CrewAI's own tools too."""
    details = [{**dict_or_empty(value.get("event_data")), **value} if type(value) is dict else {} for value in values]
    used = {
        clean_name(event["tool_name"])
        for event in details
        if str(event.get("type")).startswith("tool_") and type(event.get("tool_name")) is str
    }
    return [value for value, event in zip(values, details, strict=True) if not _is_wrapped(event, used)]


def _is_wrapped(event: dict[str, Any], used: set[str]) -> bool:
    if not str(event.get("type")).startswith("mcp_tool_"):
        return False
    name = clean_name(str(event.get("tool_name")))
    return any(tool == name or tool.endswith(f"_{name}") for tool in used)


def list_events(values: list[Any]) -> list[dict[str, Any]]:
    """The events, also those that CrewAI's tracing wraps."""
    found = []
    for number, value in enumerate(values):
        event = mapping(value, f"events[{number}]")
        if type(event.get("event_data")) is dict:
            event = {**event["event_data"], **{key: inner for key, inner in event.items() if key != "event_data"}}
        found.append(event)
    return found


def _build_key(name: str, arguments: Any) -> Any:
    return build_recorded_call_key(clean_name(name), arguments)


def _to_text(value: Any) -> str | None:
    return value if value is None or type(value) is str else encode_json(value)
