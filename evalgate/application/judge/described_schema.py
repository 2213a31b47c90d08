"""Describes the properties of a schema of suites or projects, and keeps what many assertions share in one place."""

from __future__ import annotations

import re
from typing import Any

from evalgate.application.judge.property_texts import find_text
from evalgate.evaluators.core.shorthands import COMMON

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
