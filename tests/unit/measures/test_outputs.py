"""The output of a step, read as text, number and JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.values.outputs import OutputError, look_up, parse_path, read_json, read_number, to_text

KEYS = st.text(st.characters(exclude_characters=".]", exclude_categories=["Cs"]), min_size=1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def places(value, steps=()):
    """Every path into the value, with the value there."""
    yield steps, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*steps, str(key)))


@given(JSON)
def test_every_place_of_a_document_is_found_by_its_dotted_path(value):
    for steps, found in places(read_json(to_text(value))):
        path = ".".join(steps)
        assert look_up(value, parse_path(f".{path}")) == found
        if steps and path != ".":
            assert look_up(value, parse_path(path)) == found


@given(JSON)
def test_json_that_is_written_and_read_again_is_the_same(value):
    assert read_json(f"\ufeff {json.dumps(value)}\n") == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_that_is_written_and_read_again_is_the_same(value):
    assert float(read_number(f" {value!r}\t")) == value


@given(st.text())
def test_text_of_any_kind_is_read_or_refused(text):
    for read in (read_number, read_json):
        try:
            read(text)
        except OutputError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "before or after a dot"),
        ("..", "before or after a dot"),
        ("a..b", "before or after a dot"),
        (".a.", "before or after a dot"),
        ("a[0]", "digits between dots"),
    ],
)
def test_invalid_path_is_refused(path, message):
    with pytest.raises(ValueError, match=message):
        parse_path(path)


def test_output_of_megabytes_is_read_to_its_end():
    rows = [{"id": number, "name": "x" * 50} for number in range(50_000)]
    value = read_json(json.dumps({"rows": rows}))
    assert look_up(value, parse_path("rows.49999.id")) == 49_999
