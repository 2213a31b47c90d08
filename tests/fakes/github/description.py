"""GitHub's own description of its API, trimmed to what EvalGate uses: operations, and what their documents hold."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FILE = Path(__file__).with_name("api.json")
WIDE = {"path", "ref", "basehead"}
"""Parts of a path that may hold a slash."""


@cache
def description() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))


@cache
def operations() -> dict[str, dict[str, Any]]:
    """By id: `method`, `pattern` of the path, and what is described."""
    found = {}
    for path, item in description()["paths"].items():
        for method, described in item.items():
            pattern = re.compile(re.sub(r"\\\{(\w+)\\\}", _part, re.escape(path)))
            found[described["operationId"]] = {**described, "method": method.upper(), "pattern": pattern}
    return found


def _part(name: re.Match[str]) -> str:
    return f"(?P<{name[1]}>{'.+' if name[1] in WIDE else '[^/]+'})"


def find_operation(method: str, path: str) -> tuple[str, dict[str, str]]:
    """The operation and the parts of the path that it names; empty for what isn't described."""
    wanted = "GET" if method == "HEAD" else method
    fits = [
        (name, match.groupdict())
        for name, operation in operations().items()
        if operation["method"] == wanted and (match := operation["pattern"].fullmatch(path))
    ]
    return min(fits, key=lambda fit: len("".join(fit[1].values())), default=("", {}))  # the most literal one


def request_problems(operation: str, query: dict[str, str], body: bytes) -> list[str]:
    """What a request has that is not as described."""
    described = operations()[operation]
    parameters = {each["name"]: each for each in map(_resolve, described["parameters"]) if each["in"] == "query"}
    problems = [f"no query parameter {name}" for name in query if name not in parameters]
    for name, text in query.items():
        if name in parameters and not _is_described(_resolve(parameters[name]["schema"]), text):
            problems.append(f"query parameter {name} is not {parameters[name]['schema']}")
    expected = described.get("requestBody")
    if expected is None:
        return [*problems, *(["takes no body"] if body else [])]
    return [*problems, *_body_problems(operation, expected, body)]


def _body_problems(operation: str, expected: dict[str, Any], body: bytes) -> list[str]:
    if not body:
        return ["needs a body"] if expected.get("required") else []
    schema = expected["content"]["application/json"]["schema"]
    document = json.loads(body)
    unknown = document.keys() - schema.get("properties", document).keys()
    return [
        *(error.message[:300] for error in _validator(f"{operation} request", schema).iter_errors(document)),
        *(f"no field {name}" for name in sorted(unknown)),
    ]


def _is_described(schema: dict[str, Any], text: str) -> bool:
    kinds = {"integer": r"-?\d+", "boolean": "true|false"}
    return re.fullmatch(kinds.get(schema.get("type", ""), "(?s).*"), text) is not None and text in schema.get(
        "enum", [text]
    )


def answer_problems(operation: str, status: int, document: Any) -> list[str]:
    """What the document of an answer has that is not as described."""
    answers = operations()[operation]["responses"]
    if str(status) not in answers:
        return [f"status {status} is not described"]
    schema = answers[str(status)]["content"]["application/json"]["schema"]
    return [
        f"{error.json_path}: {error.message[:200]}" for error in _validator(operation, schema).iter_errors(document)
    ]


def fill(schema: str, **known: Any) -> dict[str, Any]:
    """The smallest document of a schema with these values."""
    return {**copy.deepcopy(_smallest(schema)), **known}


@cache
def _smallest(schema: str) -> dict[str, Any]:
    return _example({**description()["schemas"][schema], "nullable": False})


def _example(schema: dict[str, Any]) -> Any:
    schema = _resolve(schema)
    if schema.get("nullable"):
        return None
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            return _example(schema[choice][0])
    if "allOf" in schema:
        return {name: value for part in schema["allOf"] for name, value in _example(part).items()}
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object" or "properties" in schema:
        return {name: _example(schema["properties"][name]) for name in schema.get("required", ())}
    plain = {"array": [], "integer": 1, "number": 1, "boolean": False}
    texts = {"date-time": "2026-01-01T00:00:00Z", "uri": "https://github.com/x"}
    return plain.get(schema.get("type", ""), texts.get(schema.get("format", ""), "x"))


def _resolve(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        kind, name = node["$ref"].split("/")[-2:]
        node = description()[kind][name]
    return node


_VALIDATORS: dict[str, Draft202012Validator] = {}


def _validator(name: str, schema: dict[str, Any]) -> Draft202012Validator:
    if name not in _VALIDATORS:
        whole = {**_as_json_schema(schema), "components": {"schemas": _all_schemas()}}
        _VALIDATORS[name] = Draft202012Validator(whole)
    return _VALIDATORS[name]


@cache
def _all_schemas() -> dict[str, Any]:
    return {name: _as_json_schema(schema) for name, schema in description()["schemas"].items()}


def _as_json_schema(schema: Any) -> Any:
    """OpenAPI's `nullable` as JSON Schema has it; alternatives that overlap, as GitHub's do, need not exclude."""
    if isinstance(schema, list):
        return [_as_json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {
        "anyOf" if key == "oneOf" else key: _as_json_schema(each) for key, each in schema.items() if key != "nullable"
    }
    return {"anyOf": [changed, {"type": "null"}]} if schema.get("nullable") is True else changed
