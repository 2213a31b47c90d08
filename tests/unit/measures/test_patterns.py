import time

import pytest

from evalgate.measures.text.patterns import MAX_LENGTH, Pattern, PatternError, PatternFailedError


def test_pattern__is_searched_not_matched():
    assert Pattern(r"\d{3}").is_found_in("call 112 now")
    assert not Pattern(r"^\d{3}$").is_found_in("call 112 now")


def test_pattern__knows_look_around_and_back_references():
    assert Pattern(r"(?<=id )(\w)\1").is_found_in("id aab")


@pytest.mark.parametrize("source", ["(", "[a", "*", "(?P<x", "a" * (MAX_LENGTH + 1), r"\p{Nope}"])
def test_pattern__that_is_invalid_is_refused(source):
    with pytest.raises(PatternError):
        Pattern(source)


def test_pattern__that_explodes_ends_within_its_limit_and_then_at_once():
    pattern, text = Pattern(r"^(a|aa)+$"), "a" * 60 + "!"
    with pytest.raises(PatternFailedError, match="more than 1 s"):
        pattern.is_found_in(text)
    start = time.monotonic()
    for _ in range(10_000):
        with pytest.raises(PatternFailedError, match="earlier in this run"):
            pattern.is_found_in(text)
    assert time.monotonic() - start < 5


def test_pattern__that_is_slow_on_every_text_ends_after_a_while():
    pattern, text = Pattern(r"^(a|aa)+$", slow_seconds=0.1), "a" * 28 + "!"
    assert not pattern.is_found_in(text)
    with pytest.raises(PatternFailedError, match="earlier in this run"):
        any(pattern.is_found_in(text) for _ in range(100))


@pytest.mark.parametrize(
    "source",
    ["a{100000000}", "((a{1000}){1000}){1000}", "(?x)(a{1000} # )\n){1000}", "(?:" + "a" * 1900 + "){100}"],
)
def test_pattern__that_counts_would_blow_up_is_refused_before_it_is_compiled(source):
    start = time.monotonic()
    with pytest.raises(PatternError, match="counts"):
        Pattern(source)
    assert time.monotonic() - start < 1


def test_pattern__with_usual_counts_is_accepted():
    uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    assert Pattern(rf"^(?:{uuid},){{2,20}}$").is_found_in("00000000-0000-0000-0000-000000000000," * 3)
    assert Pattern(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}").is_found_in("00:1b:44:11:3a:b7")
    assert Pattern(r"^.{0,100000}$").is_found_in("a" * 5000)


def test_pattern__does_not_search_a_text_that_is_too_long():
    with pytest.raises(PatternFailedError, match="1,000,000 characters"):
        Pattern("a").is_found_in("a" * 1_000_001)


@pytest.mark.parametrize("source", ["a*b", "a+", "(a|b)c", "a?" * 20 + "a" * 20, "a{1,3}b", "x{2,}", "(?:a{2}){2}"])
def test_a_pattern_with_several_ways_to_match__always_has_a_time_limit(source):
    assert Pattern(source).untimed_length == 0


@pytest.mark.parametrize("source", [r"order [A-Z]\d{6}\b", "^o|b$", r"[^x]\s.{3}"])
def test_a_pattern_of_one_length__is_searched_in_texts_of_any_length(source):
    pattern = Pattern(source)
    assert pattern.untimed_length > 10_000
    text = "order A123456 a x  abc "
    for length in (1, 10_000, pattern.untimed_length + 10):
        assert pattern.is_found_in(text + "y" * length)
