"""Text that is a JSON document is shown as it is, cut, on one line, without a secret."""

from __future__ import annotations

import pytest

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
