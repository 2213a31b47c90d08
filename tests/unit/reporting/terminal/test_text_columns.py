"""Rows in columns, whatever the text of their cells."""

from __future__ import annotations

from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

from evalgate.reporting.terminal.terminal_page import format_columns

ROW = st.tuples(st.text(max_size=60), st.text(max_size=60), st.text(max_size=5))


def test_columns_are_as_wide_as_their_widest_cell():
    assert format_columns(("ID", "TITLE"), [("a", "one"), ("long", "two")], 80) == "ID    TITLE\na     one\nlong  two"


def test_the_widest_column_is_shortened_first():
    lines = format_columns(("ID", "TITLE"), [("short", "x" * 100)], 30).splitlines()
    assert lines == ["ID     TITLE", f"short  {'x' * 22}\u2026"]


@given(st.lists(ROW, max_size=4))
def test_each_row_is_one_line_not_wider_than_the_window(rows):
    lines = format_columns(("ONE", "TWO", "THREE"), rows, 50).split("\n")
    assert len(lines) == len(rows) + 1
    assert all(len(line) <= 50 for line in lines)
    assert not [sign for line in lines for sign in line if category(sign) in ("Cc", "Cf", "Cs")]
