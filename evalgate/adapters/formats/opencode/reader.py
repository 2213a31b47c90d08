"""Reads opencode: a session as `opencode export` writes it, or the events of `opencode run --format json`.

Rows of its tables `session`, `message` and `part`, one a line, are read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.agent_session import AgentSession
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.evidence_gaps import find_unknown, note_unknown
from evalgate.adapters.formats.core.builder.run import build_model_error
from evalgate.adapters.formats.core.builder.run_end import BROKEN_OFF
from evalgate.adapters.formats.core.fields import (
    FieldTable,
    amount,
    any_value,
    count,
    dict_or_empty,
    do_each,
    first_entry,
    listing,
    mapping,
    objects,
    prefix_errors,
    read_at,
    required_text,
    text,
    time_if_valid,
    whole_number,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity, words
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.token_rules import RULES
from evalgate.adapters.formats.core.usage import build_usage, none_if_uncounted
from evalgate.adapters.formats.opencode import is_export

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.trace.trace import Trace, Usage

NAME = "opencode"
TASK = "task"
"""The tool that runs a sub-agent, in a session of its own."""
TOOL_RUNS = "a tool still runs: the run was stopped, or exported before it ended"
STEP_OPEN = "the last step has no end: the run was stopped, or its recording ends before it did"
NOT_ANSWERED = "the model saw no results of its last calls: the run was stopped, or its recording ends before it did"
CALLED = "tool-calls"
"""The reason of a step after which the model is asked again, unless a person refused a call, or one was its answer."""
REASONS = words("stop tool-calls length content-filter error")
"""Those with a meaning; others are written where a stream broke off, but by some providers for whole answers too."""
REFUSED = ("The user rejected permission", "The user dismissed this question")
ANSWER_TOOL = "StructuredOutput"
TOKENS = FieldTable(
    input_tokens=(count, "input"),
    output_tokens=(count, "output"),
    reasoning_output_tokens=(count, "reasoning"),
    cache_read_input_tokens=(count, "cache.read"),
    cache_write_input_tokens=(count, "cache.write"),
    total_tokens=(count, "total"),
)
PROVIDER_ERRORS = frozenset({"APIError", "ProviderAuthError"})


def split(documents: Any) -> Sequence[Any]:
    """Each run as a session with messages of parts, whatever form it was written in."""
    sessions: list[Any] = []
    events: dict[str, dict[str, Any]] = {}
    for value in documents:
        if is_export(value):
            sessions.append(value)
            continue
        messages = value if isinstance(value, list) else [value]
        if "parts" in first_entry(messages[:1], ""):
            sessions.append({"info": {}, "messages": messages})
            continue
        for line in messages:
            if isinstance(line, dict):
                _add_event(sessions, events, line)
    return sessions


def _add_event(sessions: list[Any], events: dict[str, dict[str, Any]], line: dict[str, Any]) -> None:
    """Adds an event or a row to the session that it names."""
    row = dict_or_empty(line.get("data"))
    is_session = line.get("type") == "opencode_session"
    key = line.get("id") if is_session else line.get("sessionID", line.get("session_id"))
    if not isinstance(key, str):
        key = next(reversed(events), "")
    if key not in events:
        events[key] = {"info": {"id": key}, "messages": []}
        sessions.append(events[key])
    session = events[key]
    if is_session:
        session["info"].update(line)
    elif line.get("type") == "opencode_message":
        session["messages"].append({"info": {**row, "id": line.get("id")}, "parts": []})
    elif line.get("type") == "opencode_part":
        _find_message(session, line.get("message_id"), {})["parts"].append(row)
    elif line.get("type") == "error":
        session["messages"].append({"info": {"role": "assistant", "error": line.get("error")}, "parts": []})
    elif isinstance(line.get("part"), dict):
        part = line["part"]
        about = {"role": "assistant", "time": {"created": line.get("timestamp")}}
        _find_message(session, part.get("messageID"), about)["parts"].append(part)
    else:
        session.setdefault("others", []).append(line)


def _find_message(session: dict[str, Any], key: Any, about: dict[str, Any]) -> dict[str, Any]:
    """The message with this id, else a new one at the end."""
    for message in reversed(session["messages"]):
        if message["info"].get("id") == key and message["info"].get("role") is not None:
            found: dict[str, Any] = message
            return found
    session["messages"].append({"info": {**about, "id": key}, "parts": []})
    last: dict[str, Any] = session["messages"][-1]
    return last


def build(record: Any) -> Trace:
    """Builds one session. Calls of a sub-agent are in a session of its own."""
    require_shallow(record)
    info = mapping(record.get("info"), "info")
    session = AgentSession()
    session.id, session.version = text(info.get("id"), "info.id"), text(info.get("version"), "info.version")
    do_each(objects(record.get("messages"), "messages"), "messages", lambda message: _add_message(session, message))
    trace = session.build_session(NAME)
    trace.name = text(info.get("title"), "info.title")
    note_unknown(trace, find_unknown(record.get("others", []), OTHERS))
    return trace


def _add_message(session: AgentSession, message: dict[str, Any]) -> None:
    info = mapping(message.get("info"), "info")
    parts = objects(message.get("parts"), "parts")
    when = time_if_valid(read_at(info, "time.created", any_value))
    if info.get("role") == "user":
        _add_user(session, parts, when)
        return
    _add_instructions(session, info)
    session.end_answer()
    model = text(info.get("modelID"), "info.modelID")
    session.model, session.provider = (
        model or session.model,
        text(info.get("providerID"), "info.providerID") or session.provider,
    )
    if parts or not info.get("error"):
        session.open_answer(when, model)
    for number, part in enumerate(parts):
        with prefix_errors("parts", number):
            handle = HANDLERS.get(text(part.get("type"), "type") or "")
            if handle is not None:
                handle(session, part)
    if info.get("tokens") is not None and not any(part.get("type") == "step-finish" for part in parts):
        _add_step(session, {**info, "reason": info.get("finish")})
    session.end = session.end or _find_open_end(info, parts)
    _add_error(session, info)


def _find_open_end(info: dict[str, Any], parts: list[dict[str, Any]]) -> str | None:
    """Why the run did not end with this message; None if it may have. Events have no message, and its id for it."""
    steps = [part for part in parts if part.get("type") in ("step-start", "step-finish")]
    about = mapping(info.get("time"), "info.time")
    is_cut = bool(steps) and steps[-1].get("type") == "step-start"
    if is_cut or (info.get("modelID") and about.get("created") and not about.get("completed")):
        return STEP_OPEN
    if not steps or any(map(_ends_run, parts)):
        return None
    reason = steps[-1].get("reason")
    if reason not in REASONS and not _has_answer(parts):
        return BROKEN_OFF
    return NOT_ANSWERED if reason == CALLED else None


def _has_answer(parts: list[dict[str, Any]]) -> bool:
    """Whether the last step has a text."""
    kinds = [part.get("type") for part in parts]
    start = len(kinds) - kinds[::-1].index("step-start") if "step-start" in kinds else 0
    return any(part.get("type") == "text" and part.get("text") for part in parts[start:])


def _ends_run(part: dict[str, Any]) -> bool:
    """Whether a call ends the run: one that a person refused, or that is the answer."""
    refusal = dict_or_empty(part.get("state")).get("error")
    return part.get("tool") == ANSWER_TOOL or (isinstance(refusal, str) and refusal.startswith(REFUSED))


def _add_user(session: AgentSession, parts: list[dict[str, Any]], when: str | None) -> None:
    """Adds what a person wrote; text that opencode added is not shown to people, but the model read it."""
    texts = [text(part.get("text"), "text") for part in parts if part.get("type") == "text" and not part.get("ignored")]
    others = [{"type": str(part.get("type"))} for part in parts if part.get("type") == "file"]
    shown = [{"type": "text", "text": each} for each in texts if each is not None]
    content = "\n".join(each for each in texts if each) if texts else None
    session.add_message(RawMessage("user", content, timestamp=when, parts=[*shown, *others] if others else None))
    for part in parts:
        if part.get("type") == "subtask":
            session.elsewhere += 1


def _add_instructions(session: AgentSession, info: dict[str, Any]) -> None:
    for content in listing(info.get("system"), "info.system") if isinstance(info.get("system"), list) else []:
        if not session.conversation.messages or session.conversation.messages[-1]["role"] == "system":
            session.add_message(RawMessage("system", text(content, "info.system")))


def _add_text(session: AgentSession, part: dict[str, Any]) -> None:
    session.add_text(text(part.get("text"), "text"), model=session.model)


def _add_reasoning(session: AgentSession, part: dict[str, Any]) -> None:
    session.add_reasoning(text(part.get("text"), "text"), model=session.model)


def _add_tool(session: AgentSession, part: dict[str, Any]) -> None:
    """Adds a call and, if it has ended, its result."""
    state = mapping(part.get("state"), "state")
    call_id, name = text(part.get("callID"), "callID"), required_text(part.get("tool"), "tool")
    when = time_if_valid(read_at(state, "time.start", any_value))
    session.add_call(ToolRequest(call_id, name, state.get("input")), when, model=session.model)
    session.elsewhere += name == TASK
    status = text(state.get("status"), "state.status")
    if status not in ("completed", "error"):
        session.end = TOOL_RUNS if status == "running" else session.end
        return
    ended = time_if_valid(read_at(state, "time.end", any_value))
    content = state.get("output") if status == "completed" else state.get("error")
    code = dict_or_empty(state.get("metadata")).get("exit")
    result = ToolResult(call_id, name, content, status == "error", code if type(code) is int else None)
    session.add_result_later(result, ended)


def _add_step(session: AgentSession, part: dict[str, Any]) -> None:
    """Adds a request to the model, which ends a step: results of its calls come after it."""
    session.add_model_call(
        none_if_uncounted(_read_tokens(part.get("tokens"))),
        text(part.get("reason"), "reason"),
        cost_usd=amount(part.get("cost"), "cost") or None,
        provider=session.provider,
        model=session.model,
    )
    session.end_answer()


def _read_tokens(value: Any) -> Usage:
    """The tokens of one answer, or of one step."""
    return build_usage(TOKENS.read(value, "tokens"), RULES["opencode"], "tokens")


def _add_error(session: AgentSession, info: dict[str, Any]) -> None:
    error = mapping(info.get("error"), "info.error")
    if not error:
        return
    session.end_answer()
    kind, data = text(error.get("name"), "info.error.name"), mapping(error.get("data"), "info.error.data")
    message = text(data.get("message"), "info.error.data.message")
    session.error = message or kind or "the turn failed"
    if kind in PROVIDER_ERRORS:
        status = whole_number(data.get("statusCode"), "info.error.data.statusCode")
        session.outage = build_model_error(kind, message, status)


HANDLERS: dict[str, Callable[[AgentSession, dict[str, Any]], None]] = {
    "text": _add_text,
    "reasoning": _add_reasoning,
    "tool": _add_tool,
    "step-finish": _add_step,
}
HARMLESS_PARTS = words("step-start snapshot patch agent retry compaction file subtask")
INFO_FIELDS = words("time tokens error path model summary system tools format structured cache")
PART_FIELDS = words("state time tokens error metadata source files model")
OTHERS = (Shape((EACH,), None, words("opencode_session_message")),)
SHAPES = (
    Shape(("messages", EACH), frozenset({"info", "parts"})),
    Shape(("messages", EACH, "info"), INFO_FIELDS),
    Shape(("messages", EACH, "parts", EACH), PART_FIELDS, HARMLESS_PARTS | HANDLERS.keys()),
    Shape(("messages", EACH, "parts", EACH, "state"), words("input output error metadata time attachments")),
)
READER = Reader(build=build, identify=no_identity, split=split, shapes=SHAPES, without_calls=frozenset({"metadata"}))
