"""The declared fields of a class, from which both checks and pydantic models are made."""

from __future__ import annotations

import sys
from copy import copy
from typing import TYPE_CHECKING, Any, Self

from evalgate.declarations.checking import UNSURE, check_bounds, check_of
from evalgate.declarations.marks import MISSING, FieldMark

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.declarations.checking import Check


class FieldDeclaration:
    """One field; its type is evaluated when a file first contains it."""

    __slots__ = ("annotation", "module", "name", "value")

    def __init__(self, name: str, annotation: str, module: str, value: Any) -> None:
        self.name, self.annotation, self.module, self.value = name, annotation, module, value

    @property
    def kind(self) -> Any:
        """Its type."""
        return eval(self.annotation, vars(sys.modules[self.module]))  # noqa: S307  (EvalGate's source)

    @property
    def key(self) -> str:
        """The key of the field in a file."""
        marks = [self.value, *getattr(self.kind, "__metadata__", ())]
        aliases = [mark.options.get("alias") for mark in marks if isinstance(mark, FieldMark)]
        return next(filter(None, aliases), self.name)

    @property
    def check(self) -> Check:
        """The check that reads the field."""
        check = check_of(self.kind)
        return check_bounds(check, self.value) if isinstance(self.value, FieldMark) else check

    @property
    def default(self) -> Any:
        """The value of an absent field; MISSING if it is required or has a factory."""
        default = self.value.options.get("default", MISSING) if isinstance(self.value, FieldMark) else self.value
        return MISSING if isinstance(default, list | dict) else default

    @property
    def factory(self) -> Any:
        """The factory of an absent field's value; MISSING if it has none."""
        value = self.value
        if isinstance(value, FieldMark):
            return value.options.get("default_factory", MISSING)
        return (lambda: copy(value)) if isinstance(value, list | dict) else MISSING


class Declaration:
    """Base of declared classes: annotations are fields, defaults are class attributes."""

    model_fields: Mapping[str, FieldDeclaration] = {}
    model_fields_set: set[str]
    _made: Mapping[str, Any] = {}
    """Fields without a default as class attribute: their factory, MISSING if they are required."""
    _reads: dict[Any, tuple[str, Check]]
    """Checks by key, for the keys that files have contained so far."""

    def __init_subclass__(cls) -> None:
        """Collects the fields that the class declares."""
        fields, made = dict(cls.model_fields), dict(cls._made)
        for name, annotation in vars(cls).get("__annotations__", {}).items():
            if annotation.startswith("ClassVar"):
                continue
            each = fields[name] = FieldDeclaration(name, annotation, cls.__module__, vars(cls).get(name, MISSING))
            made.pop(name, None)
            if each.default is MISSING:
                made[name] = each.factory
                if each.value is not MISSING:
                    delattr(cls, name)
            elif each.default is not each.value:
                setattr(cls, name, each.default)
        cls.model_fields, cls._made, cls._reads = fields, made, {}

    @classmethod
    def read_surely(cls, value: Any) -> Self:
        """Reads content that is certainly valid; raises UncertainValueError."""
        if isinstance(value, cls):
            return value
        if type(value) is not dict:
            raise UNSURE
        found: dict[str, Any] = {}
        reads = cls._reads
        for key, given in value.items():
            name, check = reads.get(key) or cls._read_of(key)
            found[name] = check(given)
        return cls.from_content(found, set(found))

    @classmethod
    def _read_of(cls, key: Any) -> tuple[str, Check]:
        named = cls.model_fields.get(key)
        others = cls.model_fields.values() if named is None else (named,)
        each = next((each for each in others if each.key == key), None)
        if each is None:
            raise UNSURE
        read = cls._reads[key] = (each.name, each.check)
        return read

    @classmethod
    def from_content(cls, content: dict[str, Any], fields_set: set[str]) -> Self:
        """Makes a model from checked content; raises UncertainValueError if a field is missing."""
        for name, make in cls._made.items():
            if name not in content:
                if make is MISSING:
                    raise UNSURE
                content[name] = make()
        made = cls.__new__(cls)
        made.__dict__.update(content, model_fields_set=fields_set)
        return made
