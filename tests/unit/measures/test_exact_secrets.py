from __future__ import annotations

import base64
import json
import urllib.parse
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.redaction.exact_secrets import MARK, ExactSecrets
from evalgate.measures.redaction.redact import Redactor

SECRET = 'tr0ub4dor&3 "x"/p@ss|w\u00f6rd'
ALONE = ExactSecrets([SECRET])


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
@pytest.mark.parametrize("after", ["", "z", ":rest of it"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_secret_in_base64_of_a_longer_text_is_removed(before, after, encode):
    encoded = encode(f"{before}{SECRET}{after}".encode()).decode()
    shown = Redactor([SECRET]).redact_text(f"Basic: {encoded}")
    assert MARK in shown
    known = encode(SECRET.encode()).decode()[4:-6]
    assert known not in shown
    assert encoded[8:-8] not in shown


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        urllib.parse.quote(SECRET),
        urllib.parse.quote(SECRET, safe=""),
        urllib.parse.quote_plus(SECRET),
        urllib.parse.quote(SECRET, safe="").lower().replace("tr0ub4dor", "tr0ub4dor"),
    ],
)
def test_secret_in_an_address_is_removed(spelled):
    assert Redactor([SECRET]).redact_text(f"x={spelled} y") == f"x={MARK} y"


@pytest.mark.parametrize("hidden_in", ["tr0ub\u200b4dor-key", "tr0u\U000e0041b4dor-key"])
def test_secret_after_invisible_characters_is_removed(hidden_in):
    assert Redactor(["tr0ub4dor-key"]).redact_text(f"it is {hidden_in}.") == f"it is {MARK}."


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        escape(SECRET, quote=True),
        SECRET.replace("@", "@\u200b"),
        SECRET.replace("@", "@\u200b").replace("|", "\\|"),
    ],
)
def test_secret_as_a_document_escapes_it_is_removed(written):
    assert ALONE.remove_from(f"<{written}>".encode()) == f"<{MARK}>".encode()


@pytest.mark.parametrize("cut", ["\u2026", "\\u2026", "..."])
@pytest.mark.parametrize("left", [8, 12, len(SECRET) - 1])
def test_start_of_a_secret_before_a_cut_is_removed(cut, left):
    found = ALONE.remove_from(f"one {cut} two {SECRET[:left].replace(chr(34), chr(92) + chr(34))}{cut} (+9)".encode())
    assert found == f"one {cut} two {MARK}{cut} (+9)".encode()


def test_start_of_a_secret_without_a_cut_stays():
    content = f"{SECRET[:9]} and so on \u2026".encode()
    assert ALONE.remove_from(content) == content


def test_each_long_line_of_a_secret_with_several_lines_is_removed():
    secret = "-- key --\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-- end --"
    assert Redactor([secret]).redact_text("see AQEFAASCBKcwggSjAgEAAoIB") == f"see {MARK}"
    assert Redactor([secret]).redact_text("-- end --") == "-- end --"


@given(st.text(max_size=200))
def test_a_text_without_a_secret_is_unchanged(text):
    assert ALONE.remove_from(text.encode("utf-8", "replace")) == text.encode("utf-8", "replace")
    assert not ALONE.is_in(text)
