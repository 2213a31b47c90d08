from __future__ import annotations

import pytest

from evalgate.measures.values.compact import hash_stable_text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("on 2026-01-01 at", "on 2025-12-31 at"),
        ("(2026-01-01T09:00:00Z)", "(2025-12-31 19:30:05.25+01:00)"),
        ("It is 9:05.", "It is 10:06:07."),
        ("user 0b9c6a3e-5f1d-4a51-9a55-3f0d6d0c2b11", "user 7E1f6a3e-0f1d-4a51-8a55-3f0d6d0c2b00"),
        ("key ghp_" + "a1B2" * 9, "key ghp_" + "c3D4" * 9),
        ("x" * 500_000 + "a", "x" * 500_000 + "b"),
    ],
)
def test_what_varies_between_runs_does_not_count(one, other):
    assert hash_stable_text(one) == hash_stable_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("at most 3 times", "at most 5 times"), ("up to $100", "up to $50"), ("v1.2", "v1.3"), ("a-1-b", "a-2-b")],
)
def test_other_numbers_and_words_do(one, other):
    assert hash_stable_text(one) != hash_stable_text(other)


def test_it_is_short_and_takes_any_text():
    assert hash_stable_text("\ud800 \x00") != hash_stable_text("")
    assert len(hash_stable_text("a")) == 16
