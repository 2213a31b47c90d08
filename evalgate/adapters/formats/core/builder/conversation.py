"""Builds a conversation from messages: turns, steps, and tool calls joined with their results."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

from evalgate.adapters.formats.core import strict_json
from evalgate.adapters.formats.core.strict_json import encode_json, encode_text
from evalgate.adapters.formats.core.usage import finish_reason
from evalgate.errors import TraceError
from evalgate.measures.text.similar_names import unwrap_name
from evalgate.models.trace.actors import ROOT
from evalgate.models.trace.final_answer import find_final_answer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.trace.trace import Message, Response, Role, ToolCall, Warning_


class Arguments(NamedTuple):
    """The value, the text it was recorded as, and the error if that text is not JSON."""

    value: Any
    raw: str | None = None
    error: str | None = None


def read_arguments(recorded: Any, levels_above: int = 0) -> Arguments:
    """Never fails on text: invalid JSON is kept as text with an error; empty text means no arguments.

    Raises TraceError only for values nested too deep; `levels_above` levels of JSON enclose them.
    """
    if type(recorded) is not str:
        strict_json.require_shallow(recorded, levels_above)
        return Arguments(recorded, None, None)
    if not recorded.strip():
        return Arguments({}, recorded)
    try:
        value = strict_json.decode(recorded.encode())
        strict_json.require_shallow(value)
    except TraceError as error:
        return Arguments(None, recorded, str(error))
    return Arguments(value, recorded)


NOT_CAPTURED = Arguments(None)


def note_execution(call: ToolCall, name: str | None, arguments: Arguments) -> None:
    """Keeps what ran beside what was asked for, if both are known and differ; the call is then what ran.

    Names may differ by a provider's wrapper, and arguments by keys that are null.
    """
    if arguments.value is None and name in (None, "", call["name"]):
        return
    if _is_wrapped(call["arguments"], arguments.value):
        arguments = Arguments(_unwrap(arguments.value))
    same_name = not name or name == call["name"] or unwrap_name(name) == unwrap_name(call["name"])
    is_same_text = arguments.raw is not None and arguments.raw == call["arguments_raw"]  # most are: no walk is needed
    same_arguments = is_same_text or are_equal_arguments(call["arguments"], arguments.value)
    if same_name and same_arguments:
        return
    call.setdefault("requested", {"name": call["name"], "arguments": call["arguments"]})
    if not same_name and name:
        call["name"] = name
    if not same_arguments:
        call["arguments"], call["arguments_raw"], call["arguments_error"] = arguments
    call["executed"] = {"name": call["name"], "arguments": call["arguments"]}


def are_equal_arguments(asked: Any, ran: Any) -> bool:
    """True unless both are known and differ, other than by keys that are null, or by a form of the recorder's own."""
    asked, ran = drop_nulls(asked), drop_nulls(ran)
    if _is_wrapped(asked, ran):
        ran = _unwrap(ran)
    if asked is None or ran is None:
        return True
    return build_call_key("", asked) == build_call_key("", ran)


WRAPPING_KEYS = frozenset({"args", "kwargs", "input", "inputs", "arguments", "tool_input", "params", "parameters"})


def _is_wrapped(asked: Any, ran: Any) -> bool:
    """Whether the arguments that ran are recorded as the value of another key, in a form that the recorder made."""
    return (
        bool(ran) and isinstance(ran, dict) and isinstance(asked, dict) and ran.keys() <= WRAPPING_KEYS - asked.keys()
    )


