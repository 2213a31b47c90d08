"""Variables in the values of promptfoo's checks: `{{name}}` alone, never a program of its template engine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.errors import OverLimit
from evalgate.features.importing.application.javascript_text import write_like_javascript
from evalgate.features.importing.models import MAX_SCENARIOS, CannotCarry

if TYPE_CHECKING:
    from collections.abc import Mapping

_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_][\w.]*)\s*-?\}\}")
_TEMPLATE = re.compile(r"\{\{|\{%|\{#")
FILE = "file://"


def fill_in(value: Any, variables: Mapping[str, Any]) -> Any:
    """The value with its variables, in a text or in the texts of a list; raises CannotCarry."""
    if isinstance(value, list):
        return [fill_in(each, variables) if isinstance(each, str) else each for each in value]
    return (
        _VARIABLE.sub(lambda match: _find(match[1], variables), _refuse_template(value))
        if isinstance(value, str)
        else value
    )


def _refuse_template(text: str) -> str:
    if _TEMPLATE.search(_VARIABLE.sub("", text)):
        raise CannotCarry("its value is a template that only promptfoo can fill in; write the text itself")
    if text.startswith(FILE):
        raise CannotCarry("its value is in a file that promptfoo reads when it runs; write it here")
    if text.startswith("package:"):
        raise CannotCarry("its value comes from code, which is never executed here")
    return text


def _find(name: str, variables: Mapping[str, Any]) -> str:
    """The text of a variable, or of a field of it."""
    found: Any = variables
    for step in name.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    if name.startswith("env."):
        raise CannotCarry(f"`{{{{{name}}}}}` is of the environment; write the text itself")
    text = write_like_javascript(found)
    if text is None:
        raise CannotCarry(f"the test has no text for `{{{{{name}}}}}`")
    if _TEMPLATE.search(text) or text.startswith(FILE):
        raise CannotCarry(f"`{{{{{name}}}}}` is itself a template or a file")
    return text


def names_variable(value: Any, names: frozenset[str]) -> bool:
    """Whether a value uses one of these variables."""
    if isinstance(value, list):
        return any(names_variable(each, names) for each in value)
    if isinstance(value, dict):
        return any(names_variable(each, names) for each in value.values())
    return isinstance(value, str) and any(match[1].split(".")[0] in names for match in _VARIABLE.finditer(value))


def has_several(value: Any) -> bool:
    """Whether a variable has several values, each of a run."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], str)


def expand_variables(variables: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each combination of the values of lists; raises OverLimit."""
    found: list[dict[str, Any]] = [{}]
    for name, value in variables.items():
        values = value if has_several(value) else [value]
        if len(found) * len(values) > MAX_SCENARIOS:
            raise OverLimit(f"the variables of a test have more than {MAX_SCENARIOS:,} combinations")
        found = [{**each, name: one} for each in found for one in values]
    return found
