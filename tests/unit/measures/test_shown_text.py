"""Text that is a JSON document is shown as it is, cut, on one line, without a secret."""

from __future__ import annotations

import pytest

from evalgate.measures.text.plain_text import is_visible
from evalgate.measures.values.json_values import mark_text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ('{"items": [1]}', '`{"items": [1]}`'),
        ('[\n  "a",\n  2]', '`[ "a", 2]`'),
        ('{"a": "`b`"}', '`` {"a": "`b`"} ``'),
        ("{name} was here", '`"{name} was here"`'),
        ('say "hello"', '`"say \\"hello\\""`'),
        ({"a": 1}, '`{"a":1}`'),
        ("[\ud800]", "`[?]`"),
        ("[" + "1," * 100, "`[1,1,1,1,1,1,1,1,1,1\u2026 (181 more characters)`"),
        ("[1, 2, 3, 4, 5, 6, 7]", "`[1, 2, 3, 4, 5, 6, 7]`"),
        ("[" + " " * 100_000 + "1]", "`[\u2026 (95,963 more characters)`"),
        ("[" + "1," * 100_000, "`[1,1,1,1,1,1,1,1,1,1\u2026 (199,981 more characters)`"),
    ],
)
def test_a_text_is_shown_without_escapes_if_it_is_a_document(value: object, shown: str) -> None:
    assert mark_text(value, 20) == shown


def test_a_secret_at_the_cut_is_not_shown() -> None:
    key = "sk-ant-api03-" + "a1B2" * 23 + "-AA"
    assert "a1B2" not in mark_text(f'{{"key": "{key}"}}', 40)


@pytest.mark.parametrize(
    "text", ["", " ", "\u200b", "\u2800", "\ufffc", "\ufffd", "\ue000", "\u0332", "\u20e3", "\U000f0000"]
)
def test_what_shows_nothing_is_not_visible(text):
    assert not is_visible(text)


@pytest.mark.parametrize(
    "text", ["a", ".", "\u2705", "1\ufe0f\u20e3", "e\u0301", "\u0915\u093e", "\ue000 4", "\U0001f1e9\U0001f1ea"]
)
def test_a_text_with_a_sign_is_visible(text):
    assert is_visible(text)
