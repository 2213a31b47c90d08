"""Misspelt keywords of JSON Schemas in suites, and keywords that are the user's own."""

from __future__ import annotations

from typing import Any

import pytest
from assess_assertion import outcome
from builders import make_trace
from command import WRONG_INPUT, evalgate
from hostile.suite_edits import suite, trace, write

from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.suite_schemas import compile_schema

MISSPELT = {
    "require": "required",
    "propertees": "properties",
    "maxmum": "maximum",
    "tpye": "type",
    "additional_properties": "additionalProperties",
    "one_of": "oneOf",
    "MaxLength": "maxLength",
    "min": "minimum",
    "regex": "pattern",
}
INSIDE: list[Any] = [
    {"properties": {"a": {"maxmum": 1}}},
    {"allOf": [{"items": {"maxmum": 1}}]},
    {"not": {"maxmum": 1}},
    {"$defs": {"a": {"if": {"maxmum": 1}}}},
]
STRICT: list[tuple[Any, Any, bool]] = [
    ({"properties": {"a": {"maximum": 9}}}, {"a": "5000"}, False),
    ({"properties": {"a": {"maximum": 9}}}, {"a": 5}, True),
    ({"properties": {"a": {"maximum": 9}}}, {"a": None}, True),
    ({"properties": {"a": {"type": ["string", "number"], "maximum": 9}}}, {"a": "5000"}, True),
    ({"properties": {"a": {"anyOf": [{"maximum": 9}, {"type": "string"}]}}}, {"a": "5000"}, True),
    ({"not": {"properties": {"a": {"minimum": 9}}}}, {"a": "5000"}, False),
    ({"properties": {"a": {"format": "email"}}}, {"a": "5000"}, False),
    ({"properties": {"a": {"format": "email"}}}, {"a": "ann@example.com"}, True),
    ({"properties": {"a": {"format": "date"}}}, {"a": "2026-11-29"}, True),
    ({"properties": {"a": {"format": "int32"}}}, {"a": 5}, True),
    ({"properties": {"a": {"format": "date"}}}, {"a": 20261129}, False),
    ({"required": ["a"]}, ["a"], False),
    ({"required": ["a"]}, None, False),
    ({"properties": {"a": {"required": ["b"]}}}, {"a": "b"}, False),
    ({"properties": {"a": {"required": ["b"]}}}, {"a": None}, True),
    ({"properties": {"a": {"pattern": "^A"}}}, {"a": 5}, False),
    ({"properties": {"a": {"minLength": 1, "minimum": 1}}}, {"a": 5}, True),
    ({"items": {"pattern": "^A"}}, "B", False),
    ({"items": {"pattern": "^A"}}, ["A", "A7"], True),
    ({"$defs": {"n": {"maximum": 9}}, "properties": {"a": {"$ref": "#/$defs/n"}}}, {"a": "5000"}, False),
    ({"$defs": {"n": {"maximum": 9}}, "not": {"$ref": "#/$defs/n"}}, "5000", False),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1}, True),
    ({"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}}, {"a": 1, "b": 2}, True),
]


@pytest.mark.parametrize(("schema", "value", "fits"), STRICT)
def test_a_strict_schema_judges_formats_and_no_text_as_a_number(schema: Any, value: Any, fits: bool) -> None:
    assert (compile_schema(schema, "schema", is_strict=True).first_difference(value) is None) is fits


ANSWERS = [
    ('{"status": "paid", "amount": "5000"}', False),
    ('["status"]', False),
    ('"status"', False),
    ('{"status": "paid", "amount": 42, "day": "soon"}', False),
    ('{"status": "paid", "amount": 42, "day": "2026-11-29"}', True),
    ('{"status": "paid", "amount": null}', True),
    ('{"status": "paid"}', True),
]
ANSWER = {"required": ["status"], "properties": {"amount": {"maximum": 100}, "day": {"format": "date"}}}


@pytest.mark.parametrize(("answer", "fits"), ANSWERS)
@pytest.mark.parametrize(
    "check", [{"type": "is_json", "schema": ANSWER}, {"path": "response.json", "matches_schema": ANSWER}]
)
def test_a_schema_of_an_answer_is_strict_and_not_where_it_must_not_fit(check: Any, answer: str, fits: bool) -> None:
    found = make_trace(response=answer)
    assert outcome(check, found) == ("passed" if fits else "failed")
    assert outcome({"not": check}, found) == "failed", "JSON Schema lets each of these through"


def test_a_misspelt_format_is_an_error() -> None:
    with pytest.raises(FieldProblemError, match="no format"):
        compile_schema({"properties": {"a": {"format": "emial"}}}, "schema")


HARMLESS: list[Any] = [
    True,
    {},
    {"x-require": 1, "nullable": True, "example": 1, "errorMessage": "no"},
    {"properties": {"require": {"type": "string"}, "maxmum": True}},
    {"const": {"maxmum": 1}, "enum": [{"maxmum": 1}], "default": {"maxmum": 1}, "examples": [{"maxmum": 1}]},
    {"type": "array", "prefixItems": [{"type": "number"}], "definitions": {"a": {}}},
]


@pytest.mark.parametrize("keyword", MISSPELT)
def test_a_misspelt_keyword_is_an_error_with_the_right_one(keyword):
    with pytest.raises(FieldProblemError) as caught:
        compile_schema({"type": "object", keyword: 1}, "schema")
    assert caught.value.problem.hint == f"did you mean `{MISSPELT[keyword]}`?"


@pytest.mark.parametrize("schema", INSIDE)
def test_a_misspelt_keyword_inside_is_an_error(schema):
    with pytest.raises(FieldProblemError, match=r"has no keyword .maxmum."):
        compile_schema(schema, "schema")


@pytest.mark.parametrize("schema", HARMLESS)
def test_a_schema_of_known_and_own_keywords_is_compiled(schema):
    compile_schema(schema, "schema")


@pytest.mark.parametrize(
    "check",
    [
        {"type": "tool_arguments", "tool": "lookup", "schema": {"require": ["amount"]}},
        {"type": "is_json", "schema": {"propertees": {}}},
        {"path": "response.content", "matches_schema": {"maxmum": 1}},
    ],
)
def test_a_suite_with_a_misspelt_keyword_is_invalid(tmp_path, check):
    write(tmp_path, {"evals/s.yaml": suite(check), "traces/a.json": trace("done")})
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert ran.code == WRONG_INPUT
    assert "did you mean" in ran.stderr, ran.stderr
