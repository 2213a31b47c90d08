"""Aligned turns: which ones form pairs, and which are missing or extra."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.text.text_similarity import TooLongError, words
from evalgate.scoring.golden.turns import UNPAIRED_COST, TurnStep, align_turn_texts

WORDS = st.sampled_from(["hello", "refund please", "order 42 is late", "thanks", "refund my order", None])
TALKS = st.lists(WORDS, max_size=6)


def test_same_turns__pair_in_order():
    assert align_turn_texts(["a", "b"], ["a", "b"]) == [TurnStep(0, 0), TurnStep(1, 1)]


def test_missing_turn__has_no_partner():
    assert align_turn_texts(["hello", "refund please", "thanks"], ["hello", "thanks"]) == [
        TurnStep(0, 0), TurnStep(1, None), TurnStep(2, 1),
    ]  # fmt: skip


def test_extra_turn__has_no_partner():
    assert align_turn_texts(["hello", "thanks"], ["hello", "which order?", "thanks"]) == [
        TurnStep(0, 0), TurnStep(None, 1), TurnStep(1, 2),
    ]  # fmt: skip


def test_one_turn_each__is_paired_whatever_its_text():
    assert align_turn_texts(["My parcel is late"], ["Where does it hide?"]) == [TurnStep(0, 0)]


def test_empty_conversation__is_all_missing_or_all_extra():
    assert align_turn_texts(["a", "b"], []) == [TurnStep(0, None), TurnStep(1, None)]
    assert align_turn_texts([], ["a"]) == [TurnStep(None, 0)]
    assert align_turn_texts([], []) == []


@given(TALKS, TALKS)
def test_every_turn_of_both__appears_once_and_in_order(golden, actual):
    steps = align_turn_texts(golden, actual)
    assert [step.golden for step in steps if step.golden is not None] == list(range(len(golden)))
    assert [step.actual for step in steps if step.actual is not None] == list(range(len(actual)))


def alignment_cost(golden, actual):
    """1 - the Jaccard similarity of the words of each pair, and 0.5 for each turn that is in none."""
    total = 0.0
    for step in align_turn_texts(golden, actual):
        pair = [None if at is None else side[at] for side, at in ((golden, step.golden), (actual, step.actual))]
        one, other = (None if text is None else set(words(text)) for text in pair)
        is_known = one is not None and other is not None
        total += UNPAIRED_COST if not is_known else 1 - len(one & other) / len(one | other) if one != other else 0.0
    return total


@given(TALKS, TALKS)
def test_cost__is_symmetric_and_zero_for_the_same_conversation(golden, actual):
    assert alignment_cost(golden, actual) == pytest.approx(alignment_cost(actual, golden))
    assert alignment_cost(golden, actual) <= (len(golden) + len(actual)) / 2 + 1e-9
    spoken = [text for text in golden if text]
    assert alignment_cost(spoken, spoken) == 0.0


@given(TALKS, TALKS, st.integers(0, 6))
def test_cost__grows_by_at_most_one_unpaired_turn(golden, actual, place):
    longer = [*actual[:place], "something else entirely", *actual[place:]]
    assert alignment_cost(golden, longer) <= alignment_cost(golden, actual) + 0.5 + 1e-9


def test_too_many_turns__are_refused():
    with pytest.raises(TooLongError, match="too many to align"):
        align_turn_texts(["a"] * 501, ["a"] * 500)
