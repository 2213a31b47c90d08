"""Events of `codex exec --json`: items that start, change and complete, and turns with token counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.codex.tokens import total_usage
from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import mapping, required_text, text, whole
from evalgate.models.trace.trace import LlmCall, Usage, unknown_usage
from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable

OPEN = "in_progress"
FAILED = frozenset({"failed", "declined", "errored"})
TOOLS = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "web_search": ("query", "action"),
    "collab_tool_call": ("tool", "prompt", "receiver_thread_ids"),
}
GROWING = frozenset({"action", "receiver_thread_ids"})
"""Arguments that may differ between the start and the completion of an item."""
ABOUT = frozenset({"id", "type", "item_type", "status", "result", "error", "aggregated_output", "exit_code"})


class Shown(NamedTuple):
    """The position of a call that an earlier event of the same item added."""

    calls: list[ToolRequest]
    place: int

    def is_another(self, name: str, given: Any) -> bool:
        """True if the item can't be a later state of this call."""
        told = self.calls[self.place]
        return told.name != name or any(told.arguments[key] != given[key] for key in self._both(given))

    def complete(self, given: Any) -> None:
        """Adds arguments that were not known when the item started."""
        told = self.calls[self.place]
        if isinstance(given, dict) and isinstance(told.arguments, dict | None):
            known = {key: value for key, value in given.items() if value}
            self.calls[self.place] = told._replace(arguments={**given, **(told.arguments or {}), **known})

    def _both(self, given: Any) -> Iterable[str]:
        told = self.calls[self.place].arguments
        if not (isinstance(told, dict) and isinstance(given, dict)):
            return ()
        return [key for key in told.keys() - GROWING if told[key] and given.get(key)]


@dataclass(slots=True)
class Execution:
    """The run that the events describe, collected in order."""

    said: list[RawMessage] = field(default_factory=list)
    id: str | None = None
    version: str | None = None
    provider: str | None = "openai"
    model: str | None = None
    usage: Usage = field(default_factory=unknown_usage)
    llm_calls: list[LlmCall] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    error_type: str | None = None
    is_over: bool = False
    asked: dict[str, Shown] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)

    @property
    def open_end(self) -> str | None:
        """Why the run is incomplete; in a complete run every turn has completed or failed."""
        return None if self.is_over else "no turn is completed: the run was stopped, or its recording was cut"

    def add(self, event: dict[str, Any]) -> None:
        """Adds one event; raises FieldError."""
        kind = text(event.get("type"), "type") or ""
        if kind == "thread.started":
            self.id = text(event.get("thread_id"), "thread_id")
        elif kind == "turn.started":
            self.is_over, self.error = False, None
        elif kind == "turn.completed":
            self.is_over = True
            self.usage = total_usage(event.get("usage"), "usage") or self.usage
        elif kind in ("turn.failed", "error"):
            self._fail(kind, event)
        elif kind.startswith("item."):
            self._item(mapping(event.get("item"), "item"), is_done=kind == "item.completed")

    def _fail(self, kind: str, event: dict[str, Any]) -> None:
        """A failed turn is over; an error within a turn may still be retried."""
        told = event if kind == "error" else mapping(event.get("error"), "error")
        if kind == "turn.failed":
            self.is_over = True
            self.error = text(told.get("message"), "error.message") or "the turn failed"
            self.error_type = "turn_failed"

    def _item(self, item: dict[str, Any], *, is_done: bool) -> None:
        kind = text(item.get("type", item.get("item_type")), "item.type") or ""
        if kind in ("agent_message", "assistant_message", "reasoning"):
            if is_done:
                self._speak(kind, text(item.get("text"), "item.text"))
        elif kind in TOOLS or kind == "mcp_tool_call" or "status" in item:
            self._tool(kind, item, is_done=is_done)

    def _speak(self, kind: str, words: str | None) -> None:
        last = self.said[-1] if self.said else None
        if kind == "reasoning":
            self.said.append(RawMessage("assistant", reasoning=words))
        elif last is not None and last.role == "assistant" and last.content is None and not last.calls:
            last.content = words
        else:
            self.said.append(RawMessage("assistant", words))

    def _tool(self, kind: str, item: dict[str, Any], *, is_done: bool) -> None:
        """Start and completion belong to one call; calls that overlap are requested in one message."""
        known = required_text(item.get("id"), "item.id")
        name = required_text(item.get("tool"), "item.tool") if kind == "mcp_tool_call" else kind
        given = _arguments(kind, item)
        shown = self.asked.get(known)
        if shown is None or shown.is_another(name, given):
            if not self.said or self.said[-1].role != "assistant":
                self.said.append(RawMessage("assistant"))
            calls = self.said[-1].calls
            self.asked[known] = Shown(calls, len(calls))
            self.answered.discard(known)
            calls.append(ToolRequest(known, name, given))
        else:
            shown.complete(given)
        status = text(item.get("status"), "item.status")
        if is_done and status != OPEN and known not in self.answered:
            self.answered.add(known)
            if not self.said or self.said[-1].role != "tool":
                self.said.append(RawMessage("tool"))
            self.said[-1].answers.append(_answer(item, known, name, status))


def _arguments(kind: str, item: dict[str, Any]) -> Any:
    if kind == "mcp_tool_call":
        return item.get("arguments")
    told = TOOLS.get(kind) or [key for key in item if key not in ABOUT]
    return {key: item[key] for key in told if item.get(key) is not None}


def _answer(item: dict[str, Any], known: str, name: str, status: str | None) -> ToolResult:
    code = whole(item.get("exit_code"), "item.exit_code")
    error = mapping(item.get("error"), "item.error")
    has_failed = status in FAILED or bool(error) or bool(code)
    content: Any = item.get("aggregated_output")
    if name != "command_execution":
        result = mapping(item.get("result"), "item.result")
        content = text(error.get("message"), "item.error.message") if error else _result(result)
    return ToolResult(known, name, content, has_failed, code)


def _result(result: dict[str, Any]) -> Any:
    """The result of an MCP server: its structured content if present, else its text."""
    from evalgate.adapters.formats.messages.blocks import result as read

    if result.get("structured_content") is not None:
        return result["structured_content"]
    return read(result.get("content"))[0]
