from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.formats.core.strict_json import (
    decode,
    decode_leniently,
    make_printable,
    require_shallow,
)
from evalgate.errors import TraceError

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_a_json_text_without_duplicates_is_its_value_however_it_is_written(value, ascii_only, indent):
    written = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert decode(written.encode("utf-8", "surrogatepass")) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":1,"a":1}',
        '{"x":{"b":"k:v","b":"k"}}',
        '{ "a" : 1, "a" : "::" }',
        '{"a":1,"a":"\\u003a"}',
        '{"a":1,"b":"\\u003A","a":2}',
        '{"a":1,"\\u0061":2}',
        '{"a":1.0E2,"a":100.0,"bbbbb":1e2}',
        '[{"a":[{"k":1,"k":[]}]}]',
    ],
)
def test_a_duplicate_key_is_refused_however_it_is_hidden(text):
    with pytest.raises(TraceError, match=r"the key `\w+` appears twice in one object"):
        decode(text.encode())


@given(st.dictionaries(st.text(), SCALARS, min_size=1, max_size=5), st.data())
def test_a_duplicate_anywhere_is_found(value, data):
    key = data.draw(st.sampled_from(sorted(value)))
    again = data.draw(SCALARS)
    members = [*value.items(), (key, again)]
    body = ",".join(f"{json.dumps(name)}:{json.dumps(member)}" for name, member in members)
    text = f"{{{body}}}".encode()
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return
    with pytest.raises(TraceError, match="appears twice"):
        decode(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"a":NaN}', "NaN and Infinity are not valid JSON, at column 6"),
        (b'{"a":-Infinity}', "NaN and Infinity are not valid JSON"),
        (b'{"a":1e999}', "a number is too large"),
        (b'{"a":' + b"1" * 5000 + b"}", "a number is too large"),
        (b'{"a":', "the JSON ends unexpectedly, at column 6"),
        (b'{"a":1}\n{', "not valid JSON, at line 2, column 1"),
        (b'{"a":"\xff"}', "byte 7 is not UTF-8"),
        (b"{'a': 1}", "not valid JSON, at column 2"),
    ],
)
def test_invalid_json_is_refused_with_the_kind_of_error_and_its_position(text, message):
    with pytest.raises(TraceError) as caught:
        decode(text)
    assert message in str(caught.value)


def test_depth_is_counted_from_the_outermost_value():
    at_limit, over_limit = orjson.loads("[" * 64 + "]" * 64), orjson.loads("[" * 65 + "]" * 65)
    require_shallow(at_limit)
    with pytest.raises(TraceError, match="more than 64 levels deep"):
        require_shallow(over_limit)
    with pytest.raises(TraceError):
        require_shallow(at_limit, levels_above=1)


def test_a_flat_object_below_the_last_level_is_shallow():
    require_shallow({"a": 1}, levels_above=63)


@pytest.mark.parametrize("depth", [300, 1000, 5000])
def test_deeply_nested_lists_are_refused_without_recursion(depth):
    with pytest.raises(TraceError):
        require_shallow(decode(b"[" * depth + b"]" * depth))


def test_lenient_reading_keeps_unambiguous_fields():
    found = decode_leniently(b'{"id":"a","id":"b","trial":1,"trial":1,"cost":NaN}')
    assert set(found) == {"trial", "cost"}
    assert decode_leniently(b'{"id":') is None
    assert decode_leniently(b"[" * 100_000) is None


def test_untrusted_text_is_shown_short_and_printable():
    assert make_printable("a\x1b[31m\u202e") == "a?[31m?"
    assert len(make_printable("x" * 1000)) == 43


def test_a_secret_in_a_key_is_not_shown_in_part():
    key = f"{'k' * 9} AIza{'Sy0' * 11}ab"
    assert "Sy0" not in make_printable(f"{key} and more")
    with pytest.raises(TraceError) as caught:
        decode(f'{{"{key}": 1, "{key}": 2}}'.encode())
    assert "Sy0" not in str(caught.value)
