"""Shortened quotes of untrusted text."""

import pytest

from evalgate.models.comparison.behaviour import BehaviourDifference
from evalgate.scoring.wording import MAX_QUOTE, cut_quote, describe_difference

TOKEN = "ghp_" + "a1B2" * 9


def test_shorten__short_text__stays():
    assert cut_quote("x" * MAX_QUOTE) == "x" * MAX_QUOTE


def test_shorten__long_text__is_cut_and_marked():
    assert cut_quote("x" * 300) == "x" * (MAX_QUOTE - 3) + "..."


def test_shorten__secret_across_the_cut__is_not_shown_in_part():
    quote = cut_quote("word " * 37 + TOKEN + " and more")
    assert TOKEN[:8] not in quote
    assert len(quote) <= MAX_QUOTE


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("look, pay", "look, pay, mail, tow", "now calls `mail, tow`"),
        ("look, pay, mail", "look", "no longer calls `pay, mail`"),
        ("none", "pay", "now calls `pay`"),
        ("pay", "none", "no longer calls `pay`"),
        ("look, pay", "look, mail", "now calls `mail`, no longer calls `pay`"),
        ("look, a, b, c, mail", "look, c, a, b, mail", "now calls `c` before `a`"),
        ("look, a, b, c, mail", "look, b, c, a, mail", "now calls `a` after `c`"),
        ("look, a, b, mail", "look, b, a, mail", "now calls `b` before `a`"),
        ("look, a, b, c, mail", "look, c, b, a, mail", "other order of calls: `a, b, c` -> `c, b, a`"),
        ("a, b, a", "a, a, b", "other order of calls: `b, a` -> `a, b`"),
        ("pay", "pay, pay", "1 more call: `pay`"),
        ("pay(x: 1), pay(x: 2)", "pay(x: 1)", "1 fewer call: `pay(x: 2)`"),
        ("pay(x: 1, y: 2)", "pay(x: 1, y: 2), mail(to: a, cc: b)", "now calls `mail(to: a, cc: b)`"),
        ("pay(x: (1), look", "pay", "calls: `pay(x: (1), look` -> `pay`"),
        ("a, b, 3 more", "a", "calls: `a, b, 3 more` -> `a`"),
    ],
)
def test_calls_are_described_by_what_came_and_went(before, now, expected):
    found = BehaviourDifference("calls", "calls", before, now, 3, 3)
    assert describe_difference(found) == f"{expected} in 3 of 3"
