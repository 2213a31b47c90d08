from __future__ import annotations

import gc
import time

from evalgate.adapters.formats.core.builder.conversation import Arguments, Conversation, find_opening_text


def talk(*steps):
    """Each step is a list of (id, name) calls, or a single (id, name, text) result."""
    conversation = Conversation()
    conversation.add_message("user", "go")
    for step in steps:
        if isinstance(step, list):
            message = conversation.add_message("assistant", None)
            for call_id, name in step:
                conversation.add_call(message, call_id, name, Arguments({}))
        else:
            conversation.add_result(*step)
    return conversation


def results(conversation):
    return [(call["name"], call["result_text"], call["status"]) for call in conversation.calls]


def test_results_find_their_calls_by_id_in_any_order():
    found = talk([("1", "a"), ("2", "b")], ("2", None, "B"), ("1", None, "A"))
    assert results(found) == [("a", "A", "unknown"), ("b", "B", "unknown")]
    assert [m["tool_name"] for m in found.messages if m["role"] == "tool"] == ["b", "a"]


def test_calls_of_one_message_share_a_step_and_others_do_not():
    found = talk([("1", "a"), ("2", "b")], ("1", None, "A"), ("2", None, "B"), [("3", "c")])
    assert [call["step"] for call in found.calls] == [1, 1, 2]


def test_without_ids_results_are_paired_in_order():
    found = talk([(None, "a"), (None, "b")], (None, None, "A"), (None, None, "B"))
    assert results(found) == [("a", "A", "unknown"), ("b", "B", "unknown")]


def test_without_ids_a_name_takes_precedence_over_the_order():
    found = talk([(None, "a"), (None, "b")], (None, "b", "B"), (None, "a", "A"))
    assert results(found) == [("a", "A", "unknown"), ("b", "B", "unknown")]


def test_the_same_id_for_every_call_is_paired_in_order():
    found = talk([("x", "a"), ("x", "b")], ("x", None, "A"), ("x", None, "B"), [("x", "c")], ("x", None, "C"))
    assert [result for _, result, _ in results(found)] == ["A", "B", "C"]


def test_a_result_belongs_to_the_latest_step_when_an_earlier_call_of_its_id_was_never_answered():
    found = talk([("x", "a")], [("x", "b")], ("x", None, "B"))
    assert results(found) == [("a", None, "missing"), ("b", "B", "unknown")]


def test_a_result_with_an_id_answers_a_call_that_has_none():
    assert results(talk([(None, "a")], ("1", None, "A"))) == [("a", "A", "unknown")]


def test_a_result_without_a_call_is_counted_and_kept_as_a_message():
    found = talk(("9", "lost", "?"), [("1", "a")], ("2", None, "?"))
    assert found.orphans == 2
    assert found.list_warnings()[0]["code"] == "result_without_call"
    assert results(found) == [("a", None, "missing")]
    assert found.messages[1]["tool_name"] == "lost"


def test_a_second_result_of_one_call_does_not_replace_the_first():
    found = talk([("1", "a")], ("1", None, "first"), ("1", None, "second"))
    assert results(found) == [("a", "first", "unknown")]
    assert found.orphans == 1


def test_pairing_takes_no_longer_for_a_killed_run_of_many_calls():
    conversation = Conversation()
    message = conversation.add_message("assistant", None)
    for number in range(10_000):
        conversation.add_call(message, "same" if number % 2 else None, "tool", Arguments(None))
    gc.disable()  # it would look through whatever other tests left
    try:
        started = time.thread_time()
        for _ in range(10_000):
            conversation.add_result("other", None, "x")
        for _ in range(10_000):
            conversation.add_result("same", None, "x")
        assert time.thread_time() - started < 2
    finally:
        gc.enable()
    assert all(call["status"] == "unknown" for call in conversation.calls)


def test_turns_count_user_inputs_and_what_came_before_is_turn_0():
    conversation = Conversation()
    conversation.add_message("assistant", "Hi!")
    conversation.add_message("user", "one")
    conversation.add_message("user", None, is_input=False)
    conversation.add_message("user", "two")
    assert [message["turn"] for message in conversation.messages] == [0, 1, 1, 2]


def test_the_opening_text_is_the_users_if_there_is_a_user():
    conversation = Conversation()
    conversation.add_message("system", "rules")
    assert find_opening_text(conversation.messages) == "rules"
    conversation.add_message("user", "go")
    assert find_opening_text(conversation.messages) == "go"
    assert find_opening_text([]) == ""
