from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.sequences.differences import align_calls
from evalgate.measures.sequences.trajectory_metrics import json_key

calls = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([None, 1, {"x": 1}, {"x": [2]}])), max_size=9)


def align_as_tuples(before, now):
    return [tuple(pair) for pair in align_calls(before, now)]


def test_equal_calls_are_paired():
    both = [("look_up", {"id": 1}), ("mail", {})]
    assert align_as_tuples(both, both) == [(0, 0), (1, 1)]


def test_a_call_with_other_arguments_is_the_same_call():
    assert align_as_tuples([("look_up", {"id": 1})], [("look_up", {"id": 2})]) == [(0, 0)]


def test_of_equal_names_those_with_equal_arguments_belong_together():
    before = [("search", {"q": "a"})]
    now = [("search", {"q": "b"}), ("search", {"q": "a"})]
    assert align_as_tuples(before, now) == [(None, 0), (0, 1)]
    assert align_as_tuples(now, before) == [(0, None), (1, 0)]


def test_a_name_outweighs_equal_arguments():
    before = [("a", 1), ("b", 0), ("a", 2)]
    now = [("b", 9), ("a", 3)]
    assert align_as_tuples(before, now) == [(0, None), (1, 0), (2, 1)]


def test_a_call_that_both_lists_make_is_never_paired_with_one_of_other_arguments():
    before = [("modify", {"order": 1}), ("address", {}), ("modify", {"order": 2})]
    now = [("address", {}), ("modify", {"order": 1}), ("exchange", {"order": 2})]
    assert align_as_tuples(before, now) == [(0, None), (1, 0), (2, None), (None, 1), (None, 2)]


@given(calls, calls)
def test_no_call_is_paired_with_other_arguments_while_an_equal_one_is_unpaired(before, now):
    pairs = align_calls(before, now)
    keys = [[(name, json_key(arguments)) for name, arguments in side] for side in (before, now)]
    unpaired = [{keys[0][i] for i, j in pairs if j is None}, {keys[1][j] for i, j in pairs if i is None}]
    for i, j in pairs:
        if i is not None and j is not None and keys[0][i] != keys[1][j]:
            assert keys[0][i] not in unpaired[1]
            assert keys[1][j] not in unpaired[0]


def test_a_removed_call_is_listed_before_its_replacement():
    assert align_as_tuples([("a", 0), ("x", 0), ("b", 0)], [("a", 0), ("y", 0), ("b", 0)]) == [
        (0, 0),
        (1, None),
        (None, 1),
        (2, 2),
    ]


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1})])
def test_arguments_are_compared_as_json(one, other):
    assert align_as_tuples([("f", one)], [("f", 7), ("f", other)]) == [(None, 0), (0, 1)]


def test_without_calls_on_one_side_the_others_were_removed_or_added():
    assert align_as_tuples([], []) == []
    assert align_as_tuples([("a", 0)], []) == [(0, None)]
    assert align_as_tuples([], [("a", 0)]) == [(None, 0)]


@given(calls, calls)
def test_every_call_is_in_one_pair_and_in_order(before, now):
    pairs = align_calls(before, now)
    assert [at for at, _ in pairs if at is not None] == list(range(len(before)))
    assert [at for _, at in pairs if at is not None] == list(range(len(now)))
    assert all(before[i][0] == now[j][0] for i, j in pairs if i is not None and j is not None)


@given(calls, calls)
def test_as_many_names_are_paired_whichever_side_comes_first(before, now):
    def paired(one, other):
        return sum(None not in pair for pair in align_calls(one, other))

    assert paired(before, now) == paired(now, before)


def test_thousands_of_calls_on_both_sides_are_aligned_in_bounded_time():
    before = [("a", n) for n in range(3_000)]
    now = [("a", -n) for n in range(1, 3_000)]
    start = time.thread_time()
    pairs = align_calls(before, now)
    assert time.thread_time() - start < 2
    assert len(pairs) == 5_999
