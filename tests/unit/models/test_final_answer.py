"""The final answer: the last text after the last call and the last message of a user, else unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from builders import make_message, make_trace

from evalgate.models.trace.final_answer import find_final_answer, list_answers
from evalgate.models.trace.trace_view import get_view

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, Role

ROLES: dict[str, Role] = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}


def talk(*lines: str) -> list[Message]:
    """Messages: the first letter of the role, `*` if it requests a call, and after a colon the text."""
    found: list[Message] = []
    turn = 0
    for line in lines:
        head, colon, text = line.partition(":")
        turn += head == "u"
        call = {"id": "c", "name": "look", "arguments": {}}
        message = make_message(len(found), ROLES[head[0]], text if colon else None, turn=turn)
        message["tool_calls"] = [call] if "*" in head else []  # type: ignore[list-item]
        found.append(message)
    return found


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("u:go", "a:Hi"), "Hi"),
        (("u:go", "a*", "t:x", "a:Done"), "Done"),
        (("u:go", "a*:Let me look", "t:x", "a:Done"), "Done"),
        (("u:go", "a*:Let me look", "t:x"), None),
        (("u:go", "a*:Let me look"), None),
        (("u:go", "a:Let me look", "a*"), None),
        (("u:go", "a:Let me look", "a*", "t:x", "a"), None),
        (("u:go", "a*:Let me look", "t:x", "a:"), ""),
        (("u:go", "a:Let me look", "a*:", "t:x", "a:", "u:thanks"), ""),
        (("u:go", "a:Yes", "u:thanks ###STOP###"), "Yes"),
        (("u:go", "a:Yes", "u:more", "u:###STOP###"), "Yes"),
        (("u:go", "a:Yes", "u:more", "a"), None),
        (("u:go", "a:Yes", "u:more", "a:"), ""),
        (("u:go", "a:Yes", "u:more", "a*", "t:x"), None),
        (("u:go", "a:Yes", "u*", "t:of the user", "u:thanks"), "Yes"),
        (("u:go", "a*", "t:x", "u:still there?"), None),
        (("u:go", "a:One", "a:Two"), "Two"),
        (("u:go", "a:One", "a:"), "One"),
        (("u:go", "a*", "t:x", "a:Done", "s:ended"), "Done"),
        (("u:go", "a:Yes", "t:of no call"), None),
        (("u:go",), None),
        ((), None),
    ],
)
def test_the_answer_follows_the_last_call_and_the_last_question(lines: tuple[str, ...], answer: str | None):
    found = find_final_answer(talk(*lines))
    assert found["content"] == answer
    index = found["message_index"]
    assert (None if index is None else talk(*lines)[index]["content"]) == answer


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("u:go", "a*:Done", "t:x"), "Done"),
        (("u:go", "a*:Done"), "Done"),
        (("u:go", "a*:Let me look", "t:x", "a:Done"), "Done"),
        (("u:go", "a:Let me look", "a*", "t:x"), None),
        (("u:go", "a*:Let me look", "t:x", "a:"), ""),
    ],
)
def test_text_beside_the_call_that_ended_the_run_is_the_answer(lines: tuple[str, ...], answer: str | None):
    assert find_final_answer(talk(*lines), ends_with_call=True)["content"] == answer


def test_all_texts_after_the_last_call_answer_the_last_first():
    texts = [each["content"] for each in list_answers(talk("u:go", "a*:Look", "t:x", "a:One", "a:", "a:Two"))]
    assert texts == ["Two", "One", ""]


def test_each_exchange_has_the_answer_by_the_same_rule():
    """Text beside the last call of a turn is its answer if the user replied to it."""
    trace = make_trace([])
    trace.messages = talk("u:1", "a:Look", "a*", "t:x", "a:One", "u:2", "a*:Two", "t:x", "u:3", "a*:Three", "t:x")
    trace.response = find_final_answer(trace.messages)
    assert [each["response"] for each in get_view(trace).get("exchanges")] == ["One", "Two", None]


def test_the_last_exchange_of_the_agent_has_the_recorded_answer():
    trace = make_trace([])
    trace.messages = talk("u:1", "a:One", "u:2", "a*:Two", "t:x", "u:thanks")
    trace.response = {"content": "recorded", "finish_reason": None, "message_index": None}
    assert [each["response"] for each in get_view(trace).get("exchanges")] == ["One", "recorded", None]
