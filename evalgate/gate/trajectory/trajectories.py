"""Builds the trajectory of a trace, or of the document in which a baseline stores the trace."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import redact_value
from evalgate.measures.values.compact import Compactor
from evalgate.measures.values.outputs import to_text
from evalgate.models.comparison.trajectory import Trajectory, TrajectoryCall, TrajectoryTurn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evalgate.models.trace.trace import Trace

MOST_CALLS = 1_000
MOST_MESSAGES = 10_000
MOST_TURNS = 200
MAX_CHARACTERS = 500_000
"""Characters kept of one trace."""
MAX_SEARCHED = 20_000
"""Characters of a text that are searched for secrets; fewer are kept, so that no secret is cut in two."""
MAX_ANSWER, MAX_WORDS, MAX_RESPONSE, MAX_NAME = 300, 1_000, 16_000, 200


def trajectory_from_trace(trace: Trace) -> Trajectory:
    """The trajectory of a trace of this run. Secrets are redacted, as they are in a baseline's traces."""
    document = {
        "messages": trace.messages,
        "tool_calls": trace.tool_calls,
        "response": trace.response,
        "status": trace.status,
        "error": trace.error,
    }
    return _build_trajectory(document, _Cutter(redact_value))


def trajectory_from_document(document: Mapping[str, Any]) -> Trajectory:
    """The trajectory of a trace stored in a baseline; parts of an unexpected shape are skipped."""
    return _build_trajectory(document, _Cutter(lambda value: value))


class _Cutter:
    """Shortens values, redacts them, then shortens them again: that bounds the search for secrets."""

    def __init__(self, redact: Callable[[Any], Any]) -> None:
        self._before_redaction, self._after_redaction = (
            Compactor(MAX_CHARACTERS, MAX_SEARCHED),
            Compactor(MAX_CHARACTERS),
        )
        self._redact = redact

    def cut_text(self, text: str, limit: int) -> str:
        return self._after_redaction.compact_text(self._redact(self._before_redaction.compact_text(text)), limit)

    def cut_value(self, value: Any) -> Any:
        return self._after_redaction.compact_value(self._redact(self._before_redaction.compact_value(value)))


def _build_trajectory(document: Mapping[str, Any], cutter: _Cutter) -> Trajectory:
    response, error = _mapping(document.get("response")), _mapping(document.get("error"))
    content = response.get("content")
    answer = cutter.cut_text(content, MAX_RESPONSE) if isinstance(content, str) else None
    calls = [call for call in _records(document, "tool_calls") if call.get("requestor") != "user"]
    return Trajectory(
        [_build_call(call, cutter) for call in calls[:MOST_CALLS]],
        _collect_turns(document, response.get("message_index"), cutter),
        answer,
        _text(document.get("status")) or "ok",
        cutter.cut_text(_text(error.get("message")) or _text(error.get("type")), MAX_ANSWER) if error else None,
        max(0, len(calls) - MOST_CALLS),
    )


def _build_call(call: Mapping[str, Any], cutter: _Cutter) -> TrajectoryCall:
    arguments = call.get("arguments")
    if arguments is None:
        arguments = call.get("arguments_raw")
    return TrajectoryCall(
        _int_or_zero(call.get("turn")),
        cutter.cut_text(_text(call.get("name")), MAX_NAME),
        cutter.cut_value(arguments),
        _text(call.get("status")) or "ok",
        cutter.cut_text(_result_text(call), MAX_ANSWER),
    )


def _result_text(call: Mapping[str, Any]) -> str:
    """The result of a call as text; a recorder that wrote it as a value has it only in `result`."""
    text = call.get("result_text")
    if isinstance(text, str):
        return text
    result = call.get("result")
    return "" if result is None else to_text(result)


def _collect_turns(document: Mapping[str, Any], final: Any, cutter: _Cutter) -> dict[int, TrajectoryTurn]:
    """The messages of user and agent by turn, without the final answer."""
    turns: dict[int, TrajectoryTurn] = {}
    for message in islice(_records(document, "messages"), MOST_MESSAGES):
        content, role = message.get("content"), message.get("role")
        is_final = final is not None and message.get("index") == final
        if is_final or not isinstance(content, str) or role not in ("user", "assistant"):
            continue
        number = _int_or_zero(message.get("turn"))
        if number not in turns and len(turns) >= MOST_TURNS:
            break
        turn = turns.setdefault(number, TrajectoryTurn())
        if role == "user":
            turn.user = _append_text(turn.user, content, cutter)
        else:
            turn.agent = _append_text(turn.agent, content, cutter)
    return turns


def _append_text(text: str, content: str, cutter: _Cutter) -> str:
    if len(text) >= MAX_WORDS or not content.strip():
        return text
    addition = cutter.cut_text(content.strip(), MAX_WORDS)
    return f"{text}\n{addition}" if text else addition


def _records(document: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    found = document.get(name)
    if isinstance(found, list):
        yield from (record for record in found if isinstance(record, dict))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _int_or_zero(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**53 else 0
