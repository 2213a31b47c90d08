"""CSV by RFC 4180, harmless in a spreadsheet (security.md T23), and the same when read back."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.errors import SettingError
from evalgate.features.store.reporting.dataset.evaluation_csv import encode_rows, read_rows

FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\rcmd",
    "  =1",
    "\n=1",
    "\u00a0=1",
    "\u200b=1",
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff20x",
    " \uff1dcmd|' /C calc'!A0",
]
CELLS = st.text(st.sampled_from("'=+-@\t\r\n ,;\"ab\uff1d\u200b\x00\x85\u2028\U0001f600"), max_size=8)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_begins_with_an_apostrophe_for_any_reader(text):
    [[cell, neighbour]] = csv.reader(io.StringIO(encode_rows([[text, "x"]]), newline=""), strict=True)
    assert (cell, neighbour) == (f"'{text}", "x")


@pytest.mark.parametrize("text", ["refund", "it's", "'quoted'", "a=b", "1.000", "", "don't = do"])
def test_ordinary_text_stays_as_it_is(text):
    assert encode_rows([[text, "x"]]).startswith(text)


def test_lines_end_in_cr_lf_and_quotes_are_doubled():
    assert encode_rows([["a", 'say "hi", now', "two\nlines"]]) == 'a,"say ""hi"", now","two\nlines"\r\n'


@pytest.mark.parametrize("end", ["\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_a_cell_with_any_line_end_is_quoted(end):
    assert encode_rows([[f"a{end}b", "x"]]) == f'"a{end}b",x\r\n'


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=4))
def test_written_rows_are_read_back_unchanged(rows):
    assert [row for _, row in read_rows(encode_rows(rows), "x.csv")] == rows


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=3))
def test_any_reader_finds_the_same_number_of_cells_and_no_formula(rows):
    found = list(csv.reader(io.StringIO(encode_rows(rows), newline=""), strict=True))
    assert [len(row) for row in found] == [len(row) for row in rows]
    cells = [cell for row in found for cell in row]
    assert not [cell for cell in cells if cell.strip(" \n\x85\u2028\u200b").startswith(("=", "+", "-", "@", "\uff1d"))]


@pytest.mark.parametrize("text", ['a,"b', '"a"b,c\r\n', f"a,{'x' * 1_000_001}\r\n"])
def test_invalid_csv_is_refused_with_its_location(text):
    with pytest.raises(SettingError, match=r"^x\.csv:[123]: invalid CSV"):
        list(read_rows(text, "x.csv"))
