"""JSON Schemas of the documents people write and read, made from the types that read them."""

from __future__ import annotations

from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from evalgate.evaluators.operators import ALIASES, OPERATORS
from evalgate.evaluators.registry import KINDS, evaluator_class
from evalgate.evaluators.shorthands import DEFAULT_PATH
from evalgate.models.trace_schema import trace_schema

DRAFT = "https://json-schema.org/draft/2020-12/schema"
COMMON = ("name", "weight", "required", "on_missing", "negate")
ASSERTION = {"$ref": "#/$defs/assertion"}


def schema(kind: str) -> dict[str, Any]:
    """The schema of one document: suite, project, trace or results."""
    made = _MAKERS[kind]()
    return {"$schema": DRAFT, "title": f"EvalGate {kind}", **made}


def _suite() -> dict[str, Any]:
    from evalgate.suite.files import SuiteFile

    return _with_assertions(SuiteFile.model_json_schema())


def _project() -> dict[str, Any]:
    from evalgate.suite.files import ProjectFile

    return _with_assertions(ProjectFile.model_json_schema())


def _results() -> dict[str, Any]:
    from evalgate.models.results import ResultsDoc

    return _of_type(ResultsDoc)


_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _of_type(kind: Any) -> dict[str, Any]:
    """The schema of one of our document types: typed mappings, lists, unions and plain values."""
    if is_typeddict(kind):
        fields = {name: _of_type(each) for name, each in get_type_hints(kind).items()}
        return {"type": "object", "properties": fields, "required": sorted(kind.__required_keys__)}
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    arguments = get_args(kind)
    if get_origin(kind) is list:
        return {"type": "array", "items": _of_type(arguments[0])}
    if get_origin(kind) is dict:
        return {"type": "object"}
    if arguments:
        return {"anyOf": [_of_type(each) for each in arguments]}
    return {}


def _with_assertions(made: dict[str, Any]) -> dict[str, Any]:
    """Lists of assertions are open in the model, since the evaluators' own parser reads them."""
    kinds = _kinds()
    shared = made.setdefault("$defs", {})
    for each in kinds:
        shared.update(each.pop("$defs", {}))
    shared["assertion"] = {"anyOf": [*kinds, _params_form(), _operator_form(), *_groups()]}
    for definition in (made, *made["$defs"].values()):
        assertions = definition.get("properties", {}).get("assertions")
        if assertions is not None:
            assertions["items"] = ASSERTION
    return made


def _kinds() -> list[dict[str, Any]]:
    return [found.model_json_schema() for name in KINDS if (found := evaluator_class(name)) is not None]


def _params_form() -> dict[str, Any]:
    """`{type, params: {...}}`: a type's own fields in a mapping; what they may be is not repeated."""
    return {
        "type": "object",
        "description": "A type and its settings, which the evaluator checks.",
        "properties": {"type": {"enum": list(KINDS)}, "params": {"type": "object"}, **_common()},
        "required": ["type", "params"],
    }


def _operator_form() -> dict[str, Any]:
    """`{path, OP: value}`."""
    names = [*OPERATORS, *ALIASES]
    return {
        "type": "object",
        "description": "An expression over the trace, an operator, a value.",
        "properties": {
            "path": {"type": "string", "default": DEFAULT_PATH},
            **_common(),
            **{name: {} for name in names},
        },
        "oneOf": [{"required": [name]} for name in names],
        "additionalProperties": False,
    }


def _groups() -> list[dict[str, Any]]:
    members = {"type": "array", "minItems": 1, "items": ASSERTION}
    count = {"type": "integer", "minimum": 1}
    at_least = {"type": "object", "properties": {"k": count, "of": members}, "required": ["k", "of"]}
    forms: list[dict[str, Any]] = [
        {"not": ASSERTION},
        {"all_of": members},
        {"any_of": members},
        {"at_least": at_least},
        {"when": ASSERTION, "then": members},
    ]
    return [
        {
            "type": "object",
            "properties": {**form, **_common()},
            "required": list(form),
            "additionalProperties": False,
        }
        for form in forms
    ]


def _common() -> dict[str, Any]:
    from evalgate.evaluators.base import Settings

    properties = Settings.model_json_schema()["properties"]
    return {name: properties[name] for name in COMMON}


_MAKERS = {"suite": _suite, "project": _project, "results": _results, "trace": trace_schema}
