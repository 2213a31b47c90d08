"""Reads Cursor's command line: the lines of `stream-json`, or the one result of `json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

from evalgate.adapters.formats.core.builder.conversation import (
    Conversation,
    RawMessage,
    ToolRequest,
    ToolResult,
    build_call,
    conversation_from_messages,
)
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap, shorten
from evalgate.adapters.formats.core.builder.run import build_trace, group_lines, set_times
from evalgate.adapters.formats.core.builder.run_end import TURN_OPEN, mark_incomplete
from evalgate.adapters.formats.core.builder.side_fields import add_call_details
from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    do_each,
    flag,
    mapping,
    milliseconds_between,
    prefix_errors,
    read_timestamp,
    text,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import TokenTable, sum_usages
from evalgate.adapters.formats.cursor import list_cursor_lines
from evalgate.adapters.formats.cursor.tool_calls import SUB_AGENT, read_steps, read_tool_call
from evalgate.adapters.formats.messages import roles
from evalgate.adapters.formats.messages.known_fields import PART_FIELDS, ROLE_FIELDS
from evalgate.models.trace.actors import ROOT, ActorPaths
from evalgate.models.trace.trace import Trace, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.cursor.tool_calls import CursorCall
    from evalgate.models.trace.trace import ToolCall

NAME = "cursor"
WITHOUT_CALLS = frozenset({"system", "connection", "retry"})
ONLY_RESULT = "`--output-format json` records only the final answer: record with `--output-format stream-json`"
INNER = "subagent"
"""The name of every sub-agent: Cursor records none."""
NO_STEPS = "the calls of a sub-agent are not recorded"
SHORTENED = "a call was recorded without its tool"


class StartedCall(NamedTuple):
    """A call whose end was not read yet."""

    request: ToolRequest
    started: str | None


class CursorRun(Struct):
    """One session, collected line by line."""

    messages: list[RawMessage] = field(default_factory=list)
    init: dict[str, Any] = field(default_factory=dict)
    results: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    steps: dict[str, list[CursorCall]] = field(default_factory=dict)
    durations: dict[str, float] = field(default_factory=dict)
    thoughts: list[str] = field(default_factory=list)
    text_message: RawMessage | None = None
    by_response: dict[str, RawMessage] = field(default_factory=dict)
    open_calls: dict[str, StartedCall] = field(default_factory=dict)
    numbered: int = 0
    is_after_result: bool = False
    """Whether a turn began or went on after the last result line."""

    def add(self, line: dict[str, Any]) -> None:
        """Adds one line; raises FieldError."""
        kind = str(line.get("type"))
        self.is_after_result = kind != "result" and (self.is_after_result or bool(self.results and _is_of_turn(line)))
        if kind == "tool_call":
            self.text_message = None
            self._add_tool_call(line)
        elif kind == "thinking":
            self.thoughts.append(text(line.get("text"), "text") or "")
        elif kind in roles.ROLES and isinstance(line.get("message"), dict):
            with prefix_errors("message"):
                self._add_message(kind, line)
        elif kind == "result":
            self.results.append(line)
        elif kind == "system" and line.get("subtype") == "init":
            self.init = self.init or line
        elif kind not in WITHOUT_CALLS:
            self.gaps.append(f"lines of the unknown type {shorten(kind)} may hold calls")

    def _add_message(self, kind: str, line: dict[str, Any]) -> None:
        """Adds a message. With `--stream-partial-output` its text comes in pieces and then once more as a whole."""
        message = {**line["message"], "role": line["message"].get("role", kind)}
        found = roles.read_message(message)
        response = text(line.get("model_call_id"), "model_call_id")
        last, first = self.text_message, found[0]
        if last is not None and first.role == "assistant" and len(found) == 1 and not first.calls and not self.thoughts:
            if first.content != last.content:
                last.content = f"{last.content or ''}{first.content or ''}"
        else:
            first.reasoning = self._take_thoughts(first) or first.reasoning
            for each in found:
                each.timestamp = read_timestamp(line.get("timestamp_ms"), "timestamp_ms")
            self.messages += found
            last = self.text_message = found[-1] if found[-1].role == "assistant" else None
        if response is not None and last is not None:
            self.by_response[response] = last

    def _take_thoughts(self, message: RawMessage) -> str | None:
        if message.role != "assistant" or not self.thoughts:
            return None
        thought = "".join(self.thoughts)
        self.thoughts = []
        return thought or None

    def _add_tool_call(self, line: dict[str, Any]) -> None:
        with prefix_errors("tool_call"):
            recorded = mapping(line.get("tool_call"), "")
            calls = read_tool_call(recorded)
        call_id = text(line.get("call_id"), "call_id") or text(recorded.get("toolCallId"), "tool_call.toolCallId")
        when = read_timestamp(line.get("timestamp_ms"), "timestamp_ms")
        for call in calls:
            self._start_or_end(line, call, call_id, when)

    def _start_or_end(self, line: dict[str, Any], call: CursorCall, call_id: str | None, when: str | None) -> None:
        """Start and end are two lines of one call; without an id they are joined by the tool's name."""
        key = call_id or f"#{call.name}"
        known = self.open_calls.get(key)
        is_end = line.get("subtype") == "completed" or call.outcome is not None
        if known is None or (call.name not in (None, known.request.name)) or (call_id is None and not is_end):
            known = self.open_calls[key] = self._start(line, call, call_id, when)
        elif call.arguments and not known.request.arguments:
            known.request.arguments = call.arguments
        if is_end:
            self._end(known, call, when)
            if call_id is None:
                del self.open_calls[key]
        if call.is_shortened:
            self.gaps.append(SHORTENED)

    def _start(self, line: dict[str, Any], call: CursorCall, call_id: str | None, when: str | None) -> StartedCall:
        if call.name is None:
            raise FieldError("tool_call", "names no tool, and no line before it starts this call")
        self.numbered += 1
        request = ToolRequest(call_id or f"{NAME}-{self.numbered}", call.name, call.arguments)
        response = text(line.get("model_call_id"), "model_call_id")
        message = self.by_response.get(response or "")
        if message is None:
            message = self.messages[-1] if self.messages and self.messages[-1].role == "assistant" else None
        if message is None or self.thoughts:
            message = RawMessage("assistant", timestamp=when)
            message.reasoning = self._take_thoughts(message)
            self.messages.append(message)
        if response is not None:
            self.by_response[response] = message
        message.calls.append(request)
        return StartedCall(request, when)

    def _end(self, known: StartedCall, call: CursorCall, when: str | None) -> None:
        request = known.request
        content, is_error, code = (None, False, None) if call.outcome is None else call.outcome
        if not self.messages or self.messages[-1].role != "tool":
            self.messages.append(RawMessage("tool"))
        self.messages[-1].answers.append(ToolResult(request.id, request.name, content, is_error, code))
        took = milliseconds_between(known.started, when)
        if took is not None and request.id is not None:
            self.durations[request.id] = took
        if request.name != SUB_AGENT:
            return
        if call.steps is None:
            self.gaps.append(NO_STEPS)
        elif request.id is not None:
            with prefix_errors("tool_call.taskToolCall.result.success"):
                self.steps[request.id] = read_steps(call.steps)


