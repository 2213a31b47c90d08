"""JSON Schemas of the documents people write and read, generated from the types that parse them."""

from __future__ import annotations

import re
from collections import abc
from typing import TYPE_CHECKING, Any, Literal, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from msgspec import Struct, UnsetType
from msgspec.structs import fields as fields_of

from evalgate.application.judge.property_texts import find_text
from evalgate.errors import SettingError
from evalgate.evaluators.core.operators import MEANINGS, OPERATORS, resolve_alias
from evalgate.evaluators.core.registry import BUILT_IN_TYPES, built_in_class, evaluator_class, plugin_types
from evalgate.evaluators.core.shorthands import COMMON
from evalgate.evaluators.kinds.texts import TextEvaluator
from evalgate.measures.values.json_values import ALIASES
from evalgate.models.trace.trace_document import trace_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DRAFT = "https://json-schema.org/draft/2020-12/schema"
ASSERTION = {"$ref": "#/$defs/assertion"}


def schema(kind: str, *, with_own: bool = False) -> dict[str, Any]:
    """The schema of one document: suite, project, trace or results; `with_own` adds plugin evaluators.

    Raises SettingError for a plugin evaluator that no JSON Schema can describe.
    """
    made = _MAKERS[kind](plugin_types() if with_own else ())
    return {"$schema": DRAFT, "$id": f"urn:evalgate:schema:{kind}:1", **made, "title": f"EvalGate {kind}"}


def _suite(own: Sequence[str]) -> dict[str, Any]:
    from evalgate.suite.suite_file import SuiteFile

    return describe_properties(_with_assertions(_with_goldens(_with_custom(SuiteFile.model_json_schema())), own))


def _with_custom(made: dict[str, Any]) -> dict[str, Any]:
    """Adds the schema of `custom`: the models do not define it, since it is parsed only if present."""
    from evalgate.suite.custom_file import CustomEntry

    found = CustomEntry.model_json_schema()
    shared = {**made.get("$defs", {}), **found.pop("$defs", {}), "CustomEntry": found}
    made["$defs"] = dict(sorted(shared.items()))
    for holder in (made, shared.get("Defaults", {})):
        if "custom" in holder.get("properties", {}):
            form = {"anyOf": [{"$ref": "#/$defs/CustomEntry"}, {"type": "null"}], "default": None}
            holder["properties"]["custom"] = form
    return made


def _with_goldens(made: dict[str, Any]) -> dict[str, Any]:
    """Adds the schema of goldens: the model does not define it, since goldens are parsed only if present."""
    from evalgate.suite.golden_file import GoldenEntry, GoldenFilesEntry, GoldenSettings, GoldenStoreEntry

    shared = made.setdefault("$defs", {})
    for model in (GoldenEntry, GoldenFilesEntry, GoldenStoreEntry, GoldenSettings):
        found = model.model_json_schema()
        shared.update(found.pop("$defs", {}))
        shared[model.__name__] = found
    forms = [{"$ref": f"#/$defs/{name}"} for name in ("GoldenEntry", "GoldenFilesEntry", "GoldenStoreEntry")]
    made["properties"]["goldens"]["items"] = {"anyOf": forms}
    made["properties"]["golden"] = {"$ref": "#/$defs/GoldenSettings"}
    made["anyOf"] = [{"required": ["scenarios"]}, {"required": ["goldens"]}]
    return made


def _project(own: Sequence[str]) -> dict[str, Any]:
    from evalgate.suite.suite_file import ProjectFile

    return describe_properties(_with_assertions(_with_redact(_with_custom(ProjectFile.model_json_schema())), own))


def _with_redact(made: dict[str, Any]) -> dict[str, Any]:
    """Adds the schema of `redact`: the model does not define it, since it is parsed only if present."""
    from evalgate.suite.project_secrets import RedactEntry

    found = RedactEntry.model_json_schema()
    made.setdefault("$defs", {}).update(found.pop("$defs", {}))
    made["$defs"]["RedactEntry"] = found
    made["properties"]["redact"] = {"$ref": "#/$defs/RedactEntry"}
    return made


