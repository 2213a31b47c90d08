from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.sequences.differences import diff_lists

NAMES = st.lists(st.sampled_from("abc"), max_size=12)
SIGNS = {"kept": " ", "gone": "-", "come": "+"}


def diff_as_text(before, now):
    return [f"{SIGNS[step.kind]}{step.name}" for step in diff_lists(list(before), list(now))]


@pytest.mark.parametrize(
    ("before", "now", "steps"),
    [
        ("", "", []),
        ("ab", "ab", [" a", " b"]),
        ("a", "b", ["-a", "+b"]),
        ("abc", "ac", [" a", "-b", " c"]),
        ("ac", "abc", [" a", "+b", " c"]),
        ("abc", "cab", ["+c", " a", " b", "-c"]),
        ("", "aa", ["+a", "+a"]),
        ("aa", "a", [" a", "-a"]),
    ],
)
def test_difference__two_lists__are_steps_from_one_to_the_other(before, now, steps):
    assert diff_as_text(before, now) == steps


@given(NAMES, NAMES)
def test_difference__any_lists__hold_both_sides_in_order(before, now):
    steps = diff_lists(before, now)
    assert [step.name for step in steps if step.kind != "come"] == before
    assert [step.name for step in steps if step.kind != "gone"] == now


@given(NAMES, NAMES)
def test_difference__any_lists__has_as_many_steps_either_way(before, now):
    assert len(diff_lists(before, now)) == len(diff_lists(now, before))


def test_difference__lists_too_long_to_align__are_replaced_but_for_their_common_ends():
    before = ["x", *(f"a{n}" for n in range(1_000)), "y"]
    now = ["x", *(f"b{n}" for n in range(1_000)), "y"]
    started = time.thread_time()
    steps = diff_lists(before, now)
    assert time.thread_time() - started < 0.2
    assert [step.kind for step in steps] == ["kept", *["gone"] * 1_000, *["come"] * 1_000, "kept"]
