"""Builds the trajectory of a trace, or of the document in which a baseline stores the trace."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import redact_value
from evalgate.measures.values.compact import Compactor
from evalgate.measures.values.outputs import text_of
from evalgate.models.comparison.trajectory import Trajectory, TrajectoryCall, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evalgate.models.trace.trace import Trace

MOST_CALLS = 1_000
MOST_MESSAGES = 10_000
MOST_TURNS = 200
ROOM = 500_000
"""Characters kept of one trace."""
LOOKED_AT = 20_000
"""Characters of a text that are searched for secrets; fewer are kept, so that no secret is cut in two."""
ANSWER, WORDS, RESPONSE, NAME = 300, 1_000, 16_000, 200


def course_of(trace: Trace) -> Trajectory:
    """The trajectory of a trace of this run. Secrets are redacted, as they are in a baseline's traces."""
    document = {
        "messages": trace.messages,
        "tool_calls": trace.tool_calls,
        "response": trace.response,
        "status": trace.status,
        "error": trace.error,
    }
    return _course(document, _Cutter(redact_value))


def course_of_document(document: Mapping[str, Any]) -> Trajectory:
    """The trajectory of a trace stored in a baseline; parts of an unexpected shape are skipped."""
    return _course(document, _Cutter(lambda value: value))


class _Cutter:
    """Shortens values, redacts them, then shortens them again: that bounds the search for secrets."""

    def __init__(self, clean: Callable[[Any], Any]) -> None:
        self._first, self._last = Compactor(ROOM, LOOKED_AT), Compactor(ROOM)
        self._clean = clean

    def text(self, text: str, most: int) -> str:
        return self._last.text(self._clean(self._first.text(text)), most)

    def value(self, value: Any) -> Any:
        return self._last.value(self._clean(self._first.value(value)))


def _course(document: Mapping[str, Any], cutter: _Cutter) -> Trajectory:
    response, error = _mapping(document.get("response")), _mapping(document.get("error"))
    content = response.get("content")
    answer = cutter.text(content, RESPONSE) if isinstance(content, str) else None
    asked = [call for call in _records(document, "tool_calls") if call.get("requestor") != "user"]
    return Trajectory(
        [_call(call, cutter) for call in asked[:MOST_CALLS]],
        _turns(document, response.get("message_index"), cutter),
        answer,
        _text(document.get("status")) or "ok",
        cutter.text(_text(error.get("message")) or _text(error.get("type")), ANSWER) if error else None,
        max(0, len(asked) - MOST_CALLS),
    )


def _call(call: Mapping[str, Any], cutter: _Cutter) -> TrajectoryCall:
    arguments = call.get("arguments")
    if arguments is None:
        arguments = call.get("arguments_raw")
    return TrajectoryCall(
        _whole(call.get("turn")),
        cutter.text(_text(call.get("name")), NAME),
        cutter.value(arguments),
        _text(call.get("status")) or "ok",
        cutter.text(_answer(call), ANSWER),
    )


def _answer(call: Mapping[str, Any]) -> str:
    """The result of a call as text; a recorder that wrote it as a value has it only in `result`."""
    text = call.get("result_text")
    if isinstance(text, str):
        return text
    result = call.get("result")
    return "" if result is None else text_of(result)


def _turns(document: Mapping[str, Any], final: Any, cutter: _Cutter) -> dict[int, Turn]:
    """The messages of user and agent by turn, without the final answer."""
    turns: dict[int, Turn] = {}
    for message in islice(_records(document, "messages"), MOST_MESSAGES):
        content, role = message.get("content"), message.get("role")
        is_final = final is not None and message.get("index") == final
        if is_final or not isinstance(content, str) or role not in ("user", "assistant"):
            continue
        number = _whole(message.get("turn"))
        if number not in turns and len(turns) >= MOST_TURNS:
            break
        turn = turns.setdefault(number, Turn())
        if role == "user":
            turn.user = _added(turn.user, content, cutter)
        else:
            turn.agent = _added(turn.agent, content, cutter)
    return turns


def _added(said: str, content: str, cutter: _Cutter) -> str:
    if len(said) >= WORDS or not content.strip():
        return said
    told = cutter.text(content.strip(), WORDS)
    return f"{said}\n{told}" if said else told


def _records(document: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    found = document.get(name)
    if isinstance(found, list):
        yield from (record for record in found if isinstance(record, dict))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**53 else 0