def _unwrap(ran: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments in such a form; None if it holds none, or some without their names."""
    from evalgate.adapters.formats.core.python_literals import unwrap_text  # few recorders make such a form

    found: dict[str, Any] = {}
    for each in map(unwrap_text, ran.values()):
        if each and not isinstance(each, dict):
            return None
        found |= each or {}
    return found or None


def drop_nulls(value: Any) -> Any:
    """A value without the keys of its objects that are null."""
    if isinstance(value, dict):
        return {key: drop_nulls(each) for key, each in value.items() if each is not None}
    return [drop_nulls(each) for each in value] if isinstance(value, list) else value


MAX_EXACT_INT = 2**53  # a float beyond it is always whole and may be rounded, so it stays a float
CallKey = tuple[str, str]


def build_recorded_call_key(name: str, arguments: Any) -> CallKey:
    """The key of a call whose arguments may still be JSON text."""
    return build_call_key(name, read_arguments(arguments).value)


def build_call_key(name: str, arguments: Any) -> CallKey:
    """Equal for calls of one tool with equal arguments, in any key order and spelling of numbers."""
    return name, encode_json(_normalize_numbers(arguments))


def _normalize_numbers(value: Any) -> Any:
    """Turns whole floats into integers: 1.0 equals 1."""
    if type(value) is float and value.is_integer():
        return int(value) if abs(value) < MAX_EXACT_INT else value
    if type(value) is dict:
        return {key: _normalize_numbers(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_normalize_numbers(inner) for inner in value]
    return value


PARALLEL = "multi_tool_use.parallel"
PARALLEL_FORMS = (PARALLEL, "multi_tool_use_parallel", "multi_tool_use-parallel")
"""OpenAI's tool whose arguments are calls, also where names may have no dot."""
SERVER, CALL_TOOL = "mcp_server", "call_tool"
"""How Pydantic AI names a server that a provider asks, and its act of calling a tool that the arguments name."""

# Copying a blank record is faster than naming all its fields; a trace has dozens of records.
BLANK_MESSAGE: Message = {
    "index": 0,
    "turn": 0,
    "role": "user",
    "content": None,
    "tool_calls": [],
    "tool_name": None,
    "tool_call_id": None,
    "timestamp": None,
    "name": None,
    "agent": None,
    "actor": ROOT,
    "model": None,
    "reasoning": None,
    "finish_reason": None,
    "parts": None,
}
BLANK_CALL: ToolCall = {
    "index": 0,
    "turn": 0,
    "step": 0,
    "id": None,
    "name": "",
    "arguments": None,
    "arguments_raw": None,
    "arguments_error": None,
    "result": None,
    "result_text": None,
    "status": "missing",
    "error": None,
    "exit_code": None,
    "duration_ms": None,
    "started_at": None,
    "requestor": "assistant",
    "agent": None,
    "actor": ROOT,
    "started_by": None,
}


class Conversation:
    """Collects the messages and tool calls of a trace, one message after the other."""

    __slots__ = ("_turn", "_unanswered", "calls", "messages", "orphans", "step")

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.calls: list[ToolCall] = []
        self.orphans = 0
        self.step = 0
        self._turn = 0
        self._unanswered = PendingCalls()

    def add_message(self, role: Role, content: str | None, *, is_input: bool = True) -> Message:
        """Adds a message: a user's starts a turn, an assistant's is a step (one response of the model).

        A user's message that is not input to the agent (a tool call of the user simulator) does not start a turn.
        """
        if role == "user" and is_input:
            self._turn += 1
        elif role == "assistant":
            self.step += 1
        message = BLANK_MESSAGE.copy()
        message["index"] = len(self.messages)
        message["turn"] = self._turn
        message["role"] = role
        message["content"] = content
        message["tool_calls"] = []
        self.messages.append(message)
        return message

    def add_call(self, message: Message, call_id: str | None, name: str, arguments: Arguments) -> ToolCall:
        """Adds a tool call that the message requests; its status is `missing` until its result is added."""
        value, raw, error = arguments
        message["tool_calls"].append({"id": call_id, "name": name, "arguments": value})
        call = BLANK_CALL.copy()
        call["index"] = len(self.calls)
        call["turn"] = self._turn
        call["step"] = self.step
        call["id"] = call_id
        call["name"] = name
        call["arguments"] = value
        call["arguments_raw"] = raw
        call["arguments_error"] = error
        if message["role"] == "user":
            call["requestor"] = "user"
        self.calls.append(call)
        self._unanswered.add(call)
        return call

    def add_result(self, call_id: str | None, tool: str | None, content: str | None) -> tuple[Message, ToolCall | None]:
        """Adds a tool's message and joins it with its call, if there is one, whose status is then `unknown`."""
        message = self.add_message("tool", content)
        message["tool_call_id"] = call_id
        call = self._unanswered.take(call_id, tool)
        if call is None:
            self.orphans += 1
            message["tool_name"] = tool
            return message, None
        message["tool_name"] = tool or call["name"]
        note_execution(call, tool, NOT_CAPTURED)
        call["status"] = "unknown"
        call["result"] = call["result_text"] = content
        return message, call

    def get_response(self) -> Response:
        """The final answer, as far as the messages show it."""
        return find_final_answer(self.messages)

    def list_warnings(self) -> list[Warning_]:
        """Warnings about the conversation as a whole."""
        if not self.orphans:
            return []
        message = f"{self.orphans} tool results belong to no recorded call"
        return [{"code": "result_without_call", "message": message, "where": "messages"}]


def build_call(
    name: str, recorded_arguments: Any, call_id: str | None = None, turn: int = 0, step: int = 0
) -> ToolCall:
    """A call that no message requests, without its index and its result."""
    value, raw, error = read_arguments(recorded_arguments)
    return {
        **BLANK_CALL,
        "turn": turn,
        "step": step,
        "id": call_id,
        "name": name,
        "arguments": value,
        "arguments_raw": raw,
        "arguments_error": error,
    }


def mark_failed(call: ToolCall, kind: str | None = None) -> None:
    """Marks a call whose tool reported an error; its result is the error's message."""
    call["status"] = "error"
    call["error"] = {"type": kind, "message": call["result_text"]}


def set_outcome(call: ToolCall, *, has_failed: bool | None) -> None:
    """Marks a call with a result as failed or as successful; None if nothing says which."""
    if has_failed:
        mark_failed(call)
    elif has_failed is not None:
        call["status"] = "ok"


def get_instructions(messages: list[Message]) -> str | None:
    """The content of the first message, if it is a system message."""
    return messages[0]["content"] if messages and messages[0]["role"] == "system" else None


def find_opening_text(messages: list[Message]) -> str:
    """Text that distinguishes conversations of one file: the first user message, else the first of any role."""
    texts: list[Any] = [m["content"] for m in messages if m["role"] == "user" and m["content"]]
    texts += [m["content"] for m in messages if m["content"]]
    return texts[0] if texts else ""


Queues = dict[str | tuple[str | None, str] | None, list[deque["ToolCall"]]]


class PendingCalls:
    """Calls that wait for a result. If several match, the first of the latest step is taken, one of the name if any is.

    Ids may be missing or equal for all calls, and a killed run leaves calls without a result. In each case
    the time for a call must stay constant, however many there are.
    """

    __slots__ = ("_by_id", "_by_id_and_name", "_by_name", "_calls", "_indexed", "_next")

    def __init__(self) -> None:
        self._calls: list[ToolCall] = []
        self._next = 0  # the first pending call of the latest step, as long as results come in order
        self._indexed = 0
        self._by_id: Queues = {}
        self._by_id_and_name: Queues = {}
        self._by_name: Queues = {}

    def add(self, call: ToolCall) -> None:
        """Adds a pending call."""
        if not self._calls or self._calls[-1]["step"] != call["step"]:
            self._next = len(self._calls)
        self._calls.append(call)

    def take(self, call_id: str | None, name: str | None) -> ToolCall | None:
        """Removes and returns the call that a result with this id or name belongs to, if any."""
        if call_id is not None and self._next < len(self._calls):
            expected = self._calls[self._next]
            is_named = name is None or expected["name"] == name
            if is_named and expected["id"] == call_id and expected["status"] == "missing":
                self._next += 1
                return expected
        self._index()
        if call_id is not None:
            named = _pop_pending(self._by_id_and_name, (call_id, name)) if name else None
            return named or _pop_pending(self._by_id, call_id) or _pop_pending(self._by_id, None)
        return (_pop_pending(self._by_name, name) if name else None) or _pop_pending(self._by_name, None)

    def _index(self) -> None:
        for call in self._calls[self._indexed :]:
            for queues, key in (
                (self._by_id, call["id"]),
                (self._by_id_and_name, (call["id"], call["name"])),
                (self._by_name, call["name"]),
                (self._by_name, None),
            ):
                _push(queues.setdefault(key, []), call)
        self._indexed = len(self._calls)


def _push(steps: list[deque[ToolCall]], call: ToolCall) -> None:
    if steps and steps[-1] and steps[-1][-1]["step"] == call["step"]:
        steps[-1].append(call)
    else:
        steps.append(deque([call]))


def _pop_pending(queues: Queues, key: str | tuple[str | None, str] | None) -> ToolCall | None:
    """The first pending call of the latest step that has one."""
    steps = queues.get(key, [])
    while steps:
        while steps[-1]:
            call = steps[-1].popleft()
            if call["status"] == "missing":
                return call
        steps.pop()
    return None


class ToolRequest(Struct):
    """A tool call as recorded in its message; `arguments` are an object or text, as recorded."""

    id: str | None
    name: str
    arguments: Any


class ToolResult(NamedTuple):
    """A tool's result as recorded in its message: text, or a value if the recorder kept one.

    `is_error` is None if the format does not say whether the tool failed.
    """

    id: str | None
    name: str | None
    content: Any
    is_error: bool | None = None
    exit_code: int | None = None


class RawMessage(Struct):
    """One message. Tool results come before the message's text, for every role.

    `finish_reason` is the provider's; `timestamp` is RFC 3339 in UTC; `parts` is set only if text and calls
    are not the whole content.
    """

    role: Role
    content: str | None = None
    calls: list[ToolRequest] = field(default_factory=list)
    answers: list[ToolResult] = field(default_factory=list)
    reasoning: str | None = None
    name: str | None = None
    agent: str | None = None
    model: str | None = None
    finish_reason: str | None = None
    timestamp: str | None = None
    parts: list[dict[str, Any]] | None = None


def conversation_from_messages(messages: Iterable[RawMessage]) -> Conversation:
    """A conversation with turns, steps, and calls joined with their results."""
    conversation = Conversation()
    for message in messages:
        add_raw_message(conversation, message)
    return conversation


def add_raw_message(conversation: Conversation, raw: RawMessage) -> Message | None:
    """Adds one message; returns the message added, None if it held only tool results."""
    for result in raw.answers:
        _add_result(conversation, result, raw)
    if raw.answers and not (raw.content or raw.calls or raw.parts):
        return None
    if raw.role == "tool" and not raw.answers:
        message, _ = conversation.add_result(None, raw.name, raw.content)
    else:
        role: Role = "user" if raw.role == "tool" else raw.role
        message = conversation.add_message(role, raw.content)
    message["reasoning"] = raw.reasoning
    message["name"] = raw.name
    message["agent"] = raw.agent
    message["model"] = raw.model
    message["finish_reason"] = finish_reason(raw.finish_reason)
    message["timestamp"] = raw.timestamp
    message["parts"] = raw.parts
    for request in raw.calls:
        call = conversation.add_call(message, request.id, request.name, read_arguments(request.arguments))
        call["agent"] = raw.agent
        call["started_at"] = raw.timestamp
    return message


def _add_result(conversation: Conversation, result: ToolResult, raw: RawMessage) -> None:
    content = result.content
    message, call = conversation.add_result(result.id, result.name, encode_text(content))
    message["timestamp"] = raw.timestamp
    message["agent"] = raw.agent
    if call is None:
        return
    call["result"] = content
    call["exit_code"] = result.exit_code
    set_outcome(call, has_failed=result.is_error)
