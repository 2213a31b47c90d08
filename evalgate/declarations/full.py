"""Makes pydantic models of declared classes: they report errors and make JSON Schemas."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from evalgate.declarations.declared import Declaration
from evalgate.declarations.marks import MISSING, FieldMark

LOADER = "pydantic.plugin._loader"


class _NoPlugins(ModuleType):
    """Replaces pydantic's plugin loader, which imports the e-mail package even if there are no plugins.

    On access to anything else it restores that loader.
    """

    def get_plugins(self) -> tuple[()]:
        """No plugins."""
        return ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(LOADER, None)
        return getattr(import_module(LOADER), name)


def use_no_plugins() -> None:
    """Disables plugins in this process; call it before pydantic builds anything."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    sys.modules.setdefault(LOADER, _NoPlugins(LOADER))


use_no_plugins()

import pydantic  # noqa: E402  (not before it knows that it has no plugins)

_declared: dict[type, type[Declaration]] = {}
"""Declared classes by their pydantic model."""
_INTERNAL = frozenset({"model_fields", "_made", "_reads", "__annotations__", "__dict__", "__weakref__"})


class _StrictModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


@cache
def model_of(declared: Any) -> Any:
    """The pydantic model of a declared class; any other class unchanged."""
    if not issubclass(declared, Declaration):
        return declared
    if declared.__base__ is Declaration:
        return _StrictModel
    annotations = vars(declared).get("__annotations__", {})
    own = [each for name, each in declared.model_fields.items() if name in annotations]
    left_out = _INTERNAL.union(each.name for each in own)
    content = {name: value for name, value in vars(declared).items() if name not in left_out}
    content |= {each.name: _convert_default(each.value) for each in own if each.value is not MISSING}
    kinds = {**annotations, **{each.name: _kind(each.kind) for each in own}}
    bases = tuple(map(model_of, declared.__bases__))
    made = type(bases[0])(declared.__name__, bases, {**content, "__annotations__": kinds})
    _declared[made] = declared
    return made


def validate(declared: Any, value: Any) -> Any:
    """Validates the content of a file with pydantic."""
    return _from_model(model_of(declared).model_validate(value))


def schema_of(declared: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of the file."""
    made: dict[str, Any] = model_of(declared).model_json_schema(**options)
    return made


def _from_model(value: Any) -> Any:
    """Pydantic's result, with declared classes in place of its models."""
    declared = _declared.get(type(value))
    if declared is not None:
        content = {name: _from_model(each) for name, each in vars(value).items()}
        return declared.from_content(content, set(value.model_fields_set))
    if isinstance(value, list):
        return [_from_model(each) for each in value]
    if isinstance(value, dict):
        return {name: _from_model(each) for name, each in value.items()}
    return value


def _kind(kind: Any) -> Any:
    """The type with pydantic's own models and marks."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is None:
        return model_of(kind) if isinstance(kind, type) else kind
    if origin is Literal:
        return kind
    if origin is Annotated:
        return Annotated[(_kind(inner[0]), *map(_mark, kind.__metadata__))]
    kinds = tuple(each if each is NoneType else _kind(each) for each in inner)
    return Union[kinds] if origin in (Union, UnionType) else origin[kinds]  # noqa: UP007  (as many as there are)


def _mark(mark: Any) -> Any:
    if not isinstance(mark, FieldMark):
        return mark
    inner = "json_schema_input_type"
    options = {name: _kind(value) if name == inner else value for name, value in mark.options.items()}
    return getattr(pydantic, mark.name)(*mark.given, **options)


def _convert_default(value: Any) -> Any:
    kind: Any = type(value)
    return model_of(kind).model_construct() if isinstance(value, Declaration) else _mark(value)
