import re
from re._constants import AT, BRANCH, MAX_REPEAT, MIN_REPEAT, POSSESSIVE_REPEAT, SUBPATTERN
from re._parser import parse

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evalgate.measures.text.patterns import (
    LENGTHS,
    Pattern,
    UnknownWorkError,
    free_length,
    parse_branches,
    tokenize_pattern,
    work_and_ways,
)

LONGEST = LENGTHS[0]


def free(source):
    return free_length(tokenize_pattern(source))


@pytest.mark.parametrize(
    "source",
    [
        "order 17",
        r"order [A-Z]\d{6}\b",
        r"^\d{4}-\d{2}$",
        "late|lost",
        "(?:now|later)?",
        "colou?r",
        "[abc]",
        "",
        "a{2,4}",
    ],
)
def test_pattern__of_a_few_ways_is_searched_freely_in_any_usual_text(source):
    assert free(source) >= 4_096


@pytest.mark.parametrize(
    "source",
    [
        *(r"^(a|aa)+$", "(a*)*b", "(?:a+)+b", "(a|b){20}c", "(a{2}){3}", r"(\w)\1", "(?i)late", "(?x) a b"),
        *(
            "a{e<=1}",
            r"\p{L}+",
            r"\x61",
            "(?R)?",
            "a{}",
            "a{,}",
            r"\b*a",
            "^*",
            "(?P=n)",
            "a{9}{9}",
        ),
        *("(" * 40 + ")" * 40, "a?" * 30 + "a" * 30, "a{900}" * 5, "(a|b|c)" * 12, "a{1,100}a{1,100}b"),
    ],
)
def test_pattern__that_may_take_long_or_is_not_understood_is_never_searched_freely(source):
    assert free(source) == 0


def test_each_unbounded_repeat__lowers_the_longest_free_text():
    one, two, three = free("a*b"), free("a*a*b"), free("a*a*a*b")
    assert LONGEST > one > two >= three
    assert free("a+b") == free("a*b")
    assert free("a{3,}b") == free("a*b")


class Engine:
    """An exhaustive engine that counts its steps at every position of a text of which each character matches."""

    def __init__(self, length):
        self.length, self.steps = length, 0

    def search(self, tree):
        for start in range(self.length):
            self.walk(list(tree), start, lambda _: None)
        return self.steps

    def walk(self, parts, at, then):
        self.steps += 1
        if not parts:
            then(at)
            return
        (kind, value), *others = parts

        def rest(at):
            self.walk(others, at, then)

        if kind is BRANCH:
            for each in value[1]:
                self.walk(list(each), at, rest)
        elif kind is SUBPATTERN:
            self.walk(list(value[-1]), at, rest)
        elif kind in {MAX_REPEAT, MIN_REPEAT, POSSESSIVE_REPEAT}:
            self.repeat(value, 0, at, rest)
        elif kind is AT or at < self.length:
            rest(at if kind is AT else at + 1)

    def repeat(self, value, times, at, then):
        least, most, part = value
        if times >= least:
            then(at)
        if times < most:
            self.walk(list(part), at, lambda end: self.repeat(value, times + 1, end, then) if end > at else None)


PIECES = [*"aab.^$|", "*", "+", "?", "*?", "{2}", "{1,3}", "{2,}", "(", "(?:", ")", ")", "[ab]", r"\d", r"\b"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join), st.integers(1, 5))
def test_work__is_at_least_that_of_an_exhaustive_engine(source, length):
    try:
        tree, branches = parse(source), parse_branches(tokenize_pattern(source))
    except (re.error, UnknownWorkError):
        assume(False)
    work, _ = work_and_ways(branches, length)
    engine_steps_per_step = 4  # an engine's part, its repeat and its group are steps of their own
    assert Engine(length).search(tree) <= engine_steps_per_step * length * work


def test_text__longer_than_the_free_limit_is_still_searched():
    pattern = Pattern("a*bc")
    assert 0 < pattern.untimed_length < 1_000
    for length in (
        pattern.untimed_length - 1,
        pattern.untimed_length,
        pattern.untimed_length + 1,
        2 * pattern.untimed_length,
    ):
        assert pattern.is_found_in("a" * (length - 2) + "bc")
        assert not pattern.is_found_in("bd" * length + "b-bd")
