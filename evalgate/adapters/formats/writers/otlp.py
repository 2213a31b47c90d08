"""Writes a trace as OTLP/JSON with the attributes of OpenTelemetry's GenAI conventions.

One span for the agent, one for each response of its model, one for each tool call, at their recorded times or
else one after the other (from 1970 on if no time is known). The conventions have no attributes for scores,
scenario, call statuses and costs, so one attribute of the agent's span holds the whole native trace. EvalGate
reads the trace back from it; other tools see ordinary spans.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.adapters.formats.writers.native import to_native
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalgate.models.trace.trace import ErrorInfo, LlmCall, Message, ToolCall, Trace, Usage

WHOLE_TRACE = "evalgate.trace"
SCENARIO, TRIAL = "evalgate.scenario.id", "evalgate.trial"
NANOSECONDS = 1_000_000
INTERNAL, CLIENT = 1, 3
STATUS_ERROR = 2
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_ERROR: ErrorInfo = {"type": None, "message": None}
TOKENS = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cache_read_input_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_input_tokens": "gen_ai.usage.cache_write.input_tokens",
    "reasoning_output_tokens": "gen_ai.usage.reasoning.output_tokens",
}


def to_otlp(trace: Trace) -> dict[str, Any]:
    """One export request with the spans of one trace."""
    spans = _SpanBuilder(trace)
    resource = {"attributes": _encode_attributes({"service.name": _find_agent_name(trace) or "agent"})}
    scope = {"name": "evalgate", "version": __version__}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans.build_spans()}]}]}


class _SpanBuilder:
    """Builds the spans of one trace; their ids are derived from its location and trace id."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        source = trace.source
        identity = [trace.trace_id, source.path, source.line, source.record, source.sha256]
        self._trace_id = hashlib.sha256(orjson.dumps(identity)).hexdigest()[:32]
        self._count = 0
        self._clock = 0

    def build_spans(self) -> list[dict[str, Any]]:
        """The agent's span first, then model responses and tool calls in order."""
        agent = self._build_agent_span()
        parent = agent["spanId"]
        spans = [agent]
        steps = _number_steps(self._trace.messages)
        metered = {call["step"]: call for call in self._trace.llm_calls}
        calls: dict[int, list[ToolCall]] = {}
        for call in self._trace.agent_calls:
            calls.setdefault(call["step"], []).append(call)
        for step, message in steps.items():
            is_last = step == len(steps)
            spans.append(self._build_chat_span(parent, message, metered.get(step), is_last=is_last))
            spans += [self._build_tool_span(parent, call) for call in calls.pop(step, [])]
        spans += [self._build_tool_span(parent, call) for left in calls.values() for call in left]
        agent["endTimeUnixNano"] = str(max(self._clock, int(agent["endTimeUnixNano"])))
        return spans

    def _build_agent_span(self) -> dict[str, Any]:
        trace = self._trace
        name = _find_agent_name(trace)
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": name,
            "gen_ai.provider.name": trace.provider,
            "gen_ai.response.model": trace.model,
            "gen_ai.conversation.id": trace.conversation_id,
            **_encode_tokens(trace.usage),
            SCENARIO: trace.scenario_id,
            TRIAL: trace.trial,
            WHOLE_TRACE: _encode_json(to_native(trace)),
        }
        start, end = _to_nanoseconds(trace.started_at), _to_nanoseconds(trace.ended_at)
        if start and not end and trace.latency["total_ms"] is not None:
            end = start + int(trace.latency["total_ms"] * NANOSECONDS)
        span = self._build_span(f"invoke_agent {name}" if name else "invoke_agent", None, INTERNAL, attributes)
        self._set_times(span, start, end)
        if trace.status == "error":
            _set_error(span, (trace.error or NO_ERROR)["message"])
        return span

    def _build_chat_span(self, parent: str, message: Message, call: LlmCall | None, *, is_last: bool) -> dict[str, Any]:
        """The span of a model response; only the last has the messages before it, to avoid repeating them."""
        trace = self._trace
        model = message["model"] or (call and call["model"]) or trace.model
        reason = message["finish_reason"] or (call and call["finish_reason"])
        context = trace.messages[: message["index"]] if is_last else []
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": (call and call["provider"]) or trace.provider,
            "gen_ai.response.model": model,
            "gen_ai.response.id": call and call["response_id"],
            "gen_ai.response.finish_reasons": [reason] if reason else None,
            "gen_ai.input.messages": _encode_messages(context) if is_last else None,
            "gen_ai.output.messages": _encode_messages([message]),
            **(_encode_tokens(call["usage"]) if call and call["usage"] else {}),
        }
        span = self._build_span(f"chat {model}" if model else "chat", parent, CLIENT, attributes)
        self._set_times(span, _to_nanoseconds(message["timestamp"]), None)
        return span

    def _build_tool_span(self, parent: str, call: ToolCall) -> dict[str, Any]:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call["name"],
            "gen_ai.tool.call.id": call["id"],
            "gen_ai.tool.call.arguments": None if call["arguments"] is None else _encode_json(call["arguments"]),
            "gen_ai.tool.call.result": call["result_text"],
        }
        error = call["error"] or NO_ERROR
        if call["status"] == "error":
            attributes["error.type"] = error["type"] or "_OTHER"
        span = self._build_span(f"execute_tool {call['name']}", parent, INTERNAL, attributes)
        start, spent = _to_nanoseconds(call["started_at"]), call["duration_ms"]
        self._set_times(span, start, start + int(spent * NANOSECONDS) if start and spent is not None else None)
        if call["status"] == "error":
            _set_error(span, error["message"])
        return span

    def _set_times(self, span: dict[str, Any], start: int | None, end: int | None) -> None:
        """Sets start and end; an unknown start becomes the next nanosecond, only to keep the order."""
        start = start or self._clock + 1
        span["startTimeUnixNano"] = str(start)
        span["endTimeUnixNano"] = str(end or start)
        self._clock = max(self._clock, start if span["name"].startswith("invoke_agent") else end or start)

    def _build_span(self, name: str, parent: str | None, kind: int, attributes: Mapping[str, Any]) -> dict[str, Any]:
        self._count += 1
        span_id = hashlib.sha256(f"{self._trace_id} {self._count}".encode()).hexdigest()[:16]
        span: dict[str, Any] = {"traceId": self._trace_id, "spanId": span_id, "name": name, "kind": kind}
        if parent is not None:
            span["parentSpanId"] = parent
        return {**span, "attributes": _encode_attributes(attributes)}


