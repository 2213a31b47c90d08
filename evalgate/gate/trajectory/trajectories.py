"""Builds the trajectory of a trace."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import redact_value
from evalgate.measures.values.compact import Compactor
from evalgate.measures.values.outputs import to_text
from evalgate.models.comparison.trajectory import Trajectory, TrajectoryCall, TrajectoryTurn

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.trace.trace import ToolCall, Trace

MOST_CALLS = 1_000
MOST_MESSAGES = 10_000
MOST_TURNS = 200
MAX_CHARACTERS = 500_000
"""Characters kept of one trace."""
MAX_SEARCHED = 20_000
"""Characters of a text that are searched for secrets; fewer are kept, so that no secret is cut in two."""
MAX_ANSWER, MAX_WORDS, MAX_RESPONSE, MAX_NAME = 300, 1_000, 16_000, 200


def trajectory_from_trace(trace: Trace) -> Trajectory:
    """The trajectory of a trace; secrets are redacted."""
    cutter = _Cutter(redact_value)
    response, error, calls = trace.response, trace.error, trace.agent_calls
    return Trajectory(
        [_build_call(call, cutter) for call in calls[:MOST_CALLS]],
        _collect_turns(trace, cutter),
        None if response["content"] is None else cutter.cut_text(response["content"], MAX_RESPONSE),
        trace.status,
        cutter.cut_text(error["message"] or error["type"] or "", MAX_ANSWER) if error else None,
        max(0, len(calls) - MOST_CALLS),
    )


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


def _build_call(call: ToolCall, cutter: _Cutter) -> TrajectoryCall:
    arguments = call["arguments"] if call["arguments"] is not None else call["arguments_raw"]
    return TrajectoryCall(
        call["turn"],
        cutter.cut_text(call["name"], MAX_NAME),
        cutter.cut_value(arguments),
        call["status"],
        cutter.cut_text(_result_text(call), MAX_ANSWER),
    )


def _result_text(call: ToolCall) -> str:
    """The result of a call as text; a recorder that wrote it as a value has it only in `result`."""
    if call["result_text"] is not None:
        return call["result_text"]
    return "" if call["result"] is None else to_text(call["result"])


def _collect_turns(trace: Trace, cutter: _Cutter) -> dict[int, TrajectoryTurn]:
    """The messages of user and agent by turn, without the final answer."""
    turns: dict[int, TrajectoryTurn] = {}
    for message in islice(trace.messages, MOST_MESSAGES):
        content, role, number = message["content"], message["role"], message["turn"]
        is_final = message["index"] == trace.response["message_index"]
        if is_final or content is None or role not in ("user", "assistant"):
            continue
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