def _results(_: Sequence[str]) -> dict[str, Any]:
    from evalgate.models.results.results import ResultsDoc

    return _of_type(ResultsDoc)


def _trace(_: Sequence[str]) -> dict[str, Any]:
    return trace_schema()


_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _of_type(kind: Any) -> dict[str, Any]:
    """The schema of a document type: records, typed mappings, lists, unions and plain values."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _of_record(kind)
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        needed = [name for name in kind.__required_keys__ if get_origin(hints[name]) is not NotRequired]
        return _of_fields(get_type_hints(kind), needed)
    if kind in _SIMPLE or get_origin(kind) is Literal:
        return {"type": _SIMPLE.get(kind, "string")}
    arguments = [each for each in get_args(kind) if each is not UnsetType]
    if get_origin(kind) in {list, abc.Sequence}:
        return {"type": "array", "items": _of_type(arguments[0])}
    if get_origin(kind) is dict:
        return {"type": "object"}
    found = [_of_type(each) for each in arguments]
    return {"anyOf": found} if len(found) > 1 else found[0] if found else {}


def _of_record(kind: type[Struct]) -> dict[str, Any]:
    hints, fields = get_type_hints(kind), fields_of(kind)
    return _of_fields(
        {each.encode_name: hints[each.name] for each in fields}, [each.encode_name for each in fields if each.required]
    )


def _of_fields(fields: Mapping[str, Any], needed: Sequence[str]) -> dict[str, Any]:
    properties = {name: _of_type(each) for name, each in fields.items()}
    return {"type": "object", "properties": properties, "required": sorted(needed)}


def _with_assertions(made: dict[str, Any], own: Sequence[str]) -> dict[str, Any]:
    """Adds the schema of assertions: the model does not define it, since evaluators parse them."""
    kinds = [*_kinds(), *(_own_kind(number, name) for number, name in enumerate(own))]
    shared = made.setdefault("$defs", {})
    for each in kinds:
        shared.update(each.pop("$defs", {}))
    shared["assertion"] = {"anyOf": [*kinds, _params_form(own), *_operator_forms(), *_groups()]}
    for definition in (made, *made["$defs"].values()):
        assertions = definition.get("properties", {}).get("assertions")
        if assertions is not None:
            assertions["items"] = ASSERTION
    return made


def _kinds() -> list[dict[str, Any]]:
    found = [(kind, kind.model_json_schema()) for name in BUILT_IN_TYPES if (kind := built_in_class(name))]
    for kind, made in found:
        if kind.takes_tool_of == "scenario":
            made["required"].remove("tool")
    return [made for _, made in found]


def _own_kind(number: int, name: str) -> dict[str, Any]:
    """The schema of a plugin evaluator; its definitions get unique names."""
    found = evaluator_class(name)
    try:
        made = found.model_json_schema(ref_template=f"#/$defs/own{number}.{{model}}") if found else {}
    except Exception as error:  # noqa: BLE001  (untrusted code may raise anything)
        raise SettingError(f"no JSON Schema can be made of {name} ({type(error).__name__})") from None
    definitions = {f"own{number}.{each}": inner for each, inner in made.pop("$defs", {}).items()}
    return {**made, "$defs": definitions}


def _params_form(own: Sequence[str]) -> dict[str, Any]:
    """`{type, params: {...}}`: an evaluator's fields in a mapping, described elsewhere."""
    return {
        "type": "object",
        "title": "type and params",
        "description": "A type and its settings, which the evaluator checks.",
        "properties": {"type": {"enum": [*BUILT_IN_TYPES, *own]}, "params": {"type": "object"}, **_common()},
        "required": ["type", "params"],
    }


def _operator_forms() -> Iterator[dict[str, Any]]:
    """`{path, OP: value}`, and `{type: state, path, OP: value}`."""
    path = TextEvaluator.model_json_schema()["properties"]["path"]
    yield _operator_form("path and operator", "An expression over the trace, an operator, a value.", {"path": path})
    state = built_in_class("state")
    fields = state.model_json_schema()["properties"] if state else {}
    own = {name: fields[name] for name in ("type", "path", "part")}
    text = "An expression over the state after the run, an operator, a value."
    yield {**_operator_form("state, path and operator", text, own), "required": ["type", "path"]}