def _find_agent_name(trace: Trace) -> str | None:
    name = (trace.agent or {}).get("name") or trace.name
    return name if isinstance(name, str) else None


def _number_steps(messages: Iterable[Message]) -> dict[int, Message]:
    """The assistant's messages by step, the number of the model response."""
    return dict(enumerate((message for message in messages if message["role"] == "assistant"), 1))


def _encode_messages(messages: Iterable[Message]) -> str:
    return _encode_json([_encode_message(message) for message in messages])


def _encode_message(message: Message) -> dict[str, Any]:
    """A message as a role with typed parts."""
    content = message["content"]
    if message["role"] == "tool":
        answer = {"type": "tool_call_response", "id": message["tool_call_id"], "response": content}
        return {"role": "tool", "parts": [answer]}
    parts: list[dict[str, Any]] = []
    if message["reasoning"]:
        parts.append({"type": "reasoning", "content": message["reasoning"]})
    if content:
        parts.append({"type": "text", "content": content})
    parts += [
        {"type": "tool_call", "id": call["id"], "name": call["name"], "arguments": call["arguments"]}
        for call in message["tool_calls"]
    ]
    fields: dict[str, Any] = {"role": message["role"], "parts": parts}
    if message["finish_reason"]:
        fields["finish_reason"] = message["finish_reason"]
    return fields


def _encode_tokens(usage: Usage) -> dict[str, int | None]:
    values: Mapping[str, Any] = usage
    return {name: values[field] for field, name in TOKENS.items()}


def _encode_attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attributes in OTLP's encoding; unknown values are left out."""
    return [{"key": key, "value": _encode_value(value)} for key, value in values.items() if value is not None]


def _encode_value(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_encode_value(item) for item in value]}}
    return {"stringValue": value}


def _encode_json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _to_nanoseconds(moment: str | None) -> int | None:
    """Nanoseconds since 1970; None if unknown, invalid or not after 1970."""
    if moment is None:
        return None
    try:
        since = datetime.fromisoformat(moment) - EPOCH
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0, since // timedelta(microseconds=1) * 1000) or None


def _set_error(span: dict[str, Any], message: str | None) -> None:
    span["status"] = {"code": STATUS_ERROR, **({} if message is None else {"message": message})}
