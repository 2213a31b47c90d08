from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.values.json_stream import BATCH, PART, encode_in_parts

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=9)


@given(VALUES, st.sampled_from([1, BATCH, PART]))
def test_any_value__alone_and_often__is_written_as_it_is_whole(value, often):
    for each in (value, [value] * often, {"a": {"b": [value] * often}}):
        assert encode_in_parts(each) == orjson.dumps(each)


@pytest.mark.parametrize(
    "value",
    [
        "x" * (3 * PART + 1),
        'a"\\\n\u2028\U0001f389\x7f' * PART,
        [0, 1.5, None, True] * BATCH,
        ["text of some length"] * (3 * BATCH),
        [{"a": [i, str(i)]} for i in range(3 * BATCH)],
        {f"k{i}": {"x": "y" * 50} for i in range(BATCH)},
        {"k" * (2 * PART): "v"},
        [[], {}, ["x" * PART, []], {}],
    ],
    ids=["text", "escaped", "flat", "texts", "mappings", "keys", "long key", "empty"],
)
def test_a_large_value__is_written_as_it_is_whole(value):
    assert encode_in_parts(value) == orjson.dumps(value)


def test_a_large_text_within_a_tuple__is_never_encoded_at_once(monkeypatch):
    sizes = []
    dumps = orjson.dumps
    monkeypatch.setattr(orjson, "dumps", lambda value: sizes.append(len(str(value))) or dumps(value))
    value = [("user", "試" * 1_000_000), ("assistant", "ok")]
    assert encode_in_parts(value) == dumps(value)
    assert max(sizes) < 100_000
