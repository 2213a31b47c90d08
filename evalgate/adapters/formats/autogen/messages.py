"""Reads the messages and events of AutoGen's agents, and the messages that they send to their models."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.autogen import STRUCTURED
from evalgate.adapters.formats.core.builder.conversation import (
    RawMessage,
    ToolRequest,
    ToolResult,
    build_recorded_call_key,
)
from evalgate.adapters.formats.core.builder.run import CheckedConversation
from evalgate.adapters.formats.core.fields import (
    FieldTable,
    filled_text,
    flag,
    listing,
    mapping,
    required_text,
    text,
    time,
    whole_number,
)
from evalgate.adapters.formats.core.format import words
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.core.usage import read_provider_usage
from evalgate.adapters.formats.messages.blocks import check_arguments

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from evalgate.models.trace.trace import Role

ADVICE = "record each call as a `ToolCallRequestEvent`, or as content of type `function_call`"


class SavedRun(CheckedConversation):
    """The conversation so far, and the agents that speak for a person.

    Saved states, summaries and approvals repeat calls: one with the same id, name and arguments is the same call,
    as often as it was read. The id is not enough, because some models number the calls of each answer from 0.
    """

    def __init__(self, users: Iterable[str]) -> None:
        super().__init__(ADVICE)
        self.users = frozenset(users)
        self.thoughts: dict[str | None, str | None] = {}
        self.read: Counter[Hashable] = Counter()
        self.unsummarized: Counter[Hashable] = Counter()
        self.approvals: Counter[Hashable] = Counter()

    def remember(self, calls: Iterable[ToolRequest]) -> None:
        """Remembers calls that are added."""
        for call in calls:
            self.read[name_call(call)] += 1
            self.unsummarized[name_call(call)] += 1

    def take_new(self, calls: Iterable[ToolRequest], repeated: Counter[Hashable]) -> list[ToolRequest]:
        """The calls that are not among the repeated ones, each of which counts once; remembers them."""
        new = []
        for call in calls:
            key = name_call(call)
            if repeated[key] > 0:
                repeated[key] -= 1
            else:
                new.append(call)
                self.read[key] += 1
        return new

    def add_usage(self, value: Any, path: str, *, is_expected: bool) -> None:
        """Adds the model call that a message records; a recorder without tokens writes 0."""
        usage = None if value is None else read_provider_usage(value, path)
        if usage is None or not usage["total_tokens"]:
            self.unmetered += is_expected
        else:
            self.add_llm_call(usage)


def name_call(call: ToolRequest) -> Hashable:
    """What identifies a call."""
    return call.id, build_recorded_call_key(call.name, call.arguments)


CODE_TOOL = "code_execution"
AGENT_FIELDS = words("""
    id source models_usage metadata created_at content type format_string target context tool_calls results
    retry_attempt code_blocks result request_id full_message_id config
""")
CONTEXT_FIELDS = frozenset({"content", "type", "source", "thought"})
WITHOUT_CONTENT = frozenset(
    {"UserInputRequestedEvent", "MemoryQueryEvent", "ModelClientStreamingChunkEvent", "SelectSpeakerEvent"}
    | {"SelectorEvent"}
)
"""Events of which the agents' answers follow, or that are no part of the conversation."""
TEXT_TYPES = frozenset({"TextMessage", "StopMessage", "HandoffMessage", "ToolCallSummaryMessage", "MultiModalMessage"})
ANSWERS_OF_MODELS = frozenset({"TextMessage", "ToolCallRequestEvent", "CodeGenerationEvent"})
"""Types that the answer of a model becomes, so tokens are missing where these record none."""


def add_agent_message(run: SavedRun, message: dict[str, Any]) -> None:
    """Adds a message or an event that an agent sent."""
    run.check_fields(message, AGENT_FIELDS)
    kind = required_text(message.get("type"), "type")
    source = text(message.get("source"), "source")
    role: Role = "user" if source in run.users else "assistant"
    when = time(message.get("created_at"), "created_at")
    raw = RawMessage(role, name=source, agent=source if role == "assistant" else None, timestamp=when)
    if kind == "ThoughtEvent":
        run.thoughts[source] = text(message.get("content"), "content")
    elif kind == "CodeExecutionEvent":
        _add_code_result(run, raw, mapping(message.get("result"), "result"))
    elif kind == "ToolCallExecutionEvent":
        _add_results(run, raw, _read_results(message.get("content"), "content"))
    elif kind in WITHOUT_CONTENT:
        run.add_usage(message.get("models_usage"), "models_usage", is_expected=False)
    else:
        _add_content(run, raw, message, kind)


