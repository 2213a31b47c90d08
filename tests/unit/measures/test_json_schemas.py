import time

import pytest

from evalgate.measures.values.json_values import Schema, SchemaError


def test_schema__names_the_place_and_the_keyword():
    schema = Schema({"type": "object", "properties": {"id": {"type": "integer"}}})
    assert schema.first_difference({"id": 1}) is None
    assert schema.first_difference({"id": "x"}) == "`id` fails `type`"


@pytest.mark.parametrize("schema", [{"type": "objec"}, {"pattern": "("}, {"$ref": "http://127.0.0.1:9/schema.json"}])
def test_schema__that_is_invalid_or_must_be_fetched_is_refused(schema):
    with pytest.raises(SchemaError):
        Schema(schema)


def test_schema__a_pattern_in_it_can_not_hang_the_gate():
    start = time.monotonic()
    assert Schema({"pattern": r"^(a+)+\1$"}).first_difference("a" * 60 + "!") is not None
    assert time.monotonic() - start < 5
