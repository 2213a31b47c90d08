"""Mistakes in what a suite says, by path, in our own words: what a person must change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.json_values import kind, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

Path = tuple[str | int, ...]

MOST_TOLD = 100
"""Mistakes of one kind that are told one by one: a person mends those before reading on."""


class Flaw(NamedTuple):
    """One mistake; `path` leads from the parsed value to the place, through keys and indexes."""

    path: Path
    message: str
    hint: str | None = None


class FlawedError(ValueError):
    """Raised while settings are compiled, for a mistake in one field."""

    def __init__(self, field: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.flaw = Flaw((field,), message, hint)


def suggest(word: object, known: Iterable[str]) -> str | None:
    """'did you mean x?' for a misspelt word; else what is known, where that list is short."""
    import difflib

    names = sorted(known)
    close = difflib.get_close_matches(str(word), names, 1)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"known: {', '.join(names)}" if len(names) <= 12 else None  # noqa: PLR2004  (what fits in a line)


def flaws_of(error: ValidationError, model: type[BaseModel]) -> list[Flaw]:
    """A validation error of one of our models, told in our words."""
    details = error.errors(include_url=False)
    told = [_translate(detail, model) for detail in details[:MOST_TOLD]]
    left = len(details) - MOST_TOLD
    return [*told, Flaw((), f"and {left:,} more mistakes in this file")] if left > 0 else told


def _translate(detail: ErrorDetails, model: type[BaseModel]) -> Flaw:
    path: Path = tuple(step for step in detail["loc"] if not _is_union_tag(step))
    context = detail.get("ctx", {})
    last = path[-1] if path else ""
    if detail["type"] == "extra_forbidden":
        owner = _owner(model, path[:-1])
        return Flaw(path, f"unknown key {show(last)}", suggest(last, _keys(owner)) if owner else None)
    if detail["type"] == "missing":
        return Flaw(path[:-1], f"`{last}` is missing")
    key = f"`{last}`" if isinstance(last, str) else f"an entry of `{_last_name(path)}`"
    if meant := _meant(detail["input"], context):
        return Flaw(path, f"{key} can't be {_given(detail['input'])}", meant)
    hint = "quote it if it is text" if detail["type"] == "string_type" else None
    return Flaw(path, f"{key} {_explain(detail['type'], context)}, not {_given(detail['input'])}", hint)


def _last_name(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _meant(value: object, context: Mapping[str, object]) -> str | None:
    """The allowed word that a misspelt one is near to."""
    close = suggest(value, re.findall("'([^']+)'", str(context.get("expected", ""))))
    return close if close and close.startswith("did you mean") else None


def _is_union_tag(step: str | int) -> bool:
    """Pydantic puts the names of a union's members into the path; they are no part of the file."""
    return isinstance(step, str) and (step[:1].isupper() or "[" in step or step in _TYPE_TAGS)


_TYPE_TAGS = frozenset({"str", "int", "float", "bool", "list", "dict", "none", "literal"})


def _owner(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    """The model that the path leads to, where its fields are models themselves."""
    for step in path:
        if isinstance(step, int):
            continue
        field = model.model_fields.get(step)
        inner = [] if field is None else _models_in(field.annotation)
        if not inner:
            return None
        model = inner[0]
    return model


def _models_in(annotation: object) -> list[type[BaseModel]]:
    from typing import get_args

    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in get_args(annotation) for found in _models_in(argument)]


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


_EXPLANATIONS = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "finite_number": "must be a finite number",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be more than {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "less_than": "must be less than {lt:g}",
    "literal_error": "must be one of {expected}",
    "too_short": "must have entries, at least {min_length}",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must have characters, at least {min_length}",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "has a character that is not allowed here",
}


def _explain(code: str, context: Mapping[str, object]) -> str:
    if code == "literal_error" and " or " not in str(context["expected"]):
        return f"must be {context['expected']}"
    return _EXPLANATIONS.get(code, "has a value that is not allowed here").format(**context)


def _given(value: object) -> str:
    return "empty" if value is None else f"{kind(value)} {show(value, 40)}"
