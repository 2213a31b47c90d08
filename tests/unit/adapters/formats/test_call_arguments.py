from __future__ import annotations

import pytest

from evalgate.adapters.formats.core.builder.conversation import read_arguments
from evalgate.errors import TraceError


@pytest.mark.parametrize(
    ("recorded", "value", "raw"),
    [
        ({"id": 42}, {"id": 42}, None),
        ('{"id": 42}', {"id": 42}, '{"id": 42}'),
        ("", {}, ""),
        ("  ", {}, "  "),
        (None, None, None),
        ("[1]", [1], "[1]"),
        ("5", 5, "5"),
    ],
)
def test_readable_arguments(recorded, value, raw):
    assert read_arguments(recorded) == (value, raw, None)


@pytest.mark.parametrize("recorded", ["{'id': 42}", '{"id": 42', '{"id":1,"id":2}', "N/A", "[" * 65 + "]" * 65])
def test_text_that_is_not_json_is_kept_with_the_reason(recorded):
    found = read_arguments(recorded)
    assert found.value is None
    assert found.raw == recorded
    assert found.error


def test_an_object_nested_too_deep_is_damage():
    deep: dict = {}
    for _ in range(70):
        deep = {"a": deep}
    with pytest.raises(TraceError, match="levels deep"):
        read_arguments(deep)
