from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_check import HOSTILE, find_flaws, parse_html

from evalgate.measures.text.plain_text import mark_part
from evalgate.reporting.text.escaping import to_one_line
from evalgate.reporting.text.sentences import escape_sentence, escape_sentence_cell, unmark_parts

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
TRICKY = st.lists(
    st.sampled_from([*HOSTILE, *"`|\\@<>[]()#:!\n\r\t $&*_~-+=1.)'\"", " ", "a", "s", "GH-1", "deadbeef", "www.x.io"]),
    max_size=10,
).map("".join)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("expected `refund` second, got `a b`", "expected ` refund ` second, got ` a b `"),
        ("passed 1 of 1 before, 0 of 1 now", "passed 1 of 1 before, 0 of 1 now"),
        ("cost 0.0115 USD, limit 0.01 USD (p50)", "cost 0.0115 USD, limit 0.01 USD (p50)"),
        ("score 0.84 -> 0.70 (-0.14)", "score 0.84 \u2192 0.70 (-0.14)"),
        ("1 < 2 and <b>", "1 &lt; 2 and ` <b> `"),
        ("got lookup_order, x_y instead (call 2)", "got ` lookup_order, x_y ` instead (call 2)"),
        ("(`a`), `b`'s `c`?", "(` a `), ` b `'s ` c `?"),
        ("cut in `a part", "cut in ` a part `"),
        ("expired on 2027-01-14: see", "expired on 2027-01-14: see"),
        ("", ""),
    ],
)
def test_sentence__words_numbers_and_parts__only_parts_are_code(text, escaped):
    assert escape_sentence(text) == escaped


@pytest.mark.parametrize(
    "text", ["1. a", "2) b", "- c", "+ d", "> e", "= f", "# g", "* h", "[ ] i", "~~~", "    j", "www.evil.example a"]
)
def test_sentence__begins_like_a_block__is_none(text):
    assert set(parse_html(escape_sentence(text)).counts) <= {"p", "code"}


@pytest.mark.parametrize("wrap", [str, mark_part, lambda text: f"got {mark_part(text)}, expected {mark_part(text)}"])
@pytest.mark.parametrize("text", HOSTILE)
def test_sentence__hostile_text_marked_or_not__is_inert(text, wrap):
    sentence = wrap(text)
    for markdown in (f"a {escape_sentence(sentence)} b", f"- {escape_sentence(sentence)}", escape_sentence(sentence)):
        assert find_flaws(markdown) == []
    table = f"| a | b | c |\n|--|--|--|\n| x | {escape_sentence_cell(sentence)} | y |\n"
    assert (find_flaws(table), parse_html(table).rows) == ([], [3, 3])


@given(TRICKY | ANY_TEXT, TRICKY)
def test_sentence__any_text__is_inert_and_one_line(text, part):
    for sentence in (text, f"{text} {mark_part(part)}{text}"):
        assert find_flaws(escape_sentence(sentence, 500)) == []
        table = f"| a | b | c |\n|--|--|--|\n| x | {escape_sentence_cell(sentence)} | y |\n"
        assert (find_flaws(table), parse_html(table).rows) == ([], [3, 3])
        assert "\n" not in escape_sentence(sentence)


@given(TRICKY)
def test_sentence__outside_of_code__are_only_words_numbers_and_punctuation(text):
    outside = "".join(parse_html(escape_sentence(text)).text_outside_code)
    assert re.fullmatch(r"""[A-Za-z0-9 \n()"'.,;:?!%/+\u2212<>=\u00b1\u2013\u2192\u00b7\u2026\u23ce-]*""", outside)
    assert not re.search(r"[A-Za-z]+\.[A-Za-z]|[0-9a-f]{7}[0-9]|//|@", outside)


BACKTICKS = ["a `b`", "`", "``", "tool_calls[?arguments.price > `10`]", "` a", "a `", " ", "", "plain", "a ```b` `"]


@pytest.mark.parametrize("part", BACKTICKS)
def test_unmark__part_of_a_sentence__is_as_it_was_given(part):
    assert unmark_parts(f"got {mark_part(part)}, {mark_part('x')}: {mark_part(part)}") == f"got {part}, x: {part}"


@given(TRICKY | ANY_TEXT, st.text("ab `", max_size=12))
def test_unmark__any_part__is_as_it_was_given(part, other):
    assert unmark_parts(f"{mark_part(part)} or {mark_part(other)}") == f"{part} or {other}"


@pytest.mark.parametrize("part", BACKTICKS[:4])
def test_sentence__part_with_backticks__is_one_code_span_with_them(part):
    assert parse_html(escape_sentence(f"got {mark_part(part)} here")).text_in_code == [part]


def test_unmark__part_that_was_cut_off__ends_with_the_text():
    assert unmark_parts(mark_part("a `b` c")[:-3]) == "a `b` c"


def test_sentence__secret_in_a_part__is_redacted():
    secret = "ghp_" + "a1B2" * 9
    assert secret not in escape_sentence(f"got {mark_part(secret)}")
    assert secret not in to_one_line(f"got {mark_part(secret)}")
