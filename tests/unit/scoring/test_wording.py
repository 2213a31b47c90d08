"""Shortened quotes of untrusted text."""

from evalgate.scoring.wording import MAX_QUOTE, cut_quote

TOKEN = "ghp_" + "a1B2" * 9


def test_shorten__short_text__stays():
    assert cut_quote("x" * MAX_QUOTE) == "x" * MAX_QUOTE


def test_shorten__long_text__is_cut_and_marked():
    assert cut_quote("x" * 300) == "x" * (MAX_QUOTE - 3) + "..."


def test_shorten__secret_across_the_cut__is_not_shown_in_part():
    quote = cut_quote("word " * 37 + TOKEN + " and more")
    assert TOKEN[:8] not in quote
    assert len(quote) <= MAX_QUOTE
