"""Names that look alike: the skeleton of UTS 39, and what can't be seen in a name."""

from __future__ import annotations

import pytest
from look_alike_table import build_table

from evalgate.measures.text.plain_text import build_skeleton, describe_look_alike, find_look_alikes, mark_unseen


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("refund", "r\u0435fund"),  # Cyrillic
        ("\u0440\u0430\u0443", "pay"),
        ("scope", "\u0455\u0441\u043e\u0440\u0435"),
        ("Omega-1", "\u039fmega-1"),  # Greek
        ("a-b", "a\u2010b"),
        ("a b", "a\u00a0b"),
        ("I", "\u0406"),
        ("rn", "\U0001d426"),  # a mathematical m
        ("refund", "refund\u3164"),
        ("refund", "re\ufe0ffund"),
        ("caf\u00e9", "c\u0430fe\u0301"),
    ],
)
def test_names_that_look_alike(name, other):
    assert build_skeleton(name) == build_skeleton(other)
    assert [(each.position, each.earlier) for each in find_look_alikes(["x", name, "y", other])] == [(3, 1)]
    assert [(each.position, each.earlier) for each in find_look_alikes([other, name])] == [(1, 0)]


@pytest.mark.parametrize(
    "names",
    [
        ["test-1", "test-l", "test-I"],  # ASCII only: code fonts show the difference
        ["rn", "m"],
        ["caf\u00e9", "cafe"],
        ["caf\u00e9", "cafe\u0301"],  # equal: another error
        ["\u540d\u524d", "\u540d"],
        ["stra\u00dfe", "strasse"],
        ["\u0442\u0435\u0441\u0442", "\u0442\u0435\u0441\u0442-2"],
        ["x\u00b2", "x2"],
    ],
)
def test_names_that_look_different(names):
    assert list(find_look_alikes(names)) == []


def test_the_character_that_differs_is_named():
    names = ["refund", "r\u0435fund"]
    [found] = find_look_alikes(names)
    assert describe_look_alike(names, found) == (
        "`r\u0435fund` looks like `refund`: one of them has U+0435 CYRILLIC SMALL LETTER IE"
    )


def test_the_table_is_made_of_lines_of_unicode():
    lines = "\ufeff# Version: 17.0.0\n0441 ;\t0063 ;\tMA\t# ( x )\n03F2 ;\t0063 ;\tMA\t#\n1D426 ;\t0072 006E ;\tMA\t#\n00C5 ;\t0041 030A ;\tMA\n"
    assert build_table(lines) == "3f2:63 4f:63 1cfe5:72.6e"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("refund", "refund"),
        ("two words", "two words"),
        ("", ""),
        ("refund ", "refund<U+0020>"),
        (" \trefund", "<U+0020><U+0009>refund"),
        ("\u00a0refund\u3000", "<U+00A0>refund<U+3000>"),
        ("refund\u200b", "refund<U+200B>"),
        ("re\u2060fund", "re<U+2060>fund"),
        ("\U000e0041refund", "<U+E0041>refund"),
        ("   ", "<U+0020><U+0020><U+0020>"),
        ("\u00e9t\u00e9", "\u00e9t\u00e9"),
    ],
)
def test_what_can_not_be_seen_in_a_name_is_marked(name, shown):
    assert mark_unseen(name) == shown
