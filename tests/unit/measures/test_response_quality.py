"""The similarity of an answer to the golden one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.text.text_similarity import length_penalty, measure_quality, serialised_object

ANSWER = "Your order 42 was refunded, the money is on its way."


@pytest.mark.parametrize("text", [ANSWER, f"  {ANSWER.upper()}\n", ANSWER.replace(" ", "\u00a0")])
def test_equal_but_for_case_and_blanks__is_whole(text):
    assert measure_quality(text, ANSWER) == measure_quality(text, ANSWER, strict=True) == 1.0


def test_unrelated_answer__is_below_one_half():
    assert measure_quality("Bananas grow in warm countries.", ANSWER) < 0.5


def test_strict__gives_no_partial_score():
    assert measure_quality("Your order 42 was refunded.", ANSWER) > 0.3
    assert measure_quality("Your order 42 was refunded.", ANSWER, strict=True) == 0.0


def test_length__lowers_the_score_beyond_twice():
    assert length_penalty("a b c d", "a b") == length_penalty("a b", "a b c d") == 1.0
    assert length_penalty("a b c d e f g h", "a b") == 0.5
    assert measure_quality("a b a b a b a b", "a b") == 0.5  # the same words, four times as many
    assert length_penalty("", "a") == 0.0


@given(st.text(max_size=60), st.text(max_size=60))
def test_quality__is_a_score_and_the_same_from_both_sides(text, golden):
    assert 0.0 <= measure_quality(text, golden) <= 1.0
    assert measure_quality(text, golden) == measure_quality(golden, text)
    assert measure_quality(text, text) == 1.0


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Here you are: [object Object]", "script object"),
        ("<app.Order object at 0x7f3a2b>", "Python object"),
        ('{"status": "ok", "items": []}', "JSON document"),
        ("[1, 2, 3]", "JSON document"),
        ("{'status': 'ok'}", "Python value"),
        ("Order(id=42, state='late')", "Python object"),
    ],
)
def test_serialised_objects__are_recognised(text, what):
    assert what in (serialised_object(text) or "")


@pytest.mark.parametrize("text", [ANSWER, "See [1].", "{not json", "f(x) is a function", "", "(sure)"])
def test_prose__is_not_serialised_data(text):
    assert serialised_object(text) is None
