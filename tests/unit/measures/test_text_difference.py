from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from evalgate.measures.sequences.differences import diff_texts

texts = st.lists(st.sampled_from(["a", "b", "c.", " ", "\n", "  "]), max_size=14).map("".join)


def diff_as_tuples(before, now):
    return [astuple(part) for part in diff_texts(before, now)]


def test_a_changed_word_is_between_the_parts_that_stayed():
    assert diff_as_tuples("It costs $10 now.", "It costs $100 now.") == [
        ("kept", "It costs "),
        ("gone", "$10"),
        ("come", "$100"),
        ("kept", " now."),
    ]


def test_changed_words_in_a_row_are_one_change():
    assert diff_as_tuples("I can not do that", "I will gladly do that") == [
        ("kept", "I "),
        ("gone", "can not"),
        ("come", "will gladly"),
        ("kept", " do that"),
    ]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("", "", []),
        ("a", "", [("gone", "a")]),
        ("", "a", [("come", "a")]),
        ("a b", "a b", [("kept", "a b")]),
        ("a", "a b", [("kept", "a"), ("come", " b")]),
    ],
)
def test_removed_and_added_text(before, now, expected):
    assert diff_as_tuples(before, now) == expected


def test_long_texts_are_compared_by_sentences():
    shared = "This sentence has several words in it. " * 100
    before, now = f"Old start. {shared}Old end here.", f"New start. {shared}New end here."
    assert diff_as_tuples(before, now) == [
        ("gone", "Old start. "),
        ("come", "New start. "),
        ("kept", shared),
        ("gone", "Old end here."),
        ("come", "New end here."),
    ]


def test_a_word_in_the_middle_of_a_long_text_is_found():
    shared = "This sentence has several words in it. " * 100
    assert diff_as_tuples(f"{shared}old {shared}", f"{shared}new {shared}") == [
        ("kept", shared),
        ("gone", "old"),
        ("come", "new"),
        ("kept", f" {shared}"),
    ]


@given(texts, texts)
def test_either_text_can_be_rebuilt_from_the_difference(before, now):
    parts = diff_texts(before, now)
    assert "".join(part.text for part in parts if part.kind != "come") == before
    assert "".join(part.text for part in parts if part.kind != "gone") == now


@given(texts)
def test_equal_texts_have_no_difference(text):
    assert diff_as_tuples(text, text) == ([("kept", text)] if text else [])


def test_very_long_texts_are_compared_in_bounded_time():
    start = time.thread_time()
    parts = diff_texts("a. " * 20_000, "b. " * 20_000)
    assert time.thread_time() - start < 2
    assert [part.kind for part in parts] == ["gone", "come"]


def test_a_word_kept_between_two_changes_belongs_to_them():
    shared = "and this is what stayed as it was before"
    assert diff_as_tuples(f"I could pay {shared}", f"We shall could not {shared}") == [
        ("gone", "I could pay"),
        ("come", "We shall could not"),
        ("kept", f" {shared}"),
    ]


def test_texts_with_little_in_common_are_replaced():
    before, now = "Your order has been sent on its way.", "I am sorry: there is no such order here at all."
    assert diff_as_tuples(before, now) == [("gone", before), ("come", now)]
