"""Small builders for tests: a trace in one line, everything else at its default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.trace.trace import CallRef, Message, ToolCall, Trace, TraceLocation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.trace.trace import CallStatus, Role


def make_message(
    index: int = 0,
    role: Role = "user",
    content: str | None = "Hello",
    *,
    turn: int = 1,
    tool_calls: Sequence[CallRef] = (),
    tool_name: str | None = None,
    tool_call_id: str | None = None,
) -> Message:
    """One message; fields that are not named are None."""
    return {
        "index": index,
        "turn": turn,
        "role": role,
        "content": content,
        "tool_calls": list(tool_calls),
        "tool_name": tool_name,
        "tool_call_id": tool_call_id,
        "timestamp": None,
        "name": None,
        "agent": None,
        "actor": "root",
        "model": None,
        "reasoning": None,
        "finish_reason": None,
        "parts": None,
    }


def make_call(
    name: str = "lookup",
    arguments: Any = None,
    *,
    index: int = 0,
    turn: int = 1,
    step: int | None = None,
    result: Any = "done",
    status: CallStatus = "ok",
    exit_code: int | None = None,
    requestor: str = "assistant",
) -> ToolCall:
    """One tool call that was answered; `step` is a new step unless given."""
    missing = status == "missing"
    return {
        "index": index,
        "turn": turn,
        "step": index + 1 if step is None else step,
        "id": f"call-{index}",
        "name": name,
        "arguments": {} if arguments is None else arguments,
        "arguments_raw": None,
        "arguments_error": None,
        "result": None if missing else result,
        "result_text": None if missing else str(result),
        "status": status,
        "error": {"type": None, "message": str(result)} if status == "error" else None,
        "exit_code": exit_code,
        "duration_ms": None,
        "started_at": None,
        "requestor": "user" if requestor == "user" else "assistant",
        "agent": None,
        "actor": "root",
        "started_by": None,
    }


def make_trace(
    calls: Sequence[ToolCall | str | tuple[str, Any]] = (),
    response: str | None = "Done.",
    *,
    user: str = "Hello",
    scenario_id: str | None = "s1",
    trial: int | None = None,
    trace_id: str = "t1",
    cost_usd: float | None = None,
    latency_seconds: float | None = None,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    scores: Mapping[str, float | None] | None = None,
    turns: Sequence[tuple[str, str]] = (),
    path: str = "traces/t1.json",
    **fields: Any,
) -> Trace:
    """A conversation: the `turns` (user, assistant) that came before, then `user`, the `calls`, the `response`.

    A call is a name, a (name, arguments) pair or a whole ToolCall; each is a separate step unless it sets `step`.
    Any other field of Trace may be set by name.
    """
    messages: list[Message] = []
    for number, (asked, answered) in enumerate(turns, 1):
        messages.append(make_message(len(messages), "user", asked, turn=number))
        messages.append(make_message(len(messages), "assistant", answered, turn=number))
    turn = len(turns) + 1
    messages.append(make_message(len(messages), "user", user, turn=turn))
    joined = [_call(given, index, turn) for index, given in enumerate(calls)]
    for call in joined:
        messages.extend(_exchange(call, len(messages)))
    if response is not None:
        messages.append(make_message(len(messages), "assistant", response, turn=turn))
    trace = Trace(trace_id, messages, joined, _response(messages), scenario_id=scenario_id, trial=trial)
    trace.source = TraceLocation(path=path, format="native", sha256="0" * 64)
    _figures(trace, cost_usd, latency_seconds, input_tokens, output_tokens)
    trace.evaluations = [
        {"name": name, "score_value": value, "score_label": None, "explanation": None, "source": None}
        for name, value in (scores or {}).items()
    ]
    for name, value in fields.items():
        setattr(trace, name, value)
    return trace


def _call(given: ToolCall | str | tuple[str, Any], index: int, turn: int) -> ToolCall:
    if isinstance(given, dict):
        return given
    name, arguments = (given, None) if isinstance(given, str) else given
    return make_call(name, arguments, index=index, turn=turn)


def _exchange(call: ToolCall, index: int) -> list[Message]:
    ref: CallRef = {"id": call["id"], "name": call["name"], "arguments": call["arguments"]}
    asked = make_message(index, "assistant", None, turn=call["turn"], tool_calls=[ref])
    if call["status"] == "missing":
        return [asked]
    answer = make_message(index + 1, "tool", call["result_text"], turn=call["turn"])
    answer["tool_name"], answer["tool_call_id"] = call["name"], call["id"]
    return [asked, answer]


def _response(messages: list[Message]) -> Any:
    for message in reversed(messages):
        if message["role"] == "assistant" and message["content"]:
            return {"content": message["content"], "finish_reason": None, "message_index": message["index"]}
    return {"content": None, "finish_reason": None, "message_index": None}


def _figures(
    trace: Trace, cost_usd: float | None, seconds: float | None, tokens_in: int | None, tokens_out: int | None
) -> None:
    if cost_usd is not None:
        trace.cost = {"usd": cost_usd, "source": "recorded"}
    if seconds is not None:
        trace.latency = {"total_ms": seconds * 1000, "source": "recorded"}
    if tokens_in is not None or tokens_out is not None:
        trace.usage["input_tokens"], trace.usage["output_tokens"] = tokens_in, tokens_out
        if tokens_in is not None and tokens_out is not None:
            trace.usage["total_tokens"] = tokens_in + tokens_out
        trace.usage["source"] = "recorded_total"
