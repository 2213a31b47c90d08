from __future__ import annotations

import pytest

from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.spans.encodings.values import (
    decode_attributes,
    decode_value,
    parse_id,
    parse_nanos,
    parse_scaled,
    parse_time,
    require_id,
)
from evalgate.errors import TraceError


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("0AF7651916CD43DD8448EB211C80319C", "0af7651916cd43dd8448eb211c80319c"),
        ("0xb7ad6b7169203331", "b7ad6b7169203331"),
        ("CvdlGRbNQ92ESOshHIAxnA==", "0af7651916cd43dd8448eb211c80319c"),
        ("t61rcWkgMzE=", "b7ad6b7169203331"),
        ("adot-Trace-1", "adot-trace-1"),
        ("twelve chars", "twelve chars"),
        ("not base 64=", "not base 64="),
        (12, "12"),
        (None, None),
        ("", None),
        ("0000000000000000", None),
        ("0x0", None),
    ],
)
def test_an_id_is_lower_case_text_however_it_is_written(written, known):
    assert parse_id(written, "id") == known


@pytest.mark.parametrize("written", [1.5, True, [], {}, "x" * 513])
def test_an_invalid_id_is_refused(written):
    with pytest.raises(FieldError, match=r"^id is"):
        parse_id(written, "id")


def test_a_missing_id_is_named():
    with pytest.raises(FieldError, match=r"^spanId is missing$"):
        require_id("0" * 16, "spanId")


@pytest.mark.parametrize(
    ("written", "ns"),
    [
        ("1795213581523037149", 1795213581523037149),
        (1795213581523037149, 1795213581523037149),
        (1777555053780274700, 1777555053780274700),
        ("0", None),
        (0, None),
        (None, None),
    ],
)
def test_nanoseconds_are_digits_or_a_number(written, ns):
    assert parse_nanos(written, "t") == ns


@pytest.mark.parametrize("written", [-1, "-1", 2**63, 1e300, "now", "²", [], True, "9" * 30])
def test_nanoseconds_out_of_range_are_refused(written):
    with pytest.raises(FieldError, match=r"^t is (not a valid time|out of range)"):
        parse_nanos(written, "t")


@pytest.mark.parametrize(
    ("written", "ns"),
    [
        ([1770131994, 23000000], 1770131994023000000),
        (1700000000000000000, 1700000000000000000),
        ("1700000000000000000", 1700000000000000000),
        (1700000000000000, 1700000000000000000),
        (1700000000123, 1700000000123000000),
        (1700000000, 1700000000000000000),
        (1700000000.25, 1700000000250000000),
        ("1700000000.25", 1700000000250000000),
        ("2023-11-14T22:13:20Z", 1700000000000000000),
        ("2023-11-14T23:13:20.123456+01:00", 1700000000123456000),
        ("2023-11-14T22:13:20.123456789Z", 1700000000123456789),
        ("2023-11-14T22:13:20", 1700000000000000000),
        (None, None),
        ("", None),
        (0, None),
    ],
)
def test_the_unit_of_a_time_follows_from_type_and_size(written, ns):
    assert parse_time(written, "t") == ns


@pytest.mark.parametrize(
    "written",
    [
        [1],
        [1, 2, 3],
        [1, "2"],
        [-1, 0],
        "yesterday",
        "0001-01-01T00:00:00+23:59",
        -5,
        1e40,
        {},
        True,
        "1969-01-01",
    ],
)
def test_an_invalid_time_is_refused(written):
    with pytest.raises(FieldError, match=r"^t is"):
        parse_time(written, "t")


@pytest.mark.parametrize("written", [-1, 1e300, "x", [], True, "NaN"])
def test_an_invalid_duration_is_refused(written):
    with pytest.raises(FieldError, match=r"^d is"):
        parse_scaled(written, 1000, "d")


@pytest.mark.parametrize(
    ("held", "plain"),
    [
        ({"stringValue": "x"}, "x"),
        ({"string_value": "x"}, "x"),
        ({"intValue": "188"}, 188),
        ({"intValue": 188}, 188),
        ({"int_value": "-3"}, -3),
        ({"doubleValue": 0.5}, 0.5),
        ({"doubleValue": "0.5"}, 0.5),
        ({"doubleValue": "NaN"}, None),
        ({"doubleValue": "-Infinity"}, None),
        ({"boolValue": False}, False),
        ({"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "a"}]}}, [1, "a"]),
        ({"arrayValue": {}}, []),
        ({"kvlist_value": {"values": [{"key": "k", "value": {"boolValue": True}}]}}, {"k": True}),
        ({"bytesValue": "AAECAw=="}, "(6 bytes)"),
        ({}, None),
        (None, None),
        ({"somethingNew": 1}, {"somethingNew": 1}),
        ("plain", "plain"),
    ],
)
def test_a_wrapped_value_is_unwrapped(held, plain):
    assert decode_value(held, "v") == plain


@pytest.mark.parametrize(
    "held",
    [
        {"intValue": "1.5"}, {"intValue": "x"}, {"intValue": True}, {"intValue": "9" * 30}, {"doubleValue": []},
        {"stringValue": 5}, {"boolValue": "true"}, {"bytesValue": 5}, {"arrayValue": []}, {"arrayValue": {"values": 5}},
    ],
)  # fmt: skip
def test_a_value_of_another_type_than_its_wrapping_is_refused(held):
    with pytest.raises(FieldError, match=r"^v\."):
        decode_value(held, "v")


def test_attributes_name_the_one_that_cannot_be_read():
    with pytest.raises(FieldError, match=r"^a\[1\]\.value\.intValue is not a number$"):
        decode_attributes([{"key": "x", "value": {"stringValue": ""}}, {"key": "y", "value": {"intValue": "?"}}], "a")
    with pytest.raises(FieldError, match=r"^a\[0\] is not an object with a `key`$"):
        decode_attributes([{"value": {"stringValue": ""}}], "a")


def test_a_key_may_appear_twice_if_its_values_are_equal():
    one, other = ({"key": "x", "value": {"stringValue": text}} for text in ("1", "2"))
    assert decode_attributes([one, one], "a") == {"x": "1"}
    with pytest.raises(FieldError, match=r"^a\[2\] has `x` twice, with different values$"):
        decode_attributes([one, one, other], "a")


@pytest.mark.parametrize("kind", ["arrayValue", "kvlistValue"])
def test_values_nested_too_deep_are_refused(kind):
    value = {"stringValue": "x"}
    for _ in range(80):
        inner = [value] if kind == "arrayValue" else [{"key": "k", "value": value}]
        value = {kind: {"values": inner}}
    with pytest.raises(TraceError, match="more than 64 levels"):
        decode_value(value, "v")


def test_a_plain_value_nested_too_deep_is_refused():
    value = "x"
    for _ in range(80):
        value = [value]
    with pytest.raises(TraceError, match="more than 64 levels"):
        decode_attributes({"k": value}, "a")
