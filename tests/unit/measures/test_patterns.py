import time

import pytest

from evalgate.measures.patterns import MAX_LENGTH, Pattern, PatternError, PatternFailedError


def test_pattern__is_searched_not_matched():
    assert Pattern(r"\d{3}").found_in("call 112 now")
    assert not Pattern(r"^\d{3}$").found_in("call 112 now")


def test_pattern__knows_look_around_and_back_references():
    assert Pattern(r"(?<=id )(\w)\1").found_in("id aab")


@pytest.mark.parametrize("source", ["(", "[a", "*", "(?P<x", "a" * (MAX_LENGTH + 1), r"\p{Nope}"])
def test_pattern__that_is_none_is_refused(source):
    with pytest.raises(PatternError):
        Pattern(source)


def test_pattern__that_explodes_ends_within_its_limit_and_then_at_once():
    pattern, text = Pattern(r"^(a|aa)+$"), "a" * 60 + "!"
    with pytest.raises(PatternFailedError, match="more than 1 s"):
        pattern.found_in(text)
    start = time.monotonic()
    for _ in range(10_000):
        with pytest.raises(PatternFailedError, match="earlier in this run"):
            pattern.found_in(text)
    assert time.monotonic() - start < 5


def test_pattern__does_not_search_a_text_that_is_too_long():
    with pytest.raises(PatternFailedError, match="1,000,000 characters"):
        Pattern("a").found_in("a" * 1_000_001)
