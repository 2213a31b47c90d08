"""Builds a conversation from the events of an ADK session, with keys in snake or camel case."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.conversation import Conversation, failed
from evalgate.adapters.formats.core.build.raw_message import RawMessage, add, written
from evalgate.adapters.formats.core.fields import (
    FieldError,
    flag,
    listing,
    mapping,
    milliseconds_between,
    number,
    required_text,
    text,
    time,
)
from evalgate.adapters.formats.core.usage.provider_response import read_provider_response
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason
from evalgate.adapters.formats.messages import gemini

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.build.raw_message import ToolResult
    from evalgate.models.trace.trace import ErrorInfo, LlmCall, ToolCall, Warning_

USER = "user"
FASTEST_ANSWER_MS = 20.0
SPELLINGS = {
    "appName": "app_name",
    "invocationId": "invocation_id",
    "errorCode": "error_code",
    "errorMessage": "error_message",
    "usageMetadata": "usage_metadata",
    "modelVersion": "model_version",
    "finishReason": "finish_reason",
    "longRunningToolIds": "long_running_tool_ids",
    "eventLogs": "event_logs",
}


class AdkRun:
    """Collects a session's events for a trace. `unmetered` counts answers of agents without tokens.

    `is_stamped_early`: answers have the time of the request to the model, not that of its response.
    """

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.llm_calls: list[LlmCall] = []
        self.warnings: list[Warning_] = []
        self.error: ErrorInfo | None = None
        self.agent: str | None = None
        self.model: str | None = None
        self.first: str | None = None
        self.last: str | None = None
        self.unmetered = 0
        self.is_stamped_early = False
        self._calls: dict[str, ToolCall] = {}
        self._long_running: set[str] = set()
        self._times: dict[str, tuple[str, str]] = {}

    def add(self, recorded: dict[str, Any]) -> None:
        """Adds one event; partial events of a streamed answer are ignored."""
        event = spelled(recorded)
        options = event.get("options")
        early = options.get("partial") if isinstance(options, dict) else None
        if flag(event.get("partial", early), "partial"):
            return
        author = required_text(event.get("author"), "author")
        at = moment(event.get("timestamp"), "timestamp")
        ids = listing(event.get("long_running_tool_ids"), "long_running_tool_ids")
        self._long_running.update(known for known in ids if isinstance(known, str))
        said = _said(event, author, at)
        has_spoken = author != USER and any(one.content or one.calls for one in said)
        self._clock(text(event.get("invocation_id"), "invocation_id") or "", at, has_spoken=has_spoken)
        for one in said:
            self._say(one)
        if author != USER:
            self._meter(event, author, has_spoken=has_spoken)

    def is_waiting(self) -> bool:
        """True if the session ends before a long-running tool has answered."""
        calls = self.conversation.calls
        return bool(calls) and calls[-1]["status"] == "missing" and calls[-1]["id"] in self._long_running

    def working_ms(self) -> float:
        """Milliseconds from each message of the user to the last event of its invocation, summed."""
        return round(sum(milliseconds_between(*times) or 0.0 for times in self._times.values()), 6)

    def _clock(self, invocation: str, at: str | None, *, has_spoken: bool) -> None:
        if at is None:
            return
        self.first, self.last = self.first or at, at
        known = self._times.get(invocation)
        if known is not None and has_spoken:
            waited = milliseconds_between(known[1], at)
            self.is_stamped_early |= waited is not None and waited < FASTEST_ANSWER_MS
        started, _ = known or (at, at)
        self._times[invocation] = (started, at)

    def _say(self, said: RawMessage) -> None:
        first = []
        for answered in said.answers:
            if self._was_answered(answered):
                self._renew(answered, said)
            else:
                first.append(answered)
        said.answers = first
        if not (said.answers or said.content or said.calls or said.parts or said.reasoning):
            return
        before = len(self.conversation.calls)
        add(self.conversation, said)
        for call in self.conversation.calls[before:]:
            if call["id"] is not None:
                self._calls[call["id"]] = call

    def _was_answered(self, answered: ToolResult) -> bool:
        call = self._calls.get(answered.id) if answered.id is not None else None
        return call is not None and call["status"] != "missing"

    def _renew(self, answered: ToolResult, said: RawMessage) -> None:
        """Replaces the result of a long-running tool, which answers several times; the last answer counts."""
        call = self._calls[answered.id or ""]
        content = answered.content
        shown = content if content is None or isinstance(content, str) else written(content)
        message = self.conversation.say("tool", shown)
        message["tool_call_id"], message["tool_name"] = answered.id, call["name"]
        message["timestamp"], message["agent"] = said.timestamp, said.agent
        call["status"], call["error"] = "ok", None
        call["result"], call["result_text"] = content, shown
        if answered.is_error:
            failed(call)

    def _meter(self, event: dict[str, Any], author: str, *, has_spoken: bool) -> None:
        self._judge(event, has_spoken=has_spoken)
        answer = read_provider_response({"usage_metadata": event.get("usage_metadata")})
        model = text(event.get("model_version"), "model_version") or None
        self.model = self.model or model
        if has_spoken:
            self.agent = self.agent or author
        if answer.usage is None or answer.usage["total_tokens"] is None:
            self.unmetered += has_spoken
            return
        call: LlmCall = {
            "index": len(self.llm_calls),
            "turn": self.conversation.messages[-1]["turn"] if self.conversation.messages else 0,
            "step": self.conversation.step,
            "provider": None,
            "model": model,
            "response_id": None,
            "usage": answer.usage,
            "cost_usd": None,
            "duration_ms": None,
            "finish_reason": finish_reason(text(event.get("finish_reason"), "finish_reason")),
        }
        self.llm_calls.append(call)

    def _judge(self, event: dict[str, Any], *, has_spoken: bool) -> None:
        """Records an error; it ends the run only if no agent answers after it."""
        code = text(event.get("error_code"), "error_code") or None
        if code is None:
            if has_spoken and self.error is not None:
                said = "a model's answer failed before the agent went on"
                self.warnings.append({"code": "model_error", "message": said, "where": "events"})
                self.error = None
            return
        self.error = {"type": code, "message": text(event.get("error_message"), "error_message")}


def spelled(recorded: dict[str, Any]) -> dict[str, Any]:
    """The fields with keys in snake case, without those that are None."""
    return {SPELLINGS.get(key, key): value for key, value in recorded.items() if value is not None}


def moment(value: Any, path: str) -> str | None:
    """A time as RFC 3339, from that or from seconds since 1970."""
    if value is None or isinstance(value, str):
        return time(value, path)
    seconds = number(value, path)
    try:
        found = datetime.fromtimestamp(seconds or 0.0, UTC)
    except (ValueError, OverflowError, OSError):
        raise FieldError(path, "is no time") from None
    return found.isoformat().replace("+00:00", "Z")


def _said(event: dict[str, Any], author: str, at: str | None) -> list[RawMessage]:
    content = mapping(event.get("content"), "content")
    if not content.get("parts"):
        return []
    try:
        found = gemini.read_content({**content, "role": USER if author == USER else "model"})
    except FieldError as error:
        raise error.under("content") from None
    for said in found:
        said.timestamp = at
        said.answers = [plain_answer(answered) for answered in said.answers]
        if author != USER:
            said.agent = author
        if said.role == "assistant":
            said.model = text(event.get("model_version"), "model_version")
            said.finish_reason = text(event.get("finish_reason"), "finish_reason")
    return found


def plain_answer(answered: ToolResult) -> ToolResult:
    """The tool's own return value: ADK wraps values that are not objects as `result`."""
    content = answered.content
    if not isinstance(content, dict):
        return answered
    has_failed = answered.is_error or content.get("status") == "error" or content.get("isError") is True
    if content.keys() == {"result"}:
        content = content["result"]
    return answered._replace(content=content, is_error=has_failed)