def split(documents: Any) -> Sequence[Any]:
    """Splits a file into sessions; a line without a session id belongs to the session before it."""
    return group_lines((line for document in documents for line in list_cursor_lines(document)), _find_session)


def _find_session(line: Any) -> str | None:
    found = line.get("session_id") if isinstance(line, dict) else None
    return found if isinstance(found, str) and found else None


def _is_of_turn(line: dict[str, Any]) -> bool:
    """Whether a line begins a turn, or is one of an agent that goes on; a call may end late."""
    kind, part = line.get("type"), line.get("subtype")
    return (kind in roles.ROLES and part in (None, "init")) or (kind == "tool_call" and part != "completed")


def build(record: Any) -> Trace:
    """Builds one session; Cursor records no cost."""
    require_shallow(record)
    run = CursorRun()
    do_each(record, "lines", run.add)
    if not any(message.role == "assistant" and message.content for message in run.messages):
        answer = text(run.results[-1].get("result"), "result") if run.results else None
        run.messages += [RawMessage("assistant", answer)] if answer else []
    conversation = conversation_from_messages(run.messages)
    _add_durations(conversation, run)
    trace = build_trace(
        conversation,
        text(run.init.get("session_id"), "session_id") or next(filter(None, map(_find_session, record)), None),
        agent={"name": NAME, "framework": NAME},
        model=text(run.init.get("model"), "model"),
    )
    trace.conversation_id = trace.trace_id or None
    mode = text(run.init.get("permissionMode"), "permissionMode")
    trace.metadata = {"permission_mode": mode} if mode else {}
    _add_end(trace, run)
    if run.gaps:
        add_gap(trace, "calls", run.gaps[0])
    if not run.init and not any(message.role == "user" for message in run.messages) and not trace.tool_calls:
        add_gap(trace, "calls", ONLY_RESULT)
        add_gap(trace, "messages", ONLY_RESULT)
    return trace


