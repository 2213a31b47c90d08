"""Problems in a suite, each with its path: pydantic errors rewritten as what a person must change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, get_args, get_origin

from evalgate.measures.values.json_values import show, show_typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

Path = tuple[str | int, ...]

MAX_PROBLEMS = 100
"""Problems that are listed one by one: a person fixes those before reading on."""


class FieldProblem(NamedTuple):
    """One problem; `path` leads to it from the parsed value, through keys and indexes."""

    path: Path
    message: str
    hint: str | None = None


class FieldProblemError(ValueError):
    """One field is invalid; raised while settings are compiled."""

    def __init__(self, field: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.problem = FieldProblem((field,), message, hint)


def suggest(word: object, known: Iterable[str]) -> str | None:
    """Returns 'did you mean x?' for a misspelt word; else the known words if they are few."""
    import difflib

    names = sorted(known)
    close = difflib.get_close_matches(str(word), names, 1)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"known: {', '.join(names)}" if len(names) <= 12 else None  # noqa: PLR2004  (what fits in a line)


def problems_from_error(error: ValidationError, model: type[BaseModel]) -> list[FieldProblem]:
    """Translates a validation error of one of EvalGate's models."""
    details = error.errors(include_url=False)
    problems = [_translate(detail, model) for detail in details[:MAX_PROBLEMS]]
    left = len(details) - MAX_PROBLEMS
    return [*problems, FieldProblem((), f"and {left:,} more errors in this file")] if left > 0 else problems


def _translate(detail: ErrorDetails, model: type[BaseModel]) -> FieldProblem:
    steps, context = detail["loc"], detail.get("ctx", {})
    path, _ = _walk(model, steps)
    last = path[-1] if path else ""
    if detail["type"] == "extra_forbidden":
        parent_path, owner = _walk(model, steps[:-1])
        hint = suggest(steps[-1], _keys(owner)) if owner else None
        return FieldProblem((*parent_path, steps[-1]), f"unknown key {show(steps[-1], 60)}", hint)
    if detail["type"] == "missing":
        return FieldProblem(path[:-1], f"`{last}` is missing")
    key = f"`{last}`" if isinstance(last, str) else f"an entry of `{_last_key(path)}`"
    if steps[-1:] == (KEY_MARKER,):
        key = f"a name in `{path[-2]}`"
    if suggestion := _suggest_expected(detail["input"], context):
        return FieldProblem(path, f"{key} can't be {_describe_value(detail['input'])}", suggestion)
    hint = "quote it if it is text" if detail["type"] == "string_type" else None
    return FieldProblem(
        path, f"{key} {_explain(_code_of(detail), context)}, not {_describe_value(detail['input'])}", hint
    )


def _code_of(detail: ErrorDetails) -> str:
    """The code of the error; pydantic reports `too_short` for text that a validator checks first."""
    code = detail["type"]
    return f"string_{code}" if code in ("too_short", "too_long") and isinstance(detail["input"], str) else code


def _last_key(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _suggest_expected(value: object, context: Mapping[str, object]) -> str | None:
    """Suggests the allowed word that a misspelt one is close to."""
    close = suggest(value, re.findall("'([^']+)'", str(context.get("expected", ""))))
    return close if close and close.startswith("did you mean") else None


def _is_union_tag(step: str | int) -> bool:
    """Returns whether the step is the name of a union's member: pydantic adds those to the path."""
    return isinstance(step, str) and (step[:1].isupper() or "[" in step or step in _TYPE_TAGS)


_TYPE_TAGS = frozenset({"str", "int", "float", "bool", "list", "dict", "none", "literal"})

KEY_MARKER = "[key]"
"""What pydantic adds to the path of an invalid key."""


def _walk(model: type[BaseModel], steps: Iterable[str | int]) -> tuple[Path, type[BaseModel] | None]:
    """Returns the steps that are part of the file, and the model they lead to, if any.

    A key that the file chose (in a mapping) is always kept, even if it looks like a union's member.
    """
    path: list[str | int] = []
    owner: type[BaseModel] | None = model
    is_user_key = False
    for step in steps:
        if is_user_key:
            path.append(step)
            is_user_key = False
        elif not _is_union_tag(step):
            path.append(step)
            if isinstance(step, str):
                field = owner.model_fields.get(step) if owner else None
                owner = next(iter(_models_in(field.annotation)), None) if field else None
                is_user_key = owner is not None and field is not None and _is_mapping(field.annotation)
    return tuple(path), owner


def _is_mapping(annotation: object) -> bool:
    return get_origin(annotation) is dict or any(map(_is_mapping, get_args(annotation)))


def _models_in(annotation: object) -> list[type[BaseModel]]:
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
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "has a character that is not allowed here",
    "unseen": "must have no invisible characters",
}


def _explain(code: str, context: Mapping[str, object]) -> str:
    if code == "literal_error":
        words = re.sub("True|False", lambda found: found[0].lower(), str(context["expected"]))  # as YAML spells them
        return f"must be {'one of ' if ' or ' in words else ''}{words}"
    explanation = _EXPLANATIONS.get(code, "has a value that is not allowed here").format(**context)
    return explanation.replace("at least 1 entries", "at least one entry")


def _describe_value(value: object) -> str:
    if value in ([], {}):
        return f"an empty {'list' if value == [] else 'mapping'}"
    return "empty" if value is None else show_typed(value, 40)
