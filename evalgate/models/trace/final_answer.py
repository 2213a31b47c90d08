"""Finds the final answer of a run among its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Message, Response


def find_final_answer(messages: Sequence[Message], *, ends_with_call: bool = False) -> Response:
    """The last text that the agent wrote after its last tool call and the last message of a user.

    User messages after all that the agent did are ignored. An answer is empty if it is recorded as empty text. It is
    None, unknown, if nothing follows the last call: text beside a call announces it. Only with `ends_with_call`, where
    the recording shows that this call ended the run, the text beside it is the answer.
    """
    return build_response(next(iter(list_answers(messages, ends_with_call=ends_with_call)), None))


def list_answers(messages: Sequence[Message], *, ends_with_call: bool = False) -> list[Message]:
    """The messages that answer: the final answer first, then others that the agent wrote directly before it."""
    texts: list[Message] = []
    empty: list[Message] = []
    is_after_result = is_begun = False
    for message in reversed(messages):
        role = message["role"]
        if role == "tool":
            is_after_result = True
        elif role == "user":
            if is_begun or (is_after_result and not message["tool_calls"]):
                break
            is_after_result = False  # results of the user's own calls
        elif role == "assistant":
            if message["tool_calls"] or is_after_result:
                is_text_beside = ends_with_call and not is_begun and bool(message["content"])
                texts += [message] if is_text_beside else []
                break
            is_begun = True
            if message["content"]:
                texts.append(message)
            elif message["content"] is not None:
                empty.append(message)
    return texts + empty


def build_response(message: Message | None) -> Response:
    """The response that this message is; None without a message."""
    if message is None:
        return {"content": None, "finish_reason": None, "message_index": None}
    return {"content": message["content"], "finish_reason": message["finish_reason"], "message_index": message["index"]}