def _add_durations(conversation: Conversation, run: CursorRun) -> None:
    """Sets how long calls took, and puts the calls of sub-agents after the call that started them."""
    calls: list[ToolCall] = []
    paths = ActorPaths()
    for call in conversation.calls:
        call["duration_ms"] = run.durations.get(call["id"] or "")
        call["index"] = len(calls)
        calls.append(call)
        steps = run.steps.get(call["id"] or "", [])
        actor = paths.add(ROOT, INNER) if steps else ROOT
        for inner in steps:
            inner_call = _build_inner_call(call, inner)
            inner_call["index"], inner_call["actor"] = len(calls), actor
            calls.append(inner_call)
    conversation.calls = calls


def _build_inner_call(outer: ToolCall, inner: CursorCall) -> ToolCall:
    if inner.name is None:
        raise FieldError("conversationSteps", "hold a call without the name of its tool")
    call = build_call(inner.name, inner.arguments, turn=outer["turn"], step=outer["step"])
    call["agent"], call["started_by"] = INNER, outer["index"]
    if inner.outcome is not None:
        content, has_failed, exit_code = inner.outcome
        details = {"result": content, "exit_code": exit_code, "status": "error" if has_failed else "ok"}
        add_call_details(call, details, "conversationSteps")
    return call


def _add_end(trace: Trace, run: CursorRun) -> None:
    """Adds what the result lines record: one for each exchange of the session."""
    set_times(trace)
    if not run.results:
        mark_incomplete(trace, "there is no result line: the run was stopped, or it failed")
        return
    durations = [amount(result.get("duration_ms"), "duration_ms") for result in run.results]
    known = [duration for duration in durations if duration is not None]
    if len(known) == len(durations):
        trace.latency = {"total_ms": sum(known), "source": "recorded"}
    usages = [USAGE.read(one.get("usage"), "usage") if one.get("usage") else unknown_usage() for one in run.results]
    trace.usage = usages[0] if len(usages) == 1 else sum_usages(usages)
    last = run.results[-1]
    if flag(last.get("is_error"), "is_error") or text(last.get("subtype"), "subtype") not in (None, "success"):
        trace.status = "error"
        trace.error = {"type": text(last.get("subtype"), "subtype"), "message": text(last.get("result"), "result")}
    if run.is_after_result:
        trace.error = None
        mark_incomplete(trace, TURN_OPEN)


USAGE = TokenTable(
    "cursor",
    input_tokens="inputTokens",
    output_tokens="outputTokens",
    cache_read_input_tokens="cacheReadTokens",
    cache_write_input_tokens="cacheWriteTokens",
)


LINE_FIELDS = frozenset({"message", "tool_call", "usage", "result", "text", "tools", "mcp_servers"})
SHAPES = (
    Shape((EACH,), LINE_FIELDS),
    Shape((EACH, "message"), ROLE_FIELDS),
    Shape((EACH, "message", "content", EACH), PART_FIELDS),
)
READER = Reader(
    build=build,
    identify=no_identity,
    split=split,
    without_calls=frozenset({"tool_call"}),
    shapes=SHAPES,
)
