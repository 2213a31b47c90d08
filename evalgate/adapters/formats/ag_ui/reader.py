"""Reads AG-UI: the events of a thread, a list or one a line; texts and arguments are put together from their pieces."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.agent_session import AgentSession
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.builder.run import build_model_error
from evalgate.adapters.formats.core.builder.run_end import PERSON
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import (
    do_each,
    mapping,
    objects,
    read_at,
    required_text,
    text,
    time_if_valid,
)
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity, words
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.core.usage import TokenTable, none_if_uncounted, sum_usages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.trace.trace import Trace

NAME = "ag-ui"
OPEN = "the run has neither RUN_FINISHED nor RUN_ERROR: it was stopped, or its events end before it did"
USAGE = TokenTable(
    "ag-ui",
    input_tokens="inputTokens",
    output_tokens="outputTokens",
    total_tokens="totalTokens",
    cache_read_input_tokens="cachedInputTokens",
    reasoning_output_tokens="reasoningTokens",
)
PIECES = {
    "TEXT_MESSAGE_CONTENT": "messageId",
    "TEXT_MESSAGE_CHUNK": "messageId",
    "REASONING_MESSAGE_CONTENT": "messageId",
    "REASONING_MESSAGE_CHUNK": "messageId",
    "TOOL_CALL_ARGS": "toolCallId",
    "TOOL_CALL_CHUNK": "toolCallId",
}
"""Types of events with a piece of a text or of arguments, and the field with the id of the whole."""


class AgUiThread(AgentSession):
    """The run, the texts and arguments by id, and what was added so far."""

    def __init__(self, pieces: dict[str, str]) -> None:
        super().__init__()
        self.pieces = pieces
        self.known: set[str] = set()
        self.usages: list[Any] = []
        self.is_open = False

    def is_new(self, key: str | None) -> bool:
        """Whether something with this id was not added yet; it is from now on."""
        if key is None or key not in self.known:
            self.known.update({key} if key else ())
            return True
        return False


def split(documents: Any) -> Sequence[Any]:
    """All events as one run."""
    return [[each for one in documents for each in (one if isinstance(one, list) else [one])]]


def build(record: Any) -> Trace:
    """Builds the run of a thread."""
    require_shallow(record)
    thread = AgUiThread(_join_pieces(record))
    do_each(record, "events", lambda event: _add_event(thread, event))
    if thread.usages:
        thread.total = none_if_uncounted({**sum_usages(thread.usages), "source": "recorded_total"})
    thread.end = OPEN if thread.is_open else None
    return thread.build_session(NAME)


def _join_pieces(record: list[Any]) -> dict[str, str]:
    """Texts and arguments by the id of their message or call; a piece without an id belongs to the one before."""
    found: dict[str, list[str]] = defaultdict(list)
    last: dict[str, str] = {}
    for event in record:
        kind = event.get("type") if isinstance(event, dict) else None
        if not isinstance(kind, str) or kind not in PIECES:
            continue
        key = PIECES[kind]
        whole = text(event.get(key), key) or last.get(key, "")
        last[key] = whole
        found[f"{kind[:4]}{whole}"].append(text(event.get("delta"), "delta") or "")
    return {key: "".join(pieces) for key, pieces in found.items()}


def _add_event(thread: AgUiThread, event: dict[str, Any]) -> None:
    handle = HANDLERS.get(text(event.get("type"), "type") or "")
    if handle is not None:
        handle(thread, event, time_if_valid(event.get("timestamp")))


def _start_run(thread: AgUiThread, event: dict[str, Any], when: str | None) -> None:
    thread.id, thread.is_open = text(event.get("threadId"), "threadId") or thread.id, True
    given = mapping(event.get("input"), "input")
    do_each(
        objects(given.get("messages"), "input.messages"), "input.messages", lambda one: _add_message(thread, one, when)
    )


def _add_snapshot(thread: AgUiThread, event: dict[str, Any], when: str | None) -> None:
    do_each(objects(event.get("messages"), "messages"), "messages", lambda one: _add_message(thread, one, when))


def _add_message(thread: AgUiThread, message: dict[str, Any], when: str | None) -> None:
    """Adds a whole message, unless its events or an earlier copy were read."""
    role = text(message.get("role"), "role")
    if role == "tool":
        _add_result(thread, message, when)
        return
    if role == "assistant":
        is_known = not thread.is_new(text(message.get("id"), "id"))
        calls = [
            one for one in objects(message.get("toolCalls"), "toolCalls") if thread.is_new(text(one.get("id"), "id"))
        ]
        if not is_known:
            thread.end_answer()
            thread.add_text(read_content(message.get("content"), "content")[0], when)
        for call in calls:
            function = mapping(call.get("function"), "function")
            name = required_text(function.get("name"), "function.name")
            thread.add_call(ToolRequest(text(call.get("id"), "id"), name, function.get("arguments")), when)
    elif role in ROLES and thread.is_new(text(message.get("id"), "id")):
        content, parts = read_content(message.get("content"), "content")
        thread.add_message(RawMessage(ROLES[role], content, parts=parts, timestamp=when))


def _add_text(thread: AgUiThread, event: dict[str, Any], when: str | None) -> None:
    key, role = text(event.get("messageId"), "messageId"), text(event.get("role"), "role") or "assistant"
    if key is None or not thread.is_new(key):
        return
    content = thread.pieces.get(f"TEXT{key}", "")
    if role in ROLES:
        thread.add_message(RawMessage(ROLES[role], content, timestamp=when))
    else:
        thread.end_answer()
        thread.add_text(content, when)


def _add_reasoning(thread: AgUiThread, event: dict[str, Any], when: str | None) -> None:
    key = text(event.get("messageId"), "messageId")
    if key is not None and thread.is_new(f"reasoning {key}"):
        thread.add_reasoning(thread.pieces.get(f"REAS{key}"), when)


def _add_call(thread: AgUiThread, event: dict[str, Any], when: str | None) -> None:
    call_id = text(event.get("toolCallId"), "toolCallId")
    if event.get("toolCallName") is None and event.get("type") == "TOOL_CALL_CHUNK":
        return
    name = required_text(event.get("toolCallName"), "toolCallName")
    if thread.is_new(call_id):
        thread.add_call(ToolRequest(call_id, name, thread.pieces.get(f"TOOL{call_id}")), when)


def _add_result(thread: AgUiThread, event: dict[str, Any], when: str | None) -> None:
    call_id = text(event.get("toolCallId"), "toolCallId")
    if call_id is None or thread.is_new(f"result {call_id}"):
        error = text(event.get("error"), "error")
        content = read_content(event.get("content"), "content")[0]
        result = ToolResult(call_id, None, content if error is None else content or error, True if error else None)
        thread.add_result(result, when)


def _end_run(thread: AgUiThread, event: dict[str, Any], when: str | None) -> None:
    del when
    thread.end_answer()
    thread.is_open = False
    usages = event.get("usage")
    for usage in objects(usages if isinstance(usages, list) else [usages] if usages else None, "usage"):
        thread.usages.append(USAGE.read(usage, "usage"))
        thread.model = text(usage.get("model"), "usage.model") or thread.model
    outcome = event.get("outcome")
    if isinstance(outcome, dict) and read_at(outcome, "type", text) == "interrupt":
        thread.stopped_by = PERSON


def _add_error(thread: AgUiThread, event: dict[str, Any], when: str | None) -> None:
    del when
    thread.end_answer()
    thread.is_open = False
    message = text(event.get("message"), "message")
    thread.error = message or "the run failed"
    thread.outage = build_model_error(text(event.get("code"), "code"), message)


ROLES: dict[str, Any] = {"user": "user", "system": "system", "developer": "system"}
HANDLERS: dict[str, Callable[[AgUiThread, dict[str, Any], str | None], None]] = {
    "RUN_STARTED": _start_run,
    "MESSAGES_SNAPSHOT": _add_snapshot,
    "TEXT_MESSAGE_START": _add_text,
    "TEXT_MESSAGE_CHUNK": _add_text,
    "REASONING_MESSAGE_START": _add_reasoning,
    "REASONING_MESSAGE_CHUNK": _add_reasoning,
    "TOOL_CALL_START": _add_call,
    "TOOL_CALL_CHUNK": _add_call,
    "TOOL_CALL_RESULT": _add_result,
    "RUN_FINISHED": _end_run,
    "RUN_ERROR": _add_error,
}
HARMLESS = words("""
    TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END TOOL_CALL_ARGS TOOL_CALL_END STATE_SNAPSHOT STATE_DELTA ACTIVITY_SNAPSHOT
    ACTIVITY_DELTA STEP_STARTED STEP_FINISHED REASONING_START REASONING_MESSAGE_CONTENT REASONING_MESSAGE_END
    REASONING_END REASONING_ENCRYPTED_VALUE THINKING_START THINKING_END THINKING_TEXT_MESSAGE_START
    THINKING_TEXT_MESSAGE_CONTENT THINKING_TEXT_MESSAGE_END
""")
EVENT_FIELDS = words("rawEvent metadata input messages outcome usage result snapshot delta content state patch")
MESSAGE_FIELDS = words("content toolCalls metadata")
SHAPES = (
    Shape((EACH,), EVENT_FIELDS, HARMLESS | HANDLERS.keys()),
    Shape((EACH, "messages", EACH), MESSAGE_FIELDS),
    Shape((EACH, "input", "messages", EACH), MESSAGE_FIELDS),
)
READER = Reader(
    build=build,
    identify=no_identity,
    split=split,
    shapes=SHAPES,
    without_calls=frozenset({"rawEvent", "snapshot", "state", "metadata"}),
)
