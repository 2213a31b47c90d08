"""The schema that editors read: draft-07, with snippets and texts in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from evalgate.application.judge.schemas import schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
STARTS = ("version", "suite", "suites", "traces", "scenarios", "policy")
"""The keys with which a suite or a project begins."""
_OLD_DEFINITIONS, _NEW_DEFINITIONS = "#/definitions/", "#/$defs/"


def write_editor_schema(kind: str, *, with_own: bool) -> bytes:
    """The schema of suites or projects as a file; see `schemas.schema`. Editors keep its order of keys."""
    made = editor_schema(schema(kind, with_own=with_own))
    return orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def editor_schema(made: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of draft 2020-12, as this package makes it, in draft-07: both accept the same documents."""
    found: dict[str, Any] = _convert(made)
    found["defaultSnippets"] = [_snippet_of(found, STARTS)]
    if "ScenarioEntry" in found["definitions"]:
        scenario = found["definitions"]["ScenarioEntry"]
        scenario["defaultSnippets"] = [_snippet_of(scenario, ("id", "assertions"))]
    return {**found, "$schema": DRAFT_07, "$id": f"{made['$id']}:draft-07"}


def _snippet_of(part: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What begins an object: some of its properties, filled in with examples."""
    body = {name: part["properties"][name]["examples"][0] for name in names if name in part["properties"]}
    return {"label": f"new {part['title']}", "body": body}


def _convert(part: Any) -> Any:
    if isinstance(part, list):
        return [_convert(each) for each in part]
    if not isinstance(part, dict):
        return part
    made = {("definitions" if key == "$defs" else key): _convert_value(key, value) for key, value in part.items()}
    if "$ref" in made and len(made) > 1:  # draft-07 ignores what is beside a reference
        made["allOf"] = [{"$ref": made.pop("$ref")}]
    if not made.get("default", True):  # editors insert a default, but these need not be written
        del made["default"]
    if "const" in made:
        made["default"] = made["const"]
    description = made.get("description")
    if isinstance(description, str) and "`" in description:
        made["markdownDescription"] = description
    return made


def _convert_value(key: str, value: Any) -> Any:
    if key == "$ref":
        return value.replace(_NEW_DEFINITIONS, _OLD_DEFINITIONS)
    if key in ("examples", "default", "enum", "const"):  # values, not schemas
        return value
    if key in ("properties", "$defs"):
        return {name: _convert(each) for name, each in value.items()}
    return _convert(value)
