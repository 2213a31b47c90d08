from __future__ import annotations

import base64
import json
import time
import urllib.parse
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.redaction.exact_secrets import MARK, ExactSecrets
from evalgate.measures.redaction.redact import Redactor
from evalgate.measures.text.plain_text import remove_invisible

SECRET = 'tr0ub4dor&3 "x"/p@ss|w\u00f6rd'
ALONE = ExactSecrets([SECRET])


@pytest.mark.parametrize("is_ascii", [True, False])
def test_secret_in_the_arguments_of_a_call_is_removed(is_ascii):
    arguments = json.dumps({"login": f"a {SECRET} b"}, ensure_ascii=is_ascii)
    for text in (arguments, json.dumps({"nested": arguments}, ensure_ascii=is_ascii)):
        shown = Redactor([SECRET]).redact_text(text)
        assert "tr0ub4dor" not in shown
        assert MARK in shown
        assert json.loads(shown)


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


PLAIN = "s3cr3t/of-the+job="
KNOWN = ExactSecrets([PLAIN])
UNSEEN = [
    "\u200b",
    "\u00ad",
    "\u2060\u200d",
    "\ufe0f",
    "\U000e0073",
    "\u3164",
    "\x00",
    "\x7f",
    "\x85",
    "\u200b" * 70_000,
]


def escape_json(text):
    return "".join(f"\\u{unit:04x}" for unit in memoryview(text.encode("utf-16-le")).cast("H"))


def escape_percent(text):
    return "".join(f"%{byte:02X}" for byte in text.encode())


@pytest.mark.parametrize("unseen", UNSEEN, ids=[f"U+{ord(each[0]):04X} x {len(each)}" for each in UNSEEN])
@pytest.mark.parametrize("write", [str, escape_json, escape_percent], ids=["as it is", "json", "percent"])
def test_secret_with_invisible_characters_in_a_document_is_removed(unseen, write):
    for at in {1, 7, len(PLAIN) - 1} if len(unseen) < 9 else {7}:
        hidden = f"{PLAIN[:at]}{write(unseen)}{PLAIN[at:]}"
        assert KNOWN.remove_from(f'{{"é": "<{hidden}>"}}'.encode()) == f'{{"é": "<{MARK}>"}}'.encode()
    between = write(unseen).join(PLAIN) if len(unseen) < 9 else hidden
    assert KNOWN.remove_from(f"<{between}>".encode()) == f"<{MARK}>".encode()


@pytest.mark.parametrize(
    "written",
    [
        escape_percent(PLAIN),
        escape_percent(PLAIN).lower(),
        f"{escape_percent(PLAIN[:5])}{escape_percent(PLAIN[5:]).lower()}",
        f"{escape_percent(PLAIN[:5])}{PLAIN[5:]}",
        f"s3{escape_percent('c')}r3t%2fof-the%2Bjob%3d",
        escape_json(PLAIN),
        escape_json(PLAIN).replace("\\", "\\\\"),
        PLAIN.replace("/", "\\/"),
        escape_percent("\u200b").join(map(escape_percent, PLAIN)),
        escape_json("\u200b").join(map(escape_percent, PLAIN)),
        "\u200b".join(base64.b64encode(PLAIN.encode()).decode().rstrip("=")),
    ],
)
def test_secret_with_encoded_characters_in_a_document_is_removed(written):
    assert KNOWN.remove_from(f'"%41<{written}>\\u0041"'.encode()) == f'"%41<{MARK}>\\u0041"'.encode()


def test_every_byte_of_a_secret_percent_encoded_in_a_text_is_removed():
    for text in (escape_percent(PLAIN), escape_percent(PLAIN).lower()):
        assert Redactor([PLAIN]).redact_text(f"x={text} y") == f"x={MARK} y"


def test_start_of_a_hidden_secret_before_a_cut_is_removed():
    shown = "\u200b".join(PLAIN[:9])
    assert KNOWN.remove_from(f"one \u2026 <{shown}\u2026 (+9)".encode()) == f"one \u2026 <{MARK}\u2026 (+9)".encode()


HIDING = st.sampled_from(["{}", "\u200b{}", "{}\u2060", "%{:02x}", "%{:02X}", "\\u{:04x}"])
AROUND = st.text(st.sampled_from('ab"\\/%u00é\u200b {}'), max_size=8)


@given(st.lists(st.tuples(AROUND, st.lists(HIDING, min_size=len(PLAIN), max_size=len(PLAIN))), max_size=3), AROUND)
def test_no_way_to_hide_a_secret_leaves_it_readable(hidden, last):
    spelled = [
        "".join(way.format(ord(letter) if "0" in way else letter) for way, letter in zip(ways, PLAIN, strict=True))
        for _, ways in hidden
    ]
    document = "".join(f"{before}<{text}>" for (before, _), text in zip(hidden, spelled, strict=True)) + last
    expected = "".join(f"{before}<{MARK}>" for before, _ in hidden) + last
    found = KNOWN.remove_from(document.encode()).decode()
    assert remove_invisible(found) == remove_invisible(expected)  # those around a secret may stay


@pytest.mark.parametrize("text", ["\\", "%", "%4", "\\u", "\u200b", "%e2%80%8b", "s3cr3t/o", "s3cr3t/o\u200b"])
def test_a_long_document_takes_time_by_its_length(text):
    began = time.thread_time()
    document = (text * (500_000 // len(text))).encode()
    assert KNOWN.remove_from(document) == document
    assert time.thread_time() - began < 5


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
