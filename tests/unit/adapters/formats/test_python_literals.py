from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.formats.core.python_literals import (
    MAX_CHARS,
    parse_literal,
    parse_object_fields,
    unwrap_text,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('"[1, 2]"', [1, 2]),
        ('"hi"', "hi"),
        ("{'a': None, 'b': (1, True)}", {"a": None, "b": [1, True]}),
        ("[{'x': 'it\\'s'}]", [{"x": "it's"}]),
        ("{1: 2.5}", {"1": 2.5}),
    ],
)
def test_text_that_holds_a_value_becomes_it(text, value):
    assert unwrap_text(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "5", "true", "None", "Hi {name}", "[see above]", "{not: python}", "{'a': open('x')}"),
        *("{'a': 1e999}", "{'a': b'x'}", "{'a': {1}}", "[" * 100_000, "['\\d',", "(", '{"a": 1, "a": 2}'),
        *(f"[{10**30}, 'x']", "['\\ud800']", "{'\\udfff': 1}"),
    ],
)
def test_other_text_is_unchanged(text):
    assert unwrap_text(text) == text


def test_a_literal_longer_than_the_limit_is_not_parsed():
    assert parse_literal(str(["x" * MAX_CHARS])) is None
    assert parse_literal(str(["x" * (MAX_CHARS // 2)])) is not None


def test_values_that_are_not_text_are_unchanged():
    assert unwrap_text({"a": "[1]"}) == {"a": "[1]"}
    assert unwrap_text(None) is None


def test_fields_of_an_object_are_read_and_objects_within_it_left_out():
    shown = (
        "role='assistant' content=None tool_calls=[{'id': 'c 1', 'function': {'name': 'f'}}] "
        "metrics=Metrics(a=1, b={'x': None}) timer=<a.Timer object at 0x1> note=\"it's\" n=-2"
    )
    assert parse_object_fields(shown) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c 1", "function": {"name": "f"}}],
        "note": "it's",
        "n": -2,
    }


@pytest.mark.parametrize("text", ["", "role", "role=", "a b=1", "role='x", "=1", "<obj>", "x" * (MAX_CHARS + 1)])
def test_text_without_complete_fields_is_not_an_object(text):
    assert not parse_object_fields(text)


@given(st.text(alphabet="ab=' \"\\[](){}<>,:1N", max_size=60))
def test_any_text_is_read_without_a_crash(text):
    unwrap_text(text)
    parse_object_fields(text)
    parse_object_fields(f"role={text}")
