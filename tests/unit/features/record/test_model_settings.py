"""Which settings of the requests a trace names, beside model and prompt."""

from __future__ import annotations

import pytest

from evalgate.features.record.adapters.exchanges.model_settings import join_settings, read_settings


@pytest.mark.parametrize(
    ("body", "settings"),
    [
        ({"model": "m", "messages": [], "seed": 4, "user": "u-1"}, {}),
        ({"temperature": 0, "top_p": 1.0}, {"temperature": "0", "top_p": "1"}),
        ({"temperature": 0.20, "max_tokens": 5}, {"temperature": "0.2", "max_tokens": "5"}),
        ({"reasoning": {"summary": "auto", "effort": "low"}}, {"reasoning": '{"effort":"low","summary":"auto"}'}),
        ({"reasoning_effort": "high", "temperature": None}, {"reasoning_effort": "high"}),
        ({"stop": ["a b", "c"]}, {"stop": '["a_b","c"]'}),
        ({"stop": "x" * 500}, {"stop": "x" * 80 + "\u2026_(420_more_characters)"}),
    ],
)
def test_what_the_model_is_asked_with(body, settings):
    assert read_settings(body) == settings


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        ([], "unset"),
        ([{}, {}], "unset"),
        ([{"temperature": "2", "max_tokens": "5"}], "max_tokens=5 temperature=2"),
        ([{"temperature": "0"}, {}, {"temperature": "0"}], "temperature=0|unset"),
        ([{"max_tokens": str(number)} for number in range(6)], "max_tokens=0|1|2|3|4|\u2026"),
    ],
)
def test_calls_that_differ_are_named_with_each_value(calls, text):
    assert join_settings(calls) == text