def add_context_message(
    run: SavedRun, message: dict[str, Any], agent: str | None = None, memory: AgentMemory | None = None
) -> None:
    """Adds a message that an agent sends to its model; with a memory, only what the agents' messages lack."""
    run.check_fields(message, CONTEXT_FIELDS)
    kind, content = message.get("type"), message.get("content")
    if kind == "FunctionExecutionResultMessage":
        results = _read_results(content, "content")
        results = results if memory is None else [result for result in results if memory.takes_result(result)]
        _add_results(run, RawMessage("tool", agent=agent), results)
        return
    if kind == "AssistantMessage":
        raw = RawMessage("assistant", agent=agent, reasoning=text(message.get("thought"), "thought"))
        if type(content) is list:
            raw.calls = _read_calls(content, "content")
        else:
            raw.content = text(content, "content")
    else:
        raw = RawMessage("system" if kind == "SystemMessage" else "user")
        raw.content, raw.parts = _read_content(content)
    if memory is None:
        run.remember(raw.calls)
    else:
        raw.calls = run.take_new(raw.calls, memory.repeated)
        memory.added.update(call.id for call in raw.calls)
        if not raw.calls:
            return
    run.unmetered += raw.role == "assistant"
    run.add_messages([raw])


class AgentMemory:
    """The memory of one agent next to the messages of all: the calls it may repeat, and those it adds."""

    def __init__(self, run: SavedRun) -> None:
        self.repeated = run.read.copy()
        self.added: Counter[str | None] = Counter()

    def takes_result(self, result: ToolResult) -> bool:
        """Whether the result is one of a call that this memory adds."""
        is_added = self.added[result.id] > 0
        self.added[result.id] -= is_added
        return is_added


def _add_content(run: SavedRun, raw: RawMessage, message: dict[str, Any], kind: str) -> None:
    """Adds a message with content, and the tokens of the answer that it was."""
    if kind == "ToolCallRequestEvent":
        raw.calls = _read_calls(message.get("content"), "content")
    else:
        raw.content, raw.parts = _read_content(message.get("content"))
        if kind not in TEXT_TYPES and kind != "CodeGenerationEvent" and not kind.startswith(STRUCTURED):
            run.add_unknown(kind)
    if kind == "CodeGenerationEvent":
        raw.calls = [ToolRequest(None, CODE_TOOL, {"code_blocks": listing(message.get("code_blocks"), "code_blocks")})]
    if kind == "ToolCallSummaryMessage":
        _add_summarized_calls(run, raw, message)
    if raw.role == "assistant":
        raw.reasoning = run.thoughts.pop(raw.agent, None)
    run.remember(raw.calls)
    run.add_messages([raw])
    is_answer = kind in ANSWERS_OF_MODELS and raw.role == "assistant"
    run.add_usage(message.get("models_usage"), "models_usage", is_expected=is_answer)


def _read_calls(value: Any, path: str) -> list[ToolRequest]:
    return [ToolRequest(**call) for call in CALL.read_each(value, path)]


def _read_results(value: Any, path: str) -> list[ToolResult]:
    return [ToolResult(**result) for result in RESULT.read_each(value, path)]


CALL = FieldTable(id=filled_text, name=required_text, arguments=check_arguments)
RESULT = FieldTable(
    id=(filled_text, "call_id"),
    name=filled_text,
    content=text,
    is_error=lambda value, path: bool(flag(value, path)),
)


def _add_results(run: SavedRun, raw: RawMessage, results: list[ToolResult]) -> None:
    if results:
        run.add_messages([RawMessage("tool", answers=results, agent=raw.agent, timestamp=raw.timestamp)])


def _add_summarized_calls(run: SavedRun, raw: RawMessage, message: dict[str, Any]) -> None:
    """Adds calls that only the summary of their results has."""
    calls = run.take_new(_read_calls(message.get("tool_calls"), "tool_calls"), run.unsummarized)
    if not calls:
        return
    run.add_messages([RawMessage("assistant", agent=raw.agent, timestamp=raw.timestamp, calls=calls)])
    ids = {call.id for call in calls}
    _add_results(run, raw, [one for one in _read_results(message.get("results"), "results") if one.id in ids])


def _add_code_result(run: SavedRun, raw: RawMessage, result: dict[str, Any]) -> None:
    """Adds the result of code; code of another agent's message has no call of its own."""
    exit_code = whole_number(result.get("exit_code"), "result.exit_code")
    output = text(result.get("output"), "result.output")
    answer = ToolResult(None, CODE_TOOL, output, exit_code=exit_code)
    if not any(call["name"] == CODE_TOOL and call["status"] == "missing" for call in run.conversation.calls):
        request = RawMessage("assistant", agent=raw.agent, timestamp=raw.timestamp)
        request.calls = [ToolRequest(None, CODE_TOOL, None)]
        run.add_messages([request])
    run.add_messages([RawMessage("tool", answers=[answer], agent=raw.agent, timestamp=raw.timestamp)])


def _read_content(value: Any) -> tuple[str | None, list[dict[str, Any]] | None]:
    """Text, the texts of a list with images, or an object as JSON."""
    if type(value) is dict:
        return encode_json(value), None
    if type(value) is not list:
        return text(value, "content"), None
    parts = [{"type": "text", "text": part} if type(part) is str else {"type": "image"} for part in value]
    words = [part["text"] for part in parts if "text" in part]
    return "\n".join(words) or None, parts if len(words) < len(parts) else None
