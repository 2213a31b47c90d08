"""Edits of a trace that keep its calls and its messages consistent; none changes the given trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evalgate.models.trace.final_answer import find_final_answer, list_answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import CallRef, Message, Response, ToolCall, Trace

NO_RESULT = {"status": "missing", "result": None, "result_text": None, "error": None, "exit_code": None}


def remove_call(trace: Trace, at: int) -> Trace:
    """The trace without one call and its result."""
    messages = _replace_request(trace, at, ())
    result = _find_result(trace, trace.tool_calls[at])
    kept = [message for index, message in enumerate(messages) if index != result]
    return _rebuild(trace, [*trace.tool_calls[:at], *trace.tool_calls[at + 1 :]], kept)


def insert_call(trace: Trace, at: int, call: ToolCall) -> Trace:
    """The trace with a call, and its result, directly after the call at this index."""
    before = trace.tool_calls[at]
    call = {**call, "index": at, "turn": before["turn"], "step": before["step"], "id": _number_id(before["id"])}
    call = {**call, "actor": before["actor"], "agent": before["agent"], "started_by": before["started_by"]}
    messages = _replace_request(trace, at, (_request_of(before), _request_of(call)))
    result = _find_result(trace, before)
    if result is not None:
        answer = _answer(messages[result], call)
        messages = [*messages[: result + 1], answer, *messages[result + 1 :]]
    return _rebuild(trace, [*trace.tool_calls[: at + 1], call, *trace.tool_calls[at + 1 :]], messages)


def replace_call(trace: Trace, at: int, changes: dict[str, Any]) -> Trace:
    """The trace with other values in some fields of one call."""
    call: Any = {**trace.tool_calls[at], **changes}
    messages = _replace_request(trace, at, (_request_of(call),))
    result = _find_result(trace, trace.tool_calls[at])
    if result is not None:
        messages[result] = _answer(messages[result], call)
    return _rebuild(trace, [*trace.tool_calls[:at], call, *trace.tool_calls[at + 1 :]], messages)


def swap_calls(trace: Trace, first: int, second: int) -> Trace:
    """The trace with two calls in each other's place."""
    one, other = trace.tool_calls[first], trace.tool_calls[second]
    own = ("index", "turn", "step", "started_at")
    content: list[dict[str, Any]] = [{k: v for k, v in call.items() if k not in own} for call in (one, other)]
    swapped = replace_call(
        replace_call(trace, first, content[1] | {"id": one["id"]}), second, content[0] | {"id": other["id"]}
    )
    moved = {first: second, second: first}
    started: list[ToolCall] = [
        {**call, "started_by": moved.get(call["started_by"], call["started_by"])}  # type: ignore[arg-type]
        for call in swapped.tool_calls
    ]
    return replace_fields(swapped, tool_calls=started)


def cut_after(trace: Trace, calls: int, messages: int) -> Trace:
    """The beginning of the trace; calls whose result was cut off have none, and an answer recorded apart is lost."""
    kept = trace.messages[:messages]
    answered = {message["tool_call_id"] for message in kept if message["role"] == "tool"}
    lost = {message["tool_call_id"] for message in trace.messages[messages:] if message["role"] == "tool"} - answered
    called: list[ToolCall] = [
        {**call, **NO_RESULT} if call["id"] is not None and call["id"] in lost else call  # type: ignore[typeddict-item]
        for call in trace.tool_calls[:calls]
    ]
    changed = replace(_rebuild(trace, called, kept), finish_reason=None)
    changed.response = find_final_answer(changed.messages)
    return changed


def replace_answer(trace: Trace, text: str) -> Trace:
    """The trace with another final answer, in all messages that are its text, and where it is recorded apart."""
    ending = _find_ending(trace)
    if ending is None:
        answers = {each["index"] for each in trace.messages if each["content"] == trace.response["content"]}
    else:
        answers = {each["index"] for each in list_answers(trace.messages, ends_with_call=ending)}
    messages: list[Message] = [
        {**message, "content": text, "parts": None} if message["index"] in answers else message
        for message in trace.messages
    ]
    changed = _rebuild(trace, trace.tool_calls, messages)
    if ending is None:
        changed.response = {**changed.response, "content": text}
    return changed