def _operator_form(title: str, description: str, own: Mapping[str, Any]) -> dict[str, Any]:
    values = {}
    for name in (*OPERATORS, *ALIASES):
        text, example = MEANINGS[resolve_alias(name)]
        values[name] = {"description": text, "examples": [example]}
    return {
        "type": "object",
        "title": title,
        "description": description,
        "properties": {**own, **_common(), **values},
        "oneOf": [{"required": [name]} for name in values],
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
            "title": next(iter(form)),
            "properties": {**form, **_common()},
            "required": list(form),
            "additionalProperties": False,
        }
        for form in forms
    ]


def _common() -> dict[str, Any]:
    from evalgate.evaluators.core.evaluator import EvaluatorSettings

    properties = EvaluatorSettings.model_json_schema()["properties"]
    return {name: properties[name] for name in COMMON}


_MAKERS = {"suite": _suite, "project": _project, "results": _results, "trace": _trace}


_WORD = re.compile("([A-Z])")
SHARED = "common."
"""Before the name of a setting that all evaluators share, under `$defs`."""


def describe_properties(made: dict[str, Any]) -> dict[str, Any]:
    """The schema with a description and an example of each property, and a default of each that may be absent.

    The settings that all evaluators share are defined once. Properties of plugin evaluators keep what their
    authors wrote.
    """
    _describe_object(made["title"], made)
    for name, definition in made["$defs"].items():
        if "." in name:  # of a plugin
            continue
        _describe_object(name, definition)
        definition["title"] = _WORD.sub(r" \1", name.removesuffix("Entry")).strip().lower()
    shared: dict[str, Any] = {}
    for form in made["$defs"]["assertion"]["anyOf"]:
        _describe_assertion(form, shared)
    made["$defs"].update({f"{SHARED}{name}": definition for name, definition in shared.items()})
    return made


def _describe_assertion(form: dict[str, Any], shared: dict[str, Any]) -> None:
    """Describes one form of an assertion, with its type as the model, and moves settings of all forms to `shared`."""
    properties = form["properties"]
    kind = properties.get("type", {}).get("const")
    if kind is None:
        _describe_object("", form)
        for inner in properties.values():
            _describe_object("", inner)
    else:
        form["title"] = kind
        for name, given in properties.items():
            properties[name] = _tidy(given, is_required=name in form.get("required", ()))
        properties["type"] |= {"description": _join_lines(form.get("description", "")), "examples": [kind]}
    for name in COMMON:
        if properties[name] == shared.setdefault(name, properties[name]):
            properties[name] = {"$ref": f"#/$defs/{SHARED}{name}"}


def _describe_object(model: str, definition: dict[str, Any]) -> None:
    required = definition.get("required", ())
    for name, given in definition.get("properties", {}).items():
        definition["properties"][name] = _describe(model, name, given, is_required=name in required)


def _describe(model: str, name: str, given: dict[str, Any], *, is_required: bool) -> dict[str, Any]:
    text = None if "examples" in given else find_text(model, name)
    found = given if text is None else given | {"description": text[0], "examples": [text[1]]}
    return _tidy(found, is_required=is_required)


def _tidy(given: dict[str, Any], *, is_required: bool) -> dict[str, Any]:
    """A property as editors show it: without a title, with a default if it may be absent."""
    texts = {key: given[key] for key in ("description", "examples") if key in given}
    described = {key: value for key, value in given.items() if key not in ("title", *texts)} | texts
    if not is_required and "default" not in described and "const" not in described:
        described["default"] = {"array": [], "object": {}}.get(str(given.get("type")))
    if isinstance(described.get("default"), dict):
        described["default"] = {}  # an object of defaults only
    return described


def _join_lines(text: str) -> str:
    """A docstring as paragraphs, one a line."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
