"""Tests of tables of recorded fields."""

from __future__ import annotations

from typing import Any

import pytest

from evalgate.adapters.formats.core.fields import FieldError, FieldTable, count, one_of, required_text, text

TABLE = FieldTable(
    name=required_text,
    model=(text, "model_name", "model"),
    cached=(count, "details.cached_tokens", "cached"),
    status=one_of("ok", "error"),
)


def test_reads_each_field_by_its_name_or_the_first_of_its_keys_that_has_a_value() -> None:
    recorded = {"name": "a", "model": "m", "details": {"cached_tokens": 3}, "cached": 4, "other": [1]}
    assert TABLE.read(recorded) == {"name": "a", "model": "m", "cached": 3, "status": "ok"}
    assert TABLE.read({"name": "a", "model_name": "n", "model": "m", "details": None, "cached": 4}) == {
        "name": "a",
        "model": "n",
        "cached": 4,
        "status": "ok",
    }
    assert TABLE.read_each([{"name": "b"}], "")[0]["name"] == "b"
    assert FieldTable(name=text).read(None) == {"name": None}


def test_lists_the_keys_that_an_object_may_have() -> None:
    assert TABLE.keys == {"name", "model_name", "model", "details", "cached", "status"}


@pytest.mark.parametrize(
    ("recorded", "message"),
    [
        ({}, "calls[1].name is missing"),
        ({"name": "a", "model_name": 1}, "calls[1].model_name is not text"),
        ({"name": "a", "model": 1}, "calls[1].model is not text"),
        ({"name": "a", "details": {"cached_tokens": -1}}, "calls[1].details.cached_tokens is negative"),
        ({"name": "a", "details": 1}, "calls[1].details is not an object"),
        ({"name": "a", "status": "no"}, "calls[1].status is not one of ok, error"),
        ([], "calls[1] is not an object"),
    ],
)
def test_names_the_field_that_cannot_be_read(recorded: Any, message: str) -> None:
    with pytest.raises(FieldError) as error:
        TABLE.read_each([{"name": "a"}, recorded], "calls")
    assert str(error.value) == message