def replace_fields(trace: Trace, **fields: Any) -> Trace:
    """The trace with other values in some fields of its own, which nothing derived from it shares."""
    return replace(trace, kept_view=None, identity=None, record=None, **fields)


def _rebuild(trace: Trace, calls: Sequence[ToolCall], messages: Sequence[Message]) -> Trace:
    places: dict[int | None, int] = {}
    for place, call in enumerate(calls):
        places.setdefault(call["index"], place)  # a call that was inserted has the index of that before it
    numbered: list[ToolCall] = [
        {**call, "index": index, "started_by": places.get(call["started_by"])} for index, call in enumerate(calls)
    ]
    kept: list[Message] = [
        message if message["index"] == index else {**message, "index": index} for index, message in enumerate(messages)
    ]
    ending = _find_ending(trace)
    response = _shift_response(trace, messages) if ending is None else find_final_answer(kept, ends_with_call=ending)
    return replace_fields(trace, tool_calls=numbered, messages=kept, response=response)


def _find_ending(trace: Trace) -> bool | None:
    """Whether the answer is that of the messages with `ends_with_call`, or without; None if it is recorded apart."""
    content = trace.response["content"]
    for ends_with_call in (False, True):
        if find_final_answer(trace.messages, ends_with_call=ends_with_call)["content"] == content:
            return ends_with_call
    return None


def _shift_response(trace: Trace, messages: Sequence[Message]) -> Response:
    """The answer that is recorded apart, with the place where its message is now."""
    at = trace.response["message_index"]
    if at is None or at >= len(trace.messages):
        return trace.response
    index = trace.messages[at]["index"]
    found = next((place for place, message in enumerate(messages) if message["index"] == index), None)
    return {**trace.response, "message_index": found}


def _replace_request(trace: Trace, at: int, requests: Sequence[CallRef]) -> list[Message]:
    """The messages with other requests in place of that of one call."""
    messages = list(trace.messages)
    place = _find_request(trace, at)
    if place is not None:
        index, number = place
        asked = messages[index]["tool_calls"]
        messages[index] = {**messages[index], "tool_calls": [*asked[:number], *requests, *asked[number + 1 :]]}
    return messages


def _find_request(trace: Trace, at: int) -> tuple[int, int] | None:
    """Message and number of the request of a call: that with its id, else that of the same tool in the same order."""
    call = trace.tool_calls[at]
    places = [
        (index, number, request)
        for index, message in enumerate(trace.messages)
        for number, request in enumerate(message["tool_calls"])
        if request["name"] == call["name"] and (call["id"] is None or request["id"] == call["id"])
    ]
    earlier = sum(
        each["name"] == call["name"] and (call["id"] is None or each["id"] == call["id"])
        for each in trace.tool_calls[:at]
    )
    return places[earlier][:2] if earlier < len(places) else None


def _find_result(trace: Trace, call: ToolCall) -> int | None:
    """The index of the message with the result of a call that has an id."""
    if call["id"] is None:
        return None
    return next(
        (
            index
            for index, message in enumerate(trace.messages)
            if message["role"] == "tool" and message["tool_call_id"] == call["id"]
        ),
        None,
    )


def _request_of(call: ToolCall) -> CallRef:
    return {"id": call["id"], "name": call["name"], "arguments": call["arguments"]}


def _answer(message: Message, call: ToolCall) -> Message:
    return {
        **message,
        "content": call["result_text"],
        "tool_name": message["tool_name"] and call["name"],
        "tool_call_id": call["id"],
        "parts": None,
    }


def _number_id(recorded: str | None) -> str | None:
    return None if recorded is None else f"{recorded}-2"
